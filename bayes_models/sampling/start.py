"""Where chains start: near the modes that EM finds, most of them near the highest.

Chains that start here use the labels of the raters, so that no labels are switched between chains,
and need little warm-up. Chains that all start at one mode may agree with one another although there
are other modes, which EM looks for from random starts.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayes_models.models.assemble import BASE_RATES, BY_POPULATION
from bayes_models.models.deferred import pt
from bayes_models.models.families import diagonal_concentration
from bayes_models.models.parameters import Parameter
from bayes_models.models.spec import find_model
from lehner import Patterns
from lehner.core.arrays import Floats, Integers, Seed, generator
from lehner.core.lazy import optimize
from lehner.data.patterns import UNKNOWN
from lehner.latent_class.em import e_step

if TYPE_CHECKING:
    import pymc as pm

N_STEPS = 10
N_RANDOM = 6
FIRST_STEPS, MORE_STEPS = 15, 85
SAME_MODE = 0.05
LEAST_RATIO = 0.05
LEAST_DIAGONAL = 0.02
NEAR_HALF = 0.15
NOISE = 0.1
JITTER = 1 / np.sqrt(3)
"""Standard deviation of PyMC's jitter, which is uniform between -1 and 1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Mode:
    """A mode of the posterior, described by expected numbers.

    Parameters
    ----------
    items : ndarray, shape (n_categories,)
        Expected number of items by true category.
    ratings : ndarray, shape (n_raters, n_categories, n_responses)
        Expected number of ratings by rater, true category and response.
    weight : float
        Weight of the mode among all modes found, see `posterior_modes`.
    """

    items: Floats
    ratings: Floats
    weight: float = 1.0


def expected_numbers(patterns: Patterns) -> tuple[Floats, Floats]:
    """Count items by true category, and ratings by rater, true category and response, by EM.

    It starts from raters who all have an accuracy of .6, so that its first step counts votes; the
    prior also has this accuracy.

    Parameters
    ----------
    patterns : Patterns

    Returns
    -------
    items : ndarray, shape (n_categories,)
    ratings : ndarray, shape (n_raters, n_categories, n_responses)

    References
    ----------
    Dawid & Skene (1979), Eq. 2.3-2.5 and 3.1.
    """
    k = patterns.n_categories
    start = np.zeros((k, 1)), np.zeros((len(patterns.raters), k, k, 1))
    items, ratings, _ = _take_steps(patterns, *start, N_STEPS)
    return items[:, 0], ratings[..., 0].swapaxes(1, 2)


def posterior_modes(patterns: Patterns, seed: Seed) -> tuple[Mode, ...]:
    r"""Find the modes at which chains should start.

    EM maximises the posterior of Dawid and Skene's model, with the prior of `expected_numbers`,
    from the majority vote and from draws of that prior. After some steps the true categories of a
    random start are renamed so that the raters are most often right, unless gold labels fix the
    names, because a solution with other names is not a different mode. Nor is a solution that
    assigns less than 5% of the items to other categories. Modes with less than a twentieth of the
    highest posterior density are left out.

    The weight of a mode is its part of the sum of the posterior densities of the modes that are
    kept,

    .. math:: w_m = L_m \Big/ \sum_i L_i, \qquad
        \log L = \sum_p n_p \log P(\text{ratings}_p) + \sum_{jkl} \alpha_{kl} \log \theta_{jkl}
            + \sum_k \log \pi_k

    for patterns with n items and prior counts α; it is a density of the logarithms of the
    probabilities. The weight ignores how wide a mode is, and is that of Dawid and Skene's model
    whichever model is fitted.

    Parameters
    ----------
    patterns : Patterns
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the random starts.

    Returns
    -------
    tuple of Mode
        The highest mode first. The mode found from the majority vote has the numbers of
        `expected_numbers`.

    References
    ----------
    Dawid & Skene (1979), Eq. 2.3-2.5; Yao, Vehtari & Gelman (2022), Stacking for non-mixing
    Bayesian computations, https://jmlr.org/papers/v23/20-1426.html, about chains that stay in
    different modes.
    """
    vote = expected_numbers(patterns)
    items, ratings = _draw_starts(patterns, generator(seed))
    items = np.column_stack([vote[0], items])
    ratings = np.concatenate([vote[1].swapaxes(1, 2)[..., None], ratings], axis=3)
    items, ratings, truth = _take_steps(patterns, items, ratings, FIRST_STEPS)
    _align(patterns, items, ratings, truth)
    runs = _find_different(patterns, truth, np.arange(items.shape[1]))
    if len(runs) == 1:
        return (Mode(items=vote[0], ratings=vote[1]),)
    items, ratings, truth = _take_steps(patterns, items[:, runs], ratings[..., runs], MORE_STEPS)
    density = _log_density(patterns, items, ratings)
    runs = _find_different(patterns, truth, np.argsort(-density, kind="stable"))
    runs = runs[density[runs] >= density.max() + np.log(LEAST_RATIO)]
    shares = np.exp(density[runs] - density.max())
    of_vote = _share_moved(patterns, truth[..., runs], truth[..., 0]) <= SAME_MODE
    modes = []
    for run, weight, same in zip(runs, shares / shares.sum(), of_vote, strict=True):
        numbers = vote if same else (items[:, run], ratings[..., run].swapaxes(1, 2))
        modes.append(Mode(items=numbers[0], ratings=numbers[1], weight=float(weight)))
    return tuple(modes)


