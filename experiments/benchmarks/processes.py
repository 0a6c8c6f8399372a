"""Ratings from processes that no method here was made for.

Each process is a function of the accuracy the system is to have and a random generator. It gives
200 items (or as many as its name says), the ratings and the truths, and the system's expected
accuracy. Where nothing else is said there are four categories with random base rates, and errors
are equally probable.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from lehner import Ratings
from lehner.core.arrays import Booleans, Floats, Integers

type Sample = tuple[Ratings, float]
type Process = Callable[[float, np.random.Generator], Sample]

N_ITEMS = 200
N_CATEGORIES = 4
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)


def shared_difficulty(
    accuracy: float, rng: np.random.Generator, *, n_items: int = N_ITEMS, also_system: bool = True
) -> Sample:
    """Let the log odds of three raters, and of the system, vary with each item's difficulty."""
    truth, _ = _truths(rng, n_items=n_items)
    easiness = rng.normal(size=n_items)
    ability = rng.normal(logit(0.6), 0.5, 3)
    of_system = easiness if also_system else rng.normal(size=n_items)
    chances = [*expit(ability[:, None] + easiness), expit(_intercept(accuracy) + of_system)]
    return _rate(rng, truth, [_equal_errors(chance, truth) for chance in chances]), accuracy


def own_difficulty(accuracy: float, rng: np.random.Generator) -> Sample:
    """Let what is difficult for the system be other items than what is difficult for raters."""
    return shared_difficulty(accuracy, rng, also_system=False)


def random_matrices(accuracy: float, rng: np.random.Generator) -> Sample:
    """Draw each row of each confusion matrix from a Dirichlet distribution of strength 8."""
    truth, base_rates = _truths(rng)
    matrices = [_random_matrix(rng, mean) for mean in (0.5, 0.6, 0.7, accuracy)]
    expected = float(base_rates @ np.diagonal(matrices[-1]))
    return _rate(rng, truth, [matrix[truth] for matrix in matrices]), expected


def sensitivity_and_specificity(accuracy: float, rng: np.random.Generator) -> Sample:
    """Give all raters a sensitivity of .6 and a specificity of .9, with two categories."""
    positive = rng.uniform(0.3, 0.7)
    truth = (rng.random(N_ITEMS) < positive).astype(int)
    rows = np.array([[0.9, 0.1], [0.4, 0.6]])[truth]
    system = _equal_errors(accuracy, truth, n_categories=2)
    return _rate(rng, truth, [rows, rows, rows, system], n_categories=2), accuracy


def spammers(accuracy: float, rng: np.random.Generator) -> Sample:
    """Let two of eight raters answer at random."""
    truth, _ = _truths(rng)
    chances = [0.6] * 6 + [1 / N_CATEGORIES] * 2 + [accuracy]
    return _rate(rng, truth, [_equal_errors(chance, truth) for chance in chances]), accuracy


def two_raters(accuracy: float, rng: np.random.Generator) -> Sample:
    """Give two raters of accuracy .6 and .7, and five categories."""
    truth, _ = _truths(rng, n_categories=5)
    chances = [_equal_errors(chance, truth, n_categories=5) for chance in (0.6, 0.7, accuracy)]
    return _rate(rng, truth, chances, n_categories=5), accuracy


def crowd(accuracy: float, rng: np.random.Generator) -> Sample:
    """Let five of twenty raters rate each item; difficulty touches raters only."""
    truth, _ = _truths(rng)
    easiness = rng.normal(scale=0.7, size=N_ITEMS)
    ability = rng.normal(logit(0.65), 0.6, 20)
    chances = [*expit(ability[:, None] + easiness), np.full(N_ITEMS, accuracy)]
    rates = rng.permuted(np.tile(np.arange(20) < 5, (N_ITEMS, 1)), axis=1)
    return _rate(rng, truth, [_equal_errors(c, truth) for c in chances], rates=rates), accuracy


def copying(accuracy: float, rng: np.random.Generator) -> Sample:
    """Let the second of three raters copy the first in 30% of the items."""
    truth, _ = _truths(rng)
    rows = [_equal_errors(chance, truth) for chance in (0.6, 0.6, 0.6, accuracy)]
    ratings = _rate(rng, truth, rows)
    copied = rng.random(N_ITEMS) < 0.3
    codes = ratings.codes.copy()
    codes[copied, 1] = codes[copied, 0]
    return _ratings(codes, ratings.system, truth, N_CATEGORIES), accuracy


