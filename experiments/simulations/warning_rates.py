"""How often warnings about ratings fire: where all is well, and where they should."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from experiments.study.performance import measure_proportions
from lehner import Ratings, check_dependence
from lehner.core.arrays import draw_categories
from lehner.core.seeds import Seed, generator
from lehner.dependence.check import trend_warnings
from lehner.k_properties.statistics import Outcome, run_k_tests

PROCESSES = (
    *("equal accuracy", "unequal accuracy"),
    *("equal accuracy, 30% missing", "unequal accuracy, 5% to 60% missing"),
    *("raters skip difficult items", "the system repeats rater 1 on 35%"),
    *("raters .4 or 1, the system .8", "hidden types, own confusions"),
    "hidden types, shared confusions",
)
WARNINGS = (
    *("ratings-missing-by-difficulty", "system-copies-rater", "shared-mistakes"),
    "agreement-unexplained",
)
DIFFICULTY, RIGHT, LEVEL = "equal difficulty rejected", "right rater", 0.05


def fired(
    seed: Seed, process: str, raters: int, categories: int, items: int
) -> Iterator[dict[str, float]]:
    """Which warnings a data set gives; whether the copied rater is among those named."""
    ratings = draw(process, raters, categories, items, generator(seed))
    test = run_k_tests(ratings.collapse(), 199, seed)["equal_difficulty"]
    yield warnings_of(ratings) | {
        DIFFICULTY: float(test.p_value <= LEVEL) if isinstance(test, Outcome) else np.nan
    }


def warnings_of(ratings: Ratings) -> dict[str, float]:
    """By warning, 1 if it fires."""
    dependence = check_dependence(ratings)
    pairs = [one for one in dependence.pairs if one.stands_out]
    copied = [one.raters[0] for one in pairs if one.with_system]
    skipped = WARNINGS[0] in {one.code for one in trend_warnings(ratings)}
    of_raters = len(pairs) > len(copied) and not dependence.undecided
    codes = {one.code for one in dependence.warnings_of_estimates()}
    fires = (skipped, bool(copied), of_raters, WARNINGS[3] in codes, ratings.raters[0] in copied)
    return dict(zip((*WARNINGS, RIGHT), map(float, fires), strict=True))


def draw(process: str, n_raters: int, k: int, n_items: int, rng: np.random.Generator) -> Ratings:
    """Ratings by raters and, in the last column, the system."""
    n, truth = n_raters + 1, rng.integers(k, size=n_items)
    accuracy = np.full(n, 0.7)
    if process.startswith("unequal"):
        accuracy = np.append(rng.permutation(np.linspace(0.55, 0.95, n - 1)), rng.uniform(0.6, 1))
    right = np.tile(accuracy, (n_items, 1))
    ease = rng.normal(size=n_items)
    missing = np.full(n, 0.3 if process.endswith("30% missing") else 0.0)
    if process.endswith("60% missing"):
        missing = np.append(rng.permutation(np.linspace(0.05, 0.6, n - 1)), 0)
    missing = np.tile(missing, (n_items, 1))
    if process.startswith("raters skip"):
        right += np.clip(0.15 * ease, -0.3, 0.25)[:, None]
        missing = np.tile(1 / (1 + np.exp(1 + 1.5 * ease))[:, None], n)
    if process.startswith("raters .4"):
        right = np.where(np.arange(n) < n - 1, np.where(ease > 0, 1.0, 0.4)[:, None], 0.8)
    wrong = (truth[:, None] + rng.integers(1, k, size=right.shape)) % k
    codes = np.where(rng.random(right.shape) < right, truth[:, None], wrong)
    if process.startswith("hidden"):
        matrices = rng.dirichlet(np.ones(k), (1 if "shared" in process else n, 2, k))
        matrices = 0.5 * np.eye(k) + 0.5 * np.broadcast_to(matrices, (n, 2, k, k))
        cell = (rng.random(n_items) < 0.4) * k + truth
        drawn = [draw_categories(m.reshape(-1, k), rng.random(n_items), cell) for m in matrices]
        codes = np.transpose(drawn)
    if process.startswith("the system"):
        codes[:, -1] = np.where(rng.random(n_items) < 0.35, codes[:, 0], codes[:, -1])
    codes[:, :-1][rng.random((n_items, n - 1)) < missing[:, :-1]] = -1
    codes = codes[(codes[:, :-1] >= 0).any(axis=1)]
    return Ratings(codes[:, :-1], [str(one) for one in range(k)], system=codes[:, -1])


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Proportions of data sets, with Monte Carlo standard errors."""
    events = (*WARNINGS, RIGHT, DIFFICULTY)
    by = [name for name in rows if name not in (*events, "replicate", "scenario")]
    return measure_proportions(rows, by, events)
