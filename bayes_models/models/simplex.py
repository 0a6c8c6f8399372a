"""Probabilities that sum to one, sampled in unconstrained coordinates.

The isometric log-ratio transform treats all categories alike, so that scales are nearly the same in
all directions, and the sampler needs fewer steps than with a reference category.
"""

from typing import Any

import pytensor.tensor as pt
from pymc.distributions.transforms import Transform

from bayes_models.models.zero_sum import zero_sum


class IsometricLogRatio(Transform):
    r"""From the simplex of n probabilities to n - 1 real numbers, and back by softmax.

    References
    ----------
    Egozcue et al. (2003), https://doi.org/10.1023/A:1023818214614
    """

    name = "ilr"
    ndim_supp = 1

    def forward(self, value: Any, *inputs: Any) -> Any:
        """Transform probabilities to coordinates."""
        log, root = pt.log(value), pt.sqrt(pt.cast(value.shape[-1], "float64"))
        first, last = log[..., :-1], log[..., -1, None]
        return first - first.sum(axis=-1, keepdims=True) / (root + root**2) - last / root

    def backward(self, value: Any, *inputs: Any) -> Any:
        """Transform coordinates to probabilities."""
        return pt.special.softmax(zero_sum(value), axis=-1)

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """Log volume change of `backward`."""
        n = pt.cast(value.shape[-1] + 1, "float64")
        return pt.special.log_softmax(zero_sum(value), axis=-1).sum(axis=-1) + 0.5 * pt.log(n)
