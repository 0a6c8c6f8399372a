r"""How an estimate changes if some items mislead the raters, and perhaps also the system.

No method detects mistakes that everybody shares: if raters and system take an item for one of
another category, their ratings are those of an item of that category. The accuracy is therefore
given as a function of what the ratings cannot show: the proportion :math:`\delta` of the items that
mislead the raters together, who respond to a wrong category as they respond to a true one, and the
proportion :math:`\lambda` of these on which the system goes along and is misled as they are. On the
others it responds to the true category.

A method that knows nothing of this takes the category :math:`S` that an item seems to have for the
true one :math:`T`. What it estimates is :math:`J_{sa} = P(S = s, \text{answer} = a)`, of which the
accuracy :math:`Y` is the trace, and :math:`p_s = P(S = s)`. Let a proportion :math:`\delta` of each
category mislead, and seem to be of any other category with equal probability
:math:`h = 1/(K - 1)`. Let the true base rates be :math:`\pi`, and :math:`C_{ra}` the probability
that the system answers :math:`a` where it responds to category :math:`r`. Then

.. math::

    p_s &= (1 - \delta)\, \pi_s + \delta h\, (1 - \pi_s) \\
    J_{sa} &= \big[(1 - \delta)\, \pi_s + \delta \lambda h\, (1 - \pi_s)\big]\, C_{sa}
            + \delta (1 - \lambda) h \sum_{t \ne s} \pi_t C_{ta} \\
    X &= (1 - \delta \lambda) \sum_t \pi_t C_{tt}
            + \delta \lambda h \sum_t \pi_t \sum_{s \ne t} C_{st}.

The first line gives :math:`\pi`, the second is a linear equation for :math:`C`, and the third the
accuracy. This is exact for any number of categories, any base rates and any confusion matrix of the
system: :func:`accuracy_by_confusion`. If the system is as accurate in all categories, with equally
probable errors, or if :math:`\lambda = 0`, the accuracy :math:`A` where it responds to the true
category is all that counts, whatever the base rates:

.. math::

    Y &= (1 - \delta (1 - \lambda))\, A + \delta (1 - \lambda)\, h\, (1 - A) \\
    X &= (1 - \delta \lambda)\, A + \delta \lambda\, h\, (1 - A),

which :func:`accuracy_if_misled` solves. If everybody is misled, :math:`\lambda = 1`, that is
:math:`X = Y - \delta (K Y - 1)/(K - 1)`. If only the raters are, :math:`\lambda = 0`, a system that
knows better seems wrong where it is right. If misleading items do not seem to be of all other
categories equally, :math:`h`, the probability that an error is the one other category that counts,
lies between 0 and 1, and with :math:`\lambda = 0` the two values of :math:`X` for these are bounds:
without further assumptions there are no narrower.

:math:`Y` is how often the system names the category to which an item seems to belong, in the mean
over all items. If base rates are unequal this is not the same in all categories: an item that
seems to be of a rare category is more often misleading. Methods that give the system one accuracy
for all categories therefore do not estimate it. For the algebra it is taken from base rates and
confusion matrix in place of step 4, see `lehner.algebra.system_confusion`.

The formulas are the same for the expected accuracy and the accuracy in the sample.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats
from lehner.core.checks import check_probability, check_whole_number
from lehner.core.errors import InputError
from lehner.core.estimate import IntervalEstimate


def accuracy_if_misled(
    accuracy: ArrayLike,
    share: ArrayLike,
    n_categories: int,
    along: ArrayLike = 1.0,
    *,
    hit: float | None = None,
) -> Floats:
    """Accuracy of a system if some items mislead the raters, and on some of these the system.

    It is exact if the system is as accurate in all categories with equally probable errors, or if
    it is not misled. Else `accuracy_by_confusion` is.

    Parameters
    ----------
    accuracy : array_like
        Y, how often the system names the category to which an item seems to belong, 0 to 1.
    share : array_like
        δ, the proportion of items that mislead the raters, 0 to 1.
    n_categories : int
        K, 2 or more.
    along : array_like
        λ, the proportion of these on which the system goes along, 0 to 1; δ (1 - λ) is less than
        (K - 1)/K, at which the ratings would be uninformative.
    hit : float, optional
        h, the probability that an error on a misleading item is the one other category that
        counts; by default 1/(K - 1), as if all were equally probable.

    Returns
    -------
    ndarray
        X; as for the nearest possible Y if no accuracy from 0 to 1 could give this one.

    Raises
    ------
    InputError
        If the ratings would be uninformative, or `n_categories` is not a whole number of 2 or more.

    Examples
    --------
    >>> accuracy_if_misled(0.9, [0, 0.1, 0.2], 2).round(3).tolist()
    [0.9, 0.82, 0.74]
    >>> accuracy_if_misled(0.82, 0.1, 2, along=[0, 0.5, 1]).round(3).tolist()
    [0.9, 0.82, 0.756]
    """
    check_whole_number("n_categories", n_categories, 2)
    other = 1 / (n_categories - 1) if hit is None else hit
    delta, lam = np.asarray(share, dtype=float), np.asarray(along, dtype=float)
    alone, together = delta * (1 - lam), delta * lam
    if (alone * (1 + other) >= 1).any():
        raise InputError(
            f"{alone.max():g} of the items mislead the raters alone",
            f"give less than {1 / (1 + other):.3g}",
        )
    responding = (np.asarray(accuracy) - alone * other) / (1 - alone * (1 + other))
    responding = np.clip(responding, 0, 1)
    return np.asarray((1 - together) * responding + together * other * (1 - responding))


def accuracy_by_confusion(
    base_rates: ArrayLike, confusion: ArrayLike, share: float, along: float = 1.0
) -> float:
    """Accuracy of a system if some items mislead the raters, from its confusion matrix.

    It is exact for any base rates and matrix if misleading items are the same proportion of each
    category, and seem to be of any other with equal probability.

    Parameters
    ----------
    base_rates : array_like, shape (n_categories,)
        As a method estimates them that knows nothing of misleading items, with the sum 1.
    confusion : array_like, shape (n_categories, n_categories)
        Probability of each answer of the system, in columns, by the category that an item seems to
        have, in rows; as such a method estimates it.
    share : float
        δ, the proportion of items that mislead the raters, 0 or more and less than (K - 1)/K.
    along : float
        λ, the proportion of these on which the system goes along, 0 to 1.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> round(accuracy_by_confusion([0.7, 0.3], [[0.9, 0.1], [0.4, 0.6]], 0.1, along=0.5), 3)
    0.822
    """
    seeming, matrix = np.asarray(base_rates, dtype=float), np.asarray(confusion, dtype=float)
    other = 1 / (len(seeming) - 1)
    rates = (seeming - share * other) / (1 - share * (1 + other))
    alone = share * (1 - along) * other
    from_true = np.tile(alone * rates, (len(rates), 1))
    same = (1 - share) * rates + share * along * other * (1 - rates)
    np.fill_diagonal(from_true, same)
    # A category that no item seems to have says nothing of the system.
    response = np.linalg.pinv(from_true) @ (seeming[:, None] * matrix)
    right = np.diagonal(response)
    misled = share * along * other * (response.sum(axis=0) - right)
    return float(np.clip(rates @ ((1 - share * along) * right + misled), 0, 1))


def interval_if_misled(
    interval: IntervalEstimate,
    share: float,
    n_categories: int,
    along: float = 1.0,
    *,
    more: float = 0.0,
) -> IntervalEstimate:
    """Convert an estimate and its interval to the accuracy with a proportion of misleading items.

    Parameters
    ----------
    interval : IntervalEstimate
    share : float
        0 to 1.
    n_categories : int
        K, 2 or more.
    along : float
        The proportion of these items on which the system goes along.
    more : float
        Is added to estimate and ends.

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

    def moved(*values: float) -> list[float]:
        found = accuracy_if_misled(np.array(values), share, n_categories, along)
        return np.sort(np.clip(found + more, 0, 1)).tolist()

    (estimate,) = moved(interval.estimate)
    if interval.lower is None or interval.upper is None:
        return replace(interval, estimate=estimate)
    lower, upper = moved(interval.lower, interval.upper)
    return replace(interval, estimate=estimate, lower=lower, upper=upper)
