"""Categories drawn with given probabilities."""

from typing import Any

import numpy as np

from lehner.core.arrays import Floats, Integers


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
