"""Latent-class models: their names, a step of EM (expectation-maximisation), and its search.

As names of methods, `dawid_skene_ml` is the model fitted by maximum likelihood, and `dawid_skene`
the Bayesian model, which `bayes_models` builds: both have the same confusion matrices.

The patterns of the ratings are a matrix that EM multiplies. A category is what a rater names, a
class is a true category, which is latent, and a run is one of the starts, or of the samples, that
are searched side by side.

Parameters have the runs first: base rates (runs, groups, classes), confusion matrices (runs,
raters, classes, categories). Within a step the runs are last, where sums over patterns are
products of matrices: (patterns, classes, runs), (raters, categories, classes, runs).
"""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lehner.core.arrays import TINY, Booleans, Floats, Integers
from lehner.core.errors import check_choice, find
from lehner.core.lazy import linalg, optimize, sparse
from lehner.core.resampling import with_progress
from lehner.data.counts import UNKNOWN, Patterns, count_codes

BY_LIKELIHOOD = "_ml"
FEW_CELLS = 1_000_000
MANY_CLASSES = MANY_RUNS = 10
# Number of class probabilities in memory at once; more do not fit into the processor's cache.
POSTERIOR_CELLS_AT_ONCE = 400_000
# Number of weights of patterns in samples that are multiplied at once.
WEIGHTS_AT_ONCE = 1_000_000
# Newton's method lowers no probability below this part of what a step of EM gives.
LEAST_PART = 0.1
# Added to expected numbers of ratings, so that rows without ratings have equal probabilities.
EMPTY = 1e-14


@dataclass(frozen=True, kw_only=True)
class LatentClassModel:
    """A row of `models.toml`.

    Parameters
    ----------
    summary : str
        What the model assumes about the raters, in a few words.
    form : {"accuracy", "category_accuracy", "full", ""}
        The confusion matrices: one accuracy and equal errors; an accuracy for each category and
        equal errors; unrestricted; or none of these.
    shared : bool
        Whether all raters, except the system, share one confusion matrix.
    likelihood_only : bool
        Whether `bayes_models` does not have the model.
    label : str
        Printed name, as in `Look`: by default the name with spaces and a capital.
    color, marker : str
        Look in figures, as Matplotlib takes them.
    """

    summary: str
    form: str = ""
    shared: bool = False
    likelihood_only: bool = False
    label: str = ""
    color: str = "black"
    marker: str = "."

    def __post_init__(self) -> None:
        check_choice("form", self.form, ("", "accuracy", "category_accuracy", "full"))


FILE = Path(__file__).with_name("models.toml")
ROWS = {
    name: LatentClassModel(**row)
    for name, row in tomllib.loads(FILE.read_text(encoding="utf-8")).items()
}
# Models that `bayes_models` samples.
MODELS = {name: row for name, row in ROWS.items() if not row.likelihood_only}
# Models that `fit_latent_class` fits by maximum likelihood, and their names as methods.
LATENT_CLASS_MODELS = {name: row for name, row in ROWS.items() if row.form}
LIKELIHOOD_METHODS = {name + BY_LIKELIHOOD: name for name in LATENT_CLASS_MODELS}


def find_latent_class_model(name: str) -> LatentClassModel:
    """Look up a model that is fitted by maximum likelihood, or raise an InputError."""
    return find("latent-class model", name, LATENT_CLASS_MODELS)


