"""Measures of a classifier from base rates and a confusion matrix, for many replicates at once."""

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Booleans, Floats

RATIOS = ("positive_likelihood_ratio", "negative_likelihood_ratio")
LOWEST_MEASURES = {"mcc": -1.0, "kappa_with_truth": -1.0}
"""The lowest possible value of those measures that can be negative."""

NUMBERS_AT_ONCE = 2_000_000
"""Of so many matrices' numbers, measures and intervals are computed in parts: memory."""
ROUNDING = 1e-12
"""A smaller proportion of the items is a rounding error, because no sample has so many items."""


def occurring(proportions: ArrayLike) -> Booleans:
    """Tell which categories occur: those whose proportion is not 0, to within rounding error.

    Parameters
    ----------
    proportions : array_like, shape (..., n_categories)
        Of the items, by true category or by answer. NaN, an unknown proportion, is not 0.

    Returns
    -------
    ndarray of bool, shape (..., n_categories)

    Examples
    --------
    >>> occurring([0.4, 0.6, 1e-17]).tolist()
    [True, True, False]
    """
    return ~(np.asarray(proportions, dtype=float) <= ROUNDING)


def performance_measures(
    base_rates: ArrayLike,
    confusion: ArrayLike,
    *,
    rated: Booleans | bool = True,
    answered: Booleans | bool = True,
) -> dict[str, Floats]:
    r"""Compute measures of a classifier's performance, as scikit-learn defines them.

    With :math:`q_{kl} = \pi_k \theta_{kl}` the probability that the truth is k and the answer l,
    recall (sensitivity) of k is :math:`q_{kk} / q_{k\cdot}`, its precision
    :math:`q_{kk} / q_{\cdot k}`, its specificity the proportion of items of other categories that
    are not answered k, and F1 the harmonic mean of precision and recall. The positive likelihood
    ratio of k is recall / (1 - specificity), the negative one (1 - recall) / specificity. Balanced
    accuracy is the mean recall of the categories that occur, as `occurring` tells. The correlation
    of Matthews (MCC) is Gorodkin's for any number of categories, and `kappa_with_truth` is Cohen's
    kappa of answer and truth.

    Parameters
    ----------
    base_rates : array_like, shape (..., n_categories)
        π, the probability of each true category.
    confusion : array_like, shape (..., n_categories, n_categories)
        θ, the probability of each answer (last axis) given the true category.
    rated : ndarray of bool, shape (n_categories,)
        Whether the data say that a category occurs. Where they do not, recall is undefined whatever
        its base rate is, as that of a posterior draw, which is never 0.
    answered : ndarray of bool, shape (n_categories,)
        Whether the system ever gives this answer. Where it does not, precision is undefined.

    Returns
    -------
    dict of str to ndarray
        `recall`, `precision`, `specificity`, `f1`, `positive_likelihood_ratio` and
        `negative_likelihood_ratio`, shape (..., n_categories);
        `balanced_accuracy`, `mcc` and `kappa_with_truth`, shape (...). NaN if a measure divides
        zero by zero, as does the precision of a category that is never answered. A likelihood
        ratio is infinite if only its denominator is zero.

    References
    ----------
    Gorodkin (2004), Comparing two K-category assignments by a K-category correlation coefficient,
    https://doi.org/10.1016/j.compbiolchem.2004.09.006; Cohen (1960),
    https://doi.org/10.1177/001316446002000104; scikit-learn's user guide, "Classification metrics".

    Examples
    --------
    >>> found = performance_measures([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]])
    >>> found["recall"].tolist(), found["precision"].round(3).tolist()
    ([0.9, 0.7], [0.75, 0.875])
    """
    rates, confusion = np.asarray(base_rates, dtype=float), np.asarray(confusion, dtype=float)
    n = len(confusion)
    if confusion.size > NUMBERS_AT_ONCE and confusion.ndim > 2 and n == len(rates) > 1:
        halves = (rates[: n // 2], confusion[: n // 2]), (rates[n // 2 :], confusion[n // 2 :])
        one, other = (
            performance_measures(*half, rated=rated, answered=answered) for half in halves
        )
        return {name: np.concatenate([one[name], other[name]]) for name in one}
    occurs = occurring(rates)
    # The errors in a category that does not occur may be unknown.
    joint = np.where(occurs[..., None], rates[..., None] * confusion, 0.0)
    is_answered = occurring(joint.sum(axis=-2))
    joint = np.where(is_answered[..., None, :], joint, 0.0)
    occurs, is_answered = occurs & rated, is_answered & answered
    right = np.diagonal(joint, axis1=-2, axis2=-1)
    true, answers, whole = joint.sum(axis=-1), joint.sum(axis=-2), joint.sum(axis=(-2, -1))
    elsewhere = occurs.sum(axis=-1, keepdims=True) > occurs
    others = np.where(elsewhere, whole[..., None] - true, 0.0)
    accuracy = right.sum(axis=-1)
    chance = (true * answers).sum(axis=-1)
    spread = (whole**2 - (true**2).sum(axis=-1)) * (whole**2 - (answers**2).sum(axis=-1))
    recall = _divide(right, np.where(occurs, true, 0.0))
    wrong = answers - right
    specificity = _divide(others - wrong, others)
    other_answers = is_answered.sum(axis=-1, keepdims=True) > is_answered
    return {
        "recall": recall,
        "precision": _divide(right, np.where(is_answered, answers, 0.0)),
        "specificity": specificity,
        "positive_likelihood_ratio": np.where(is_answered, _ratio(recall, 1 - specificity), np.nan),
        "negative_likelihood_ratio": np.where(
            other_answers, _ratio(1 - recall, specificity), np.nan
        ),
        "f1": _divide(2 * right, np.where(occurs | is_answered, true + answers, 0.0)),
        "balanced_accuracy": mean_of_occurring(recall, occurs),
        "mcc": _divide(accuracy * whole - chance, np.sqrt(np.maximum(spread, 0.0))),
        "kappa_with_truth": _divide(accuracy * whole - chance, whole**2 - chance),
    }


def mean_of_occurring(values: Floats, occurs: Booleans) -> Floats:
    """Average over the categories that occur, (..., n_categories) to (...); NaN if none does."""
    return _divide(np.where(occurs, values, 0.0).sum(axis=-1), occurs.sum(axis=-1, dtype=float))


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Divide, infinite where only the denominator is zero."""
    infinite = (np.abs(whole) <= ROUNDING) & (part > ROUNDING)
    return np.where(infinite, np.inf, _divide(part, whole))


def _divide(part: Floats, whole: Floats) -> Floats:
    possible = np.abs(whole) > ROUNDING
    return np.asarray(np.divide(part, whole, where=possible, out=np.full_like(part, np.nan)))
