"""The likelihood of `tap`: raters know the truth or guess."""

import numba

from bayes_models.density.layout import VALUE
from bayes_models.density.ratings import likelihood_of_ratings
from lehner.core.arrays import Floats, Integers

KNOWLEDGE, GUESSING = 1, 2


@numba.njit
def tap(
    pair: Integers,
    table: Integers,
    values: Floats,
    ratings: tuple[Integers, ...],
    confusion: Floats,
    slopes: Floats,
) -> float:
    """Return the log likelihood; write confusion matrices, and derivatives by the values."""
    n_raters, _, k, _ = confusion.shape
    of_knowledge, of_guessing = table[KNOWLEDGE, VALUE], table[GUESSING, VALUE]
    for j in range(n_raters):
        knowledge = values[of_knowledge + j]
        for z in range(k):
            for m in range(k):
                confusion[j, 0, z, m] = (1 - knowledge) * values[of_guessing + j * k + m]
            confusion[j, 0, z, z] += knowledge
    log_likelihood, by = likelihood_of_ratings(pair, table, values, ratings, confusion, slopes)
    for j in range(n_raters):
        knowledge = values[of_knowledge + j]
        for z in range(k):
            slopes[of_knowledge + j] += by[j, 0, z, z]
            for m in range(k):
                slopes[of_knowledge + j] -= by[j, 0, z, m] * values[of_guessing + j * k + m]
                slopes[of_guessing + j * k + m] += by[j, 0, z, m] * (1 - knowledge)
    return log_likelihood
