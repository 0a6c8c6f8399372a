"""Intervals widened by mistakes that raters and system share."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats
from lehner.core.checks import check_positive, check_probability
from lehner.core.estimate import IntervalEstimate
from lehner.dependence.misleading_items import accuracy_if_misled

type SharedMistakes = float | tuple[float, float]
"""The proportion of items that mislead raters and system alike: a number, or a Beta prior."""

QUANTILES = 400


def widen_interval(
    interval: IntervalEstimate,
    shared_mistakes: SharedMistakes,
    n_categories: int,
    *,
    draws: ArrayLike | None = None,
) -> IntervalEstimate:
    """Lower the lower end of an interval to allow for shared mistakes.

    Estimate and upper end do not change. With a Beta prior of the share, the lower end is the
    quantile of the accuracy over draws and shares. These are independent of one another, because
    ratings tell nothing about the share.

    Parameters
    ----------
    interval : IntervalEstimate
        The interval to be widened.
    shared_mistakes : float or tuple of float
        The proportion of items that mislead raters and system alike, 0 to 1, or the two numbers,
        above 0, of its Beta prior.
    n_categories : int
        K, 2 or more.
    draws : array_like, any shape, optional
        Posterior draws of the accuracy, from which the interval was made. Without them the accuracy
        is assumed to be normal on each side of the estimate, with the interval's ends.

    Returns
    -------
    IntervalEstimate
        The widened interval, never narrower than before. An estimate without an interval is
        returned unchanged.

    Raises
    ------
    InputError
        If a share is not between 0 and 1, a number of the prior is not above 0, or `n_categories`
        is less than 2.

    Examples
    --------
    >>> interval = IntervalEstimate(estimate=0.9, lower=0.85, upper=0.95, level=0.9)
    >>> print(widen_interval(interval, 0.1, 2))
    0.900 [0.780, 0.950]
    >>> print(widen_interval(interval, (0.5, 4.5), 2))
    0.900 [0.609, 0.950]
    """
    low, high, level = interval.lower, interval.upper, interval.level
    if interval.estimate is None or low is None or high is None or level is None:
        return interval
    if isinstance(shared_mistakes, tuple):
        from scipy.special import betaincinv

        a, b = (check_positive("shared_mistakes", number) for number in shared_mistakes)
        middle = (np.arange(QUANTILES) + 0.5) / QUANTILES
        accuracy = _quantiles(interval, middle) if draws is None else np.ravel(draws)
        misled = accuracy_if_misled(accuracy[:, None], betaincinv(a, b, middle), n_categories)
        lower = float(np.quantile(misled, (1 - level) / 2))
    else:
        share = check_probability("shared_mistakes", shared_mistakes)
        lower = float(accuracy_if_misled([low, high], share, n_categories).min())
    return replace(
        interval, lower=min(low, lower), kind=f"{interval.kind}, widened by shared mistakes"
    )


def _quantiles(interval: IntervalEstimate, probability: Floats) -> Floats:
    """Quantiles of two halves of normal distributions that have the interval's ends."""
    from scipy.special import ndtri

    estimate, low, high = (float(getattr(interval, n)) for n in ("estimate", "lower", "upper"))
    z = ndtri(probability) / ndtri((1 + float(interval.level or 0)) / 2)
    return np.clip(estimate + z * np.where(z < 0, estimate - low, high - estimate), 0, 1)


def describe_shared_mistakes(shared_mistakes: SharedMistakes) -> str:
    """Write a share or its prior in words.

    Examples
    --------
    >>> describe_shared_mistakes(0.1), describe_shared_mistakes((0.5, 4.5))
    ('10% of the items', 'Beta(0.5, 4.5) of the items, 10% on average')
    """
    if not isinstance(shared_mistakes, tuple):
        return f"{100 * shared_mistakes:.3g}% of the items"
    a, b = shared_mistakes
    return f"Beta({a:g}, {b:g}) of the items, {100 * a / (a + b):.3g}% on average"
