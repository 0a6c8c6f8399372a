"""Proportions of replicates, with a Monte Carlo error that is not zero where all are alike."""

import numpy as np
from numpy.typing import ArrayLike

Z = 1.96


def share(happened: ArrayLike) -> tuple[float, float]:
    """Give a proportion and its standard error.

    Parameters
    ----------
    happened : array_like of bool
        One or more.

    Returns
    -------
    share, standard_error : float
        The usual error, √(p(1 - p)/n), unless all are alike: n replicates do not show that the
        others would be so too, and the error is the standard deviation that p has under Jeffreys'
        prior.

    Examples
    --------
    >>> [round(x, 3) for x in share([True] * 9 + [False])]
    [0.9, 0.095]
    >>> [round(x, 3) for x in share([True] * 10)]
    [1.0, 0.06]
    """
    values = np.asarray(happened, dtype=bool)
    n, proportion = len(values), float(values.mean())
    if 0 < proportion < 1:
        return proportion, float(np.sqrt(proportion * (1 - proportion) / n))
    return proportion, _error_of_alike(proportion, n)


def mean_share(shares: ArrayLike) -> tuple[float, float]:
    """Give the mean of shares, each of its own group of results, and its standard error.

    Parameters
    ----------
    shares : array_like of float
        From 0 to 1, one or more.

    Returns
    -------
    mean, standard_error : float
        The error over groups, unless all are alike: then it is that of as many single results,
        see `share`.

    Examples
    --------
    >>> [round(x, 3) for x in mean_share([1.0, 0.5, 0.9])]
    [0.8, 0.153]
    >>> [round(x, 3) for x in mean_share([1.0] * 10)]
    [1.0, 0.06]
    """
    values = np.asarray(shares, dtype=float)
    n, mean = len(values), float(values.mean())
    if values.min() < values.max():
        return mean, float(values.std(ddof=1) / np.sqrt(n))
    return mean, _error_of_alike(mean, n)


def mean_difference(differences: ArrayLike) -> tuple[float, float]:
    """Give the mean of differences between two yes-or-no results, and its standard error.

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


def _error_of_alike(proportion: float, n: int) -> float:
    """Give the standard deviation of a proportion under Jeffreys' prior."""
    yes, no = n * proportion + 0.5, n * (1 - proportion) + 0.5
    return float(np.sqrt(yes * no / (n + 1) ** 2 / (n + 2)))
