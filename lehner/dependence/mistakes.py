"""Items as their mistakes are counted: what raters and system got wrong, by what the truth may be.

Draw an item, and two of its raters. Of the answers that may be wrong, four numbers are kept: the
probability that a rater is wrong, that both are, that the system is, and that the system and a
rater are. Correlations of mistakes are made of these.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats, Integers
from lehner.core.errors import InputError
from lehner.data.numbering import unique_rows
from lehner.data.ratings import Ratings

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_WRONG = 0.5
MOST_VARIANCE = MOST_WRONG * (1 - MOST_WRONG)
ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Mistakes:
    """Items that nothing distinguishes but which category is which, and their possible truths.

    Each kind of item has some options: the true category may be one that a certain number of raters
    named, and the system or not. Categories for which these are the same are one option.

    Parameters
    ----------
    counts : ndarray, shape (n_kinds,)
        Number of items.
    kind : ndarray of int, shape (n_options,)
        The kind of item that an option is of.
    rater, both, system, joint : ndarray, shape (n_options,)
        Proportion of the raters who are then wrong, and of the pairs of raters in which both are;
        whether the system is; and the proportion of the raters who are wrong with the system.
    n_categories : int
    of_clusters : csr_array, shape (n_clusters, n_kinds), optional
        Number of items of each kind in each cluster; None if items are independent.
    """

    counts: Floats
    kind: Integers
    rater: Floats
    both: Floats
    system: Floats
    joint: Floats
    n_categories: int
    of_clusters: "csr_array | None" = None

    @property
    def proportions(self) -> Floats:
        """Proportions of the items that are of each kind."""
        return self.counts / self.counts.sum()

    def least(self, values: Floats) -> Floats:
        """Least value of the options of each kind."""
        least = np.full(len(self.counts), np.inf)
        np.minimum.at(least, self.kind, values)
        return least


def tabulate_mistakes(ratings: Ratings) -> Mistakes:
    """Count the items that have two ratings or more and an answer of the system.

    Parameters
    ----------
    ratings : Ratings
        With a system. Each rating counts as one of another rater.

    Returns
    -------
    Mistakes

    Raises
    ------
    InputError
        If there is no such item.

    Examples
    --------
    >>> ratings = Ratings([[0, 0, 1], [1, 1, 0]], ["no", "yes"], system=[0, 1])
    >>> mistakes = tabulate_mistakes(ratings)
    >>> mistakes.counts.tolist(), mistakes.rater.round(2).tolist(), mistakes.system.tolist()
    ([2.0], [0.67, 0.33], [1.0, 0.0])
    """
    votes, answers, items = _judged(ratings)
    # A number for each option, the same for categories that are alike; -1 for one seen before.
    options = np.sort(2 * votes + (np.arange(ratings.n_categories) == answers[:, None]), axis=1)
    options[:, 1:][options[:, 1:] == options[:, :-1]] = -1
    keys = np.column_stack([votes.sum(axis=1), np.sort(options, axis=1)])
    kinds, of_item = unique_rows(keys)
    kind, column = np.nonzero(kinds[:, 1:] >= 0)
    option = kinds[kind, column + 1]
    rater, both = _wrong(option // 2, kinds[kind, 0])
    system = np.asarray(1.0 - option % 2, dtype=float)
    return Mistakes(
        counts=np.bincount(of_item, ratings.weights[items].astype(float)),
        kind=kind,
        rater=rater,
        both=both,
        system=system,
        joint=system * rater,
        n_categories=ratings.n_categories,
        of_clusters=None if ratings.cluster is None else _of_clusters(ratings, items, of_item),
    )


def _of_clusters(ratings: Ratings, items: Integers, kind: Integers) -> "csr_array":
    from scipy.sparse import coo_array

    assert ratings.cluster is not None
    cluster = np.unique(ratings.cluster[items], return_inverse=True)[1]
    return coo_array((ratings.weights[items].astype(float), (cluster, kind))).tocsr()


def mistake_correlations(ratings: Ratings) -> tuple[float, float]:
    """Correlate the mistakes on items of known truth: of two raters, and of system and raters.

    All raters are compared with one rate of mistakes. Raters whose rates differ seem less
    correlated than each two of them are.

    Parameters
    ----------
    ratings : Ratings
        With a system and known truths.

    Returns
    -------
    raters, system : float
        Mean correlation between two raters of an item, and between a rater and the system; NaN
        where nobody errs.

    Raises
    ------
    InputError
        If no item of known truth has two ratings and an answer of the system.

    Examples
    --------
    Two raters who err on one item together, and the system on another.

    >>> codes = [[0, 0], [0, 0], [1, 1], [0, 0]]
    >>> ratings = Ratings(codes, ["no", "yes"], system=[0, 0, 1, 1], truth=[0, 0, 1, 1])
    >>> raters, system = mistake_correlations(ratings)
    >>> round(raters, 2)
    1.0
    """
    if ratings.truth is None:
        raise InputError("there are no known truths", "give ratings with the truth of some items")
    votes, answers, items = _judged(ratings, ratings.truth >= 0)
    truth = ratings.truth[items]
    rater, both = _wrong(votes[np.arange(len(truth)), truth], votes.sum(axis=1))
    system = (answers != truth).astype(float)
    weights = ratings.weights[items] / ratings.weights[items].sum()
    e, e_system = weights @ rater, weights @ system
    variance, of_system = e * (1 - e), e_system * (1 - e_system)
    with np.errstate(invalid="ignore", divide="ignore"):
        raters = (weights @ both - e**2) / variance
        shared = (weights @ (system * rater) - e * e_system) / np.sqrt(variance * of_system)
    return float(raters), float(shared)


def _judged(ratings: Ratings, among: "np.ndarray | bool" = True) -> tuple[Integers, ...]:
    """Votes and answers, and the numbers of the items, where two rated and the system answered."""
    if ratings.system is None:
        raise InputError("there is no system", "name the system whose answers are evaluated")
    votes = ratings.votes()
    counted = (votes.sum(axis=1) >= 2) & (ratings.system >= 0) & (ratings.weights > 0) & among
    items = np.flatnonzero(counted)
    if not len(items):
        raise InputError(
            "no item has two ratings and an answer of the system", "give more ratings of each item"
        )
    return votes[items], ratings.system[items], items


def _wrong(right: Integers, given: Integers) -> tuple[Floats, Floats]:
    """Proportion of raters, and of pairs of raters, who are wrong."""
    wrong = given - right
    return wrong / given, wrong * (wrong - 1) / (given * (given - 1))


def possible_errors(mistakes: Mistakes, cap: ArrayLike, steps: int) -> Floats:
    """Rates of mistakes of raters, up to a half, with which their correlation may keep a cap.

    How often only one of two raters is wrong is limited by how often they differ. The more mistakes
    there are beside these, the more do the mistakes correlate.

    Parameters
    ----------
    mistakes : Mistakes
    cap : array_like
        0 to 1.
    steps : int
        How many rates.

    Returns
    -------
    ndarray, shape (..., steps)
        For each cap, the closer to one another the fewer mistakes; NaN if none is possible.
    """
    cap = np.asarray(cap, dtype=float)[..., None]
    one_wrong = -(mistakes.proportions @ mistakes.least(mistakes.both - mistakes.rater))
    high = np.where(cap < 1, _rate(one_wrong / np.maximum(1 - cap, ROUNDING)), MOST_WRONG)
    low = np.full_like(high, mistakes.proportions @ mistakes.least(mistakes.rater))
    # Rounding may part two ends that are the same.
    low = np.where(low <= high + ROUNDING, low, np.nan)
    first, last = np.arcsin(np.sqrt([low, high]))
    rates: Floats = np.sin(first + (last - first) * np.linspace(0, 1, steps)) ** 2
    return rates


def _rate(variance: Floats) -> Floats:
    """Rate of mistakes, at most a half, with a variance; a half if the variance is too great."""
    return np.asarray((1 - np.sqrt(1 - 4 * np.minimum(variance, MOST_VARIANCE))) / 2)
