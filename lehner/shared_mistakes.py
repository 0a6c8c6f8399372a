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

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri

from lehner.checks import check_positive, check_probability, check_whole_number
from lehner.errors import InputError
from lehner.estimate import Estimate, IntervalEstimate, plain

if TYPE_CHECKING:
    import xarray as xr

type Floats = NDArray[np.float64]
type SharedMistakes = float | tuple[float, float]

MISLEADING_SHARE = 0.1
QUANTILES = 400
CURVE = np.linspace(0, 0.5, 51)
ESTIMANDS = ("system_accuracy", "system_accuracy_in_sample")


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """What shared mistakes would do to an estimate.

    Parameters
    ----------
    misleading_share : float
        Share of items that mislead raters and system alike.
    system_accuracy, system_accuracy_in_sample : IntervalEstimate
        What the estimate and its interval become at that share.
    shared_mistakes : float, tuple of float or None
        The share, or the two numbers of its Beta prior, for which intervals were widened.
    widened, widened_in_sample : IntervalEstimate or None
        Estimate and upper end as they are, and the lower end with these shared mistakes.
    """

    misleading_share: float
    system_accuracy: IntervalEstimate
    system_accuracy_in_sample: IntervalEstimate
    shared_mistakes: SharedMistakes | None = None
    widened: IntervalEstimate | None = None
    widened_in_sample: IntervalEstimate | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give it in plain types, ready for JSON.

        Returns
        -------
        dict
            Keys `misleading_share`, `estimate`, `lower`, `upper`, `level`, `in_sample` and
            `shared_mistakes`, with the same of the widened interval, or None.
        """
        found = {"misleading_share": self.misleading_share}
        found |= _ends(self.system_accuracy, self.system_accuracy_in_sample)
        if self.widened is None or self.widened_in_sample is None:
            return found | {"shared_mistakes": None}
        widened = {"misleading_share": plain(self.shared_mistakes)}
        return found | {
            "shared_mistakes": widened | _ends(self.widened, self.widened_in_sample),
        }


def sensitivity(
    estimate: Estimate,
    n_categories: int,
    *,
    misleading_share: float = MISLEADING_SHARE,
    shared_mistakes: SharedMistakes | None = None,
) -> Sensitivity:
    """Say what mistakes shared by raters and system would do to an estimate.

    Parameters
    ----------
    estimate : Estimate
        Of any method. If it has draws, they are used.
    n_categories : int
        K, 2 or more.
    misleading_share : float
        Share of items that mislead raters and system alike, 0 to 1.
    shared_mistakes : float or tuple of float, optional
        For the widened interval: the same share, or the two numbers of its Beta prior.

    Returns
    -------
    Sensitivity

    Examples
    --------
    >>> from lehner import estimate_algebraic, load_dataset
    >>> estimate = estimate_algebraic(load_dataset("lehner_table2"), interval=None)
    >>> found = sensitivity(estimate, 4)
    >>> round(estimate.system_accuracy.estimate, 3), round(found.system_accuracy.estimate, 3)
    (0.804, 0.73)
    """
    moved, widened = [], []
    for name in ESTIMANDS:
        interval = getattr(estimate, name)
        moved.append(interval_if_misled(interval, misleading_share, n_categories))
        if shared_mistakes is not None:
            draws = (
                None if estimate.draws is None else np.asarray(estimate.draws["posterior"][name])
            )
            widened.append(widen_interval(interval, shared_mistakes, n_categories, draws=draws))
    return Sensitivity(
        misleading_share=misleading_share,
        system_accuracy=moved[0],
        system_accuracy_in_sample=moved[1],
        shared_mistakes=shared_mistakes,
        widened=widened[0] if widened else None,
        widened_in_sample=widened[1] if widened else None,
    )


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


def widen_interval(
    interval: IntervalEstimate,
    shared_mistakes: SharedMistakes,
    n_categories: int,
    *,
    draws: ArrayLike | None = None,
) -> IntervalEstimate:
    """Lower the lower end of an interval to where shared mistakes would put it.

    Estimate and upper end stay as they are. Under a Beta prior of the share the lower end is the
    quantile of the accuracy over draws and shares, which are independent of one another as no
    ratings tell the share.

    Parameters
    ----------
    interval : IntervalEstimate
    shared_mistakes : float or tuple of float
        The share of items that mislead raters and system alike, or the two numbers, above 0, of
        its Beta prior.
    n_categories : int
        K, 2 or more.
    draws : array_like, optional
        Whose quantiles the interval has. Without them the accuracy is taken to be normal on each
        side of the estimate, with the interval's ends.

    Returns
    -------
    IntervalEstimate
        Never narrower. Without an interval it is as it was.

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
        a, b = (check_positive("shared_mistakes", number) for number in shared_mistakes)
        middle = (np.arange(QUANTILES) + 0.5) / QUANTILES
        accuracy = _quantiles(interval, middle) if draws is None else np.ravel(draws)
        misled = accuracy_if_misled(accuracy[:, None], betaincinv(a, b, middle), n_categories)
        lower = float(np.quantile(misled, (1 - level) / 2))
    else:
        share = check_probability("shared_mistakes", shared_mistakes)
        lower = min(_moved(end, share, n_categories) for end in (low, high))
    return replace(
        interval, lower=min(low, lower), kind=f"{interval.kind}, widened by shared mistakes"
    )


