"""What scores are worth, by the probability that each item is of the positive category."""

import numpy as np

from lehner.core.arrays import Floats
from lehner.scores.monotone_score import ScoreRanks

MEASURES = (
    "auc",
    "sensitivity",
    "specificity",
    "brier_score",
    "mean_score_error",
    "expected_cost",
)


def score_measures(
    probability: Floats,
    scores: ScoreRanks,
    weights: Floats,
    threshold: float,
    costs: tuple[float, float],
) -> Floats:
    """Measure scores.

    Parameters
    ----------
    probability : ndarray, shape (n_rows,)
        That an item is of the positive category; 0 or 1 where the truth is known.
    scores : ScoreRanks
    weights : ndarray, shape (n_rows,)
        Number of items of each row.
    threshold : float
        Scores of at least this are answers that the category is positive.
    costs : tuple of two float
        Of a missed positive item, and of an item that is falsely called positive.

    Returns
    -------
    ndarray, shape (6,)
        In the order of `MEASURES`; NaN where one is undefined.

    Examples
    --------
    >>> ranks = ScoreRanks.of(np.array([0.1, 0.6, 0.6, 0.8]))
    >>> truth = np.array([0.0, 0.0, 1.0, 1.0])
    >>> score_measures(truth, ranks, np.ones(4), 0.5, (1, 1)).round(2).tolist()
    [0.88, 1.0, 0.5, 0.14, 0.02, 0.25]
    """
    score = scores.values[scores.rank]
    positive, negative = weights * probability, weights * (1 - probability)
    above = score >= threshold
    total, missed, false = weights.sum(), (positive * ~above).sum(), (negative * above).sum()
    at = np.bincount(scores.rank, negative)
    lower = np.cumsum(at) - at / 2  # negative items with a lower score; half of those with the same
    squared = positive * (1 - score) ** 2 + negative * score**2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.array(
            [
                positive @ lower[scores.rank] / (positive.sum() * negative.sum()),
                1 - missed / positive.sum(),
                1 - false / negative.sum(),
                squared.sum() / total,
                weights @ score / total - positive.sum() / total,
                (costs[0] * missed + costs[1] * false) / total,
            ]
        )
