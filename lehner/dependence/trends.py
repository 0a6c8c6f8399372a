r"""Agreement that depends on the number of ratings of an item, or on the order of the items.

Estimates take ratings to be missing at random. If raters skip items that they find difficult, items
with more ratings are easier, and raters agree on them more. Estimates also take raters to be as
accurate on the last item as on the first. If raters tire, they agree less and less. With x the
number of raters of an item, or its place in the order, and y whether two of its ratings agree, the
statistic is

.. math:: z = \sum_i u_i \Big/ \sqrt{\sum_i u_i^2}, \quad u_i = \sum_{\text{pairs of } i} x_i y

where x and y are what is left of them after the mean of each first and each second rater of a pair
is taken away (Frisch & Waugh 1933): accurate raters who rate more items, or fewer, or the first of
them, explain nothing. The items, or the clusters, are the independent units of the variance. The
system is one of the pair, too, so that items with one rating count.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.core.errors import Warning, warn
from lehner.core.text import to_decimal, write_p
from lehner.data.patterns import count_raters
from lehner.data.ratings import Ratings

SIGNIFICANCE = 0.01
MOST_PAIRS = 2_000_000
# Of taking away means of raters; a few are enough if many pairs of raters are there.
SWEEPS = 20


@dataclass(frozen=True, kw_only=True)
class AgreementTrend:
    """How agreement on an item depends on something.

    Parameters
    ----------
    slope : float
        By how much the proportion of agreeing pairs is larger with one more of it.
    p_value : float
        One-sided p-value of the test that it is no larger.
    """

    slope: float
    p_value: float


def warn_of_trends(ratings: Ratings) -> Iterator[Warning]:
    """Warn if raters seem to skip difficult items, or to tire.

    Examples
    --------
    Of the simulated ratings some are missing at random.

    >>> from lehner import Scenario, simulate
    >>> list(warn_of_trends(simulate(Scenario(missing=0.3))))
    []
    """
    skipped, tired = find_trend_by_number(ratings), find_trend_by_order(ratings)
    if skipped is not None and skipped.p_value <= SIGNIFICANCE:
        yield warn(
            "ratings-missing-by-difficulty",
            f"with each further rating of an item {to_decimal(skipped.slope)} more of its pairs "
            f"agree ({write_p(skipped.p_value)}): raters seem to skip items that are difficult. "
            "Ratings are taken to be missing at random, so that accuracies may be overestimated",
        )
    if tired is not None and tired.p_value <= SIGNIFICANCE:
        yield warn(
            "agreement-falls",
            f"from the first row to the last {to_decimal(tired.slope)} fewer pairs of ratings "
            f"agree ({write_p(tired.p_value)}): raters tire, or later items are more difficult. "
            "Raters are taken to be as accurate on all items, so that intervals may be wrong",
        )


def find_trend_by_number(ratings: Ratings) -> AgreementTrend | None:
    """Test whether raters agree more on items with more ratings.

    Parameters
    ----------
    ratings : Ratings
        With or without a system. Of ratings that a rater repeats one vote counts.

    Returns
    -------
    AgreementTrend or None
        None if all items have equally many raters, or no agreement is left to explain.
    """
    votes = ratings.with_independent_repeats(False)
    number = count_raters(votes.votes, votes.n_rows).astype(float)
    return _test_trend(votes, number)


def find_trend_by_order(ratings: Ratings) -> AgreementTrend | None:
    """Test whether raters agree less on later rows; the slope is from the first to the last.

    Parameters
    ----------
    ratings : Ratings
        With or without a system. Rows are in the order in which items were rated.

    Returns
    -------
    AgreementTrend or None
        None if rows have counts of items, or no agreement is left to explain.
    """
    if ratings.counts is not None:
        return None
    place = np.linspace(1.0, 0.0, ratings.n_rows)
    return _test_trend(ratings.with_independent_repeats(False), place)


def _test_trend(votes: Ratings, x: Floats) -> AgreementTrend | None:
    """Test whether agreement rises with a number of each row."""
    if len(np.unique(x[votes.weights > 0])) < 2:
        return None
    flat = votes.all_votes
    first, second = _find_pairs(flat.item_index)
    item, n_raters = flat.item_index[first], len(votes.all_raters)
    weights = votes.weights[item].astype(float)
    agree = (flat.category_index[first] == flat.category_index[second]).astype(float)
    place = np.zeros_like(flat.rater_index) if votes.anonymous else flat.rater_index
    pair, cell = np.unique(place[first] * n_raters + place[second], return_inverse=True)
    x_left, agree = (
        values - _explain(values, weights, cell, np.divmod(pair, n_raters))[cell]
        for values in (x[item], agree)
    )
    by_item = np.bincount(item, x_left * agree, votes.n_rows)
    sd = float(np.sqrt(votes.weights @ by_item**2))
    if votes.cluster is not None:
        sd = float(np.linalg.norm(np.bincount(votes.cluster, votes.weights * by_item)))
    if sd < np.finfo(float).eps * len(item):
        return None
    total = float(votes.weights @ by_item)
    slope, p_value = total / float(weights @ x_left**2), NormalDist().cdf(-total / sd)
    return AgreementTrend(slope=slope, p_value=p_value)


def _find_pairs(item: Integers) -> tuple[Integers, Integers]:
    """Find the places of two ratings of an item; of very many ratings only near ones."""
    places: list[Integers] = []
    n_pairs = 0
    for apart in range(1, int(np.bincount(item).max(initial=1))):
        places.append(np.flatnonzero(item[apart:] == item[:-apart]))
        n_pairs += len(places[-1])
        if n_pairs > MOST_PAIRS:
            break
    steps = np.repeat(np.arange(1, len(places) + 1), [len(place) for place in places])
    first = np.concatenate(places) if places else np.array([], dtype=np.int64)
    return first, first + steps


def _explain(
    values: Floats, weights: Floats, cell: Integers, raters: tuple[Integers, Integers]
) -> Floats:
    """Explain values by the first and the second rater of a pair: sums of effects, by pair."""
    n = np.maximum(np.bincount(cell, weights), np.finfo(float).tiny)
    mean = np.bincount(cell, weights * values) / n
    left = mean
    for _ in range(SWEEPS):
        for rater in raters:
            size = np.maximum(np.bincount(rater, n), np.finfo(float).tiny)
            left = left - (np.bincount(rater, n * left) / size)[rater]
    return np.asarray(mean - left)
