"""Linearised statistics: a number, and the influence of each item on it."""

from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Floats, Integers

STANDS_FOR_0 = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Linearised:
    """A statistic and the influence of each row of the data on it.

    Parameters
    ----------
    value : ndarray of float, shape (...), or float
        The statistic; NaN if it is undefined.
    influence : ndarray of float, shape (..., n_rows)
        n times the derivative of the value by the weight of the row, where n is the number of
        items.
    chance : ndarray of float, shape (...), or float, optional
        The agreement by chance for which the value is corrected.
    """

    value: Floats | np.float64
    influence: Floats
    chance: Floats | np.float64 | None = None


def beyond_chance(observed: Linearised, chance: Linearised) -> Linearised:
    """Correct agreement for chance: (observed − chance) / (1 − chance).

    Parameters
    ----------
    observed, chance : Linearised

    Returns
    -------
    Linearised
        The corrected agreement; NaN if chance agreement is 1.
    """
    room = np.where(1 - chance.value > STANDS_FOR_0, 1 - chance.value, np.nan)
    value = np.asarray((observed.value - chance.value) / room)
    moved = observed.influence - (1 - value)[..., None] * chance.influence
    return Linearised(value=value, influence=moved / room[..., None], chance=chance.value)


def standard_error(
    statistic: Linearised,
    weights: Floats,
    n_informative: float | Floats,
    cluster: Integers | None = None,
) -> Floats:
    """Compute the standard error of a statistic of independent items, or independent clusters.

    Parameters
    ----------
    statistic : Linearised
    weights : ndarray of float, shape (..., n_rows)
        Number of items of each row.
    n_informative : float or ndarray of float, shape (...)
        Number of items on which the statistic depends. If it is n, the number of all items, the
        variance is that of a mean of n influences: their sum of squares over n (n − 1). With
        clusters, the number of clusters of such items.
    cluster : ndarray of int, shape (n_rows,), optional
        The cluster of each row, whose influences are added up: Liang & Zeger (1986),
        https://doi.org/10.1093/biomet/73.1.13. Then the statistic is one number.

    Returns
    -------
    ndarray of float, shape (...)
        The standard error; NaN with fewer than two items, or if none has an influence.
    """
    n = weights.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (weights * statistic.influence).sum(axis=-1) / n
        deviation = statistic.influence - mean[..., None]
        squares = (weights * deviation**2).sum(axis=-1) / n**2
        if cluster is not None:
            squares = (np.bincount(cluster, weights * deviation) ** 2).sum() / n**2
        error = np.sqrt(squares * n_informative / (n_informative - 1))
    known = (np.asarray(n_informative) >= 2) & (error > STANDS_FOR_0)
    return np.where(known, error, np.nan)
