"""Confusion matrices of `class_conditional`: an accuracy for each category, and equal errors."""

from bayes_models.density.jit import njit
from bayes_models.density.layout import VALUE
from lehner.core.arrays import Floats, Integers

ACCURACY = 1
"""Row of the table of parameters."""


@njit()
def write_confusion(table: Integers, values: Floats, confusion: Floats) -> None:
    """Write confusion matrices, given the values of parameters."""
    n_raters, _, k = confusion.shape
    at = table[ACCURACY, VALUE]
    for j in range(n_raters):
        for z in range(k):
            right = values[at + j * k + z]
            for m in range(k):
                confusion[j, z, m] = right if m == z else (1 - right) / (k - 1)


@njit()
def pull_back_confusion(table: Integers, by_confusion: Floats, slopes: Floats) -> None:
    """Add derivatives by the values of parameters, given those by confusion matrices."""
    n_raters, _, k = by_confusion.shape
    at = table[ACCURACY, VALUE]
    for j in range(n_raters):
        for z in range(k):
            for m in range(k):
                by_right = 1.0 if m == z else -1 / (k - 1)
                slopes[at + j * k + z] += by_confusion[j, z, m] * by_right