def _draw_starts(patterns: Patterns, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw base rates and confusion matrices, as counts so large that the prior hardly matters."""
    k, n_raters = patterns.n_categories, len(patterns.raters)
    large = 1e9
    items = large * rng.dirichlet(np.ones(k), N_RANDOM)
    confusion = rng.standard_gamma(diagonal_concentration(k), (N_RANDOM, n_raters, k, k))
    confusion *= large / confusion.sum(axis=-1, keepdims=True)
    return items.T, confusion.transpose(1, 3, 2, 0)


def _take_steps(
    patterns: Patterns, items: Floats, ratings: Floats, n_steps: int
) -> tuple[Floats, Floats, Floats]:
    """Take steps of EM, several runs at once.

    Parameters
    ----------
    patterns : Patterns
    items : ndarray, shape (n_categories, n_runs)
    ratings : ndarray, shape (n_raters, n_responses, n_categories, n_runs)
        As `e_step` takes logarithms of confusion matrices.
    n_steps : int

    Returns
    -------
    items, ratings : ndarray
        Of the same shapes.
    truth : ndarray, shape (n_patterns, n_categories, n_runs)
        Items of each pattern by true category.
    """
    for _ in range(n_steps):
        truth, _ = e_step(patterns, np.log(items + 1), _log_confusion(ratings))
        truth = np.ascontiguousarray(truth) * patterns.counts[:, None, None]
        items = truth.sum(axis=0)
        ratings = patterns.sum_patterns(truth.reshape(len(truth), -1)).reshape(ratings.shape)
    return items, ratings, truth


def _log_confusion(ratings: Floats) -> Floats:
    confusion = ratings + diagonal_concentration(ratings.shape[1]).T[..., None]
    return np.log(confusion / confusion.sum(axis=1, keepdims=True))


def _log_density(patterns: Patterns, items: Floats, ratings: Floats) -> Floats:
    """Log posterior density of each run, up to a constant."""
    log_rates, log_confusion = (
        np.log((items + 1) / (items + 1).sum(axis=0)),
        _log_confusion(ratings),
    )
    _, log_probability = e_step(patterns, log_rates, log_confusion)
    prior = diagonal_concentration(len(items)).T[..., None]
    log_prior = (prior * log_confusion).sum(axis=(0, 1, 2)) + log_rates.sum(axis=0)
    return np.asarray(patterns.counts @ log_probability + log_prior)


def _align(patterns: Patterns, items: Floats, ratings: Floats, truth: Floats) -> None:
    """Order the categories of each run so that the raters are most often right, in place."""
    if (patterns.truths != UNKNOWN).any():
        return
    of_raters = ratings[: patterns.n_raters].sum(axis=0)
    for run in range(items.shape[1]):
        order = optimize.linear_sum_assignment(-of_raters[..., run])[1]
        for values in (items, ratings, truth):
            values[..., run] = values[..., order, run]


def _find_different(patterns: Patterns, truth: Floats, runs: Integers) -> Integers:
    """Keep the first run of each mode."""
    kept: list[int] = []
    for run in runs:
        if (_share_moved(patterns, truth[..., kept], truth[..., run]) > SAME_MODE).all():
            kept.append(run)
    return np.array(kept)


def _share_moved(patterns: Patterns, truth: Floats, other: Floats) -> Floats:
    """Proportion of items that runs assign to another category than a run does."""
    apart = np.abs(truth - other[..., None]).sum(axis=(0, 1)) / 2
    return np.asarray(apart / patterns.counts.sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class Start:
    """A point near which chains start, as base rates and confusion matrices.

    Parameters
    ----------
    base_rates : ndarray, shape (n_categories,)
        Base rates of all items.
    confusion : ndarray, shape (n_raters, n_categories, n_responses)
        Confusion matrices; the system is the last rater.
    observed : Patterns
        The ratings that are fitted.
    """

    base_rates: Floats
    confusion: Floats
    observed: Patterns

    @property
    def accuracy_by_category(self) -> Floats:
        """Accuracies by rater and category, neither 0 nor 1."""
        diagonal = np.diagonal(self.confusion, axis1=1, axis2=2)
        return np.asarray(np.clip(diagonal, LEAST_DIAGONAL, 1 - LEAST_DIAGONAL))

    @property
    def accuracy(self) -> Floats:
        """Accuracies of raters and system."""
        return np.asarray(self.accuracy_by_category @ self.base_rates)

    @property
    def system_log_odds(self) -> float:
        """Log odds that the system is right."""
        return _log_odds(self.accuracy[-1])

    def mean_confusion(self) -> Floats:
        """Mean confusion matrix of the raters."""
        return np.asarray(self.confusion[: self.observed.n_raters].mean(axis=0))

    def log_odds_of_knowing(self) -> float:
        """Log odds of knowing the category for raters who otherwise guess."""
        accuracy = self.accuracy[: self.observed.n_raters].mean()
        chance = 1 / len(self.base_rates)
        return _log_odds(np.clip((accuracy - chance) / (1 - chance), 0.1, 0.9))


def _log_odds(probability: float) -> float:
    """Log odds, exact near one half, without SciPy, which takes long to load."""
    if abs(probability - 0.5) > NEAR_HALF:
        return math.log(probability / (1 - probability))
    excess = 2 * (probability - 0.5)
    return math.log1p(excess) - math.log1p(-excess)


def em_start(observed: Patterns) -> Start:
    """Base rates and confusion matrices near the most probable ones.

    Parameters
    ----------
    observed : Patterns
        The ratings that are fitted.

    Returns
    -------
    Start
    """
    items, ratings = expected_numbers(observed)
    return start_at(Mode(items=items, ratings=ratings), observed)


def start_at(mode: Mode, observed: Patterns) -> Start:
    """Base rates and confusion matrices at a mode.

    Parameters
    ----------
    mode : Mode
        A mode of the posterior of these ratings.
    observed : Patterns
        The ratings that are fitted. Populations start with the base rates of all items.

    Returns
    -------
    Start
    """
    confusion = mode.ratings + diagonal_concentration(len(mode.items))
    return Start(
        base_rates=(mode.items + 1) / (mode.items + 1).sum(),
        confusion=confusion / confusion.sum(axis=-1, keepdims=True),
        observed=observed,
    )


def start_values(model: str, start: Start) -> dict[str, Floats]:
    """Values of a model's variables at a start.

    Parameters
    ----------
    model : str
        Name of the model.
    start : Start
        The base rates and confusion matrices there.

    Returns
    -------
    dict
        By variable; those that start where their prior is plausible are left out.
    """
    variables = find_model(model).variables
    values = {
        variable.name: np.asarray(variable.start(start)) for variable in variables if variable.start
    }
    if BASE_RATES.name in values:
        n_populations = len(start.observed.populations)
        values[BY_POPULATION] = np.tile(values[BASE_RATES.name], (n_populations, 1))
    return values


def chains_by_start(n_starts: int, chains: int) -> list[int]:
    """Spread chains over starts: one at each but the first, which has half of them or more.

    Parameters
    ----------
    n_starts : int
        Number of starts, the most probable first.
    chains : int
        Number of chains, 1 or more.

    Returns
    -------
    list of int
        Chains at each start; starts for which there are no chains are left out.

    Examples
    --------
    >>> chains_by_start(2, 4), chains_by_start(9, 4), chains_by_start(9, 1)
    ([3, 1], [2, 1, 1], [1])
    """
    others = min(n_starts - 1, chains // 2)
    return [chains - others] + [1] * others


type StartingPoint = Callable[[Mapping[str, Floats]], tuple[Floats, Floats]]
"""From values by variable to the point at which chains start, and the distance from it at which
they may; variables without a value start anywhere that is plausible."""


def start_parameters(
    parameters: Iterable[Parameter], values: Mapping[str, Floats]
) -> tuple[Floats, Floats]:
    """Start the parameters of a compiled density, as a `StartingPoint`."""
    points = []
    for parameter in parameters:
        value = values.get(parameter.name)
        point = None if value is None else parameter.coordinates(value)
        points.append((point, parameter.coordinates(parameter.typical())))
    return _join(points)


def start_variables(
    model: "pm.Model", plausible: Mapping[str, Floats], values: Mapping[str, Floats]
) -> tuple[Floats, Floats]:
    """Start the variables of a PyMC model, given its initial point, as a `StartingPoint`."""
    points = []
    for rv in model.free_RVs:
        point, transform = values.get(rv.name), model.rvs_to_transforms[rv]
        if point is not None and transform is not None:
            moved = transform.forward(pt.as_tensor(point), *rv.owner.inputs)
            with np.errstate(all="ignore"):
                point = moved.eval(mode="FAST_COMPILE")
        points.append((point, plausible[model.rvs_to_values[rv].name]))
    return _join(points)


def _join(points: Iterable[tuple[Floats | None, Floats]]) -> tuple[Floats, Floats]:
    """Join points, or the plausible ones where there is none or it is impossible."""
    joined, scales = [], []
    for point, plausible in points:
        plausible = np.ravel(plausible)
        # A user's prior may exclude the values that EM finds.
        start = plausible if point is None else np.ravel(point)
        joined.append(np.where(np.isfinite(start), start, plausible))
        scales.append(np.full(len(plausible), JITTER if point is None else NOISE))
    return np.concatenate(joined), np.concatenate(scales)
