"""Proportions of replicates, with a Monte Carlo error that is not zero where all are alike."""

import numpy as np
from numpy.typing import ArrayLike

Z = 1.96


def proportion(happened: ArrayLike) -> tuple[float, float]:
    """Proportion of results that are true, and its standard error.

    Parameters
    ----------
    happened : array_like of bool
        One or more.

    Returns
    -------
    proportion, standard_error : float
        The usual error, √(p(1 - p)/n), unless all are alike: n replicates do not show that the
        others would be so too, and the error is the standard deviation that p has under Jeffreys'
        prior.

    Examples
    --------
    >>> [round(x, 3) for x in proportion([True] * 9 + [False])]
    [0.9, 0.095]
    >>> [round(x, 3) for x in proportion([True] * 10)]
    [1.0, 0.06]
    """
    values = np.asarray(happened, dtype=bool)
    n, p = len(values), float(values.mean())
    return p, float(np.sqrt(p * (1 - p) / n)) if 0 < p < 1 else _error_of_alike(p, n)


def mean_proportion(proportions: ArrayLike) -> tuple[float, float]:
    """Mean of proportions, each of its own group of results, and its standard error.

    Parameters
    ----------
    proportions : array_like of float
        From 0 to 1, one or more.

    Returns
    -------
    mean, standard_error : float
        The error over groups, unless all are alike: then it is that of as many single results,
        see `proportion`.

    Examples
    --------
    >>> [round(x, 3) for x in mean_proportion([1.0, 0.5, 0.9])]
    [0.8, 0.153]
    >>> [round(x, 3) for x in mean_proportion([1.0] * 10)]
    [1.0, 0.06]
    """
    values = np.asarray(proportions, dtype=float)
    n, mean = len(values), float(values.mean())
    if values.min() < values.max():
        return mean, float(values.std(ddof=1) / np.sqrt(n))
    return mean, _error_of_alike(mean, n)


def mean_difference(differences: ArrayLike) -> tuple[float, float]:
    """Mean of differences between two yes-or-no results, and its standard error.

    Parameters
    ----------
    differences : array_like of float
        1, 0 or -1, two or more.

    Returns
    -------
    mean, standard_error : float
        If all are alike, the error is the standard deviation that the mean has under Jeffreys'
        prior for the three.
    """
    values = np.asarray(differences, dtype=float)
    n, mean = len(values), float(values.mean())
    if values.min() < values.max():
        return mean, float(values.std(ddof=1) / np.sqrt(n))
    p = (np.array([(values == x).sum() for x in (-1, 0, 1)]) + 0.5) / (n + 1.5)
    return mean, float(np.sqrt((p[0] + p[2] - (p[2] - p[0]) ** 2) / (n + 2.5)))


def _error_of_alike(p: float, n: int) -> float:
    """Spread (sd) of a proportion under Jeffreys' prior."""
    yes, no = n * p + 0.5, n * (1 - p) + 0.5
    return float(np.sqrt(yes * no / (n + 1) ** 2 / (n + 2)))
