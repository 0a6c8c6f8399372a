"""A factor for each rater, so that products of two raters are near the agreement of pairs."""

import numpy as np

from lehner.core.arrays import Floats, Integers

FIT_SWEEPS = 50
FACTOR_TOLERANCE = 1e-5
STANDS_FOR_0 = 1e-12


def fit_products(
    values: Floats,
    weights: Floats,
    first: Integers,
    second: Integers,
    n_raters: int,
    *,
    lowest: float,
) -> Floats:
    """Find a factor for each rater so that the products of pairs are near given values.

    Parameters
    ----------
    values : ndarray, shape (n_samples, n_pairs)
    weights : ndarray, shape (n_pairs,)
    first, second : ndarray of int, shape (n_pairs,)
        The raters of each pair.
    n_raters : int
    lowest : float
        Factors are between this and 1.

    Returns
    -------
    ndarray, shape (n_samples, n_raters)
    """
    n, j = len(values), n_raters
    # Samples are the last axis in memory.
    weighted, weight = np.zeros((j, j, n)), np.zeros((j, j))
    for i, (one, other) in enumerate(zip(first, second, strict=True)):
        weighted[one, other] = weighted[other, one] = weights[i] * values[:, i]
        weight[one, other] = weight[other, one] = weights[i]
    mean = np.maximum(values @ weights / weights.sum(), 0.01)
    factors = np.tile(np.sqrt(mean), (j, 1))
    for _ in range(FIT_SWEEPS):
        before = factors.copy()
        for rater in np.flatnonzero(weight.any(axis=1)):
            above = (weighted[rater] * factors).sum(axis=0)
            below = weight[rater] @ factors**2
            factors[rater] = np.minimum(np.maximum(above / (below + STANDS_FOR_0), lowest), 1.0)
        if np.abs(factors - before).max() < FACTOR_TOLERANCE:
            break
    return factors.T
