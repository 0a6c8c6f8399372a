"""Items with the probability that the system is right, or of another property, known for some.

Estimates without a prior are from the known items alone, and by prediction-powered inference.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Booleans, Floats
from lehner.core.errors import InputError
from lehner.core.estimate import IntervalEstimate
from lehner.core.wilson import wilson_interval
from lehner.data.ratings import Ratings

PROBABILITY_ROUNDING = 1e-6
WILSON, PPI = "Wilson, finite population", "PPI++, finite population"


@dataclass(frozen=True, kw_only=True, eq=False)
class PartlyKnown:
    """Rows of items, each with the probability of a property, and whether it has it, if known.

    Parameters
    ----------
    probability : ndarray, shape (n_rows,)
        Probability of the property, by a method that did not use the known truths.
    counts : ndarray, shape (n_rows,)
        Number of items of each row.
    known : ndarray of bool, shape (n_rows,)
        Whether it is known if these items have the property.
    holds : ndarray of bool, shape (n_rows,)
        Whether these items have the property; False where that is not known.
    """

    probability: Floats
    counts: Floats
    known: Booleans
    holds: Booleans

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.counts.sum())

    @property
    def n_known(self) -> int:
        """Number of items for which it is known whether they have the property."""
        return int(self.counts[self.known].sum())

    @property
    def n_holding(self) -> int:
        """Number of items that are known to have the property."""
        return int(self.counts[self.holds].sum())

    @property
    def mean(self) -> float:
        """Mean probability over all items: the proportion that the method expects."""
        return float(self.counts @ self.probability / self.counts.sum())

    @property
    def variance_of_proportion(self) -> float:
        """Variance of the proportion that has the property if the probabilities are right."""
        probability = self.probability
        return float(self.counts @ (probability * (1 - probability))) / self.n_items**2

    @property
    def mean_of_known(self) -> float:
        """Mean probability over the known items; NaN if there are none."""
        counts = self.counts * self.known
        return float(counts @ self.probability / counts.sum()) if self.n_known else np.nan


def rightness(ratings: Ratings, probabilities_right: ArrayLike) -> PartlyKnown:
    """Collect on which items the system is right, as far as that is known.

    Parameters
    ----------
    ratings : Ratings
        Ratings with a system and the truth of some items.
    probabilities_right : array_like, shape (n_rows,)
        Probability that the system is right. Rows without an answer of the system are left out.

    Returns
    -------
    PartlyKnown

    Raises
    ------
    InputError
        If there is no system, or if there is not a probability from 0 to 1 for each row.
    """
    if ratings.system is None or not (ratings.weights[ratings.system >= 0] > 0).any():
        raise InputError("there is no answer of a system", "give ratings with a system")
    answered = (ratings.system >= 0) & (ratings.weights > 0)
    probability = check_probabilities(probabilities_right, ratings, answered)
    truth = np.full(len(answered), -1) if ratings.truth is None else ratings.truth
    return PartlyKnown(
        probability=probability[answered],
        counts=ratings.weights[answered].astype(float),
        known=(truth >= 0)[answered],
        holds=((truth >= 0) & (truth == ratings.system))[answered],
    )


def check_probabilities(values: ArrayLike, ratings: Ratings, needed: Booleans) -> Floats:
    """Raise an InputError unless there is a probability for each row that needs one.

    Parameters
    ----------
    values : array_like, shape (n_rows,)
    ratings : Ratings
    needed : ndarray of bool, shape (n_rows,)

    Returns
    -------
    ndarray, shape (n_rows,)
    """
    try:
        probabilities = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError("the probabilities are not all numbers", "give one for each row") from None
    if probabilities.shape != needed.shape:
        raise InputError(
            f"the probabilities have shape {probabilities.shape} for {len(needed)} rows of ratings",
            "give one for each row",
        )
    bad = needed & ~(
        (probabilities >= -PROBABILITY_ROUNDING) & (probabilities <= 1 + PROBABILITY_ROUNDING)
    )
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"the probability of item {ratings.items[row]} is {probabilities[row]:g}",
            "give numbers between 0 and 1",
        )
    return np.clip(probabilities, 0.0, 1.0)


def known_items_alone(items: PartlyKnown, level: float = 0.9) -> IntervalEstimate:
    """Treat the known items as a random sample: Wilson's interval for a finite population.

    Parameters
    ----------
    items : PartlyKnown
    level : float
        Probability of the interval, between 0 and 1.

    Returns
    -------
    IntervalEstimate
        The proportion of all items. There is no estimate if no item is known.

    Examples
    --------
    >>> first = np.arange(100) < 20
    >>> items = PartlyKnown(
    ...     probability=np.full(100, 0.8), counts=np.ones(100), known=first, holds=first
    ... )
    >>> str(known_items_alone(items))
    '1.000 [0.901, 1.000]'
    """
    n, m = items.n_items, items.n_known
    if m == 0:
        return IntervalEstimate(estimate=None)
    proportion = items.n_holding / m
    lower, upper = wilson_interval(proportion, m, z=_z(level), population=n).tolist()
    return IntervalEstimate(estimate=proportion, lower=lower, upper=upper, level=level, kind=WILSON)


def prediction_powered(items: PartlyKnown, level: float = 0.9) -> IntervalEstimate:
    """Add the mean residual of the known items to λ times the mean probability: PPI++.

    λ, from 0 to 1, minimises the variance. The population is finite: the interval is that of the
    proportion among these items, not among items like them.

    Parameters
    ----------
    items : PartlyKnown
    level : float
        Probability of the interval, between 0 and 1.

    Returns
    -------
    IntervalEstimate
        There is no interval if fewer than two items are known or their residuals are all equal,
        because its width would then be 0.

    References
    ----------
    Angelopoulos, Duchi & Zrnic (2023), PPI++: efficient prediction-powered inference,
    https://arxiv.org/abs/2311.01453. With a finite population it is the regression estimator of
    Cochran (1977), chapter 7.
    """
    n, m = items.n_items, items.n_known
    if m == 0:
        return IntervalEstimate(estimate=None)
    known = items.counts * items.known
    right, predicted = items.n_holding / m, items.mean_of_known
    covariance = known @ ((items.holds - right) * (items.probability - predicted)) / max(m - 1, 1)
    variance = items.counts @ (items.probability - items.mean) ** 2 / max(n - 1, 1)
    slope = float(np.clip(covariance / variance, 0.0, 1.0)) if variance > 0 else 0.0
    residual = items.holds - slope * items.probability
    mean = float(known @ residual) / m
    estimate = float(np.clip(slope * items.mean + mean, 0.0, 1.0))
    spread = float(known @ (residual - mean) ** 2) / max(m - 1, 1)
    if spread <= 0 or m < 2:
        return IntervalEstimate(estimate=estimate)
    half = _z(level) * np.sqrt((1 - m / n) * spread / m)
    lower, upper = float(max(estimate - half, 0.0)), float(min(estimate + half, 1.0))
    return IntervalEstimate(estimate=estimate, lower=lower, upper=upper, level=level, kind=PPI)


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
