"""Estimates without a prior: from the known items alone, and prediction-powered inference."""

from statistics import NormalDist

import numpy as np

from lehner.core.estimate import IntervalEstimate
from lehner.core.wilson import wilson_interval
from lehner.known_truths.partly_known import PartlyKnown

WILSON, PPI = "Wilson, finite population", "PPI++, finite population"


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
    share among these items, not among items like them.

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
