"""Where chains start: near the modes that EM finds, most of them near the highest.

Chains that start here use the labels of the raters, so that no labels are switched between chains,
and need little warm-up. Chains that all start at one mode may agree with one another although there
are other modes, which EM looks for from random starts.
"""

from dataclasses import replace

import numpy as np

from bayes_models.models.registry import find_model
from bayes_models.models.spec import BASE_RATES, BY_POPULATION, Start, make_diagonal_concentration
from lehner import Patterns
from lehner.core.arrays import Floats, Integers, Seed, make_rng
from lehner.core.lazy import optimize
from lehner.data.counts import UNKNOWN
from lehner.latent_class.em import e_step

# EM takes so many steps from the majority vote to the first start.
N_STEPS = 10
# The search for modes has so many random starts; all of them take the first steps, and those that
# differ then take more.
N_RANDOM = 6
FIRST_STEPS, MORE_STEPS = 15, 85
# Two runs are of one mode if they assign no more than this proportion of items differently.
SAME_MODE = 0.05
# A mode counts if its density is at least this proportion of the highest.
LEAST_RATIO = 0.05


def start_at_vote(observed: Patterns) -> Start:
    """Start where EM leads from the majority vote.

    It starts from raters who all have an accuracy of .6, so that its first step counts votes; the
    prior also has this accuracy.

    References
    ----------
    Dawid & Skene (1979), Eq. 2.3-2.5 and 3.1.
    """
    k = observed.n_categories
    start = np.zeros((k, 1)), np.zeros((len(observed.raters), k, k, 1))
    items, ratings, _ = _take_steps(observed, *start, N_STEPS)
    return Start(observed=observed, items=items[:, 0], ratings=ratings[..., 0].swapaxes(1, 2))


def find_modes(patterns: Patterns, seed: Seed) -> tuple[Start, ...]:
    r"""Find the modes at which chains should start.

    EM maximises the posterior of Dawid and Skene's model, with the prior of `start_at_vote`,
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
    tuple of Start
        The highest mode first. The mode found from the majority vote has the numbers of
        `start_at_vote`.

    References
    ----------
    Dawid & Skene (1979), Eq. 2.3-2.5; Yao, Vehtari & Gelman (2022), Stacking for non-mixing
    Bayesian computations, https://jmlr.org/papers/v23/20-1426.html, about chains that stay in
    different modes.
    """
    vote = start_at_vote(patterns)
    items, ratings = _draw_starts(patterns, make_rng(seed))
    items = np.column_stack([vote.items, items])
    ratings = np.concatenate([vote.ratings.swapaxes(1, 2)[..., None], ratings], axis=3)
    items, ratings, truth = _take_steps(patterns, items, ratings, FIRST_STEPS)
    _align(patterns, items, ratings, truth)
    runs = _find_different(patterns, truth, np.arange(items.shape[1]))
    if len(runs) == 1:
        return (vote,)
    items, ratings, truth = _take_steps(patterns, items[:, runs], ratings[..., runs], MORE_STEPS)
    density = _compute_density(patterns, items, ratings)
    runs = _find_different(patterns, truth, np.argsort(-density, kind="stable"))
    runs = runs[density[runs] >= density.max() + np.log(LEAST_RATIO)]
    shares = np.exp(density[runs] - density.max())
    of_vote = _measure_distance(patterns, truth[..., runs], truth[..., 0]) <= SAME_MODE
    modes = []
    for run, weight, same in zip(runs, (shares / shares.sum()).tolist(), of_vote, strict=True):
        numbers = ratings[..., run].swapaxes(1, 2)
        mode = vote if same else Start(observed=patterns, items=items[:, run], ratings=numbers)
        modes.append(replace(mode, weight=weight))
    return tuple(modes)


def _draw_starts(patterns: Patterns, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw base rates and confusion matrices, as counts so large that the prior hardly matters."""
    k, n_raters = patterns.n_categories, len(patterns.raters)
    large = 1e9
    items = large * rng.dirichlet(np.ones(k), N_RANDOM)
    confusion = rng.standard_gamma(make_diagonal_concentration(k), (N_RANDOM, n_raters, k, k))
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
        truth, _ = e_step(patterns, np.log(items + 1), _compute_log_confusion(ratings))
        truth = np.ascontiguousarray(truth) * patterns.counts[:, None, None]
        items = truth.sum(axis=0)
        ratings = patterns.sum_patterns(truth.reshape(len(truth), -1)).reshape(ratings.shape)
    return items, ratings, truth


def _compute_log_confusion(ratings: Floats) -> Floats:
    confusion = ratings + make_diagonal_concentration(ratings.shape[1]).T[..., None]
    return np.log(confusion / confusion.sum(axis=1, keepdims=True))


def _compute_density(patterns: Patterns, items: Floats, ratings: Floats) -> Floats:
    """Log posterior density of each run, up to a constant."""
    log_rates = np.log((items + 1) / (items + 1).sum(axis=0))
    log_confusion = _compute_log_confusion(ratings)
    _, log_probability = e_step(patterns, log_rates, log_confusion)
    prior = make_diagonal_concentration(len(items)).T[..., None]
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
        if (_measure_distance(patterns, truth[..., kept], truth[..., run]) > SAME_MODE).all():
            kept.append(run)
    return np.array(kept)


def _measure_distance(patterns: Patterns, truth: Floats, other: Floats) -> Floats:
    """Measure the proportion of items that runs assign to another category than a run does."""
    apart = np.abs(truth - other[..., None]).sum(axis=(0, 1)) / 2
    return np.asarray(apart / patterns.counts.sum())


def find_start_values(model: str, start: Start) -> dict[str, Floats]:
    """Find the values of a model's variables at a start.

    Parameters
    ----------
    model : str
        Name of the model.
    start : Start

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


def spread_chains(n_starts: int, chains: int) -> list[int]:
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
    >>> spread_chains(2, 4), spread_chains(9, 4), spread_chains(9, 1)
    ([3, 1], [2, 1, 1], [1])
    """
    n_single = min(n_starts - 1, chains // 2)
    return [chains - n_single] + [1] * n_single
