r"""A latent-class model of ratings and a score that rises with the probability of a category.

Item i is of the positive category with probability :math:`m(s_i)`, where :math:`s_i` is its score
and m any increasing function; else of another category in fixed proportions. Raters err
independently of each other and of the score, given the true category, each with a confusion matrix
of their own, as in Dawid & Skene (1979). m is estimated by isotonic regression of the probability
of the positive category on the score, in each step of the EM algorithm, so that m is a calibration
curve as in Dimitriadis, Gneiting & Jordan (2021), https://doi.org/10.1073/pnas.2016191118, of which
the truths are not known.
"""

from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.core.lazy import optimize, sparse

PSEUDO_RATINGS = 0.5
"""Added to each cell of a confusion matrix, so that no probability is 0."""
LEAST = 0.002
MOST_STEPS = 1000
NEGLIGIBLE_WEIGHT = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreRanks:
    """Scores in increasing order.

    Parameters
    ----------
    values : ndarray, shape (n_values,)
        The different scores, in increasing order.
    rank : ndarray of int, shape (n_rows,)
        Which of them each row has.
    """

    values: Floats
    rank: Integers

    @classmethod
    def of(cls, scores: Floats) -> "ScoreRanks":
        """Rank scores."""
        values, rank = np.unique(scores, return_inverse=True)
        return cls(values=values, rank=rank)

    def calibration(self, probability: Floats, weights: Floats) -> Floats:
        """Regress probabilities on the score by an increasing function.

        Parameters
        ----------
        probability : ndarray, shape (n_rows,)
            Of the positive category.
        weights : ndarray, shape (n_rows,)
            Number of items of each row.

        Returns
        -------
        ndarray, shape (n_values,)
            The probability of the positive category at each score.
        """
        weights = np.maximum(weights, NEGLIGIBLE_WEIGHT)
        total = np.bincount(self.rank, weights)
        mean = np.bincount(self.rank, weights * probability) / total
        fitted: Floats = optimize.isotonic_regression(mean, weights=total).x
        return fitted


def positive_probabilities(
    cells: "sparse.csr_array",
    n_categories: int,
    positive: int,
    scores: ScoreRanks,
    weights: Floats,
    *,
    start: Floats | None = None,
    tolerance: float = 1e-6,
) -> Floats:
    """Estimate the probability that each item is of the positive category, by the EM algorithm.

    Parameters
    ----------
    cells : scipy.sparse.csr_array, shape (n_rows, n_raters * n_categories)
        How often each rater gave each category to the items of a row.
    n_categories, positive : int
        Number of categories, and which of them is the positive one.
    scores : ScoreRanks
    weights : ndarray, shape (n_rows,)
        Number of items of each row; 0 leaves a row out.
    start : ndarray, shape (n_rows, n_categories), optional
        Probabilities of the categories to start from; by default the proportions of the ratings.
    tolerance : float
        The algorithm ends when no probability changes by more.

    Returns
    -------
    ndarray, shape (n_rows, n_categories)
        Probability of each category, given ratings and score.
    """
    probability = _proportions(cells, n_categories) if start is None else start
    others = np.arange(n_categories) != positive
    for _ in range(MOST_STEPS):
        given = cells.T @ (weights[:, None] * probability)
        counts = given.reshape(-1, n_categories, n_categories) + PSEUDO_RATINGS
        confusion = counts / counts.sum(axis=1, keepdims=True)
        curve = scores.calibration(probability[:, positive], weights)
        expected = np.clip(curve, LEAST, 1 - LEAST)[scores.rank]
        shares = (weights @ probability + PSEUDO_RATINGS) * others
        prior = (1 - expected[:, None]) * shares / shares.sum()
        prior[:, positive] = expected
        log = np.log(np.maximum(prior, 1e-300)) + cells @ np.log(confusion).reshape(
            -1, n_categories
        )
        new = np.exp(log - log.max(axis=1, keepdims=True))
        new /= new.sum(axis=1, keepdims=True)
        change = np.abs(new - probability).max(initial=0.0)
        probability = new
        if change < tolerance:
            break
    return probability


def _proportions(cells: "sparse.csr_array", n_categories: int) -> Floats:
    votes = np.stack(
        [cells[:, k::n_categories].sum(axis=1) for k in range(n_categories)], axis=1
    ).astype(float)
    votes += 1 / n_categories
    proportions: Floats = votes / votes.sum(axis=1, keepdims=True)
    return proportions


def recalibrate(probability: Floats, positive: Floats, weights: Floats) -> tuple[float, float]:
    r"""Fit the log odds of gold labels as a line of the log odds of the probabilities.

    Parameters
    ----------
    probability : ndarray, shape (n_known,)
        Of the positive category, estimated without the gold labels.
    positive : ndarray, shape (n_known,)
        1 for the items that are truly of the positive category, else 0.
    weights : ndarray, shape (n_known,)
        Number of items of each row.

    Returns
    -------
    intercept, slope : float
        The mode if the intercept is normal(0, 1) and the slope normal(1, .5) a priori: without
        truths probabilities stay as they are.
    """
    x = np.column_stack([np.ones(len(probability)), log_odds(probability)])
    mean, precision = np.array([0.0, 1.0]), np.array([1.0, 4.0])
    line = mean.copy()
    for _ in range(50):
        fitted = 1 / (1 + np.exp(-x @ line))
        slope = x.T @ (weights * (positive - fitted)) - precision * (line - mean)
        bend = (x.T * (weights * fitted * (1 - fitted))) @ x + np.diag(precision)
        step = np.linalg.solve(bend, slope)
        line = line + np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-8:
            break
    return float(line[0]), float(line[1])


def log_odds(probability: Floats) -> Floats:
    """Log odds of probabilities that are kept away from 0 and 1."""
    kept = np.clip(probability, LEAST, 1 - LEAST)
    return np.log(kept / (1 - kept))
