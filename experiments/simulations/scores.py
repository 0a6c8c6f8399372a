"""Error and coverage of measures of scores, where raters and scores err alike or do not.

A score is the probability of the category, by a normal signal, made too extreme. In `independent`
raters err independently of it; in `difficult` items are difficult, to different degrees, for raters
and score alike; in `misleading` raters and score take the same 15% of the items for the other
category.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from experiments.study.cells import result_row
from lehner import Ratings, estimate_latent_class, score_performance
from lehner.algebra.algebraic import majority_credit
from lehner.core.arrays import Floats
from lehner.core.estimate import IntervalEstimate
from lehner.core.seeds import child_seeds
from lehner.scores.monotone_score import ScoreRanks
from lehner.scores.performance import MEASURES, score_measures

N_ITEMS = 300
ACCURACIES = (0.65, 0.7, 0.8)
SIGNAL, SHARPNESS, BASE_RATE = 1.5, 2.0, 0.4
PROCESSES = ("independent", "difficult", "misleading")
COSTS = (1.0, 1.0)
RESAMPLES = 100


def draw_scores(process: str, rng: np.random.Generator) -> tuple[Ratings, Floats]:
    """Draw ratings with their truths, and scores."""
    truth = (rng.random(N_ITEMS) < BASE_RATE).astype(np.int64)
    seen, ease = truth, np.ones(N_ITEMS)
    if process == "misleading":
        seen = np.where(rng.random(N_ITEMS) < 0.15, 1 - truth, truth)
    if process == "difficult":
        ease = 2 * rng.random(N_ITEMS)
    right = 0.5 + (np.array(ACCURACIES) - 0.5) * np.minimum(ease, 1.6)[:, None]
    codes = np.where(rng.random(right.shape) < right, seen[:, None], 1 - seen[:, None])
    signal = rng.normal(size=N_ITEMS) + SIGNAL * ease * seen
    log_odds = SIGNAL * signal - SIGNAL**2 / 2 + np.log(BASE_RATE / (1 - BASE_RATE))
    scores = 1 / (1 + np.exp(-SHARPNESS * log_odds))
    return Ratings(codes, ["no", "yes"], truth=truth), scores


def measure_scores(seed: int, process: str, known: int) -> Iterator[dict[str, Any]]:
    """Estimate all measures of the scores of a data set."""
    data, resampled = child_seeds(seed, 2)
    rng = np.random.default_rng(data)
    ratings, scores = draw_scores(process, rng)
    assert ratings.truth is not None
    ranks, one = ScoreRanks.of(scores), np.ones(N_ITEMS)
    truth = ratings.truth.astype(float)
    sample = rng.permutation(N_ITEMS) < known
    some = ratings.with_truth(np.where(sample, ratings.truth, -1) if known else None)
    found = score_performance(
        some, scores, positive="yes", costs=COSTS, resamples=RESAMPLES, seed=resampled
    )
    votes = majority_credit(ratings.votes())[:, 1]
    answers = Ratings(ratings.codes, ["no", "yes"], system=(scores >= 0.5).astype(np.int64))
    fit = estimate_latent_class(answers, "dawid_skene", interval=None, restarts=0)
    labels = np.asarray(fit.truth_probabilities)[:, 1]
    others = {
        "majority": np.where(sample, truth, votes),
        "answers": np.where(sample, truth, labels),
    }
    right = score_measures(truth, ranks, one, 0.5, COSTS)
    points = {
        name: score_measures(labels, ranks, one, 0.5, COSTS) for name, labels in others.items()
    }
    for place, (measure, value) in enumerate(zip(MEASURES, right, strict=True)):
        told = {"quantity": measure}
        yield result_row(value, found.measures[measure], method="scores", **told)
        for name, point in points.items():
            estimate = IntervalEstimate(estimate=float(point[place]))
            yield result_row(value, estimate, method=name, **told)
        if known:
            alone = IntervalEstimate(estimate=found.known_alone[measure])
            yield result_row(value, alone, method="known items alone", **told)
