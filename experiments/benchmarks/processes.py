"""The settings in which methods are compared: of the paper, and processes that no method assumes.

Each setting is a function of the accuracy the system is to have and a seed. It gives ratings with
truths, and the system's expected accuracy. The K-properties hold in Figures 3 and 6 of the paper
and in the settings with two categories. The processes have 200 items and four categories with
random base rates, and all errors are equally probable, unless something else is said.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from experiments.paper.figure_scenarios import FIGURES, PRESETS
from lehner import Ratings, Scenario, simulate, true_parameters
from lehner.core.arrays import Booleans, Floats, Integers

type Sample = tuple[Ratings, float]
type Process = Callable[[float, np.random.Generator], Sample]

FIGURES_COMPARED = (10, 9, 3, 11, 13, 12, 14, 6)
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
    return _rate(rng, truth, _equal_errors(chances, truth)), accuracy


def random_matrices(accuracy: float, rng: np.random.Generator) -> Sample:
    """Draw each row of each confusion matrix from a Dirichlet distribution of strength 8."""
    truth, base_rates = _truths(rng)
    wrong, right = np.ones((4, 4)) - np.eye(4), np.eye(4)
    means = [mean * right + (1 - mean) / 3 * wrong for mean in (0.5, 0.6, 0.7, accuracy)]
    matrices = np.array([[rng.dirichlet(8 * row) for row in mean] for mean in means])
    expected = float(base_rates @ np.diagonal(matrices[-1]))
    return _rate(rng, truth, matrices[:, truth]), expected


def sensitivity_and_specificity(accuracy: float, rng: np.random.Generator) -> Sample:
    """Give all raters a sensitivity of .6 and a specificity of .9, with two categories."""
    positive = rng.uniform(0.3, 0.7)
    truth = (rng.random(N_ITEMS) < positive).astype(int)
    rows = np.array([[0.9, 0.1], [0.4, 0.6]])[truth]
    (system,) = _equal_errors([accuracy], truth, n_categories=2)
    return _rate(rng, truth, [rows, rows, rows, system]), accuracy


def equal_errors(
    raters: Sequence[float],
    accuracy: float,
    rng: np.random.Generator,
    *,
    n_categories: int = N_CATEGORIES,
) -> Sample:
    """Give raters accuracies that are the same for all items."""
    truth, _ = _truths(rng, n_categories=n_categories)
    chances = _equal_errors([*raters, accuracy], truth, n_categories=n_categories)
    return _rate(rng, truth, chances), accuracy


def crowd(accuracy: float, rng: np.random.Generator) -> Sample:
    """Let five of twenty raters rate each item; difficulty touches raters only."""
    truth, _ = _truths(rng)
    easiness = rng.normal(scale=0.7, size=N_ITEMS)
    ability = rng.normal(logit(0.65), 0.6, 20)
    chances = [*expit(ability[:, None] + easiness), np.full(N_ITEMS, accuracy)]
    rates = rng.permuted(np.tile(np.arange(20) < 5, (N_ITEMS, 1)), axis=1)
    return _rate(rng, truth, _equal_errors(chances, truth), rates=rates), accuracy


def copying(accuracy: float, rng: np.random.Generator) -> Sample:
    """Let the second of three raters copy the first in 30% of the items."""
    ratings, _ = equal_errors((0.6,) * 3, accuracy, rng)
    copied = rng.random(N_ITEMS) < 0.3
    codes = ratings.codes.copy()
    codes[copied, 1] = codes[copied, 0]
    system, truth = ratings.system, ratings.truth
    return Ratings(codes, ratings.categories, system=system, truth=truth), accuracy


def errors_to_neighbours(accuracy: float, rng: np.random.Generator) -> Sample:
    """Let all errors go to a neighbour of the truth among five ordered categories."""
    truth, _ = _truths(rng, n_categories=5)
    near = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) == 1
    errors = near / near.sum(axis=1, keepdims=True)
    chances = (0.5, 0.6, 0.7, accuracy)
    rows = [(chance * np.eye(5) + (1 - chance) * errors)[truth] for chance in chances]
    return _rate(rng, truth, rows, ordered=True), accuracy


def favourite_category(accuracy: float, rng: np.random.Generator) -> Sample:
    """Let the system answer the most frequent category in 30% of the items, whatever the truth."""
    truth, base_rates = _truths(rng)
    favourite = np.eye(N_CATEGORIES)[base_rates.argmax()]
    rows = _equal_errors([0.5, 0.6, 0.7, accuracy], truth)
    rows[-1] = 0.7 * rows[-1] + 0.3 * favourite
    return _rate(rng, truth, rows), 0.7 * accuracy + 0.3 * float(base_rates.max())


PROCESSES: dict[str, Process] = {
    "A shared difficulty": shared_difficulty,
    "B own difficulty": partial(shared_difficulty, also_system=False),
    "C random matrices": random_matrices,
    "D sensitivity .6, specificity .9": sensitivity_and_specificity,
    "E two of eight are spammers": partial(equal_errors, [0.6] * 6 + [1 / N_CATEGORIES] * 2),
    "F two raters": partial(equal_errors, [0.6, 0.7], n_categories=5),
    "G crowd": crowd,
    "H copying": copying,
    "I errors to neighbours": errors_to_neighbours,
    "J shared difficulty, 40 items": partial(shared_difficulty, n_items=40),
    "J shared difficulty, 1,000 items": partial(shared_difficulty, n_items=1000),
    "K favourite category": favourite_category,
}


@dataclass(frozen=True)
class Setting:
    """A way to simulate ratings, and the accuracies that the system has one after another."""

    system_accuracies: tuple[float, ...]
    draw: Callable[[float, np.random.SeedSequence], Sample]


def _of_figure(number: int, accuracy: float, seed: np.random.SeedSequence) -> Sample:
    return _of_scenario(FIGURES[number].scenario(accuracy), seed)


def _of_two_categories(
    rater: float, n_items: int, base_rate: float, accuracy: float, seed: np.random.SeedSequence
) -> Sample:
    scenario = Scenario(
        n_categories=2,
        n_items=n_items,
        initial_rater_accuracy=(rater,) * 3,
        initial_system_accuracy=accuracy,
        base_rates=(base_rate, 1 - base_rate),
    )
    return _of_scenario(scenario, seed)


def _of_scenario(scenario: Scenario, seed: np.random.SeedSequence) -> Sample:
    return simulate(scenario, seed), float(true_parameters(scenario, seed).system_accuracy)


def _of_process(process: Process, accuracy: float, seed: np.random.SeedSequence) -> Sample:
    return process(accuracy, np.random.default_rng(seed))


TWO_CATEGORIES = {
    f"raters {raters}, {n_items} items, base rate {base_rate}": Setting(
        (0.5, 0.9), partial(_of_two_categories, raters, n_items, base_rate)
    )
    for raters, n_items, base_rate in product((0.7, 0.8), (100, 200), (0.5, 0.2))
}
SETTINGS = (
    {f"figure {n}": Setting(PRESETS, partial(_of_figure, n)) for n in FIGURES_COMPARED}
    | TWO_CATEGORIES
    | {
        name: Setting((0.3, 0.6, 0.9), partial(_of_process, process))
        for name, process in PROCESSES.items()
    }
)


def _truths(
    rng: np.random.Generator, *, n_items: int = N_ITEMS, n_categories: int = N_CATEGORIES
) -> tuple[Integers, Floats]:
    base_rates = rng.dirichlet(np.full(n_categories, 4.0))
    return rng.choice(n_categories, n_items, p=base_rates), base_rates


def _equal_errors(
    chances: Sequence[float | Floats], truth: Integers, *, n_categories: int = N_CATEGORIES
) -> Floats:
    """Probabilities of responses, shape (n_chances, n_items, n_categories)."""
    chance = np.array([np.broadcast_to(one, truth.shape) for one in chances])[..., None]
    right = np.eye(n_categories)[truth]
    return np.asarray(chance * right + (1 - chance) / (n_categories - 1) * (1 - right))


def _intercept(accuracy: float) -> float:
    """Log odds at mean difficulty that make the mean accuracy what it is to be."""
    weights = WEIGHTS / WEIGHTS.sum()
    return float(brentq(lambda x: float(expit(x + NODES) @ weights) - accuracy, -12, 12))


def _rate(
    rng: np.random.Generator,
    truth: Integers,
    probabilities: Sequence[Floats] | Floats,
    *,
    ordered: bool = False,
    rates: Booleans | None = None,
) -> Ratings:
    """Draw the responses of raters and, the last, system from each item's probabilities."""
    n_categories = np.shape(probabilities)[-1]
    cumulated = np.cumsum(probabilities, axis=-1)[..., :-1]
    codes = (rng.random((len(cumulated), len(truth), 1)) > cumulated).sum(axis=-1).T
    raters = codes[:, :-1] if rates is None else np.where(rates, codes[:, :-1], -1)
    names = [f"category {k}" for k in range(1, n_categories + 1)]
    return Ratings(raters, names, system=codes[:, -1], truth=truth, ordered=ordered)
