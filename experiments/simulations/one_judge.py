"""Coverage of base rates by one judge and gold labels, where the judge favours a group or not."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from experiments.study.cells import result_row
from lehner import Ratings
from lehner.contrasts.one_judge import METHODS, count_judged, judge_differs, judged_base_rates
from lehner.core.estimate import IntervalEstimate
from lehner.core.resampling import interval_of_draws
from lehner.core.seeds import child_seeds

LEVEL, SIZE = 0.9, 200
RECALL = np.array([0.75, 0.9])
"""Of the judge, of bad and of good items."""
RATES = {"medium": (0.7, 0.6), "high": (0.97, 0.9)}
EPOCHS, SIZE_OF_BETA = 5, 1.5
"""Answers to a question; the sum of the parameters of the beta distribution of questions' rates."""


def judge_groups(
    seed: int, labels: int, favour: float, rates: str, epochs: bool
) -> Iterator[dict[str, Any]]:
    """Estimate the base rates of two groups; of the tests the bias is how often they reject."""
    data, fit = child_seeds(seed, 2)
    means, ratings = draw_judged(labels, favour, rates, epochs, np.random.default_rng(data))
    items = count_judged(ratings, LEVEL)
    test = judge_differs(items, seed=fit) <= 1 - LEVEL
    rejected = IntervalEstimate(estimate=float(test))
    yield result_row(0.0, rejected, method="test", quantity="judge differs")
    for method in METHODS:
        found = judged_base_rates(method, items, ratings, seed=fit)
        drawn, point = found.drawn_base_rates[..., 1], found.base_rates[:, 1]
        drawn, point = np.c_[drawn, drawn @ [1, -1]], np.append(point, point @ [1, -1])
        truths, quantities = (*means, means[0] - means[1]), ("rate", "rate", "difference")
        for k, (truth, quantity) in enumerate(zip(truths, quantities, strict=True)):
            least = -1.0 if quantity == "difference" else 0.0
            ends = interval_of_draws(drawn[:, k], point[k], LEVEL, lowest=least)
            numbers = dict(zip(("estimate", "lower", "upper"), ends.tolist(), strict=True))
            yield {"method": method, "quantity": quantity, "truth": truth} | numbers


def draw_judged(
    labels: int, favour: float, rates: str, epochs: bool, rng: np.random.Generator
) -> tuple[tuple[float, ...], Ratings]:
    """Draw two groups of items, in clusters if there are epochs; the judge favours the first."""
    group, n = np.repeat([0, 1], SIZE), 2 * SIZE
    chance, cluster = np.array(RATES[rates])[group], None
    if epochs:  # The mean over questions of a beta distribution is the base rate.
        cluster, mean = np.arange(n) // EPOCHS, chance[::EPOCHS]
        chance = rng.beta(SIZE_OF_BETA * mean, SIZE_OF_BETA * (1 - mean))[cluster]
    truth = (rng.random(n) < chance).astype(np.int64)
    recall = RECALL[truth] - favour * ((group == 0) & (truth == 0))
    said = np.where(rng.random(n) < recall, truth, 1 - truth)
    known = np.concatenate([rng.permutation(SIZE) < labels for _ in range(2)])
    ratings = Ratings(
        said[:, None], ["bad", "good"], truth=np.where(known, truth, -1), cluster=cluster
    )
    return RATES[rates], ratings.with_populations([f"g{g}" for g in group])