def errors_to_neighbours(accuracy: float, rng: np.random.Generator) -> Sample:
    """Let all errors go to a neighbour of the truth among five ordered categories."""
    truth, _ = _truths(rng, n_categories=5)
    near = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) == 1
    errors = near / near.sum(axis=1, keepdims=True)
    rows = [
        (chance * np.eye(5) + (1 - chance) * errors)[truth] for chance in (0.5, 0.6, 0.7, accuracy)
    ]
    return _rate(rng, truth, rows, n_categories=5, ordered=True), accuracy


def few_items(accuracy: float, rng: np.random.Generator) -> Sample:
    """Give 40 items of shared difficulty."""
    return shared_difficulty(accuracy, rng, n_items=40)


def many_items(accuracy: float, rng: np.random.Generator) -> Sample:
    """Give 1,000 items of shared difficulty."""
    return shared_difficulty(accuracy, rng, n_items=1000)


def favourite_category(accuracy: float, rng: np.random.Generator) -> Sample:
    """Let the system answer the most frequent category in 30% of the items, whatever the truth."""
    truth, base_rates = _truths(rng)
    favourite = np.eye(N_CATEGORIES)[base_rates.argmax()]
    raters = [_equal_errors(chance, truth) for chance in (0.5, 0.6, 0.7)]
    system = 0.7 * _equal_errors(accuracy, truth) + 0.3 * favourite
    expected = 0.7 * accuracy + 0.3 * float(base_rates.max())
    return _rate(rng, truth, [*raters, system]), expected


PROCESSES: dict[str, Process] = {
    "A shared difficulty": shared_difficulty,
    "B own difficulty": own_difficulty,
    "C random matrices": random_matrices,
    "D sensitivity .6, specificity .9": sensitivity_and_specificity,
    "E two of eight are spammers": spammers,
    "F two raters": two_raters,
    "G crowd": crowd,
    "H copying": copying,
    "I errors to neighbours": errors_to_neighbours,
    "J shared difficulty, 40 items": few_items,
    "J shared difficulty, 1,000 items": many_items,
    "K favourite category": favourite_category,
}


def _truths(
    rng: np.random.Generator, *, n_items: int = N_ITEMS, n_categories: int = N_CATEGORIES
) -> tuple[Integers, Floats]:
    base_rates = rng.dirichlet(np.full(n_categories, 4.0))
    return rng.choice(n_categories, n_items, p=base_rates), base_rates


def _equal_errors(
    accuracy: float | Floats, truth: Integers, *, n_categories: int = N_CATEGORIES
) -> Floats:
    """Give each item's probabilities of responses, shape (n_items, n_categories)."""
    chance = np.broadcast_to(accuracy, truth.shape)[:, None]
    right = np.eye(n_categories)[truth]
    return chance * right + (1 - chance) / (n_categories - 1) * (1 - right)


def _random_matrix(rng: np.random.Generator, accuracy: float) -> Floats:
    wrong = 8 * (1 - accuracy) / (N_CATEGORIES - 1)
    concentration = np.full((N_CATEGORIES, N_CATEGORIES), wrong)
    np.fill_diagonal(concentration, 8 * accuracy)
    return np.array([rng.dirichlet(row) for row in concentration])


def _intercept(accuracy: float) -> float:
    """Give the log odds at mean difficulty that make the mean accuracy what it is to be."""
    weights = WEIGHTS / WEIGHTS.sum()
    return float(brentq(lambda x: float(expit(x + NODES) @ weights) - accuracy, -12, 12))


def _rate(
    rng: np.random.Generator,
    truth: Integers,
    probabilities: Sequence[Floats],
    *,
    n_categories: int = N_CATEGORIES,
    ordered: bool = False,
    rates: Booleans | None = None,
) -> Ratings:
    """Draw the responses of raters and, the last, system from each item's probabilities."""
    cumulated = np.cumsum(probabilities, axis=-1)[..., :-1]
    codes = (rng.random((len(cumulated), len(truth), 1)) > cumulated).sum(axis=-1).T
    raters = codes[:, :-1] if rates is None else np.where(rates, codes[:, :-1], -1)
    return _ratings(raters, codes[:, -1], truth, n_categories, ordered=ordered)


def _ratings(
    codes: Integers,
    system: Integers | None,
    truth: Integers,
    n_categories: int,
    *,
    ordered: bool = False,
) -> Ratings:
    names = [f"category {k}" for k in range(1, n_categories + 1)]
    return Ratings(codes, names, system=system, truth=truth, ordered=ordered)
