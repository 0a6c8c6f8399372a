"""Which naming of the true categories agrees best with the raters' labels."""

import functools
import itertools

import numpy as np

from lehner.core.arrays import Floats, Integers

MOST_ENUMERATED = 6


def best_order(shares: Floats) -> Integers:
    """Assign a label to each category, so that the sum of their shares is greatest.

    Parameters
    ----------
    shares : ndarray, shape (n_categories, n_categories)
        Proportion of each label (column) in each category (row).

    Returns
    -------
    ndarray of int, shape (n_categories,)
        The label of each category.

    Examples
    --------
    >>> best_order(np.array([[0.1, 0.5, 0.1], [0.6, 0.2, 0.1], [0.0, 0.3, 0.2]]))
    array([1, 0, 2])
    """
    k = len(shares)
    if k > MOST_ENUMERATED:
        from scipy.optimize import linear_sum_assignment

        return np.asarray(linear_sum_assignment(-shares)[1])
    # Loading SciPy's optimisers takes longer than trying all.
    orders = _orders(k)
    return np.asarray(orders[shares[np.arange(k), orders].sum(axis=1).argmax()])


@functools.cache
def _orders(k: int) -> Integers:
    return np.array(list(itertools.permutations(range(k))))
