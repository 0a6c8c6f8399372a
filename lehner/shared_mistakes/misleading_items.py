r"""What an estimate becomes if some items mislead raters and system alike.

No method finds mistakes that everybody shares: where raters and system take an item for another
category, their ratings are those of an item of that category. What the ratings cannot tell is
therefore said as a function of the share of such items.

On a share :math:`\delta` of the items raters and system respond to a wrong category as they
respond to a true one. The method takes that category for the truth, and its estimate
:math:`Y` is how often the system names the category that the item seems to be. On these items it
is right only if it errs into the true category, one of :math:`K - 1`. The accuracy is

.. math:: X = (1 - \delta)\, Y + \delta\, \frac{1 - Y}{K - 1}
            = Y - \delta\, \frac{K Y - 1}{K - 1}.

A system that takes the bait each time, and not only as often as it is right elsewhere, would have
:math:`X = Y - \delta`, the least that is possible; there is little between the two where accurate
systems are concerned. The formula is the same for the expected accuracy and that in the sample.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.checks import check_probability, check_whole_number
from lehner.estimate import IntervalEstimate

type Floats = NDArray[np.float64]


def accuracy_if_misled(accuracy: ArrayLike, share: ArrayLike, n_categories: int) -> Floats:
    r"""Give the accuracy of a system if a share of the items misleads raters and system alike.

    .. math:: X = (1 - \delta)\, Y + \delta\, (1 - Y) / (K - 1)

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


def interval_if_misled(
    interval: IntervalEstimate, share: float, n_categories: int
) -> IntervalEstimate:
    """Move an estimate and its interval to where a share of misleading items would put them.

    Parameters
    ----------
    interval : IntervalEstimate
    share : float
        0 to 1.
    n_categories : int
        K, 2 or more.

    Returns
    -------
    IntervalEstimate
        Of the same level. None stays None.

    Examples
    --------
    >>> print(interval_if_misled(IntervalEstimate(estimate=0.9, lower=0.8, upper=1.0), 0.1, 5))
    0.812 [0.725, 0.900]
    """
    check_probability("share", share)
    if interval.estimate is None:
        return interval
    moved = replace(interval, estimate=_moved(interval.estimate, share, n_categories))
    if interval.lower is None or interval.upper is None:
        return moved
    ends = sorted(_moved(end, share, n_categories) for end in (interval.lower, interval.upper))
    return replace(moved, lower=ends[0], upper=ends[1])


def _moved(accuracy: float, share: float, n_categories: int) -> float:
    return float(accuracy_if_misled(accuracy, share, n_categories))
