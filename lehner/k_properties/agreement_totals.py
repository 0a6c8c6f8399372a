"""Agreement totals: the sums that tests of agreement use, for observed or simulated ratings.

Items rated by the same raters form a group. All totals are sums over the items of a group.
Simulated data are therefore counts of patterns if there are few patterns, and single items if there
are many.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.data.flat import FlatRatings
from lehner.data.ratings import Ratings

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PATTERNS_PER_ITEM = 16
MOST_PATTERNS_OF_A_GROUP = 100_000
ITEMS_PER_PATTERN = 8
TOTALS_AT_ONCE = 2_000_000
MANY_CATEGORIES = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """Items rated by the same raters, observed or simulated, so that their codes fill an array.

    Parameters
    ----------
    raters : ndarray of int, shape (n_ratings,)
        The rater who gave each rating of an item, sorted; a rater may have given several.
    codes : ndarray of int, shape (n_patterns, n_ratings)
    weights : ndarray of int, shape (n_patterns,)
        Number of items with each pattern.
    """

    raters: Integers
    codes: Integers
    weights: Integers

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.weights.sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """Who rated how many items: a plan by which ratings are simulated, and no record of ratings.

    `Patterns` do not sort items by the set of their raters, as this does.

    Parameters
    ----------
    groups : tuple of Group
    names : tuple of str
        Names of the raters.
    n_categories : int
    first, second : ndarray of int, shape (n_pairs,)
        The pairs of raters who rated an item in common.
    has_system : bool
        Whether the last rater is the system.
    """

    groups: tuple[Group, ...]
    names: tuple[str, ...]
    n_categories: int
    first: Integers
    second: Integers
    has_system: bool = False

    @property
    def n_raters(self) -> int:
        """Number of raters."""
        return len(self.names)


@dataclass(frozen=True, kw_only=True, eq=False)
class Totals:
    """Sums over all items, for many samples at once, of which only one need be observed.

    Parameters
    ----------
    frequency : ndarray, shape (n_samples, n_raters, n_categories)
        Number of ratings of each rater in each category.
    agreeing : ndarray, shape (n_samples, n_pairs)
        Number of pairs of ratings of an item that agree, by pair of raters.
    pairs : ndarray, shape (n_pairs,)
        Number of pairs of ratings of an item by two raters.
    disagreeing : ndarray, shape (n_samples, n_categories * (n_categories - 1) / 2)
        Number of pairs of ratings of an item by different raters, by unordered pair of categories.
    agreeing_triples : ndarray, shape (n_samples,)
        Number of triples of ratings of an item by three raters that all agree.
    triples : float
        Number of all such triples.
    """

    frequency: Floats
    agreeing: Floats
    pairs: Floats
    disagreeing: Floats
    agreeing_triples: Floats
    triples: float


def find_design(ratings: Ratings, *, with_system: bool = False, anonymous: bool = False) -> Design:
    """Sort items into groups by who rated them.

    Parameters
    ----------
    ratings : Ratings
        Ratings with a row for each pattern: see `Ratings.collapse`.
    with_system : bool
        Whether the system counts as the last rater.
    anonymous : bool
        Whether raters are distinguished only within an item, which results in fewer groups.

    Returns
    -------
    Design
    """
    flat, names = ratings.flat, ratings.raters
    if with_system:
        flat, names = ratings.all_flat, ratings.all_raters
    lengths = np.bincount(flat.item_index, minlength=ratings.n_rows)
    starts = np.cumsum(lengths) - lengths
    rater_index = flat.rater_index
    if anonymous:
        rater_index = _places(flat)
        names = tuple(str(place + 1) for place in range(rater_index.max(initial=0) + 1))
    groups = []
    for length in np.unique(lengths[(lengths > 0) & (ratings.weights > 0)]):
        rows = np.flatnonzero((lengths == length) & (ratings.weights > 0))
        place = starts[rows, None] + np.arange(length)
        who, group = np.unique(rater_index[place], axis=0, return_inverse=True)
        order = np.argsort(group, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(group))[:-1])
        groups += [
            Group(
                raters=who[i],
                codes=flat.category_index[place[part]],
                weights=ratings.weights[rows[part]],
            )
            for i, part in enumerate(parts)
        ]
    pairs = {pair for group in groups for pair in itertools.combinations(group.raters, 2)}
    first, second = np.array(sorted(pair for pair in pairs if pair[0] != pair[1])).reshape(-1, 2).T
    return Design(
        groups=tuple(groups),
        names=names,
        n_categories=ratings.n_categories,
        first=first,
        second=second,
        has_system=with_system and ratings.system is not None,
    )


def _places(flat: FlatRatings) -> Integers:
    """Give, for each rating, the index of its rater among those of the item."""
    new_item = np.diff(flat.item_index, prepend=-1) > 0
    new_rater = new_item | (np.diff(flat.rater_index, prepend=-1) != 0)
    number = np.cumsum(new_rater)
    return np.asarray(number - number[np.flatnonzero(new_item)][np.cumsum(new_item) - 1])


def observed_totals(design: Design) -> Totals:
    """Sum over the items that were observed, which are one sample."""
    features = (group.weights @ _features(group, design) for group in design.groups)
    return _sum_groups(design, 1, features)


def simulated_totals(
    design: Design, accuracy: Floats, base_rates: Floats, n_samples: int, rng: np.random.Generator
) -> Iterator[Totals]:
    """Simulate raters with equal errors, who rate the same items as in the data.

    Parameters
    ----------
    design : Design
    accuracy : ndarray, shape (n_raters,)
    base_rates : ndarray, shape (n_categories,)
    n_samples : int
    rng : numpy.random.Generator

    Yields
    ------
    Totals
        Totals of some of the samples at a time, which limits the memory needed.
    """
    cells = max(_n_cells(group, design) for group in design.groups)
    size = max(1, TOTALS_AT_ONCE // (cells + design.n_raters**2))
    draws = [_sampler(group, design, accuracy, base_rates) for group in design.groups]
    for start in range(0, n_samples, size):
        n = min(size, n_samples - start)
        yield _sum_groups(design, n, (draw(n, rng) for draw in draws))


def elementary_symmetric(values: Floats) -> Floats:
    """Sum the products of all triples along the last axis.

    Examples
    --------
    >>> float(elementary_symmetric(np.array([1.0, 2.0, 3.0, 4.0])))  # 6 + 8 + 12 + 24
    50.0
    """
    one, two, three = ((values**power).sum(axis=-1) for power in (1, 2, 3))
    return np.asarray((one**3 - 3 * one * two + 2 * three) / 6)


def ratings_by_rater(group: Group, n_raters: int) -> Integers:
    """Count the ratings that each rater gave of an item, shape (n_raters,)."""
    return np.bincount(group.raters, minlength=n_raters)


def _few_patterns(group: Group, design: Design) -> bool:
    n_patterns = design.n_categories ** len(group.raters)
    return n_patterns <= min(MOST_PATTERNS_OF_A_GROUP, PATTERNS_PER_ITEM * group.n_items)


def _sampler(
    group: Group, design: Design, accuracy: Floats, base_rates: Floats
) -> Callable[[int, np.random.Generator], Floats]:
    """Function that draws a group's features, (n_samples, n_features)."""
    k, right = design.n_categories, accuracy[group.raters]
    if not _few_patterns(group, design):
        return lambda n, rng: _draw_items(group, design, right, base_rates, n, rng)
    shape = (k,) * len(right)
    codes = np.indices(shape).reshape(len(right), -1).T
    every = Group(raters=group.raters, codes=codes, weights=np.ones(len(codes), np.int64))
    features = _features(every, design)
    matches = codes[:, :, None] == np.arange(k)
    wrong = (1 - right) / (k - 1)
    given_truth = np.where(matches, right[:, None], wrong[:, None]).prod(axis=1)
    probability = given_truth @ base_rates
    probability /= probability.sum()
    return lambda n, rng: _draw_counts(group.n_items, probability, n, rng) @ features


