"""The likelihood of `class_conditional`: an accuracy for each category, and equal errors."""

import numba

from bayes_models.density.layout import VALUE
from bayes_models.density.ratings import likelihood_of_ratings
from lehner.core.arrays import Floats, Integers

ACCURACY = 1


@numba.njit
def class_conditional(
    pair: Integers,
    table: Integers,
    values: Floats,
    ratings: tuple[Integers, ...],
    confusion: Floats,
    slopes: Floats,
) -> float:
    """Return the log likelihood; write confusion matrices, and derivatives by the values."""
    n_raters, _, k, _ = confusion.shape
    at = table[ACCURACY, VALUE]
    for j in range(n_raters):
        for z in range(k):
            right = values[at + j * k + z]
            confusion[j, 0, z] = (1 - right) / (k - 1)
            confusion[j, 0, z, z] = right
    log_likelihood, by = likelihood_of_ratings(pair, table, values, ratings, confusion, slopes)
    for j in range(n_raters):
        for z in range(k):
            right = by[j, 0, z, z]
            slopes[at + j * k + z] += right - (by[j, 0, z].sum() - right) / (k - 1)
    return log_likelihood
