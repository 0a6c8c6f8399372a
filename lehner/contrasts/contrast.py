"""Differences, probabilities of being higher, and ranks of a quantity, from joint draws."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.estimate import Row, make_rows, summarise_draws

# Numbers that differ by less are tied: the rest is rounding error.
TIED = 1e-9

# Joint draws of a quantity of each of several things, (n_draws,), NaN where undefined.
type Named = Mapping[str, Floats]
# The estimate of each of several things, NaN where there is none.
type Points = Mapping[str, float]


def split_by_name(names: Iterable[str], values: Floats) -> dict[str, Any]:
    """Take an array, (..., n_names), apart by the names of the places of its last axis."""
    return dict(zip(names, np.moveaxis(values, -1, 0), strict=True))


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
    points : mapping of str to float
        The estimates by name. There is no difference from what is NaN.
    drawn : mapping of str to ndarray, shape (n_draws,)
        Joint draws by name: the i-th of all belong together. If there are none, differences have
        no intervals.
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
        A row of the table of results. In its probability, draws that are tied or undefined count
        half.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> drawn = {"a": rng.normal(0.8, 0.02, 4000), "b": rng.normal(0.7, 0.02, 4000)}
    >>> points = {"a": 0.8, "b": 0.7}
    >>> (difference,) = contrast("accuracy", "group", points, drawn, level=0.9, kind="credible")
    >>> difference["group"], difference["versus"], round(difference["estimate"], 2)
    ('a', 'b', 0.1)
    >>> difference["probability"]
    1.0
    """
    for first, second in pairs or combinations(points, 2):
        names: Row = {column: first, "versus": second}
        values = np.array([points[first] - points[second], np.nan, np.nan])
        if drawn and not np.isnan(values[0]):
            difference = drawn[first] - drawn[second]
            values = summarise_draws(difference, values[0], level, limits=(-1.0, 1.0))
            half = np.isnan(difference) | (np.abs(difference) <= TIED)
            names["probability"] = float(np.where(half, 0.5, difference > 0).mean())
        names |= columns
        yield from make_rows(f"{quantity}_difference", values, {}, level=level, kind=kind, **names)


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
    names = sorted(
        (name for name in points if not np.isnan(points[name])), key=lambda n: -points[n]
    )
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
            "estimate": 1 + sum(points[other] > points[name] + TIED for other in names),
            "lower": int(np.quantile(least, (1 - level) / 2, method="inverted_cdf")),
            "upper": int(np.quantile(most, (1 + level) / 2, method="inverted_cdf")),
            "level": level,
            "probability": float((best[place] / best.sum(axis=0)).mean()),
        } | columns
