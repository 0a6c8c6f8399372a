"""Differences, probabilities of being higher, and ranks of a quantity, from joint draws."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.estimate import IntervalEstimate, number
from lehner.core.rows import Row, row

TIED = 1e-9
"""Numbers that differ by less are tied: the rest is rounding error."""

type Named = Mapping[str, Floats]
"""Joint draws of a quantity of each of several things, (n_draws,), NaN where undefined."""
type Points = Mapping[str, float | None]
"""The estimate of each of several things."""


def interval_of_draws(
    drawn: Floats, estimate: float | None, *, level: float, kind: str, least: float = 0.0
) -> IntervalEstimate:
    """Give an estimate with the equal-tailed interval of its draws.

    Undefined draws count as the least value at the lower end, and as 1 at the upper end. If the
    estimate is beyond the draws, the interval reaches to it.

    Parameters
    ----------
    drawn : ndarray, shape (n_draws,)
        Posterior draws or bootstrap replicates, NaN where undefined.
    estimate : float, optional
        None or NaN if there is none.
    level : float
        Probability of the interval, between 0 and 1.
    kind : str
        How the interval was made.
    least : float
        The least value that the quantity can have; the greatest is 1.

    Returns
    -------
    IntervalEstimate
    """
    if estimate is None or np.isnan(estimate):
        return IntervalEstimate(estimate=None)
    undefined = np.isnan(drawn)
    lower = np.quantile(np.where(undefined, least, drawn), (1 - level) / 2)
    upper = np.quantile(np.where(undefined, 1.0, drawn), (1 + level) / 2)
    return IntervalEstimate(
        estimate=number(estimate),
        lower=number(min(lower, estimate)),
        upper=number(max(upper, estimate)),
        level=level,
        kind=kind,
    )


def mean_of_draws(drawn: Named) -> dict[str, float | None]:
    """Take the mean of draws for the estimate; None where some are undefined."""
    return {name: number(values.mean()) for name, values in drawn.items()}


def probability_higher(first: Floats, second: Floats) -> float:
    """Give the proportion of draws in which the first is higher; ties and undefined count half.

    Examples
    --------
    >>> probability_higher(np.array([0.3, 0.2, np.nan]), np.array([0.1, 0.2, 0.1]))
    0.6666666666666666
    """
    difference = first - second
    half = np.isnan(difference) | (np.abs(difference) <= TIED)
    return float(np.where(half, 0.5, difference > 0).mean())


def contrast(
    quantity: str,
    column: str,
    points: Points,
    drawn: Named,
    *,
    level: float,
    kind: str,
    pairs: Iterable[tuple[str, str]] | None = None,
    **columns: Any,
) -> Iterator[Row]:
    """Give the difference of each two, with its interval and the probability that it is positive.

    Parameters
    ----------
    quantity : str
        Of what, as "system_accuracy".
    column : str
        The column that holds the first name, as "group"; `versus` holds the second.
    points : mapping of str to float or None
        The estimates by name. There is no difference from what is None.
    drawn : mapping of str to ndarray, shape (n_draws,)
        Joint draws by name: the i-th of all belong together.
    level : float
        Probability of the intervals, between 0 and 1.
    kind : str
        How they are made.
    pairs : iterable of tuple of str, optional
        By default each two, in the order of `points`.
    **columns
        Values of other columns of all rows.

    Yields
    ------
    dict
        A row of the table of results.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> drawn = {"a": rng.normal(0.8, 0.02, 4000), "b": rng.normal(0.7, 0.02, 4000)}
    >>> points = {"a": 0.8, "b": 0.7}
    >>> (found,) = contrast("accuracy", "group", points, drawn, level=0.9, kind="credible")
    >>> found["group"], found["versus"], round(found["estimate"], 2), found["probability"]
    ('a', 'b', 0.1, 1.0)
    """
    for first, second in pairs or combinations(points, 2):
        names = {column: first, "versus": second}
        one, other = points[first], points[second]
        if one is None or other is None:
            yield row(f"{quantity}_difference", **names, **columns)
            continue
        difference = drawn[first] - drawn[second]
        value = interval_of_draws(difference, one - other, level=level, kind=kind, least=-1.0)
        probability = probability_higher(drawn[first], drawn[second])
        yield row(f"{quantity}_difference", value, **names, probability=probability) | columns


def rank(
    quantity: str, column: str, points: Points, drawn: Named, *, level: float, **columns: Any
) -> Iterator[Row]:
    """Give the rank of each, 1 for the highest, with its interval and P(highest).

    Ties share the lowest rank, and the ranks after it are left out (1, 1, 3). In draws in which
    several are the highest they share the probability.

    Parameters
    ----------
    quantity, column, points, drawn, level, **columns
        As of `contrast`. What has no estimate has no rank.

    Yields
    ------
    dict
        A row of the table of results, the highest first.

    Examples
    --------
    >>> drawn = {"a": np.array([0.8, 0.7, 0.9]), "b": np.array([0.6, 0.75, 0.7])}
    >>> first, second = rank("accuracy", "system", {"b": 0.68, "a": 0.8}, drawn, level=0.9)
    >>> first["system"], first["estimate"], round(first["probability"], 2)
    ('a', 1, 0.67)
    """
    known = {name: value for name, value in points.items() if value is not None}
    names = sorted(known, key=lambda name: -known[name])
    if not names:
        return
    several = np.array([drawn[name] for name in names])
    # What is undefined may be the highest or the lowest.
    low, high = np.nan_to_num(several, nan=-1.0), np.nan_to_num(several, nan=2.0)
    best = low >= low.max(axis=0) - TIED
    for place, name in enumerate(names):
        others = np.arange(len(names)) != place
        most = 1 + (high[others] > low[place] + TIED).sum(axis=0)
        least = 1 + (low[others] > high[place] + TIED).sum(axis=0)
        yield {
            "quantity": f"{quantity}_rank",
            column: name,
            "estimate": 1 + sum(value > known[name] + TIED for value in known.values()),
            "lower": int(np.quantile(least, (1 - level) / 2, method="inverted_cdf")),
            "upper": int(np.quantile(most, (1 + level) / 2, method="inverted_cdf")),
            "level": level,
            "probability": float((best[place] / best.sum(axis=0)).mean()),
        } | columns
