"""Confusion matrices of `tap`: raters know the truth or guess."""

from bayes_models.density.jit import njit
from bayes_models.density.layout import VALUE
from lehner.core.arrays import Floats, Integers

KNOWLEDGE, GUESSING = 1, 2
"""Rows of the table of parameters."""


@njit()
def write_confusion(table: Integers, values: Floats, confusion: Floats) -> None:
    """Write confusion matrices, given the values of parameters."""
    n_raters, _, k = confusion.shape
    of_knowledge, of_guessing = table[KNOWLEDGE, VALUE], table[GUESSING, VALUE]
    for j in range(n_raters):
        knowledge = values[of_knowledge + j]
        for z in range(k):
            for m in range(k):
                confusion[j, z, m] = (1 - knowledge) * values[of_guessing + j * k + m]
            confusion[j, z, z] += knowledge


@njit()
def pull_back_confusion(
    table: Integers, values: Floats, by_confusion: Floats, slopes: Floats
) -> None:
    """Add derivatives by the values of parameters, given those by confusion matrices."""
    n_raters, _, k = by_confusion.shape
    of_knowledge, of_guessing = table[KNOWLEDGE, VALUE], table[GUESSING, VALUE]
    for j in range(n_raters):
        knowledge = values[of_knowledge + j]
        for z in range(k):
            slopes[of_knowledge + j] += by_confusion[j, z, z]
            for m in range(k):
                by = by_confusion[j, z, m]
                slopes[of_knowledge + j] -= by * values[of_guessing + j * k + m]
                slopes[of_guessing + j * k + m] += by * (1 - knowledge)
