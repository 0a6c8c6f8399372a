"""The distribution of a proportion of the items."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats

RECALIBRATED = "recalibrated, equal-tailed"
WEIGHTED = "weighted difference, equal-tailed"


@dataclass(frozen=True, kw_only=True, eq=False)
class ProportionPosterior:
    """The posterior of a proportion of the items.

    Parameters
    ----------
    values : ndarray, shape (n_values,)
        The possible proportions, in increasing order.
    probability : ndarray, shape (n_values,)
        Probability of each of them; they sum to 1.
    kind : str
        How it was made, as the kind of its intervals.
    """

    values: Floats
    probability: Floats
    kind: str = RECALIBRATED

    @property
    def mean(self) -> float:
        """Posterior mean."""
        return float(self.values @ self.probability)

    @property
    def variance(self) -> float:
        """Posterior variance."""
        return float((self.values - self.mean) ** 2 @ self.probability)

    def quantiles(self, probabilities: ArrayLike) -> Floats:
        """Give the proportions below which there is so much probability."""
        ends = np.searchsorted(np.cumsum(self.probability), probabilities)
        return np.asarray(self.values[np.minimum(ends, len(self.values) - 1)])

    def interval(self, level: float) -> tuple[float, float]:
        """Equal-tailed interval of probability `level` or a little more."""
        lower, upper = self.quantiles([(1 - level) / 2, (1 + level) / 2]).tolist()
        return lower, upper

    def shortest_interval(self, level: float) -> tuple[float, float]:
        """Shortest interval of probability `level` or a little more."""
        below = np.concatenate([[0.0], np.cumsum(self.probability)])
        last = np.searchsorted(below, below[:-1] + level * below[-1]) - 1
        first = np.flatnonzero(last < len(self.values))
        width = self.values[last[first]] - self.values[first]
        best = first[np.argmin(width)]
        return float(self.values[best]), float(self.values[last[best]])
