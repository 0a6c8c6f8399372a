r"""How an estimate changes if some items mislead the raters, and perhaps also the system.

No method detects mistakes that everybody shares: if raters and system take an item for one of
another category, their ratings are those of an item of that category. The accuracy is therefore
given as a function of the proportion of such items, which the ratings cannot show.

On a share :math:`\delta` of the items raters and system respond to a wrong category as they respond
to a true one. The method assumes that this category is the true one, and its estimate :math:`Y` is
how often the system names the category to which the item seems to belong. On misleading items the
system is right only if it errs, and its error, one of :math:`K - 1`, happens to be the true
category. The accuracy is

.. math:: X = (1 - \delta)\, Y + \delta\, \frac{1 - Y}{K - 1}
            = Y - \delta\, \frac{K Y - 1}{K - 1}.

A system that names the misleading category on every such item would have :math:`X = Y - \delta`,
the lowest value that is possible. For accurate systems the two hardly differ. The formula assumes
that the system is as accurate in all categories and that its errors are equally probable.

A system that is not misled seems wrong where it is right. Let it be right on misleading items as
often as on others, which holds if the proportion of misleading items is the same in each category.
If its accuracy is :math:`X`, and :math:`h` the probability that an error on a misleading item is
the category to which the item seems to belong, the system names that category with probability
:math:`Y = (1 - \delta) X + \delta h (1 - X)`, so that

.. math:: X = \frac{Y - \delta h}{1 - \delta (1 + h)}.

If the category to which a misleading item seems to belong is any of the :math:`K - 1` wrong ones
with equal probability, :math:`h = 1 / (K - 1)`, whatever the base rates and the system's confusion
matrix; with two categories it can be no other. If it is not, :math:`h` lies between 0 and 1, and
the two values of :math:`X` for these are bounds: without further assumptions there are no narrower.

:math:`Y` is how often the system names the category to which an item seems to belong, in the mean
over all items. If base rates are unequal this is not the same in all categories: an item that
seems to be of a rare category is more often misleading. Methods that give the system one accuracy
for all categories therefore do not estimate it. For the algebra it is taken from base rates and
confusion matrix in place of step 4, see `lehner.algebra.system_confusion`.

The formulas are the same for the expected accuracy and the accuracy in the sample.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats
from lehner.core.checks import check_positive, check_probability, check_whole_number
from lehner.core.errors import InputError
from lehner.core.estimate import IntervalEstimate

type Misled = Callable[[ArrayLike, ArrayLike, int], Floats]
type SharedMistakes = float | tuple[float, float]
"""The proportion of items that mislead raters and system alike: a number, or a Beta prior."""

QUANTILES = 400


def accuracy_if_misled(accuracy: ArrayLike, share: ArrayLike, n_categories: int) -> Floats:
    r"""Accuracy of a system if a proportion of the items misleads raters and system alike.

    .. math:: X = (1 - \delta)\, Y + \delta\, (1 - Y) / (K - 1)

    The system is taken to be as accurate in all categories, and its errors to be equally probable.

    Parameters
    ----------
    accuracy : array_like
        Y, as a method that knows nothing of these items estimates it, 0 to 1.
    share : array_like
        δ, 0 to 1.
    n_categories : int
        K, 2 or more.

    Returns
    -------
    ndarray
        X; above Y where Y is below chance.

    Examples
    --------
    >>> accuracy_if_misled(0.9, [0, 0.1, 0.2], 2).round(3).tolist()
    [0.9, 0.82, 0.74]
    """
    check_whole_number("n_categories", n_categories, 2)
    y, delta = np.asarray(accuracy, dtype=float), np.asarray(share, dtype=float)
    return np.asarray((1 - delta) * y + delta * (1 - y) / (n_categories - 1))


def accuracy_if_raters_misled(accuracy: ArrayLike, share: ArrayLike, n_categories: int) -> Floats:
    r"""Accuracy of a system if a proportion of the items misleads the raters alone.

    .. math:: X = \frac{Y - \delta / (K - 1)}{1 - \delta K / (K - 1)}

    This is exact for any base rates and any confusion matrix of the system if misleading items are
    a proportion δ of each category, and seem to be of any other category with equal probability.
    With two categories it is enough that the system is right on misleading items as often as on
    others.

    Parameters
    ----------
    accuracy : array_like
        Y, how often the system names the category to which an item seems to belong, 0 to 1: base
        rates times the diagonal of its confusion matrix, by a method that knows nothing of
        misleading items.
    share : array_like
        δ, 0 or more and below (K - 1)/K, at which the ratings would be uninformative.
    n_categories : int
        K, 2 or more.

    Returns
    -------
    ndarray
        X; it is 1 or 0 if no accuracy from 0 to 1 could give Y.

    Examples
    --------
    >>> accuracy_if_raters_misled(0.82, [0, 0.1, 0.2], 2).round(3).tolist()
    [0.82, 0.9, 1.0]
    """
    check_whole_number("n_categories", n_categories, 2)
    y, delta = np.asarray(accuracy, dtype=float), np.asarray(share, dtype=float)
    if (delta * n_categories >= n_categories - 1).any():
        raise InputError(
            f"{delta.max():g} of the items mislead the raters",
            f"with {n_categories} categories give less than {1 - 1 / n_categories:.3g}",
        )
    other = 1 / (n_categories - 1)
    return np.asarray(np.clip((y - delta * other) / (1 - delta * (1 + other)), 0, 1))


def bounds_if_raters_misled(
    accuracy: ArrayLike, share: ArrayLike, n_categories: int
) -> tuple[Floats, Floats]:
    r"""Bounds of the accuracy of a system if a proportion of the items misleads the raters alone.

    The bounds hold, and are sharp, whatever wrong category a misleading item seems to be of, if the
    system is right on misleading items as often as on others:

    .. math:: \frac{Y - \delta}{1 - 2 \delta} \le X \le \frac{Y}{1 - \delta}

    Parameters
    ----------
    accuracy : array_like
        Y, as in `accuracy_if_raters_misled`.
    share : array_like
        δ, 0 or more and below 1/2.
    n_categories : int
        K, 2 or more.

    Returns
    -------
    least, most : ndarray
        Bounds of X, from 0 to 1. With two categories both are the least, which is X.

    Examples
    --------
    >>> least, most = bounds_if_raters_misled(0.73, 0.1, 5)
    >>> round(float(least), 3), round(float(most), 3)
    (0.787, 0.811)
    """
    check_whole_number("n_categories", n_categories, 2)
    y, delta = np.asarray(accuracy, dtype=float), np.asarray(share, dtype=float)
    if (delta >= 0.5).any():
        raise InputError(f"{delta.max():g} of the items mislead the raters", "give less than half")
    least = (y - delta) / (1 - 2 * delta)
    most = y / (1 - delta) if n_categories > 2 else least
    return np.asarray(np.clip(least, 0, 1)), np.asarray(np.clip(most, 0, 1))


def interval_if_misled(
    interval: IntervalEstimate,
    share: float,
    n_categories: int,
    accuracy: Misled = accuracy_if_misled,
) -> IntervalEstimate:
    """Convert an estimate and its interval to the accuracy with a proportion of misleading items.

    Parameters
    ----------
    interval : IntervalEstimate
    share : float
        0 to 1.
    n_categories : int
        K, 2 or more.
    accuracy : callable
        `accuracy_if_misled` or `accuracy_if_raters_misled`.

    Returns
    -------
    IntervalEstimate
        An interval of the same level. None stays None.

    Examples
    --------
    >>> print(interval_if_misled(IntervalEstimate(estimate=0.9, lower=0.8, upper=1.0), 0.1, 5))
    0.812 [0.725, 0.900]
    """
    check_probability("share", share)
    if interval.estimate is None:
        return interval
    moved = replace(interval, estimate=float(accuracy(interval.estimate, share, n_categories)))
    if interval.lower is None or interval.upper is None:
        return moved
    ends = np.sort(accuracy([interval.lower, interval.upper], share, n_categories))
    return replace(moved, lower=float(ends[0]), upper=float(ends[1]))


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