def _draw_counts(
    n_items: int, probability: Floats, n_samples: int, rng: np.random.Generator
) -> Integers:
    """Draw how many items have each pattern, shape (n_samples, n_patterns)."""
    n_patterns = len(probability)
    if n_items > ITEMS_PER_PATTERN * n_patterns:
        return rng.multinomial(n_items, probability, size=n_samples)
    drawn = rng.choice(n_patterns, size=(n_samples, n_items), p=probability)
    drawn += n_patterns * np.arange(n_samples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=n_samples * n_patterns)
    return counts.reshape(n_samples, n_patterns)


def _draw_items(
    group: Group,
    design: Design,
    right: Floats,
    base_rates: Floats,
    n_samples: int,
    rng: np.random.Generator,
) -> Floats:
    k, n_rows = design.n_categories, n_samples * group.n_items
    truth = rng.choice(k, size=(n_rows, 1), p=base_rates)
    other = (truth + rng.integers(1, k, size=(n_rows, len(right)))) % k
    codes = np.where(rng.random((n_rows, len(right))) < right, truth, other)
    drawn = Group(raters=group.raters, codes=codes, weights=np.ones(n_rows, np.int64))
    features = _features(drawn, design)
    if isinstance(features, np.ndarray):
        return features.reshape(n_samples, group.n_items, -1).sum(axis=1)
    from scipy.sparse import csr_array

    ends = np.arange(0, n_rows + 1, group.n_items)
    samples = csr_array((drawn.weights, np.arange(n_rows), ends), (n_samples, n_rows))
    return np.asarray((samples @ features).toarray())


def _n_cells(group: Group, design: Design) -> int:
    """Count the numbers that a simulated sample of a group needs."""
    m, k = len(group.raters), design.n_categories
    n_features = sum(_n_features(group, design))
    if _few_patterns(group, design):
        return int(k**m) + group.n_items * (group.n_items <= ITEMS_PER_PATTERN * k**m) + n_features
    return group.n_items * n_features


