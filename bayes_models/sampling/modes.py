"""Modes of the posterior, found by EM from the majority vote and from random starts.

Chains that all start at one mode may agree with one another although there are other modes.
"""

from dataclasses import dataclass

import numpy as np

from bayes_models.models.families import diagonal_concentration
from lehner import Patterns
from lehner.core.arrays import Floats, Integers, class_posterior
from lehner.core.lazy import optimize
from lehner.core.seeds import Seed, generator
from lehner.data.patterns import UNKNOWN
from lehner.latent_class.em import log_joint

N_STEPS = 10
N_RANDOM = 6
FIRST_STEPS, MORE_STEPS = 15, 85
SAME_MODE = 0.05
LEAST_RATIO = 0.05


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
    start = np.zeros((1, k)), np.zeros((len(patterns.raters), k, 1, k))
    items, ratings, _ = _take_steps(patterns, *start, N_STEPS)
    return items[0], ratings[:, :, 0].swapaxes(1, 2)


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
    items, ratings = _random_starts(patterns, generator(seed))
    items = np.concatenate([vote[0][None], items])
    ratings = np.concatenate([vote[1].swapaxes(1, 2)[:, :, None], ratings], axis=2)
    items, ratings, truth = _take_steps(patterns, items, ratings, FIRST_STEPS)
    _align(patterns, items, ratings, truth)
    runs = _different(patterns, truth, np.arange(len(items)))
    if len(runs) == 1:
        return (Mode(items=vote[0], ratings=vote[1]),)
    items, ratings, truth = _take_steps(patterns, items[runs], ratings[:, :, runs], MORE_STEPS)
    density = _log_density(patterns, items, ratings)
    runs = _different(patterns, truth, np.argsort(-density, kind="stable"))
    runs = runs[density[runs] >= density.max() + np.log(LEAST_RATIO)]
    shares = np.exp(density[runs] - density.max())
    of_vote = _held_otherwise(patterns, truth[:, runs], truth[:, 0]) <= SAME_MODE
    return tuple(
        Mode(items=vote[0], ratings=vote[1], weight=float(weight))
        if same
        else Mode(items=items[r], ratings=ratings[:, :, r].swapaxes(1, 2), weight=float(weight))
        for r, weight, same in zip(runs, shares / shares.sum(), of_vote, strict=True)
    )


def _random_starts(patterns: Patterns, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw base rates and confusion matrices, as counts so large that the prior hardly matters."""
    k, n_raters = patterns.n_categories, len(patterns.raters)
    large = 1e9
    items = large * rng.dirichlet(np.ones(k), N_RANDOM)
    confusion = rng.standard_gamma(diagonal_concentration(k), (N_RANDOM, n_raters, k, k))
    confusion *= large / confusion.sum(axis=-1, keepdims=True)
    return items, confusion.transpose(1, 3, 0, 2)


def _take_steps(
    patterns: Patterns, items: Floats, ratings: Floats, n_steps: int
) -> tuple[Floats, Floats, Floats]:
    """Take steps of EM, several runs at once.

    Parameters
    ----------
    patterns : Patterns
    items : ndarray, shape (n_runs, n_categories)
    ratings : ndarray, shape (n_raters, n_responses, n_runs, n_categories)
        Responses come before true categories, as the matrix product with the cells needs them.
    n_steps : int

    Returns
    -------
    items, ratings : ndarray
        Of the same shapes.
    truth : ndarray, shape (n_patterns, n_runs, n_categories)
        Items of each pattern by true category.
    """
    for _ in range(n_steps):
        log = log_joint(patterns, np.log(items + 1).T, _log_confusion(ratings).swapaxes(2, 3))
        truth, _ = class_posterior(np.ascontiguousarray(log.swapaxes(1, 2)))
        truth *= patterns.counts[:, None, None]
        items = truth.sum(axis=0)
        counted = patterns.sum_patterns(truth.reshape(len(truth), -1))
        ratings = counted.reshape(ratings.shape)
    return items, ratings, truth


def _log_confusion(ratings: Floats) -> Floats:
    confusion = ratings + diagonal_concentration(ratings.shape[1])[:, None, :]
    return np.log(confusion / confusion.sum(axis=1, keepdims=True))


def _log_density(patterns: Patterns, items: Floats, ratings: Floats) -> Floats:
    """Log posterior density of each run, up to a constant."""
    log_confusion = _log_confusion(ratings)
    scale = np.log((items + 1).sum(axis=1))
    log_rates = np.log(items + 1) - scale[:, None]
    log = log_joint(patterns, np.log(items + 1).T, log_confusion.swapaxes(2, 3))
    of_pattern = class_posterior(log, axis=1)[1] - scale
    prior = diagonal_concentration(items.shape[1])[:, None, :]
    of_prior = (prior * log_confusion).sum(axis=(0, 1, 3)) + log_rates.sum(axis=1)
    return np.asarray(patterns.counts @ of_pattern + of_prior)


def _align(patterns: Patterns, items: Floats, ratings: Floats, truth: Floats) -> None:
    """Order the categories of each run so that the raters are most often right, in place."""
    if (patterns.truths != UNKNOWN).any():
        return
    of_raters = ratings[: len(ratings) - patterns.has_system].sum(axis=0)
    for run in range(len(items)):
        order = optimize.linear_sum_assignment(-of_raters[:, run])[1]
        items[run] = items[run, order]
        ratings[:, :, run] = ratings[:, :, run, order]
        truth[:, run] = truth[:, run, order]


def _different(patterns: Patterns, truth: Floats, runs: Integers) -> Integers:
    """Keep the first run of each mode."""
    kept: list[int] = []
    for run in runs:
        share = _held_otherwise(patterns, truth[:, kept], truth[:, run])
        if (share > SAME_MODE).all():
            kept.append(run)
    return np.array(kept)


def _held_otherwise(patterns: Patterns, truth: Floats, other: Floats) -> Floats:
    """Proportion of items that runs assign to another category than a given run does."""
    apart = np.abs(truth - other[:, None]).sum(axis=(0, 2)) / 2
    return np.asarray(apart / patterns.counts.sum())
