"""Wilson's interval for a proportion, in an infinite or a finite population."""

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats


def wilson_interval(
    proportions: ArrayLike, n: ArrayLike, *, z: float, population: ArrayLike | None = None
) -> Floats:
    """Proportions that a z-test of a random sample would not reject.

    Parameters
    ----------
    proportions : array_like of float
        Proportions in the samples, 0 to 1.
    n : array_like of int
        Sizes of the samples.
    z : float
        Quantile of the normal distribution, as 1.96 for 95%.
    population : array_like of int, optional
        Size of the population from which n were drawn without replacement; infinite if None.

    Returns
    -------
    numpy.ndarray, shape (2, ...)
        Lower and upper ends, within [0, 1]; NaN where n is 0.

    References
    ----------
    Wilson (1927), https://doi.org/10.2307/2276774; Brown, Cai & DasGupta (2001),
    https://doi.org/10.1214/ss/1009213286, Eq. 4; with z² multiplied by (N - n)/(N - 1) for a
    population of N, as in Cochran (1977), Sampling Techniques, section 3.2.

    Examples
    --------
    >>> wilson_interval(1.0, 200, z=1.96).round(3).tolist()
    [0.981, 1.0]
    >>> wilson_interval(1.0, 200, z=1.96, population=250).round(3).tolist()
    [0.996, 1.0]
    """
    p, n = np.asarray(proportions, dtype=float), np.asarray(n, dtype=float)
    left = 1.0
    if population is not None:
        total = np.asarray(population, dtype=float)
        left = (total - n) / np.maximum(total - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = z**2 * left / n
        middle = (p + weight / 2) / (1 + weight)
        half = np.sqrt(p * (1 - p) * weight + weight**2 / 4) / (1 + weight)
    return np.clip([middle - half, middle + half], 0, 1)
