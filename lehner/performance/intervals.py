"""An interval for each number of an array, from its replicates."""

from typing import Literal

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.estimate import Replicates
from lehner.performance.measures import LOWEST_MEASURES, NUMBERS_AT_ONCE, RATIOS


def with_bounds(
    quantity: str,
    point: Floats,
    drawn: Floats | None,
    level: float,
    replicates: Replicates,
    range_: Floats | None = None,
) -> Floats:
    """Combine estimate, lower and upper end in an array.

    The estimate of a posterior is the mean of its draws; that of a likelihood ratio is their
    median, because a mean of ratios need not exist. If the quantity is undefined in some
    replicates, these count as its least possible value for the lower end and as its greatest for
    the upper end.

    Parameters
    ----------
    quantity : str
        Its name, which says between which values it can be.
    point : ndarray, shape (...)
        The estimate.
    drawn : ndarray, shape (n_replicates, ...), optional
        None if there are no replicates.
    level : float
    replicates : Replicates
    range_ : ndarray, optional
        Values of which the least and the greatest are the quantity's.

    Returns
    -------
    ndarray, shape (..., 3)
    """
    if drawn is None:
        return np.stack([point, *np.full((2, *point.shape), np.nan)], axis=-1)
    if drawn.size > NUMBERS_AT_ONCE and point.ndim > 1:
        rows = zip(point, np.moveaxis(drawn, 1, 0), strict=True)
        return np.array([with_bounds(quantity, *row, level, replicates, range_) for row in rows])
    ratio = quantity in RATIOS
    if range_ is None:
        range_ = np.array([LOWEST_MEASURES.get(quantity, 0.0), np.inf if ratio else 1.0])
    undefined = np.isnan(drawn)
    low = np.where(undefined, range_.min(), drawn)
    high = np.where(undefined, range_.max(), drawn)
    # Between infinite numbers one cannot interpolate.
    method: Literal["inverted_cdf", "linear"] = "inverted_cdf" if ratio else "linear"
    lower = np.quantile(low, (1 - level) / 2, axis=0, method=method)
    upper = np.quantile(high, (1 + level) / 2, axis=0, method=method)
    if replicates.posterior:
        middle = (
            np.quantile(low, 0.5, axis=0, method=method)
            if ratio
            else np.where(undefined, 0.0, drawn).mean(axis=0)
        )
        point = np.where(undefined.any(axis=0), np.nan, middle)
    # An estimate at an end of its range may be beyond all replicates.
    lower, upper = np.fmin(lower, point), np.fmax(upper, point)
    known = ~np.isnan(point)
    return np.stack([point, *(np.where(known, end, np.nan) for end in (lower, upper))], axis=-1)
