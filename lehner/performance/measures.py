"""Measures of a classifier from base rates and a confusion matrix, for many replicates at once."""

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats

BY_CATEGORY = ("recall", "precision", "specificity", "f1")
OF_ALL_CATEGORIES = ("balanced_accuracy", "mcc", "kappa_with_truth")
LOWEST_MEASURES = {"mcc": -1.0, "kappa_with_truth": -1.0}
"""The lowest possible value of those measures that can be negative."""


def performance_measures(
    base_rates: ArrayLike, confusion: ArrayLike, costs: ArrayLike | None = None
) -> dict[str, Floats]:
    r"""Compute measures of a classifier's performance, as scikit-learn defines them.

    With :math:`q_{kl} = \pi_k \theta_{kl}` the probability that the truth is k and the answer l,
    recall (sensitivity) of k is :math:`q_{kk} / q_{k\cdot}`, its precision
    :math:`q_{kk} / q_{\cdot k}`, its specificity the share of items of other categories that are
    not answered k, and F1 the harmonic mean of precision and recall. Balanced accuracy is the mean
    recall of the categories that occur. The correlation of Matthews (MCC) is Gorodkin's for any
    number of categories, and `kappa_with_truth` is Cohen's kappa of answer and truth.

    Parameters
    ----------
    base_rates : array_like, shape (..., n_categories)
        π, the probability of each true category.
    confusion : array_like, shape (..., n_categories, n_categories)
        θ, the probability of each answer (last axis) given the true category.
    costs : array_like, shape (n_categories, n_categories), optional
        The cost of each answer (column) given each true category (row).

    Returns
    -------
    dict of str to ndarray
        `recall`, `precision`, `specificity` and `f1`, shape (..., n_categories);
        `balanced_accuracy`, `mcc`, `kappa_with_truth` and, with costs, `expected_cost`, shape
        (...). NaN if a measure divides zero by zero, as does the precision of a category that is
        never answered.

    References
    ----------
    Gorodkin (2004), Comparing two K-category assignments by a K-category correlation coefficient,
    https://doi.org/10.1016/j.compbiolchem.2004.09.006; Cohen (1960),
    https://doi.org/10.1177/001316446002000104; scikit-learn's user guide, "Classification metrics".

    Examples
    --------
    >>> found = performance_measures([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]], [[0, 1], [5, 0]])
    >>> found["recall"].tolist(), found["precision"].round(3).tolist()
    ([0.9, 0.7], [0.75, 0.875])
    >>> round(float(found["expected_cost"]), 3)
    0.8
    """
    rates = np.asarray(base_rates, dtype=float)[..., None]
    # The errors in a category that does not occur may be unknown.
    joint = np.where(rates > 0, rates * np.asarray(confusion, dtype=float), 0.0)
    right = np.diagonal(joint, axis1=-2, axis2=-1)
    true, answered, whole = joint.sum(axis=-1), joint.sum(axis=-2), joint.sum(axis=(-2, -1))
    others = whole[..., None] - true
    accuracy = right.sum(axis=-1)
    chance = (true * answered).sum(axis=-1)
    spread = (whole**2 - (true**2).sum(axis=-1)) * (whole**2 - (answered**2).sum(axis=-1))
    recall, occurring = _divide(right, true), (true > 0).sum(axis=-1, dtype=float)
    measures = {
        "recall": recall,
        "precision": _divide(right, answered),
        "specificity": _divide(others - (answered - right), others),
        "f1": _divide(2 * right, true + answered),
        "balanced_accuracy": _divide(np.nansum(recall, axis=-1), occurring),
        "mcc": _divide(accuracy * whole - chance, np.sqrt(np.maximum(spread, 0.0))),
        "kappa_with_truth": _divide(accuracy * whole - chance, whole**2 - chance),
    }
    if costs is not None:
        expected = (joint * np.asarray(costs, dtype=float)).sum(axis=(-2, -1))
        measures["expected_cost"] = _divide(expected, whole)
    return measures


def _divide(part: Floats, whole: Floats) -> Floats:
    possible = np.abs(whole) > np.finfo(float).eps
    return np.asarray(np.divide(part, whole, where=possible, out=np.full_like(part, np.nan)))
