"""Coverage of measures of scores where the category is rare and few of its gold labels are known.

Three raters are right in .65, .7 and .8. A score is the probability of the category by a normal
signal, made too extreme, and errs independently of the raters.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from experiments.study.cells import result_row
from lehner import Ratings, score_performance
from lehner.core.seeds import child_seeds
from lehner.scores.performance import MEASURES, ScoreRanks, score_measures

N_ITEMS = 300
ACCURACIES = np.array([0.65, 0.7, 0.8])
SIGNAL, SHARPNESS = 1.5, 2.0


def measure_rare(
    seed: int, base_rate: float, known: int, resamples: int = 100
) -> Iterator[dict[str, Any]]:
    """Estimate all measures of the scores of a data set."""
    data, resampled = child_seeds(seed, 2)
    rng = np.random.default_rng(data)
    truth = (rng.random(N_ITEMS) < base_rate).astype(np.int64)
    right = rng.random((N_ITEMS, len(ACCURACIES))) < ACCURACIES
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    signal = rng.normal(size=N_ITEMS) + SIGNAL * truth
    log_odds = SIGNAL * signal - SIGNAL**2 / 2 + np.log(base_rate / (1 - base_rate))
    scores = 1 / (1 + np.exp(-SHARPNESS * log_odds))
    shown = np.where(rng.permutation(N_ITEMS) < known, truth, -1)
    found = score_performance(
        Ratings(codes, ["no", "yes"], truth=shown),
        scores,
        positive="yes",
        resamples=resamples,
        seed=resampled,
    )
    ranks = ScoreRanks.of(scores)
    actual = score_measures(truth.astype(float), ranks, np.ones(N_ITEMS), 0.5)
    for measure, value in zip(MEASURES, actual, strict=True):
        yield result_row(value, found.measures[measure], quantity=measure)