def _n_features(group: Group, design: Design) -> tuple[int, int, int, int]:
    """Count the features of each kind, in their order."""
    m, k = len(group.raters), design.n_categories
    return m * k, m * (m - 1) // 2, k * (k - 1) // 2, 1


def _features(group: Group, design: Design) -> "Floats | csr_array":
    """What each pattern adds to the totals, (n_patterns, n_features).

    The features are ratings by place and category, agreement by pair of places, disagreement by
    pair of categories, and agreement of triples; pairs and triples are of different raters.
    """
    k = design.n_categories
    if k > max(MANY_CATEGORIES, len(group.raters)):
        return _sparse_features(group, design)
    codes, who = group.codes, np.unique(group.raters)
    given = (codes[:, :, None] == np.arange(k)).astype(float)
    left, right = np.triu_indices(codes.shape[1], 1)
    agree = (codes[:, left] == codes[:, right]) & (group.raters[left] != group.raters[right])
    membership = (group.raters == who[:, None]).astype(float)
    votes = given if len(who) == codes.shape[1] else np.einsum("rm,nmk->nrk", membership, given)
    total, (a, b) = votes.sum(axis=1), np.triu_indices(k, 1)
    disagree = total[:, a] * total[:, b] - (votes[:, :, a] * votes[:, :, b]).sum(axis=1)
    triples = elementary_symmetric(votes.swapaxes(1, 2)).sum(axis=1)
    return np.column_stack([given.reshape(len(codes), -1), agree, disagree, triples])


def _sparse_features(group: Group, design: Design) -> "csr_array":
    """The same features for many categories, few of which occur: most features are 0."""
    from scipy.sparse import csr_array

    (n, m), k, codes = group.codes.shape, design.n_categories, group.codes
    left, right = np.triu_indices(m, 1)
    others = group.raters[left] != group.raters[right]
    lower = np.minimum(codes[:, left], codes[:, right])
    upper = np.maximum(codes[:, left], codes[:, right])
    agreeing, pair = np.nonzero((lower == upper) & others)
    disagreeing, at = np.nonzero((lower != upper) & others)
    a, b = lower[disagreeing, at], upper[disagreeing, at]
    kinds = (
        (np.repeat(np.arange(n), m), (np.arange(m) * k + codes).ravel(), np.ones(n * m)),
        (agreeing, pair, np.ones(len(pair))),
        (disagreeing, a * (2 * k - a - 1) // 2 + b - a - 1, np.ones(len(at))),
        (np.arange(n), np.zeros(n, np.int64), _agreeing_triples(group)),
    )
    sizes = _n_features(group, design)
    starts = np.repeat(np.cumsum((0, *sizes[:-1])), [len(values) for _, _, values in kinds])
    pattern, feature, value = (np.concatenate(parts) for parts in zip(*kinds, strict=True))
    return csr_array((value, (pattern, starts + feature)), (n, sum(sizes)))


def _agreeing_triples(group: Group) -> Integers:
    """Count the triples of ratings in one category by three raters, shape (n_patterns,).

    In each category this is the elementary symmetric sum of the raters' numbers of ratings; the
    powers are summed over ratings here, because few categories occur in a pattern.
    """
    same = group.codes[:, :, None] == group.codes[:, None, :]
    by_rater = (same & (group.raters[:, None] == group.raters)).sum(axis=2)
    by_all = same.sum(axis=2)
    squares = (same * by_rater[:, None, :]).sum(axis=2)
    return np.asarray((by_all**2 - 3 * squares + 2 * by_rater**2).sum(axis=1) // 6)


def _sum_groups(design: Design, n_samples: int, features: Iterable[Floats]) -> Totals:
    j, k = design.n_raters, design.n_categories
    numbers = {pair: i for i, pair in enumerate(zip(design.first, design.second, strict=True))}
    n_cells = k * (k - 1) // 2
    frequency = np.zeros((n_samples, j, k))
    agreeing, pairs = np.zeros((n_samples, len(design.first))), np.zeros(len(design.first))
    disagreeing, alike = np.zeros((n_samples, n_cells)), np.zeros(n_samples)
    triples = 0.0
    for group, feature in zip(design.groups, features, strict=True):
        m = len(group.raters)
        by_place, by_pair, by_cell, by_triple = np.split(
            feature.reshape(n_samples, -1), np.cumsum([m * k, m * (m - 1) // 2, n_cells]), axis=1
        )
        for place, rater in enumerate(group.raters):
            frequency[:, rater] += by_place[:, place * k : (place + 1) * k]
        for place, (one, other) in enumerate(itertools.combinations(group.raters, 2)):
            if one != other:
                pair = numbers[one, other]
                agreeing[:, pair] += by_pair[:, place]
                pairs[pair] += group.n_items
        disagreeing += by_cell
        alike += by_triple[:, 0]
        given = ratings_by_rater(group, j).astype(float)
        triples += group.n_items * float(elementary_symmetric(given))
    return Totals(
        frequency=frequency,
        agreeing=agreeing,
        pairs=pairs,
        disagreeing=disagreeing,
        agreeing_triples=alike,
        triples=triples,
    )
