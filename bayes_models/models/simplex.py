"""Probabilities, and probabilities that sum to one, sampled in unconstrained coordinates.

The isometric log-ratio transform treats all categories alike, so that scales are nearly the same in
all directions, and the sampler needs fewer steps than with a reference category.
"""

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pymc.distributions.transforms import Transform
from pymc.logprob.transforms import LogOddsTransform

from bayes_models.density.layout import LEAST, MOST
from bayes_models.models.zero_sum import zero_sum_basis


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
        n = value.type.shape[-1]
        return pt.dot(pt.log(value), zero_sum_basis(n).T)

    def backward(self, value: Any, *inputs: Any) -> Any:
        """Transform coordinates to probabilities."""
        return pt.special.softmax(_zero_sum(value), axis=-1)

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """Log volume change of `backward`."""
        n = value.type.shape[-1] + 1
        return pt.special.log_softmax(_zero_sum(value), axis=-1).sum(axis=-1) + 0.5 * np.log(n)


class LogOdds(LogOddsTransform):
    """From the probability of a beta prior to its log odds, and back, short of 0 and 1.

    The log density at large log odds does not pass through a probability that is rounded to 1.
    """

    def backward(self, value: Any, *inputs: Any) -> Any:
        """Transform log odds to a probability."""
        return pt.clip(pt.sigmoid(value), LEAST, MOST)

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """Log volume change of `backward`, and what rounding took from the density of the prior."""
        successes, failures = inputs[-2:]
        right, wrong, rounded = -pt.softplus(-value), -pt.softplus(value), self.backward(value)
        exact = successes * right + failures * wrong
        return exact - (successes - 1) * pt.log(rounded) - (failures - 1) * pt.log1p(-rounded)


def _zero_sum(value: Any) -> Any:
    """Multiply by the basis as a Householder reflection, which needs no matrix."""
    n = value.type.shape[-1] + 1
    root = n**0.5
    total = value.sum(axis=-1, keepdims=True)
    return pt.concatenate([value - total / (root + n), -total / root], axis=-1)
