r"""The number of independent raters who would be as informative as the raters.

.. math:: J_{\text{eff}} = \frac{J}{1 + (J - 1) \rho}

where ρ is the mean correlation between the mistakes of two raters: the mean of J variables with
this correlation has the variance of the mean of J_eff independent ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.data.flat import count_raters
from lehner.data.ratings import Ratings
from lehner.known_truths.random_sample import drawn_equally

KNOWN_TRUTHS = ("known truths", "known truths, equal raters")
FEWEST_TRUTHS = 10
LEAST_SPREAD = 1e-9


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two raters, or a rater and the system, and how they agree.

    Parameters
    ----------
    raters : tuple of str
    n_items : int
        Number of items that both rated.
    agreement : float
        Proportion of these items on which they agree.
    expected : float
        Proportion on which they would agree if they erred independently, with the accuracies that
        the agreement of the other pairs implies.
    p_value : float
        p-value of the test that they do not agree more than their accuracies explain, adjusted for
        the number of pairs by Bonferroni's method.
    stands_out : bool
        Whether they agree more than their accuracies explain, and more clearly so than other pairs.
    with_system : bool
        Whether the second rater is the system.
    """

    raters: tuple[str, str]
    n_items: int
    agreement: float
    expected: float
    p_value: float
    stands_out: bool
    with_system: bool

    @property
    def shared(self) -> float:
        """Proportion of items on which one repeats the other, if that is why they agree more."""
        room = max(1 - self.expected, np.finfo(float).tiny)
        return float(np.clip((self.agreement - self.expected) / room, 0, 1))


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
    source : {"known truths", "known truths, equal raters", "pairs that stand out", "unknown"}
        How the correlation was found: from items of known truth, of anonymous raters as if all had
        the same rate of mistakes; or from the pairs of raters that agree more than their accuracies
        explain. In this case it is assumed that these pairs share mistakes and no others do, so
        that `effective` is an upper limit.
    n_items : int
        Number of items of known truth that were used.
    """

    n_raters: float
    effective: float | None
    correlation: float | None
    source: str
    n_items: int = 0


def effective_number(n_raters: float, correlation: float) -> float:
    """Number of independent raters whose mean varies as much.

    Examples
    --------
    >>> round(effective_number(3, 0.5), 2), effective_number(3, 0)
    (1.5, 3.0)
    """
    # A negative correlation comes from few items by chance.
    return float(n_raters / (1 + (n_raters - 1) * max(0.0, correlation)))


def from_known_truths(ratings: Ratings) -> EffectiveRaters | None:
    """Correlate the mistakes of two raters on items of known truth.

    The correlation is the mean φ of two raters, each compared with their own rate of mistakes. Each
    pair counts as often as there are items of known truth that both rated. If a rater rated an item
    several times, the proportion of mistakes among these ratings is one mistake or a part of one.

    Parameters
    ----------
    ratings : Ratings
        Of anonymous raters it is not known who made which mistakes; they are assumed to have the
        same rate of mistakes.

    Returns
    -------
    EffectiveRaters or None
        None if the items of known truth are probably no simple random sample, if fewer than 10 of
        them have ratings of two raters, or if those ratings are all right, or all wrong.
    """
    if ratings.truth is None or not drawn_equally(ratings):
        return None
    item, mistake = _standardised_mistakes(ratings, ratings.truth)

    def total(values: Floats) -> Floats:
        return np.bincount(item, values, ratings.n_rows)

    given = total(np.ones(len(item)))
    weights = ratings.weights * (given >= 2)
    n_items = int(weights.sum())
    if n_items < FEWEST_TRUTHS:
        return None
    # The sum over ordered pairs of raters of the products of their standardised mistakes.
    products = total(mistake) ** 2 - total(mistake**2)
    correlation = float(weights @ products / (weights @ (given * (given - 1))))
    n_raters = mean_raters(ratings)
    return EffectiveRaters(
        n_raters=n_raters,
        effective=effective_number(n_raters, correlation),
        correlation=correlation,
        source=KNOWN_TRUTHS[ratings.anonymous],
        n_items=n_items,
    )


def _standardised_mistakes(ratings: Ratings, truth: Integers) -> tuple[Integers, Floats]:
    """Proportion of mistakes of each rater of an item, less the rater's mean, divided by its sd.

    Raters who made no mistakes, or nothing else, are left out.
    """
    flat = ratings.flat
    used = (truth[flat.item_index] >= 0) & (ratings.weights[flat.item_index] > 0)
    wrong = (flat.category_index != truth[flat.item_index])[used].astype(float)
    cells, cell = np.unique(
        flat.item_index[used] * ratings.n_raters + flat.rater_index[used], return_inverse=True
    )
    mistaken = np.bincount(cell, wrong) / np.bincount(cell)
    item, rater = np.divmod(cells, ratings.n_raters)
    if ratings.anonymous:
        rater = np.zeros_like(rater)
    weights = ratings.weights[item].astype(float)
    rated = np.maximum(np.bincount(rater, weights), 1)
    deviation = mistaken - (np.bincount(rater, weights * mistaken) / rated)[rater]
    sd = np.sqrt(np.bincount(rater, weights * deviation**2) / rated)[rater]
    varies = sd > LEAST_SPREAD
    return item[varies], deviation[varies] / sd[varies]


def from_pairs(
    ratings: Ratings, pairs: Sequence[Pair], sharing: Sequence[Pair], *, undecided: bool
) -> EffectiveRaters:
    """Compute J_eff if some pairs share mistakes, and no others do.

    If a pair agrees more often than its raters would who err independently, one of them repeats the
    other on `Pair.shared` of the items, which is the correlation of their mistakes.

    Parameters
    ----------
    ratings : Ratings
    pairs : sequence of Pair
        Empty if pairs were not tested.
    sharing : sequence of Pair
        Those of them that share mistakes.
    undecided : bool
        Whether only one of two such pairs shares mistakes.

    Returns
    -------
    EffectiveRaters
    """
    n_raters = mean_raters(ratings)
    of_raters = [pair for pair in pairs if not pair.with_system]
    shared = [pair for pair in sharing if not pair.with_system]
    if not shared or (undecided and len(shared) < len(sharing)):
        return EffectiveRaters(
            n_raters=n_raters, effective=None, correlation=None, source="unknown"
        )
    repeated = [pair.shared * pair.n_items for pair in shared]
    total = np.mean(repeated) if undecided else np.sum(repeated)
    correlation = float(total) / sum(pair.n_items for pair in of_raters)
    return EffectiveRaters(
        n_raters=n_raters,
        effective=effective_number(n_raters, correlation),
        correlation=correlation,
        source="pairs that stand out",
    )


def mean_raters(ratings: Ratings) -> float:
    """Mean number of raters of items with two or more."""
    given = count_raters(ratings.flat, ratings.n_rows)
    weights = ratings.weights * (given >= 2)
    return float(weights @ given / weights.sum())
