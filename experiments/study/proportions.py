"""Proportions of replicates: their Monte Carlo error where it cannot be zero, and within [0, 1]."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    n, found = len(values), float(values.mean())
    if 0 < found < 1:
        return found, float(np.sqrt(found * (1 - found) / n))
    yes, no = n * found + 0.5, n * (1 - found) + 0.5
    return found, float(np.sqrt(yes * no / (n + 1) ** 2 / (n + 2)))


def wilson(shares: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    """Give the 95% interval of Wilson (1927) for proportions.

    Parameters
    ----------
    shares : array_like of float
    n : array_like of int
        What they are of.

    Returns
    -------
    numpy.ndarray, shape (2, ...)
        Lower and upper ends, within [0, 1].

    References
    ----------
    Brown, Cai & DasGupta (2001), https://doi.org/10.1214/ss/1009213286, Eq. 4.

    Examples
    --------
    >>> wilson(1.0, 200).round(3).tolist()
    [0.981, 1.0]
    """
    p, n = np.asarray(shares, dtype=float), np.asarray(n, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = Z**2 / n
        middle = (p + weight / 2) / (1 + weight)
        half = np.sqrt(p * (1 - p) * weight + weight**2 / 4) / (1 + weight)
    return np.clip([middle - half, middle + half], 0, 1)


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
