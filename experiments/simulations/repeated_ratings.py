"""What a rater's repeated ratings of an item should count: six rules, by simulation.

Three raters and a system that is right on .9 of 300 items. Raters repeat their ratings in ways
from copying themselves to ratings that are independent given the truth. Nothing was tuned.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from experiments.simulations.simulation import Simulation, of_data_sets
from experiments.study.cells import result_row
from lehner import IntervalEstimate
from lehner.algebra.algebraic import base_rates, clip_base_rates, rater_accuracy
from lehner.algebra.system_accuracy import by_weights
from lehner.core.arrays import Floats, Integers
from lehner.core.draw_categories import draw_categories
from lehner.latent_class.expectation_maximisation import align_labels, fit_patterns, vote_start
from lehner.latent_class.models import LATENT_CLASS_MODELS
from lehner.latent_class.pattern_table import PatternTable

N_ITEMS = 300
N_RATERS = 3
SYSTEM_ACCURACY = 0.9
LEVEL = 0.9
RESAMPLES = 200
DATA_SETS = 200
ACCURACY = {2: 0.75, 3: 0.7, 5: 0.6}
"""Of the raters, by the number of categories."""
MISSING = 0.1
UNEQUAL = 0.12
"""How much more often than the others raters are right on items of the first category."""


@dataclass(frozen=True, kw_only=True)
class Process:
    """How raters repeat their ratings.

    Parameters
    ----------
    copies : tuple of float
        For each rater, the probability that a later rating copies the first.
    times : tuple of int, optional
        How often each rater rates an item; if not given, 1 to 5 times at random, and not at all
        with probability .1.
    difficulty : float
        Standard deviation of a latent difficulty of an item for a rater, in log odds, which stays
        when the rater rates the item again.
    unequal : bool
        Whether raters are right more often on items of the first category, which is more frequent.
    """

    copies: tuple[float, ...] = (0.0,) * N_RATERS
    times: tuple[int, ...] | None = (2,) * N_RATERS
    difficulty: float = 0.0
    unequal: bool = False


PROCESSES = {
    f"each twice, {share:.0%} copied": Process(copies=(share,) * N_RATERS)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0)
} | {
    "each twice, items difficult for a rater": Process(difficulty=2.0),
    "each twice, one copies all, others none": Process(copies=(1.0, 0.0, 0.0)),
    "one five times, 0% copied": Process(times=(5, 1, 1)),
    "one five times, 50% copied": Process(times=(5, 1, 1), copies=(0.5,) * N_RATERS),
    "one to five times, 50% copied": Process(times=None, copies=(0.5,) * N_RATERS),
    "each twice, 0% copied, unequal errors": Process(unequal=True),
    "each twice, 50% copied, unequal errors": Process(unequal=True, copies=(0.5,) * N_RATERS),
}


def draw_counts(
    process: Process, k: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Integers]:
    """Ratings and the system's answers.

    Parameters
    ----------
    process : Process
    k : int
        Number of categories.
    rng : numpy.random.Generator

    Returns
    -------
    counts : ndarray, shape (n_items, n_raters, n_categories)
        How often each rater gave each category.
    first : ndarray, same shape
        The first ratings only.
    system : ndarray of int, shape (n_items,)
    """
    rates = np.full(k, 0.3 / (k - 1) if process.unequal else 1 / k)
    rates[0] = 1 - rates[1:].sum()
    truth = rng.choice(k, N_ITEMS, p=rates)
    right = _right(process, k, truth, rng)
    shape = (N_ITEMS, N_RATERS)
    times = np.broadcast_to(process.times or 0, shape)
    if process.times is None:
        times = np.where(rng.random(shape) < MISSING, 0, rng.integers(1, 6, shape))
    counts, first = np.zeros((2, *shape, k))
    item, rater = np.indices(shape)
    before = np.zeros(shape, np.int64)
    for occasion in range(times.max()):
        wrong = (truth[:, None] + rng.integers(1, k, shape)) % k
        rating = np.where(rng.random(right.shape) < right, truth[:, None], wrong)
        copied = rng.random(right.shape) < np.array(process.copies)
        rating = np.where(copied & (occasion > 0), before, rating)
        given = times > occasion
        counts[item[given], rater[given], rating[given]] += 1
        if occasion == 0:
            before, first = rating, counts.copy()
    confusion = np.full((k, k), (1 - SYSTEM_ACCURACY) / (k - 1))
    np.fill_diagonal(confusion, SYSTEM_ACCURACY)
    return counts, first, draw_categories(confusion, rng.random(N_ITEMS), truth)


def _right(process: Process, k: int, truth: Integers, rng: np.random.Generator) -> Floats:
    """Probability that each rater is right on each item, (n_items, n_raters)."""
    accuracy = np.full((N_ITEMS, N_RATERS), ACCURACY[k])
    if process.unequal:
        accuracy += np.where(truth == 0, UNEQUAL, -UNEQUAL)[:, None]
    if not process.difficulty:
        return accuracy
    # The mean log odds at which the mean of the probabilities is the accuracy.
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    centres = np.linspace(-2, 8, 1001)
    means = expit(centres[:, None] + process.difficulty * nodes) @ weights / weights.sum()
    centre = np.interp(ACCURACY[k], means, centres)
    return expit(centre + process.difficulty * rng.standard_normal(accuracy.shape))


# ----- The rules: votes of each rater, and shares of a vote that are compared with others' -----


def every_rating(counts: Floats, first: Floats) -> tuple[Floats, Floats]:
    """Take each rating for a vote."""
    return counts, counts


def shared_vote(counts: Floats, first: Floats) -> tuple[Floats, Floats]:
    """Take each of m ratings for 1/m of a vote."""
    shares = counts / np.maximum(counts.sum(axis=2, keepdims=True), 1)
    return shares, shares


def first_rating(counts: Floats, first: Floats) -> tuple[Floats, Floats]:
    """Take the first rating for the vote."""
    return first, first


def most_frequent(counts: Floats, first: Floats) -> tuple[Floats, Floats]:
    """Take the most frequent rating for the vote, none where two tie, as `Ratings` does."""
    top = (counts == counts.max(axis=2, keepdims=True)) & (counts > 0)
    votes = np.where(top.sum(axis=2, keepdims=True) == 1, top, 0).astype(float)
    return votes, votes


def design_effect(
    counts: Floats, first: Floats, *, by_rater: bool = False
) -> tuple[Floats, Floats]:
    """Take each of m ratings for 1 / (1 + (m - 1) rho) of a vote.

    rho is how much more often a rater, or each rater, agrees with itself than two raters do,
    relative to certainty.
    """
    shares, _ = shared_vote(counts, first)
    times = counts.sum(axis=2)
    twice = times > 1
    pairs_of_own = np.where(twice, times * (times - 1), 1)
    same = np.where(twice, (counts * (counts - 1)).sum(axis=2) / pairs_of_own, 0)
    agreeing, pairs = _pairs(shares)
    others = agreeing.sum() / pairs.sum()
    axis = 0 if by_rater else None
    own = same.sum(axis=axis) / np.maximum(twice.sum(axis=axis), 1)
    rho = np.clip((own - others) / (1 - others), 0, 1)
    return counts / (1 + np.maximum(times - 1, 0) * rho)[..., None], shares


RULES: Mapping[str, Callable[[Floats, Floats], tuple[Floats, Floats]]] = {
    "every rating": every_rating,
    "1/m each": shared_vote,
    "first rating": first_rating,
    "most frequent": most_frequent,
    "design effect": design_effect,
    "design effect by rater": partial(design_effect, by_rater=True),
}


def _pairs(shares: Floats) -> tuple[Floats, Floats]:
    """Number of agreeing pairs of different raters, and all such pairs, of each item."""
    by_rater = shares.sum(axis=2)
    agreeing = (shares.sum(axis=1) ** 2).sum(axis=1) - (shares**2).sum(axis=(1, 2))
    pairs = by_rater.sum(axis=1) ** 2 - (by_rater**2).sum(axis=1)
    return agreeing / 2, pairs / 2


# ----- The methods, for votes in fractions -----


def by_algebra(
    votes: Floats, shares: Floats, system: Integers, rng: np.random.Generator
) -> IntervalEstimate:
    """Estimate as `estimate_algebraic` does."""
    k = votes.shape[2]
    items = np.column_stack([votes.sum(axis=1), shares.sum(axis=1), *_pairs(shares), system])
    unique, n_items = np.unique(items.round(9), axis=0, return_counts=True)
    of_item, shared, (agreeing, pairs, answer) = np.split(unique.T, [k, 2 * k])
    weights = np.vstack([n_items, rng.multinomial(N_ITEMS, n_items / N_ITEMS, RESAMPLES)])
    accuracy = rater_accuracy(weights @ agreeing / (weights @ pairs), k)
    totals = weights @ shared.T
    rates = clip_base_rates(base_rates(totals / totals.sum(axis=1, keepdims=True), accuracy))
    log_odds = np.log(accuracy * (k - 1) / (1 - accuracy))
    behind = (of_item - of_item.max(axis=0)).T
    truth = rates[:, None] * np.exp(log_odds[:, None, None] * behind)
    truth /= truth.sum(axis=2, keepdims=True)
    answers = weights[:, :, None] * (answer[:, None] == np.arange(k))
    found = by_weights(truth, answers)
    lower, upper = np.nanquantile(found[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return IntervalEstimate(
        estimate=float(found[0]),
        lower=float(lower),
        upper=float(upper),
        level=LEVEL,
        kind="bootstrap",
    )


def by_maximum_likelihood(votes: Floats, system: Integers) -> IntervalEstimate:
    """Estimate as `dawid_skene_ml` does, without an interval."""
    k = votes.shape[2]
    answers = np.concatenate([votes, (system[:, None] == np.arange(k))[:, None]], axis=1)
    patterns, n_items = np.unique(answers.reshape(N_ITEMS, -1), axis=0, return_counts=True)
    table = PatternTable(answers=patterns, weights=n_items.astype(float), n_categories=k)
    found = fit_patterns(table, vote_start(table), LATENT_CLASS_MODELS["dawid_skene"])
    found = align_labels(table, found)
    return IntervalEstimate(estimate=float(found.base_rates @ np.diagonal(found.confusion[-1])))


def _rows(process: Process, k: int, seed: np.random.SeedSequence) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    counts, first, system = draw_counts(process, k, rng)
    for name, rule in RULES.items():
        votes, shares = rule(counts, first)
        found = {
            "algebraic": by_algebra(votes, shares, system, rng),
            "dawid_skene_ml": by_maximum_likelihood(votes, system),
        }
        for method, estimate in found.items():
            yield result_row(SYSTEM_ACCURACY, estimate, method=method, rule=name)


SIMULATION = Simulation(
    designs=[
        of_data_sets((k, place), _rows, process, k, n_categories=k, process=name)
        for k in ACCURACY
        for place, (name, process) in enumerate(PROCESSES.items())
    ],
    data_sets=DATA_SETS,
)