def sensitivity_curve(interval: IntervalEstimate, n_categories: int) -> "xr.Dataset":
    """Give estimate and interval for shares of misleading items from none to half.

    Parameters
    ----------
    interval : IntervalEstimate
    n_categories : int
        K, 2 or more.

    Returns
    -------
    xarray.Dataset, dims (misleading_share,)
        `estimate`, `lower` and `upper`; NaN where there is none.
    """
    import xarray as xr

    moved = [interval_if_misled(interval, share, n_categories) for share in CURVE]
    return xr.Dataset(
        {
            name: (
                "misleading_share",
                np.array([getattr(one, name) for one in moved], dtype=float),
            )
            for name in ("estimate", "lower", "upper")
        },
        {"misleading_share": CURVE},
    )


def read_shared_mistakes(text: str) -> SharedMistakes:
    """Read a share, as in "0.1", or the two numbers of its Beta prior, as in "0.5,4.5".

    Examples
    --------
    >>> read_shared_mistakes("0.1"), read_shared_mistakes("0.5,4.5")
    (0.1, (0.5, 4.5))
    """
    remedy = "give a share between 0 and 1, as in 0.1, or a Beta prior of it, as in 0.5,4.5"
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) == 1 and 0 <= numbers[0] <= 1:
        return numbers[0]
    if len(numbers) == 2 and all(0 < number < np.inf for number in numbers):
        return numbers[0], numbers[1]
    raise InputError(f"--shared-mistakes is {text}", remedy)


def describe_shared_mistakes(shared_mistakes: SharedMistakes) -> str:
    """Name a share or its prior.

    Examples
    --------
    >>> describe_shared_mistakes(0.1), describe_shared_mistakes((0.5, 4.5))
    ('10% of the items', 'Beta(0.5, 4.5) of the items, 10% on average')
    """
    if not isinstance(shared_mistakes, tuple):
        return f"{100 * shared_mistakes:.3g}% of the items"
    a, b = shared_mistakes
    return f"Beta({a:g}, {b:g}) of the items, {100 * a / (a + b):.3g}% on average"


def _moved(accuracy: float, share: float, n_categories: int) -> float:
    return float(accuracy_if_misled(accuracy, share, n_categories))


def _quantiles(interval: IntervalEstimate, probability: Floats) -> Floats:
    """Give quantiles of two halves of normal distributions that have the interval's ends."""
    estimate, low, high = (float(getattr(interval, n)) for n in ("estimate", "lower", "upper"))
    z = ndtri(probability) / ndtri((1 + float(interval.level or 0)) / 2)
    return np.clip(estimate + z * np.where(z < 0, estimate - low, high - estimate), 0, 1)


def _ends(expected: IntervalEstimate, in_sample: IntervalEstimate) -> dict[str, Any]:
    names = ("estimate", "lower", "upper", "level")
    return {name: plain(getattr(expected, name)) for name in names} | {
        "in_sample": {name: plain(getattr(in_sample, name)) for name in names}
    }
