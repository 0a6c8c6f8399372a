"""Types of arrays, and small computations with arrays of probabilities."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

type Booleans = NDArray[np.bool_]
type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]

TINY = 1e-300


def draw_categories(probabilities: Floats, uniform: Floats, *row: Any) -> Integers:
    """Draw a category for each uniform number.

    Parameters
    ----------
    probabilities : ndarray of float, shape (..., n_categories)
        A table of probabilities, or of numbers proportional to them.
    uniform : ndarray of float
        Between 0 and 1, as from `numpy.random.Generator.random`.
    *row : array_like of int
        The row of the table for each uniform number, an index for each of the last dimensions
        before the categories. Dimensions before these are those of `uniform`, too.

    Returns
    -------
    ndarray of int
        Of the shape of `uniform`.

    Examples
    --------
    >>> table = np.array([[0.2, 0.8], [0.9, 0.1]])
    >>> draw_categories(table, np.array([0.5, 0.5, 0.1]), [0, 1, 0]).tolist()
    [1, 0, 0]
    """
    # Categories come first, so that each of the few comparisons runs along the items.
    steps = np.moveaxis(probabilities.cumsum(axis=-1), -1, 0)
    scaled = uniform * steps[-1][..., *row]
    drawn = np.zeros(scaled.shape, dtype=np.int64)
    for step in steps[:-1]:
        drawn += scaled >= step[..., *row]
    return drawn


def poisson_binomial(probability: Floats, counts: Floats) -> Floats:
    """Distribution of how many events occur: the inverse Fourier transform of its characteristic.

    Parameters
    ----------
    probability : ndarray, shape (n_rows,)
        From 0 to 1. Time is proportional to how many different ones there are.
    counts : ndarray, shape (n_rows,)
        How many events have each probability.

    Returns
    -------
    ndarray, shape (n_events + 1,)
        Probability of 0, 1, … events.

    References
    ----------
    Hong (2013), https://doi.org/10.1016/j.csda.2012.10.006

    Examples
    --------
    >>> poisson_binomial(np.array([0.5, 0.1]), np.array([1.0, 1.0])).round(3).tolist()
    [0.45, 0.5, 0.05]
    """
    n = int(counts.sum())
    turn = np.exp(-2j * np.pi * np.arange(n + 1) / (n + 1))
    transformed = np.ones(n + 1, dtype=complex)
    levels, level = np.unique(probability, return_inverse=True)
    for level_probability, many in zip(levels, np.bincount(level, counts), strict=True):
        transformed *= (1 - level_probability + level_probability * turn) ** many
    return np.clip(np.fft.ifft(transformed).real, 0.0, 1.0)
