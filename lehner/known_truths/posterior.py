"""The distribution of a proportion of the items."""

from dataclasses import dataclass

import numpy as np

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

    def interval(self, level: float) -> tuple[float, float]:
        """Equal-tailed interval."""
        lower, upper = self.quantiles(np.array([(1 - level) / 2, (1 + level) / 2]))
        return float(lower), float(upper)

    def quantiles(self, probabilities: Floats) -> Floats:
        """The proportions below which there is so much probability."""
        below = np.cumsum(self.probability)
        ends = np.searchsorted(below, probabilities)
        return np.asarray(self.values[np.minimum(ends, len(below) - 1)])
