"""Differences, probabilities of being higher, trends and ranks of a quantity, from joint draws."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.core.estimate import Row, make_rows, summarise_draws

# Numbers that differ by less are tied: the rest is rounding error.
TIED = 1e-9
# Of more than these not each two are compared, but each with the best.
MOST_COMPARED = 50
# Number of draws of differences in memory at once.
DIFFERENCES_AT_ONCE = 1_000_000


def contrast(
    quantity: str,
    column: str,
    names: Sequence[str],
    point: Floats,
    drawn: Floats | None,
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
    names : sequence of str
        What is compared.
    point : ndarray, shape (n_names,)
        The estimates. There is no difference from what is NaN.
    drawn : ndarray, shape (n_draws, n_names), optional
        Joint draws. If there are none, differences have no intervals.
    level : float
        Probability of the intervals, between 0 and 1.
    kind : str
        How they are made.
    pairs : iterable of tuple of str, optional
        By default each two, in the order of `point`; of more than 50 each with the highest.
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
    >>> point, names = np.array([0.8, 0.7]), ["a", "b"]
    >>> drawn = rng.normal(point, 0.02, (4000, 2))
    >>> (difference,) = contrast("auc", "group", names, point, drawn, level=0.9, kind="credible")
    >>> difference["group"], difference["versus"], round(difference["estimate"], 2)
    ('a', 'b', 0.1)
    >>> round(difference["probability"], 3)
    1.0
    """
    index = {name: i for i, name in enumerate(names)}
    pairs = list(pairs or pair_names(names, find_highest(names, point)))
    size = max(1, DIFFERENCES_AT_ONCE // (1 if drawn is None else len(drawn)))
    for start in range(0, len(pairs), size):
        some = pairs[start : start + size]
        i, j = np.array([[index[first], index[second]] for first, second in some]).T
        estimate = point[i] - point[j]
        values = np.stack([estimate, *np.full((2, len(some)), np.nan)], axis=-1)
        probability = np.full(len(some), np.nan)
        if drawn is not None:
            difference = drawn[:, i] - drawn[:, j]
            values = summarise_draws(difference, estimate, level, limits=(-1.0, 1.0))
            half = np.isnan(difference) | (np.abs(difference) <= TIED)
            probability = np.where(half, 0.5, difference > 0).mean(axis=0)
        for (first, second), value, chance in zip(some, values, probability, strict=True):
            described: Row = {column: first, "versus": second}
            if not np.isnan([value[0], chance]).any():
                described["probability"] = float(chance)
            described |= {"level": level, "kind": kind} | columns
            yield from make_rows(f"{quantity}_difference", value, {}, **described)


def find_highest(names: Sequence[str], point: Floats) -> str:
    """Find the name of the highest number; NaN is the lowest.

    Examples
    --------
    >>> find_highest(["a", "b", "c"], np.array([np.nan, 0.7, 0.6]))
    'b'
    """
    return names[int(np.argmax(np.nan_to_num(point, nan=-np.inf)))]


def pair_names(names: Sequence[str], best: str) -> list[tuple[str, str]]:
    """Pair each two of the names, or of more than 50 the best with each of the others.

    Examples
    --------
    >>> pair_names(["a", "b", "c"], "b")
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    if len(names) <= MOST_COMPARED:
        return list(combinations(names, 2))
    return [(best, name) for name in names if name != best]


def trend(
    quantity: str, names: Sequence[str], point: Floats, drawn: Floats, **columns: Any
) -> Iterator[Row]:
    """Give the change of a quantity from the first to the last of ordered groups.

    It is the rise of the straight line through all groups, fitted by least squares to groups at
    equal distances, so that one group by chance says little. Of two groups it is their difference.
    Where groups differ from the line by more than their draws do, the interval is wider by the root
    of the ratio of these variances (Birge 1932, https://doi.org/10.1103/PhysRev.40.207), because a
    system whose groups differ anyway need not have changed.

    Parameters
    ----------
    quantity, names, point, drawn, **columns
        As of `contrast`. Groups without an estimate are left out.

    Yields
    ------
    dict
        A row of the table of results, or none if fewer than two groups have an estimate. Its
        probability is that of a rise.

    Examples
    --------
    >>> point, drawn = np.array([0.5, 0.3, 0.1]), np.array([[0.5, 0.4, 0.1], [0.5, 0.2, 0.2]])
    >>> names = ["may", "june", "july"]
    >>> (row,) = trend("precision", names, point, drawn, level=0.9, kind="bootstrap")
    >>> round(row["estimate"], 2), row["versus"], row["probability"]
    (-0.4, 'may to july', 0.0)
    """
    place = np.flatnonzero(~np.isnan(point))
    if len(place) < 2:
        return
    weights, drawn = find_trend_weights(place), drawn[:, place]
    middle, rise = np.nanmean(drawn, axis=0), drawn @ weights
    line = middle.mean() + middle @ weights * (place - place.mean()) / np.ptp(place)
    variance = np.nanvar(drawn, axis=0)
    away = np.divide((middle - line) ** 2, variance, out=np.zeros_like(line), where=variance > 0)
    apart = away.sum() / max(len(place) - 2, 1)
    rise = np.nanmean(rise) + max(1.0, float(np.sqrt(apart))) * (rise - np.nanmean(rise))
    # The second column is no change.
    changes = [np.stack([x, 0 * x], axis=-1) for x in (point[place] @ weights, rise)]
    over = {"group": "", "versus": f"{names[place[0]]} to {names[place[-1]]}"}
    for row in contrast(quantity, "group", ["last", "first"], *changes, **columns):
        yield row | {"quantity": f"{quantity}_trend"} | over


def find_trend_weights(place: Integers) -> Floats:
    """Give the weights of groups in the rise of the straight line from the first to the last.

    Examples
    --------
    >>> find_trend_weights(np.arange(3)).tolist()
    [-1.0, 0.0, 1.0]
    """
    distance = place - place.mean()
    return np.asarray(distance * np.ptp(place) / (distance @ distance))


def rank(
    quantity: str,
    column: str,
    names: Sequence[str],
    point: Floats,
    drawn: Floats,
    *,
    level: float,
    **columns: Any,
) -> Iterator[Row]:
    """Give the rank of each, 1 for the highest, with its interval and P(highest).

    Ties share the lowest rank, and the ranks after it are left out (1, 1, 3). In draws in which
    several are the highest they share the probability.

    Parameters
    ----------
    quantity, column, names, point, drawn, level, **columns
        As of `contrast`. What has no estimate has no rank.

    Yields
    ------
    dict
        A row of the table of results, the highest first.

    Examples
    --------
    >>> point, drawn = np.array([0.68, 0.8]), np.array([[0.6, 0.8], [0.75, 0.7], [0.7, 0.9]])
    >>> first, second = rank("accuracy", "system", ["b", "a"], point, drawn, level=0.9)
    >>> first["system"], first["estimate"], round(first["probability"], 2)
    ('a', 1, 0.67)
    """
    ranked = np.argsort(-np.asarray(point), kind="stable")
    ranked = ranked[~np.isnan(point[ranked])]
    if not ranked.size:
        return
    # What is undefined may be the highest or the lowest.
    low, high = (np.nan_to_num(drawn[:, ranked].T, nan=value) for value in (-1.0, 2.0))
    best = low >= low.max(axis=0) - TIED
    for i, j in enumerate(ranked):
        rest = np.arange(len(ranked)) != i
        most = 1 + (high[rest] > low[i] + TIED).sum(axis=0)
        least = 1 + (low[rest] > high[i] + TIED).sum(axis=0)
        yield {
            "quantity": f"{quantity}_rank",
            column: names[j],
            "estimate": 1 + int((point[ranked] > point[j] + TIED).sum()),
            "lower": int(np.quantile(least, (1 - level) / 2, method="inverted_cdf")),
            "upper": int(np.quantile(most, (1 + level) / 2, method="inverted_cdf")),
            "level": level,
            "probability": float((best[i] / best.sum(axis=0)).mean()),
        } | columns
