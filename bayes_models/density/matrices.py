"""The likelihood of `dawid_skene`, `pooled` and `hierarchical_dawid_skene`.

Raters have the confusion matrix of their own, of all, or of their group. In the hierarchical model
they differ from that of their group by effects.
"""

import numba
import numpy as np

from bayes_models.density.layout import ROWS, VALUE
from bayes_models.density.priors import add_zero_sum_slopes, zero_sum
from bayes_models.density.ratings import likelihood_of_ratings
from lehner.core.arrays import Floats, Integers

MATRICES, SPREAD, EFFECT, SYSTEM = range(1, 5)


@numba.njit
def matrices(
    index: Integers,
    pair: Integers,
    table: Integers,
    values: Floats,
    ratings: tuple[Integers, ...],
    confusion: Floats,
    slopes: Floats,
) -> float:
    """Return the log likelihood; write confusion matrices, and derivatives by the values.

    Parameters
    ----------
    index : ndarray of int, shape (n_raters,)
        Matrix of each rater; negative for the system's.
    pair : ndarray of int
        The two of a dependent pair, if there is one.
    table, values, slopes : ndarray
        See `bayes_models.density.priors`.
    ratings : tuple
        See `bayes_models.density.ratings`.
    confusion : ndarray, shape (n_raters, 1, n_categories, n_responses)
    """
    n_raters, _, k, _ = confusion.shape
    at = table[:, VALUE]
    first = np.empty(n_raters, np.int64)
    effects = np.zeros((n_raters, k, k))
    for j in range(n_raters):
        first[j] = at[MATRICES] + index[j] * k * k if index[j] >= 0 else at[SYSTEM]
        for z in range(k):
            row = values[first[j] + z * k : first[j] + (z + 1) * k]
            confusion[j, 0, z] = row
            if table[EFFECT, ROWS] == 0 or index[j] < 0:
                continue
            zero_sum(values, at[EFFECT] + (j * k + z) * (k - 1), k, effects[j, z], 0)
            total = 0.0
            for m in range(k):
                confusion[j, 0, z, m] *= np.exp(values[at[SPREAD] + index[j]] * effects[j, z, m])
                total += confusion[j, 0, z, m]
            for m in range(k):
                confusion[j, 0, z, m] /= total
    log_likelihood, by = likelihood_of_ratings(pair, table, values, ratings, confusion, slopes)
    for j in range(n_raters):
        for z in range(k):
            to = first[j] + z * k
            if table[EFFECT, ROWS] == 0 or index[j] < 0:
                for m in range(k):
                    slopes[to + m] += by[j, 0, z, m]
                continue
            spread = at[SPREAD] + index[j]
            mean = (confusion[j, 0, z] * by[j, 0, z]).sum()
            for m in range(k):
                by_log = confusion[j, 0, z, m] * (by[j, 0, z, m] - mean)
                slopes[to + m] += by_log / values[to + m]
                slopes[spread] += by_log * effects[j, z, m]
                by[j, 0, z, m] = by_log * values[spread]
            of_effect = at[EFFECT] + (j * k + z) * (k - 1)
            add_zero_sum_slopes(by[j, 0, z], 0, k, slopes, of_effect)
    return log_likelihood
