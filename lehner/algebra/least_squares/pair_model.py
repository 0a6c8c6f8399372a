"""How often two raters who share one confusion matrix give each pair of ratings.

The expected frequencies are C' diag(t) C, with base rates t and confusion matrix C.
"""

from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import TINY, Floats, Integers
from lehner.data.ratings import Ratings

FORMS = ("one_coin", "distance_decay")


@dataclass(frozen=True, kw_only=True, eq=False)
class PairModel:
    """Base rates and a confusion matrix, and their derivatives by the parameters.

    Parameters
    ----------
    base_rates : ndarray, shape (n_categories,)
    confusion : ndarray, shape (n_categories, n_responses)
    rate_slopes : ndarray, shape (n_parameters, n_categories)
    confusion_slopes : ndarray, shape (n_parameters, n_categories, n_responses)
    """

    base_rates: Floats
    confusion: Floats
    rate_slopes: Floats
    confusion_slopes: Floats

    def pairs(self) -> Floats:
        """Expected frequency of each pair, shape (n_responses, n_responses)."""
        return self.confusion.T @ (self.base_rates[:, None] * self.confusion)

    def pair_slopes(self) -> Floats:
        """Differentiate the frequencies, shape (n_parameters, n_responses, n_responses)."""
        weighted = self.base_rates[:, None] * self.confusion
        half = self.confusion_slopes.swapaxes(1, 2) @ weighted
        by_rates = self.confusion.T @ (self.rate_slopes[:, :, None] * self.confusion)
        return by_rates + half + half.swapaxes(1, 2)