def tabulate_codes(codes: Integers, weights: Floats, n_categories: int) -> Patterns:
    """Tabulate patterns given as codes.

    Parameters
    ----------
    codes : ndarray of int, shape (n_patterns, n_raters)
        Category index, -1 if missing; the last rater is the system.
    weights : ndarray, shape (n_patterns,)
        Numbers or proportions of items.
    n_categories : int

    Returns
    -------
    Patterns
    """
    n_patterns, n_raters = codes.shape
    return Patterns(
        votes=count_codes(codes, n_categories),
        counts=weights,
        truths=np.full(n_patterns, UNKNOWN),
        inverse=np.arange(n_patterns),
        raters=tuple(map(str, range(n_raters))),
        categories=tuple(range(n_categories)),
        has_system=True,
        population=np.zeros(n_patterns, np.int64),
        dense=codes.size * n_categories <= FEW_CELLS,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentClasses:
    """Base rates and confusion matrices, and the log-likelihood of the patterns with them.

    Parameters
    ----------
    base_rates : ndarray, shape (n_classes,) or (n_groups, n_classes)
    confusion : ndarray, shape (n_raters, n_classes, n_categories)
    log_likelihood : float
        Sum over patterns of their weight times their log probability.
    converged : bool
    iterations : int
    """

    base_rates: Floats
    confusion: Floats
    log_likelihood: float = -np.inf
    converged: bool = False
    iterations: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Samples of the same patterns, and pseudo-items and pseudo-ratings that are added to each.

    Parameters
    ----------
    weights : ndarray, shape (n_samples, n_patterns)
        Number of items of each pattern in each sample.
    items : ndarray, shape (n_samples, n_groups, n_classes)
        Pseudo-items, added to the numbers of items of each class that are expected.
    ratings : ndarray, shape (n_samples, n_raters, n_classes, n_categories)
        Pseudo-ratings, added to the numbers of ratings that are expected.
    """

    weights: Floats
    items: Floats
    ratings: Floats

    @cached_property
    def by_pattern(self) -> Floats:
        """The weights, (n_patterns, n_samples), contiguous in memory."""
        return np.ascontiguousarray(self.weights.T, dtype=float)

    def take(self, samples: Integers | slice) -> "Samples":
        """Select some of the samples."""
        return Samples(
            weights=self.weights[samples], items=self.items[samples], ratings=self.ratings[samples]
        )


# ----- A step of EM -----


def e_step(
    table: Patterns, log_rates: Floats, log_confusion: Floats, category: Integers | None = None
) -> tuple[Floats, Floats]:
    """Compute the probability of each class for each pattern, and the log probability of patterns.

    Parameters
    ----------
    table : Patterns
    log_rates : ndarray, shape (n_classes, n_runs) or (n_patterns, n_classes, n_runs)
    log_confusion : ndarray, shape (n_raters, n_categories, n_classes, n_runs)
    category : ndarray of int, shape (n_classes,), optional
        The true category of each class, by default its index.

    Returns
    -------
    classes : ndarray, shape (n_patterns, n_classes, n_runs)
    log_probability : ndarray, shape (n_patterns, n_runs)
    """
    n_classes, n_runs = log_confusion.shape[2:]
    log = table.sum_cells(log_confusion.reshape(-1, n_classes * n_runs))
    log = log.reshape(-1, n_classes, n_runs)
    log += log_rates
    if table.has_truths:
        truths = table.truths[:, None]
        excluded = truths != (np.arange(n_classes) if category is None else category)
        log[excluded & (truths >= 0)] = -np.inf
    if n_runs < MANY_RUNS and not (n_runs == 1 and n_classes >= MANY_CLASSES):
        # Sums over few classes are several times faster if patterns are contiguous in memory.
        log = np.ascontiguousarray(log.transpose(1, 2, 0))
        classes, log_probability = _normalise_logs(log, axis=0)
        return classes.transpose(2, 0, 1), log_probability.T
    return _normalise_logs(log, axis=1)


def _normalise_logs(log: Floats, axis: int) -> tuple[Floats, Floats]:
    """Normalise probabilities given as logarithms along an axis, and give the log of their sum."""
    top = log.max(axis=axis, keepdims=True)
    joint = log - top
    np.exp(joint, out=joint)
    total = joint.sum(axis=axis, keepdims=True)
    joint /= total
    return joint, np.squeeze(np.log(total) + top, axis=axis)


def count(table: Patterns, items: Floats) -> tuple[Floats, Floats]:
    """Count items by class, and ratings by rater and category.

    Parameters
    ----------
    table : Patterns
    items : ndarray, shape (n_patterns, n_classes, n_runs)
        Expected number of items of each class.

    Returns
    -------
    items : ndarray, shape (n_groups, n_classes, n_runs)
    ratings : ndarray, shape (n_raters, n_categories, n_classes, n_runs)
    """
    _, n_classes, n_runs = items.shape
    votes = items.reshape(len(items), n_classes * n_runs)
    n_items, ratings = table.sum_populations(votes), table.sum_patterns(votes)
    ratings = ratings.reshape(-1, table.n_categories, n_classes, n_runs)
    return n_items.reshape(-1, n_classes, n_runs), ratings


def maximise_confusion(
    counts: Floats, model: LatentClassModel, *, has_system: bool = True
) -> Floats:
    """Estimate confusion matrices from numbers of ratings, with the restrictions of a model.

    Parameters
    ----------
    counts : ndarray, shape (..., n_raters, n_classes, n_categories)
    model : LatentClassModel
    has_system : bool
        Whether the last rater is the system.

    Returns
    -------
    ndarray, shape (..., n_raters, n_classes, n_categories)
    """
    if model.shared:
        n_shared = counts.shape[-3] - has_system
        raters = counts[..., :n_shared, :, :]
        pooled = np.broadcast_to(raters.sum(axis=-3, keepdims=True), raters.shape)
        counts = np.concatenate([pooled, counts[..., n_shared:, :, :]], axis=-3)
    if model.form != "full":
        k = counts.shape[-1]
        right, total = np.diagonal(counts, axis1=-2, axis2=-1), counts.sum(axis=-1)
        if model.form == "accuracy":
            right, total = (
                np.broadcast_to(values.sum(axis=-1, keepdims=True), values.shape)
                for values in (right, total)
            )
        eye, wrong = np.eye(k), (total - right)[..., None]
        counts = right[..., None] * eye + wrong * (1 - eye) / (k - 1)
    counts = counts + EMPTY
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


def em_step(
    table: Patterns,
    model: LatentClassModel,
    rates: Floats,
    confusion: Floats,
    samples: Samples | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Take a step of EM in each of many runs.

    Parameters
    ----------
    table : Patterns
    model : LatentClassModel
    rates : ndarray, shape (n_runs, n_groups, n_classes)
    confusion : ndarray, shape (n_runs, n_raters, n_classes, n_categories)
    samples : Samples, optional
        A sample for each run, whose weights take the place of those of the table, and whose
        pseudo-items and pseudo-ratings count.

    Returns
    -------
    rates : ndarray, shape (n_runs, n_groups, n_classes)
    confusion : ndarray, shape (n_runs, n_raters, n_classes, n_categories)
    log_likelihood : ndarray, shape (n_runs,)
        Before the step.
    """
    weights = table.weights[:, None] if samples is None else samples.by_pattern
    log_rates, log_confusion = take_logs(table, rates, confusion)
    classes, log_probability = e_step(table, log_rates, log_confusion)
    log_likelihood = _sum_contiguous(weights * log_probability)
    if samples is not None:
        log_rates = np.log(np.maximum(rates, TINY))
        log_likelihood += (samples.items * log_rates).sum(axis=(1, 2))
        of_ratings = samples.ratings * log_confusion.transpose(3, 0, 2, 1)
        log_likelihood += of_ratings.sum(axis=(1, 2, 3))
    classes *= weights[:, None]
    return *m_step(table, model, classes, samples), log_likelihood


def m_step(
    table: Patterns, model: LatentClassModel, items: Floats, samples: Samples | None = None
) -> tuple[Floats, Floats]:
    """Maximise the likelihood of expected numbers of items, (n_patterns, n_classes, n_runs)."""
    items, counts = count(table, items)
    items, counts = items.transpose(2, 0, 1), counts.transpose(3, 0, 2, 1)
    if samples is not None:
        items, counts = items + samples.items, counts + samples.ratings
    confusion = maximise_confusion(counts, model, has_system=table.has_system)
    return items / np.maximum(items.sum(axis=-1, keepdims=True), TINY), confusion


def take_logs(table: Patterns, rates: Floats, confusion: Floats) -> tuple[Floats, Floats]:
    """Compute the logarithms that `e_step` takes."""
    log_rates = np.log(np.maximum(rates, TINY)).transpose(1, 2, 0)
    log_confusion = np.log(np.maximum(confusion, TINY)).transpose(1, 3, 2, 0)
    return log_rates[table.population if table.populations else 0], log_confusion


def _sum_contiguous(values: Floats) -> Floats:
    """Sum over the first axis, with the same result for a run alone and among others."""
    # A product of vectors would use several threads, which takes longer than the rest of a step.
    return np.asarray(np.ascontiguousarray(values.T).sum(axis=1))


def expect(table: Patterns, current: LatentClasses) -> tuple[Floats, Floats]:
    """Compute the probability of each class for each pattern, and the log probability of patterns.

    Parameters
    ----------
    table : Patterns
    current : LatentClasses

    Returns
    -------
    classes : ndarray, shape (n_patterns, n_classes)
    log_probability : ndarray, shape (n_patterns,)
    """
    rates, confusion = np.atleast_2d(current.base_rates)[None], current.confusion[None]
    classes, log_probability = e_step(table, *take_logs(table, rates, confusion))
    return classes[..., 0], log_probability[:, 0]


def expect_ratings(table: Patterns, classes: Floats) -> Floats:
    """Count ratings by rater, class and category, (n_raters, n_classes, n_categories)."""
    weighted = table.weights[:, None] * classes
    return count(table, weighted[..., None])[1][..., 0].swapaxes(1, 2)


type Step = Callable[[Floats], tuple[Floats, Floats]]

# By how much an extrapolation may lower the log-likelihood, which later steps increase again.
SLACK = 0.1
# Once in so many cycles a perturbation replaces the extrapolation.
GROWTH_STEPS = 5
# A probability near 0 that grows by more in a step will leave 0, however slowly.
RISE = 1.001
# Probabilities below the first are near 0; a perturbation raises them to the second or more.
SMALL, RAISED = 1e-3, 1e-6
# A probability below it counts as 0, such as that of a category never used, and stays there.
ZERO = 1e-100


@dataclass(frozen=True, kw_only=True)
class Search:
    """How a search for a maximum proceeds, and when it ends.

    Parameters
    ----------
    tolerance : float
        The search ends when a step of EM increases the log-likelihood by less than this proportion
        of its size, 0 to 1.
    standing_still : float
        It also ends when a step changes no parameter by so much.
    max_iterations : int
        Greatest number of steps of EM, rounded up to a multiple of 3.
    far : bool
        Whether the start may be far from the maximum. Extrapolations may then lower the
        log-likelihood a little, which makes the search faster, and saddles are left.
    """

    tolerance: float = 1e-13
    standing_still: float = 1e-10
    max_iterations: int = 20_000
    far: bool = True


FROM_FAR = Search()


class SearchResult(NamedTuple):
    """Where runs ended, (n_parameters, n_runs), at a maximum or not, after how many steps of EM."""

    points: Floats
    converged: Booleans
    steps: Integers


def accelerate_em(
    step_of: Callable[[Integers], Step],
    start: Floats,
    distribution: Integers,
    search: Search = FROM_FAR,
) -> SearchResult:
    """Alternate two steps of EM and an extrapolation, until the log-likelihood no longer increases.

    The extrapolation is SQUAREM (Varadhan & Roland 2008) of the logarithms of the probabilities, so
    that it never leaves the simplex. If a run would end below an earlier point, it continues from
    that point.

    At a saddle of the likelihood the steps become tiny, while a probability near 0 grows for
    thousands of steps. A perturbation raises such probabilities at once, and is kept if it
    increases the log-likelihood. A run from far ends only if no perturbation does.

    Parameters
    ----------
    step_of : callable
        A function of the indices of the runs that have not ended, which gives their step of EM: a
        function that takes points, shape (n_parameters, n_runs), and returns the next points and
        the log-likelihoods before the step.
    start : ndarray, shape (n_parameters, n_runs)
    distribution : ndarray of int, shape (n_parameters,)
        Index of the distribution to which each parameter belongs; its parameters sum to 1.
    search : Search

    Returns
    -------
    SearchResult

    References
    ----------
    Varadhan & Roland (2008), Simple and globally convergent methods for accelerating the
    convergence of any EM algorithm, Scandinavian Journal of Statistics 35, 335-353.

    Examples
    --------
    >>> import numpy as np
    >>> def step(x):  # EM for the proportions of two classes, a rating
    ...     joint = x[:, 0] * [[0.9, 0.2], [0.1, 0.8]]
    ...     classes = joint / joint.sum(axis=1, keepdims=True)
    ...     log_likelihood = [0.75, 0.25] @ np.log(joint.sum(axis=1))
    ...     return ([0.75, 0.25] @ classes)[:, None], np.array([log_likelihood])
    >>> result = accelerate_em(lambda runs: step, np.full((2, 1), 0.5), np.zeros(2, int))
    >>> result.points[:, 0].round(3)
    array([0.786, 0.214])
    """
    n_runs, steps = start.shape[1], 0
    ended_at = SearchResult(start.copy(), np.zeros(n_runs, bool), np.zeros(n_runs, np.int64))
    runs = np.arange(n_runs)
    step, current, best = step_of(runs), start, start
    highest, slack = np.full(n_runs, -np.inf), np.full(n_runs, SLACK if search.far else 0.0)
    while steps < search.max_iterations:
        first, before = step(current)
        second, after = step(first)
        steps += 3
        best = np.where(after > highest, first, best)
        highest = np.maximum(after, highest)
        least_gain = search.tolerance * np.abs(after)
        still = np.abs(second - first).max(axis=0) < search.standing_still
        still |= after - before < least_gain
        back = still & (slack > 0) & (after < highest - least_gain)
        growing = (second > RISE * first) & (first > ZERO) & (second < SMALL) & search.far & ~back
        if steps % (3 * GROWTH_STEPS):
            growing &= still
        raised = growing.any(axis=0)
        ended = still & ~back & ~raised
        if not ended.all():
            trial = _extrapolate(current, first, second, distribution, damped=search.far)
            if raised.any():
                trial = np.where(raised, _perturb(second, growing, distribution), trial)
            landed, reached = step(trial)
            higher = reached >= np.where(raised, after + least_gain, highest - slack)
            ended |= still & raised & ~higher
            current = np.where(back, best, np.where(higher, landed, second))
            slack = np.where(back, 0.0, slack)
        if ended.any():
            over, left = runs[ended], ~ended
            ended_at.points[:, over], ended_at.converged[over] = second[:, ended], True
            ended_at.steps[over] = steps
            if not left.any():
                return ended_at
            runs, current, best = runs[left], current[:, left], best[:, left]
            highest, slack, step = highest[left], slack[left], step_of(runs)
    ended_at.points[:, runs], ended_at.steps[runs] = best if search.far else current, steps
    return ended_at


def _extrapolate(
    start: Floats, first: Floats, second: Floats, distribution: Integers, *, damped: bool
) -> Floats:
    """Extrapolate in the direction of two steps, by the length that they suggest."""
    log_start, log_first, log_second = (
        np.log(np.maximum(point, ZERO)) for point in (start, first, second)
    )
    pace, bend = log_first - log_start, log_second - 2 * log_first + log_start
    turn, length = _sum_contiguous(second * bend**2), _sum_contiguous(second * pace**2)
    ratio = np.divide(length, turn, out=np.ones_like(turn), where=turn > TINY)
    size = np.maximum(1.0, np.sqrt(ratio))
    far = log_start + 2 * size * pace + size**2 * bend
    if damped:
        # A parameter that converges earlier than the others would be moved away again.
        falling = log_second < log_first
        far = np.where(falling, np.minimum(far, log_second), np.maximum(far, log_second))
    far = np.where(second > ZERO, np.exp(np.clip(far, np.log(ZERO), 0.0)), second)
    return _normalise(far, distribution)


def _perturb(points: Floats, growing: Booleans, distribution: Integers) -> Floats:
    """Raise growing probabilities to their square root."""
    raised = np.where(growing, np.maximum(np.sqrt(points), RAISED), points)
    return _normalise(raised, distribution)


def _normalise(points: Floats, distribution: Integers) -> Floats:
    n_runs = points.shape[1]
    cell = distribution[:, None] * n_runs + np.arange(n_runs)
    sums = np.bincount(cell.ravel(), points.ravel()).reshape(-1, n_runs)
    return np.asarray(points / sums[distribution])


def fit_starts(
    table: Patterns,
    starts: Sequence[LatentClasses],
    model: LatentClassModel,
    search: Search = FROM_FAR,
) -> list[LatentClasses]:
    """Maximise the likelihood of weighted patterns from each of many starts.

    Parameters
    ----------
    table : Patterns
    starts : sequence of LatentClasses
    model : LatentClassModel
    search : Search

    Returns
    -------
    list of LatentClasses

    References
    ----------
    Dawid & Skene (1979), Eq. 2.3-2.5.
    """
    fits = []
    size = count_runs_at_once(len(table.weights), starts[0].base_rates.shape[-1])
    for first in with_progress("maximum likelihood", range(0, len(starts), size)):
        chunk = starts[first : first + size]
        rates = np.stack([np.atleast_2d(start.base_rates) for start in chunk])
        confusion = np.stack([start.confusion for start in chunk])
        rates, confusion, _ = em_step(table, model, rates, confusion)
        ended, (rates, confusion), (_, log_probability) = search_runs(
            table, model, rates, confusion, search
        )
        log_likelihood = _sum_contiguous(table.weights[:, None] * log_probability)
        fits += [
            LatentClasses(
                base_rates=rates[run].reshape(start.base_rates.shape),
                confusion=confusion[run],
                log_likelihood=float(log_likelihood[run]),
                converged=bool(ended.converged[run]),
                iterations=int(ended.steps[run]),
            )
            for run, start in enumerate(chunk)
        ]
    return fits


def count_runs_at_once(n_patterns: int, n_classes: int) -> int:
    """Choose how many runs are searched at once, which limits the memory needed."""
    return max(1, POSTERIOR_CELLS_AT_ONCE // max(1, n_patterns * n_classes))


def search_runs(
    table: Patterns,
    model: LatentClassModel,
    rates: Floats,
    confusion: Floats,
    search: Search,
    *,
    samples: Samples | None = None,
) -> tuple[SearchResult, tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Search from starts, (n_runs, ...).

    It gives how the runs ended, the base rates and confusion matrices that they reached, and what
    an E-step with these gives.
    """
    shapes = rates.shape[1:], confusion.shape[1:]

    def step_of(runs: Integers) -> Step:
        in_runs = None if samples is None else samples.take(runs)

        def step(points: Floats) -> tuple[Floats, Floats]:
            *after, log_likelihood = em_step(table, model, *_unpack(points, *shapes), in_runs)
            return _pack(*after), log_likelihood

        return step

    lengths = np.concatenate([np.full(np.prod(shape[:-1]), shape[-1]) for shape in shapes])
    distribution = np.repeat(np.arange(len(lengths)), lengths)
    ended = accelerate_em(step_of, _pack(rates, confusion), distribution, search)
    reached = _unpack(ended.points, *shapes)
    return ended, reached, e_step(table, *take_logs(table, *reached))


def _pack(rates: Floats, confusion: Floats) -> Floats:
    """Put the parameters of each run into a column, (n_parameters, n_runs)."""
    n_runs = len(rates)
    return np.concatenate([rates.reshape(n_runs, -1), confusion.reshape(n_runs, -1)], axis=1).T


def _unpack(
    points: Floats, of_rates: tuple[int, ...], of_confusion: tuple[int, ...]
) -> tuple[Floats, Floats]:
    """Give base rates and confusion matrices of these shapes, the runs first."""
    rates, confusion = np.split(points.T, [int(np.prod(of_rates))], axis=1)
    return rates.reshape(-1, *of_rates), confusion.reshape(-1, *of_confusion)


def follow_samples(
    table: Patterns, classes: Floats, centre: tuple[Floats, Floats], samples: Samples
) -> tuple[tuple[Floats, Floats], Floats]:
    """Find the maxima of samples by a step of Newton's method from the maximum of their mean.

    All samples have the E-step in common. How many items the system got right changes nearly in
    proportion to each parameter.

    Parameters
    ----------
    table : Patterns
    classes : ndarray, shape (n_patterns, n_classes)
        Their probabilities at the maximum of the mean.
    centre : tuple of ndarray
        Base rates and confusion matrices at that maximum, without restrictions, of one sample.
    samples : Samples

    Returns
    -------
    rates : ndarray, shape (n_samples, n_groups, n_classes)
    confusion : ndarray, shape (n_samples, n_raters, n_classes, n_categories)
    more_right : ndarray, shape (n_samples, n_groups)
        By how many more of the items of the table the system was right.
    """
    start, counted = _join_cells(*centre), []
    (n_groups, k), seen = centre[0].shape[1:], count_seen(table)
    numbers = (seen.T @ (table.weights[:, None] * classes)).T[..., None]
    # Single precision is enough for differences from the mean of the samples.
    of_class = [_scale(seen, classes[:, z]).astype("f4").T for z in range(k)]
    size = max(1, WEIGHTS_AT_ONCE // len(classes))
    for first in with_progress("resampling", range(0, len(samples.weights), size)):
        chunk = samples.take(slice(first, first + size))
        drawn = np.ascontiguousarray(chunk.weights.T, "f4")
        drawn -= table.weights[:, None]
        expected = numbers + np.stack([cells @ drawn for cells in of_class])
        counted.append(expected + _join_cells(chunk.items, chunk.ratings))
    after = _normalise_cells(np.concatenate(counted, axis=2), n_groups)
    # As many pseudo-ratings as categories are nearly those that samples have.
    of_groups, of_raters = _split_cells(numbers, n_groups)
    of_groups[:] = of_groups.sum(axis=0) + k
    of_raters[:] = of_raters.sum(axis=2, keepdims=True) + k
    scores = [_score_cells(x, n_groups, k) for x in start[..., 0]]
    information = find_information(seen, table.weights, classes, numbers * start, scores)
    gradient = numbers * (after - start)
    gradient = np.concatenate([of @ x for of, x in zip(scores, gradient, strict=True)])
    # LAPACK takes the other order in memory, and the solution can be less exact than the factor.
    factor, _ = linalg.cho_factor(information.T, lower=True, overwrite_a=True, check_finite=False)
    logits = linalg.cho_solve((factor.astype("f4"), True), gradient.astype("f4"))
    logits = logits.reshape(k, -1, len(samples.weights))
    moved = 1 + np.stack([of.T @ x for of, x in zip(scores, logits, strict=True)])
    moved = _normalise_cells(np.maximum(start * moved, LEAST_PART * after), n_groups)
    right = table.counts * classes[np.arange(len(classes)), table.system] * (table.system >= 0)
    more_right = np.zeros((n_groups, len(samples.weights)))
    for z in range(k):
        slope = right * ((table.system == z) - classes[:, z])
        by_cell = (seen.T @ (seen[:, :n_groups] * slope[:, None])).T / start[z, :, 0]
        more_right += by_cell @ (moved[z] - start[z])
    of_groups, of_raters = _split_cells(moved, n_groups)
    return (of_groups.transpose(2, 1, 0), of_raters.transpose(3, 1, 0, 2)), more_right.T


def count_seen(table: Patterns) -> "sparse.csr_array":
    """Count the population of each pattern, and its ratings by rater and category, as cells.

    Returns
    -------
    csr_array, shape (n_patterns, n_groups + n_raters * n_categories)
    """
    group = np.eye(int(table.population.max(initial=0)) + 1)[table.population]
    return sparse.hstack([sparse.csr_array(group), sparse.csr_array(table.answers)], format="csr")


def _join_cells(rates: Floats, confusion: Floats) -> Floats:
    """Join what is of groups and of raters, the samples first, to (n_classes, n_cells, n)."""
    k = rates.shape[-1]
    of_raters = confusion.transpose(2, 1, 3, 0).reshape(k, -1, len(confusion))
    return np.concatenate([rates.transpose(2, 1, 0), of_raters], axis=1)


def _split_cells(cells: Floats, n_groups: int) -> tuple[Floats, Floats]:
    """Split cells again, to (n_classes, n_groups, n) and (n_classes, n_raters, n_categories, n)."""
    k, _, n = cells.shape
    return cells[:, :n_groups], cells[:, n_groups:].reshape(k, -1, k, n)


def _normalise_cells(cells: Floats, n_groups: int) -> Floats:
    """Divide numbers of items, and of ratings, (n_classes, n_cells, n), by their sums, in place."""
    of_groups, of_raters = _split_cells(cells, n_groups)
    of_groups /= of_groups.sum(axis=0)
    of_raters /= of_raters.sum(axis=2, keepdims=True)
    return cells


def _scale(seen: "sparse.csr_array", factor: Floats) -> "sparse.csr_array":
    """Multiply what each pattern counts by a factor, (n_patterns,)."""
    data = seen.data * np.repeat(factor, np.diff(seen.indptr))
    return sparse.csr_array((data, seen.indices, seen.indptr), seen.shape)


def _score_cells(start: Floats, n_groups: int, k: int) -> "sparse.csr_array":
    """Make the matrix of scores, (n_free, n_cells), with probabilities of a class, (n_cells,).

    Base rates and the categories of each rater but the last are free. The score of a rating, for
    the logit of a probability x, is 1 - x in this category, and -x in others.
    """
    of_raters = np.eye(k)[:-1] - start[n_groups:].reshape(-1, k, 1)[:, :-1]
    rater = np.arange(len(of_raters) + 1)
    blocks = sparse.bsr_array((of_raters, rater[:-1], rater))
    # Base rates need not be subtracted: their logits are equal up to a constant.
    return sparse.block_diag([sparse.eye_array(n_groups), blocks], format="csr")


def find_information(
    seen: "sparse.csr_array",
    weights: Floats,
    classes: Floats,
    numbers: Floats,
    scores: Sequence["sparse.csr_array"],
) -> Floats:
    r"""Compute the information about logits of probabilities, near the maximum of the likelihood.

    It is that of items whose classes are known, less what is lost as they are not: the covariance
    over the classes of each pattern of the scores s.

    .. math:: \sum_c n_c s_{ac} s_{bc} - \sum_p w_p \operatorname{Cov}_p(s_a, s_b)

    Parameters
    ----------
    seen : csr_array, shape (n_patterns, n_cells)
        As of `count_seen`.
    weights : ndarray, shape (n_patterns,)
    classes : ndarray, shape (n_patterns, n_classes)
        Their probabilities for each pattern.
    numbers : ndarray, shape (n_classes, n_cells, 1)
        Expected numbers n of items and ratings, pseudo-ratings included.
    scores : sequence of csr_array, shape (n_free, n_cells)
        The scores of items and ratings of each class.

    Returns
    -------
    ndarray, shape (n_classes * n_free, n_classes * n_free)
        Without the blocks below the diagonal, which follow by symmetry.

    References
    ----------
    Louis (1982), Finding the observed information matrix when using the EM algorithm, Journal of
    the Royal Statistical Society B 44, 226-233.
    """
    (k, n_cells), size = numbers.shape[:2], scores[0].shape[0]
    cells, within = seen.T.tocsr(), np.zeros((k, n_cells, n_cells))
    information = np.zeros((k, size, k, size))
    for z, other in combinations(range(k), 2):
        shared = _scale(seen, weights * classes[:, z] * classes[:, other])
        covariance = (cells @ shared).toarray()
        information[z, :, other] = scores[z] @ (scores[other] @ covariance).T
        # The covariances with all classes add up to 0.
        within[z] -= covariance
        within[other] -= covariance
    for z in range(k):
        within[z].flat[:: n_cells + 1] += numbers[z, :, 0]
        information[z, :, z] = scores[z] @ (scores[z] @ within[z]).T
    return information.reshape(k * size, k * size)


# ----- Starts, and the order of the classes -----


def vote_start(table: Patterns) -> LatentClasses:
    """Start from each item's proportions of votes, as Dawid and Skene did (1979, Eq. 3.1).

    Parameters
    ----------
    table : Patterns

    Returns
    -------
    LatentClasses
        The start; the classes are the categories.
    """
    votes = table.votes.count_votes() + TINY
    classes = votes / votes.sum(axis=1, keepdims=True)
    classes = np.where(table.truths[:, None] < 0, classes, table.allows(table.n_categories))
    items, counts = count(table, (table.weights[:, None] * classes)[..., None])
    rates, ratings = items[..., 0], counts[..., 0].swapaxes(1, 2)
    full = LATENT_CLASS_MODELS["dawid_skene"]
    return LatentClasses(
        base_rates=(rates / rates.sum(axis=-1, keepdims=True))[... if table.populations else 0],
        confusion=maximise_confusion(ratings, full, has_system=table.has_system),
    )


def align_labels(table: Patterns, fit: LatentClasses) -> LatentClasses:
    """Order the classes so that raters are most often right.

    The likelihood does not depend on the order of the classes; the raters' labels name them. The
    system's answers are not used for that.

    Parameters
    ----------
    table : Patterns
    fit : LatentClasses

    Returns
    -------
    LatentClasses
    """
    ratings = expect_ratings(table, expect(table, fit)[0])
    by_raters = ratings[: table.n_raters].sum(axis=0)
    names = by_raters.argmax(axis=1)
    if len(np.unique(names)) < len(names):
        names = optimize.linear_sum_assignment(-by_raters)[1]
    order = np.argsort(names)
    return replace(fit, base_rates=fit.base_rates[..., order], confusion=fit.confusion[:, order])
