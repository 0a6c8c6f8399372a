r"""Whether raters skip difficult items: whether agreement grows with the number of ratings.

Estimates take ratings to be missing at random. If raters skip items that they find difficult, items
with more ratings are easier, and raters agree on them more. With x the number of raters of an item
and y whether two of its ratings agree, the statistic is

.. math:: z = \sum_i u_i \Big/ \sqrt{\sum_i u_i^2}, \quad u_i = \sum_{\text{pairs of } i} x_i y

where x and y are what is left of them after the mean of each first and each second rater of a pair
is taken away (Frisch & Waugh 1933): accurate raters who rate more items, or fewer, explain nothing.
The items are the independent units of the variance. The system is one of the pair, too, so that
items with one rating count; as a rule it answers all items, so that x leaves it out.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.core.text import decimal, printed_p_value
from lehner.core.warning import Warning, warn
from lehner.data.flat import count_raters
from lehner.data.ratings import Ratings

SIGNIFICANCE = 0.01
MOST_PAIRS = 2_000_000
SWEEPS = 20
"""Of taking away means of raters; a few are enough if many pairs of raters are there."""


@dataclass(frozen=True, kw_only=True)
class MissingRatings:
    """How agreement on an item depends on its number of raters.

    Parameters
    ----------
    slope : float
        By how much the proportion of agreeing pairs is larger with one rater more of the item.
    p_value : float
        One-sided p-value of the test that it is no larger.
    """

    slope: float
    p_value: float

    def warnings(self) -> tuple[Warning, ...]:
        """Warn if raters seem to skip difficult items."""
        if self.p_value > SIGNIFICANCE:
            return ()
        text = (
            f"with each further rating of an item {decimal(self.slope)} more of its pairs agree "
            f"({printed_p_value(self.p_value)}): raters seem to skip items that are difficult. "
            "Ratings are taken to be missing at random, so that accuracies may be overestimated"
        )
        return (warn("ratings-missing-by-difficulty", text),)


def check_missing_ratings(ratings: Ratings) -> MissingRatings | None:
    """Test whether raters agree more on items with more ratings.

    Parameters
    ----------
    ratings : Ratings
        With or without a system. Of ratings that a rater repeats one vote counts.

    Returns
    -------
    MissingRatings or None
        None if all items have equally many raters, or no agreement is left to explain.

    Examples
    --------
    Of the simulated ratings some are missing at random.

    >>> from lehner import Scenario, simulate
    >>> check_missing_ratings(simulate(Scenario(missing=0.3))).warnings()
    ()
    """
    votes = ratings.with_independent_repeats(False)
    n_ratings = count_raters(votes.flat, votes.n_rows)
    if len(np.unique(n_ratings[votes.weights > 0])) < 2:
        return None
    flat = votes.all_flat
    first, second = _pairs(flat.item_index)
    item = flat.item_index[first]
    weights = votes.weights[item].astype(float)
    agree = (flat.category_index[first] == flat.category_index[second]).astype(float)
    place = np.zeros_like(flat.rater_index) if votes.anonymous else flat.rater_index
    pair, cell = np.unique(
        place[first] * len(votes.all_raters) + place[second], return_inverse=True
    )
    raters = np.divmod(pair, len(votes.all_raters))
    number, agree = (
        values - _explained(values, weights, cell, raters)[cell]
        for values in (n_ratings[item].astype(float), agree)
    )
    by_item = np.bincount(item, number * agree, votes.n_rows)
    sd = float(np.sqrt(votes.weights @ by_item**2))
    if votes.cluster is not None:
        sd = float(np.linalg.norm(np.bincount(votes.cluster, votes.weights * by_item)))
    if sd < np.finfo(float).eps * len(item):
        return None
    total = float(votes.weights @ by_item)
    return MissingRatings(
        slope=total / float(weights @ number**2), p_value=NormalDist().cdf(-total / sd)
    )


def _pairs(item: Integers) -> tuple[Integers, Integers]:
    """Places of two ratings of an item; of very many ratings only those that stand near."""
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


def _explained(
    values: Floats, weights: Floats, cell: Integers, raters: tuple[Integers, Integers]
) -> Floats:
    """What the first and the second rater explain of values, by pair of raters: sums of effects."""
    n = np.maximum(np.bincount(cell, weights), np.finfo(float).tiny)
    mean = np.bincount(cell, weights * values) / n
    left = mean
    for _ in range(SWEEPS):
        for rater in raters:
            size = np.maximum(np.bincount(rater, n), np.finfo(float).tiny)
            left = left - (np.bincount(rater, n * left) / size)[rater]
    return np.asarray(mean - left)
