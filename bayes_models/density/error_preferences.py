"""Probabilities of errors, given that an answer is wrong, and their derivatives.

The equation is that of `bayes_models.models.unequal_errors`. An error is counted among those that
are possible: of category z, error i is the answer i, or i + 1 if that is z or more.
"""

import numpy as np

from bayes_models.density.jit import njit
from bayes_models.density.layout import ROWS, VALUE
from bayes_models.density.priors import add_zero_sum_slopes, zero_sum
from lehner.core.arrays import Floats, Integers

DECAY, COMMON_SPREAD, COMMON, SPREAD, OWN, SYSTEM_SPREAD, SYSTEM = range(13, 20)
"""Rows of the table of parameters, see `bayes_models.density.log_odds`."""


@njit()
def error_probabilities(
    index: Integers, table: Integers, values: Floats, common: Floats, own: Floats, errors: Floats
) -> None:
    """Write the probabilities of errors, and the preferences before they are scaled."""
    n_raters, k, n = errors.shape
    at = table[:, VALUE]
    decay, in_common = values[at[DECAY]], values[at[COMMON_SPREAD]]
    if table[COMMON, ROWS] > 0:
        for z in range(k):
            zero_sum(values, at[COMMON] + z * (n - 1), n, common[z], 0)
    for j in range(n_raters):
        effect, spread = SYSTEM, values[at[SYSTEM_SPREAD]]
        if index[j] >= 0:
            effect, spread = OWN, values[at[SPREAD]]
        rater = max(0, j * (index[j] >= 0))
        for z in range(k):
            if table[effect, ROWS] > 0:
                zero_sum(values, at[effect] + (rater * k + z) * (n - 1), n, own[j, z], 0)
            total = 0.0
            for i in range(n):
                log = in_common * common[z, i] + spread * own[j, z, i]
                log -= decay * abs(i + (i >= z) - z)
                errors[j, z, i] = np.exp(log)
                total += errors[j, z, i]
            for i in range(n):
                errors[j, z, i] /= total


@njit()
def pull_back_errors(
    index: Integers,
    table: Integers,
    values: Floats,
    common: Floats,
    own: Floats,
    errors: Floats,
    by: Floats,
    slopes: Floats,
) -> None:
    """Add to the derivatives by values what follows from those by the probabilities of errors."""
    n_raters, k, n = errors.shape
    at = table[:, VALUE]
    by_common = np.zeros((k, n))
    by_own = np.empty(n)
    for j in range(n_raters):
        effect, scale = SYSTEM, at[SYSTEM_SPREAD]
        if index[j] >= 0:
            effect, scale = OWN, at[SPREAD]
        rater = max(0, j * (index[j] >= 0))
        for z in range(k):
            mean = 0.0
            for i in range(n):
                mean += errors[j, z, i] * by[j, z, i]
            for i in range(n):
                by_log = errors[j, z, i] * (by[j, z, i] - mean)
                by_common[z, i] += by_log
                by_own[i] = by_log * values[scale]
                slopes[scale] += by_log * own[j, z, i]
                slopes[at[DECAY]] -= by_log * abs(i + (i >= z) - z)
            if table[effect, ROWS] > 0:
                to = at[effect] + (rater * k + z) * (n - 1)
                add_zero_sum_slopes(by_own, 0, n, slopes, to)
    if table[COMMON, ROWS] > 0:
        for z in range(k):
            for i in range(n):
                slopes[at[COMMON_SPREAD]] += by_common[z, i] * common[z, i]
                by_common[z, i] *= values[at[COMMON_SPREAD]]
            add_zero_sum_slopes(by_common[z], 0, n, slopes, at[COMMON] + z * (n - 1))
