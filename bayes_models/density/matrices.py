"""Confusion matrices of `dawid_skene`, `pooled` and `hierarchical_dawid_skene`.

Raters have the confusion matrix of their own, of all, or of their group. In the hierarchical model
they differ from that of their group by effects.
"""

import numpy as np

from bayes_models.density.jit import njit
from bayes_models.density.layout import ROWS, VALUE
from bayes_models.density.priors import add_zero_sum_slopes, zero_sum
from lehner.core.arrays import Floats, Integers

MATRICES, SPREAD, EFFECT, SYSTEM = range(1, 5)
"""Rows of the table of parameters."""


@njit()
def write_confusion(index: Integers, table: Integers, values: Floats, confusion: Floats) -> None:
    """Write confusion matrices, given the values of parameters.

    Parameters
    ----------
    index : ndarray of int, shape (n_raters,)
        Matrix of each rater; negative for the system's.
    table, values : ndarray
        See `bayes_models.density.priors`.
    confusion : ndarray, shape (n_raters, n_categories, n_responses)
    """
    n_raters, _, k = confusion.shape
    at = table[:, VALUE]
    effect = np.empty(k)
    for j in range(n_raters):
        first = at[MATRICES] + index[j] * k * k if index[j] >= 0 else at[SYSTEM]
        for z in range(k):
            for m in range(k):
                confusion[j, z, m] = values[first + z * k + m]
            if table[EFFECT, ROWS] == 0 or index[j] < 0:
                continue
            zero_sum(values, at[EFFECT] + (j * k + z) * (k - 1), k, effect, 0)
            total = 0.0
            for m in range(k):
                confusion[j, z, m] *= np.exp(values[at[SPREAD] + index[j]] * effect[m])
                total += confusion[j, z, m]
            for m in range(k):
                confusion[j, z, m] /= total


@njit()
def pull_back_confusion(
    index: Integers,
    table: Integers,
    values: Floats,
    confusion: Floats,
    by_confusion: Floats,
    slopes: Floats,
) -> None:
    """Add derivatives by the values of parameters, given those by confusion matrices."""
    n_raters, _, k = confusion.shape
    at = table[:, VALUE]
    effect, by_effect = np.empty(k), np.empty(k)
    for j in range(n_raters):
        first = at[MATRICES] + index[j] * k * k if index[j] >= 0 else at[SYSTEM]
        for z in range(k):
            to = first + z * k
            if table[EFFECT, ROWS] == 0 or index[j] < 0:
                for m in range(k):
                    slopes[to + m] += by_confusion[j, z, m]
                continue
            of_effect, spread = at[EFFECT] + (j * k + z) * (k - 1), at[SPREAD] + index[j]
            zero_sum(values, of_effect, k, effect, 0)
            mean = 0.0
            for m in range(k):
                mean += confusion[j, z, m] * by_confusion[j, z, m]
            for m in range(k):
                by_log = confusion[j, z, m] * (by_confusion[j, z, m] - mean)
                slopes[to + m] += by_log / values[to + m]
                slopes[spread] += by_log * effect[m]
                by_effect[m] = by_log * values[spread]
            add_zero_sum_slopes(by_effect, 0, k, slopes, of_effect)