def pair_frequencies(ratings: Ratings) -> Floats:
    """Measure how often two raters of an item give each pair of categories.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    ndarray, shape (n_categories, n_categories)
        Symmetric, sums to 1; NaN if no two raters rated an item.
    """
    from scipy.sparse import csr_array

    flat, k = ratings.flat, ratings.n_categories
    weights, votes = ratings.weights.astype(float), ratings.votes()
    cells, cell = np.unique(
        flat.item_index * max(ratings.n_raters, 1) + flat.rater_index, return_inverse=True
    )
    own = csr_array(
        (np.ones(len(cell)), (cell, flat.category_index)), shape=(len(cells), k), dtype=float
    )
    times = weights[cells // max(ratings.n_raters, 1)]
    # All pairs of ratings of an item, minus the pairs of ratings by the same rater.
    within = (own.T @ own.multiply(times[:, None])).toarray()
    counts = votes.T @ (weights[:, None] * votes) - within
    total = counts.sum()
    return counts / total if total > 0 else np.full((k, k), np.nan)


def unordered(pairs: Floats) -> Floats:
    """Frequencies of AA, AB, AC, … without order, (..., K (K + 1) / 2).

    Examples
    --------
    >>> unordered(np.array([[0.5, 0.1], [0.1, 0.3]])).tolist()
    [0.5, 0.2, 0.3]
    """
    k = pairs.shape[-1]
    first, second = np.triu_indices(k)
    return pairs[..., first, second] * np.where(first == second, 1.0, 2.0)


def _decaying_errors(accuracy: float, decay: float, k: int) -> tuple[Floats, Floats, Floats]:
    r"""Confusion matrix whose errors are rarer at greater distance, and its derivatives.

    .. math:: C_{kl} = (1 - c) e^{-\lambda |k - l|} / \sum_{m \ne k} e^{-\lambda |k - m|}

    for :math:`l \ne k`, and c for :math:`l = k`.

    Parameters
    ----------
    accuracy, decay : float
        The accuracy c, and the decay λ; with λ = 0 all errors are equally likely.
    k : int
        Number of categories.

    Returns
    -------
    confusion, by_accuracy, by_decay : ndarray, shape (k, k)
    """
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(float)
    log = np.where(distance > 0, -decay * distance, -np.inf)
    errors = np.exp(log - log.max(axis=1, keepdims=True))
    errors /= errors.sum(axis=1, keepdims=True)
    mean = (errors * distance).sum(axis=1, keepdims=True)
    eye = np.eye(k)
    confusion = accuracy * eye + (1 - accuracy) * errors
    return confusion, eye - errors, (1 - accuracy) * errors * (mean - distance)


def n_parameters(form: str, k: int) -> int:
    """Count the free base rates and the parameters of the confusion matrix."""
    return k - 1 + {"one_coin": 1, "distance_decay": 2}[form]


def numbers_at(coordinates: Floats, k: int) -> tuple[float, float]:
    """Accuracy, above 1/k, and decay at unbounded coordinates; decay is 0 in "one_coin"."""
    from scipy.special import expit

    accuracy = 1 / k + (1 - 1 / k) * float(expit(coordinates[k]))
    return accuracy, float(coordinates[k + 1]) if len(coordinates) > k + 1 else 0.0


def model_at(coordinates: Floats, k: int) -> PairModel:
    """Model at unbounded coordinates, with derivatives by these.

    Parameters
    ----------
    coordinates : ndarray, shape (n_coordinates,)
        Log odds of the base rates; then of the accuracy from 1/k to 1, and the decay if any.
    k : int

    Returns
    -------
    PairModel
    """
    from scipy.special import softmax

    n = len(coordinates)
    base_rates = softmax(coordinates[:k])
    rate_slopes, slopes = np.zeros((n, k)), np.zeros((n, k, k))
    rate_slopes[:k] = np.diag(base_rates) - np.outer(base_rates, base_rates)
    accuracy, decay = numbers_at(coordinates, k)
    confusion, by_accuracy, by_decay = _decaying_errors(accuracy, decay, k)
    slopes[k] = by_accuracy * (accuracy - 1 / k) * (1 - accuracy) / (1 - 1 / k)
    slopes[k + 1 :] = by_decay
    return PairModel(
        base_rates=base_rates, confusion=confusion, rate_slopes=rate_slopes, confusion_slopes=slopes
    )


def natural_slopes(coordinates: Floats, k: int) -> PairModel:
    """Model with derivatives by its probabilities and decay, not by log odds.

    Near 0 or 1 a probability hardly changes with its log odds, so that derivatives by log odds
    would not show what the data determine.

    Parameters
    ----------
    coordinates : ndarray, shape (n_coordinates,)
    k : int

    Returns
    -------
    PairModel
        The parameters are k - 1 base rates; then accuracy, and decay if any.
    """
    model = model_at(coordinates, k)
    by_rates = _exchanges(model.base_rates)
    rows = _decaying_errors(*numbers_at(coordinates, k), k)[1:][: len(coordinates) - k]
    return PairModel(
        base_rates=model.base_rates,
        confusion=model.confusion,
        rate_slopes=np.vstack([by_rates, np.zeros((len(rows), k))]),
        confusion_slopes=np.concatenate([np.zeros((k - 1, k, k)), rows]),
    )


def _exchanges(probabilities: Floats) -> Floats:
    """Directions that increase each probability at the cost of the largest, (k - 1, k)."""
    largest = int(np.argmax(probabilities))
    directions = np.delete(np.eye(len(probabilities)), largest, axis=0)
    directions[:, largest] = -1.0
    return directions


def truth_probabilities(votes: Integers, base_rates: Floats, confusion: Floats) -> Floats:
    """Probability of each true category by Bayes' rule, raters independent and alike.

    Parameters
    ----------
    votes : ndarray of int, shape (n_items, n_categories)
    base_rates : ndarray, shape (n_categories,)
    confusion : ndarray, shape (n_categories, n_responses)

    Returns
    -------
    ndarray, shape (n_items, n_categories)
    """
    from scipy.special import softmax

    log = votes @ np.log(np.maximum(confusion, TINY)).T + np.log(np.maximum(base_rates, TINY))
    return np.asarray(softmax(log, axis=1))
