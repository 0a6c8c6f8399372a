"""Vectors that sum to zero, from one coordinate less."""

from typing import Any

from bayes_models.models.deferred import pt


def zero_sum(values: Any) -> Any:
    """Make vectors that sum to zero of coordinates in an orthonormal basis.

    It is a Householder reflection, which needs no matrix.

    Parameters
    ----------
    values : TensorVariable, shape (..., n - 1)

    Returns
    -------
    TensorVariable, shape (..., n)

    Examples
    --------
    >>> zero_sum(pt.as_tensor([[3.0, 3.0]])).eval().round(2).tolist()
    [[1.1, 1.1, -3.46]]
    """
    root = pt.sqrt(pt.cast(values.shape[-1] + 1, "float64"))
    total = values.sum(axis=-1, keepdims=True)
    return pt.concatenate([values - total / (root + root**2), -total / root], axis=-1)
