r"""The number of independent raters who would be as informative as the raters.

.. math:: J_{\text{eff}} = \frac{J}{1 + (J - 1) \rho}

where ρ is the mean correlation between the mistakes of two raters: the mean of J variables with
this correlation has the variance of the mean of J_eff independent ones.
"""

from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Booleans
from lehner.data.ratings import Ratings
from lehner.dependence.pairs import of_raters
from lehner.k_properties.agreement_totals import Design, Totals

FEWEST_TRUTHS = 10


@dataclass(frozen=True, kw_only=True)
class EffectiveRaters:
    """The number of independent raters who would be as informative as the raters.

    Parameters
    ----------
    n_raters : float
        Mean number of raters of an item, among items with two or more.
    effective : float or None
        Effective number of raters J_eff: how many independent raters would be as informative. None
        if the ratings do not show it.
    correlation : float or None
        Mean correlation between mistakes of two raters.
    source : {"known truths", "pairs that stand out", "unknown"}
        How the correlation was found: from items of known truth; or from the pairs of raters who
        agree more than the others do and more than their accuracies explain. In the second case it
        is assumed that these pairs share mistakes and no others do, so that `effective` is an upper
        limit.
    n_items : int
        Number of items of known truth that were used.
    """

    n_raters: float
    effective: float | None
    correlation: float | None
    source: str
    n_items: int = 0


def effective_number(n_raters: float, correlation: float) -> float:
    """Give the number of independent raters whose mean varies as much.

    Examples
    --------
    >>> round(effective_number(3, 0.5), 2), effective_number(3, 0)
    (1.5, 3.0)
    """
    # A negative correlation comes from few items by chance.
    return float(n_raters / (1 + (n_raters - 1) * max(0.0, correlation)))


def from_known_truths(ratings: Ratings) -> EffectiveRaters | None:
    """Correlate the mistakes of two raters on items of known truth.

    Parameters
    ----------
    ratings : Ratings
        Ratings, also of anonymous raters.

    Returns
    -------
    EffectiveRaters or None
        None if fewer than 10 items of known truth have two ratings, or if all their ratings are
        right, or all wrong.
    """
    if ratings.truth is None:
        return None
    flat = ratings.flat
    known = ratings.truth[flat.item_index] >= 0
    item = flat.item_index[known]
    wrong = (flat.category_index != ratings.truth[flat.item_index])[known].astype(float)
    n_rows = ratings.n_rows
    given = np.bincount(item, minlength=n_rows).astype(float)
    mistakes = np.bincount(item, weights=wrong, minlength=n_rows)
    used = (given >= 2) & (ratings.weights > 0)
    weights = ratings.weights * used
    n_items = int(weights.sum())
    if n_items < FEWEST_TRUTHS:
        return None
    rate = float(weights @ mistakes / (weights @ given))
    variance = rate * (1 - rate)
    if variance == 0:
        return None
    # This is the sum, over ordered pairs, of products of deviations from the mean rate of mistakes.
    products = (mistakes - given * rate) ** 2 - (
        mistakes * (1 - rate) ** 2 + (given - mistakes) * rate**2
    )
    correlation = float(weights @ products / (weights @ (given * (given - 1))) / variance)
    n_raters = mean_raters(ratings)
    return EffectiveRaters(
        n_raters=n_raters,
        effective=effective_number(n_raters, correlation),
        correlation=correlation,
        source="known truths",
        n_items=n_items,
    )


def from_pairs(
    ratings: Ratings, totals: Totals, design: Design, shared: Booleans
) -> EffectiveRaters:
    """Compute J_eff if the pairs that stand out share mistakes, and no others do.

    The other pairs of raters show how often independent raters agree, a. If a pair agrees more
    often, b, one of its raters repeats the other on a share (b - a) / (1 - a) of the items, which
    is the correlation of their mistakes.

    Parameters
    ----------
    ratings : Ratings
    totals : Totals
    design : Design
    shared : ndarray of bool, shape (n_pairs,)
        Pairs that stand out.

    Returns
    -------
    EffectiveRaters
    """
    n_raters, raters = mean_raters(ratings), of_raters(design)
    shared = shared & raters
    others = raters & ~shared
    if not shared.any() or not others.any():
        return EffectiveRaters(
            n_raters=n_raters, effective=None, correlation=None, source="unknown"
        )
    agreement = totals.agreeing[0] / totals.pairs
    independent = float(totals.agreeing[0, others].sum() / totals.pairs[others].sum())
    repeated = np.where(shared, (agreement - independent) / (1 - independent), 0.0)[raters]
    correlation = float(repeated @ totals.pairs[raters] / totals.pairs[raters].sum())
    return EffectiveRaters(
        n_raters=n_raters,
        effective=effective_number(n_raters, correlation),
        correlation=correlation,
        source="pairs that stand out",
    )


def mean_raters(ratings: Ratings) -> float:
    """Give the mean number of ratings of items with two or more."""
    given = np.bincount(ratings.flat.item_index, minlength=ratings.n_rows)
    weights = ratings.weights * (given >= 2)
    return float(weights @ given / weights.sum())
