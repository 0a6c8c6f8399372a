"""Coordinates of vectors that sum to zero."""

import numpy as np

from lehner.core.arrays import Floats


def zero_sum_basis(n: int) -> Floats:
    """Orthonormal basis of the vectors of length n that sum to zero.

    Returns
    -------
    ndarray, shape (n - 1, n)

    Examples
    --------
    >>> basis = zero_sum_basis(4)
    >>> np.allclose(basis @ basis.T, np.eye(3)), np.allclose(basis.sum(axis=1), 0)
    (True, True)
    """
    root = n**0.5
    shared = np.full((n - 1, 1), 1 / (root + n))
    return np.hstack([np.eye(n - 1) - shared, np.full((n - 1, 1), -1 / root)])
