"""Searches for the maximum of the likelihood: from many starts, or of many samples, side by side.

A run is one of the starts, or of the samples.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lehner.core.arrays import TINY, Booleans, Floats, Integers
from lehner.core.resampling import with_progress
from lehner.latent_class.em import (
    LatentClasses,
    PatternTable,
    Samples,
    e_step,
    em_step,
    sum_contiguous,
    take_logs,
    to_confusion,
    to_parameters,
)
from lehner.latent_class.models import LatentClassModel

# Number of class probabilities in memory at once; more do not fit into the processor's cache.
POSTERIOR_CELLS_AT_ONCE = 400_000
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
# Samples start so much nearer to equal probabilities than the fit, because EM cannot leave 0.
INWARDS = 0.02


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
FROM_NEAR = Search(tolerance=1e-9, standing_still=1e-6, max_iterations=1500, far=False)


class SearchResult(NamedTuple):
    """Where runs ended, (n_parameters, n_runs), at a maximum or not, after how many steps of EM."""

    points: Floats
    converged: Booleans
    steps: Integers


def accelerated_em(
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
    >>> result = accelerated_em(lambda runs: step, np.full((2, 1), 0.5), np.zeros(2, int))
    >>> result.points[:, 0].round(3)
    array([0.786, 0.214])
    """
    n_runs, steps = start.shape[1], 0
    ended_at = SearchResult(
        start.copy(), np.zeros(n_runs, dtype=bool), np.zeros(n_runs, dtype=np.int64)
    )
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
        growing = _growing(first, second) & search.far & ~back
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


def _growing(first: Floats, second: Floats) -> Booleans:
    return (second > RISE * first) & (first > ZERO) & (second < SMALL)


def _extrapolate(
    start: Floats, first: Floats, second: Floats, distribution: Integers, *, damped: bool
) -> Floats:
    """Extrapolate in the direction of two steps, by the length that they suggest."""
    log_start, log_first, log_second = (
        np.log(np.maximum(point, ZERO)) for point in (start, first, second)
    )
    pace, bend = log_first - log_start, log_second - 2 * log_first + log_start
    turn, length = sum_contiguous(second * bend**2), sum_contiguous(second * pace**2)
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
    table: PatternTable,
    starts: Sequence[LatentClasses],
    model: LatentClassModel,
    search: Search = FROM_FAR,
) -> list[LatentClasses]:
    """Maximise the likelihood of weighted patterns from each of many starts.

    Parameters
    ----------
    table : PatternTable
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
    size = _runs_at_once(len(table.weights), starts[0].base_rates.shape[-1])
    for first in with_progress("maximum likelihood", range(0, len(starts), size)):
        chunk = starts[first : first + size]
        rates = np.stack([np.atleast_2d(start.base_rates) for start in chunk])
        confusion = np.stack([start.confusion for start in chunk])
        rates, parameters, _ = em_step(table, model, rates, confusion)
        ended, (rates, confusion), (_, log_probability) = _search(
            table, model, rates, parameters, search
        )
        log_likelihood = sum_contiguous(table.weights[:, None] * log_probability)
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


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledFits:
    """The fit to each sample.

    Parameters
    ----------
    base_rates : ndarray, shape (n_samples, n_classes)
        Of all groups together, in proportion to their items in the sample.
    group_rates : ndarray, shape (n_samples, n_groups, n_classes)
        Base rates of each group, NaN in samples without items of it; without groups there is one.
    confusion : ndarray, shape (n_samples, n_raters, n_classes, n_categories)
    classes : ndarray, shape (n_patterns, n_classes, n_samples)
        Probability of each class given a pattern.
    converged : ndarray of bool, shape (n_samples,)
    """

    base_rates: Floats
    group_rates: Floats
    confusion: Floats
    classes: Floats
    converged: Booleans


def fit_samples(
    table: PatternTable, model: LatentClassModel, start: LatentClasses, samples: Samples
) -> Iterator[SampledFits]:
    """Maximise the likelihood of each of many samples of the same patterns and pseudo-ratings.

    Each sample ends at the maximum that is reached from the start, which keeps the order of the
    classes.

    Parameters
    ----------
    table : PatternTable
        Its weights are not used.
    model : LatentClassModel
    start : LatentClasses
        Start of all samples, for example the fit to the data from which they were drawn.
    samples : Samples

    Yields
    ------
    SampledFits
        The fits of some samples at a time, in order.
    """
    rates, parameters = (
        (1 - INWARDS) * values + INWARDS / values.shape[-1]
        for values in (np.atleast_2d(start.base_rates), to_parameters(start.confusion, model))
    )
    n_samples, n_patterns = samples.weights.shape
    size = _runs_at_once(n_patterns, rates.shape[-1])
    for first in with_progress("resampling", range(0, n_samples, size)):
        chunk = samples.take(slice(first, first + size))
        start_rates, start_parameters = (
            np.repeat(values[None], len(chunk.weights), axis=0) for values in (rates, parameters)
        )
        ended, (fitted, confusion), (classes, _) = _search(
            table, model, start_rates, start_parameters, FROM_NEAR, samples=chunk
        )
        n_items = table.sum_groups(chunk.weights.T).T
        proportions = n_items / n_items.sum(axis=1, keepdims=True)
        yield SampledFits(
            base_rates=np.einsum("sg,sgk->sk", proportions, fitted),
            group_rates=np.where(n_items[..., None] > 0, fitted, np.nan),
            confusion=confusion,
            classes=classes,
            converged=ended.converged,
        )


def _runs_at_once(n_patterns: int, n_classes: int) -> int:
    return max(1, POSTERIOR_CELLS_AT_ONCE // max(1, n_patterns * n_classes))


def _search(
    table: PatternTable,
    model: LatentClassModel,
    rates: Floats,
    parameters: Floats,
    search: Search,
    *,
    samples: Samples | None = None,
) -> tuple[SearchResult, tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Search from starts, (n_runs, ...).

    It gives how the runs ended, the base rates and confusion matrices that they reached, and what
    an E-step with these gives.
    """
    of_rates, of_parameters = rates.shape[1:], parameters.shape[1:]
    n_rates = int(np.prod(of_rates))

    def pack(rates: Floats, parameters: Floats) -> Floats:
        n_runs = len(rates)
        return np.concatenate([rates.reshape(n_runs, -1), parameters.reshape(n_runs, -1)], axis=1).T

    def unpack(points: Floats) -> tuple[Floats, Floats]:
        rates, parameters = points[:n_rates].T, points[n_rates:].T
        confusion = to_confusion(parameters.reshape(-1, *of_parameters), model)
        return rates.reshape(-1, *of_rates), confusion

    def step_of(runs: Integers) -> Step:
        in_runs = None if samples is None else samples.take(runs)

        def step(points: Floats) -> tuple[Floats, Floats]:
            *after, log_likelihood = em_step(table, model, *unpack(points), in_runs)
            return pack(*after), log_likelihood

        return step

    lengths = [of_rates[-1]] * of_rates[0] + [of_parameters[-1]] * int(np.prod(of_parameters[:-1]))
    distribution = np.repeat(np.arange(len(lengths)), lengths)
    ended = accelerated_em(step_of, pack(rates, parameters), distribution, search)
    reached = unpack(ended.points)
    return ended, reached, e_step(table, *take_logs(table, *reached))
