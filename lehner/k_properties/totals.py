"""Agreement totals: the sums that tests of agreement use, for observed or simulated ratings.

Items rated by the same raters form a group. All totals are sums over the items of a group.
Simulated data are therefore counts of patterns if there are few patterns, and single items if there
are many.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.core.lazy import sparse
from lehner.core.resampling import with_progress
from lehner.data.ratings import Ratings

PATTERNS_PER_ITEM = 16
MOST_PATTERNS_OF_A_GROUP = 100_000
ITEMS_PER_PATTERN = 8
TOTALS_AT_ONCE = 2_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """Items rated by the same raters, observed or simulated, so that their codes fill an array.

    Parameters
    ----------
    raters : ndarray of int, shape (n_ratings,)
        The rater who gave each rating of an item, sorted.
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

    @property
    def pairs(self) -> tuple[Integers, Integers]:
        """Places of each two ratings of an item."""
        return np.triu_indices(len(self.raters), 1)


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
    """

    groups: tuple[Group, ...]
    names: tuple[str, ...]
    n_categories: int
    first: Integers
    second: Integers

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
        Number of pairs of ratings of an item, by unordered pair of categories.
    agreeing_triples : ndarray, shape (n_samples,)
        Number of triples of ratings of an item that all agree.
    triples : float
        Number of all such triples.
    """

    frequency: Floats
    agreeing: Floats
    pairs: Floats
    disagreeing: Floats
    agreeing_triples: Floats
    triples: float


def find_design(ratings: Ratings, *, anonymous: bool = False) -> Design:
    """Sort items into groups by who rated them.

    Parameters
    ----------
    ratings : Ratings
        Ratings with a row for each pattern: see `Ratings.to_grouped`. Of ratings that a rater
        repeats one vote counts.
    anonymous : bool
        Whether raters are distinguished only within an item, which results in fewer groups.

    Returns
    -------
    Design
    """
    votes, names = ratings.with_independent_repeats(False).votes, ratings.raters
    rater_index = votes.rater_index
    lengths = np.bincount(votes.item_index, minlength=ratings.n_rows)
    ends = np.cumsum(lengths)
    if anonymous:
        rater_index = np.arange(len(rater_index)) - (ends - lengths)[votes.item_index]
        names = tuple(str(index + 1) for index in range(lengths.max(initial=0)))
    raters_of = np.split(rater_index, ends[:-1])
    rows_by_raters: dict[tuple[int, ...], list[int]] = {}
    for row in np.flatnonzero(ratings.weights > 0).tolist():
        rows_by_raters.setdefault(tuple(raters_of[row].tolist()), []).append(row)
    groups = tuple(
        Group(
            raters=np.array(raters),
            codes=votes.category_index[ends[rows, None] + np.arange(-len(raters), 0)],
            weights=ratings.weights[rows],
        )
        for raters, rows in sorted(rows_by_raters.items(), key=lambda item: (len(item[0]), item[0]))
        if raters
    )
    pairs = np.concatenate([group.raters[np.stack(group.pairs)] for group in groups], axis=1)
    first, second = np.unique(pairs, axis=1)
    return Design(
        groups=groups, names=names, n_categories=ratings.n_categories, first=first, second=second
    )


def sum_observed(design: Design) -> Totals:
    """Sum over the items that were observed, which are one sample."""
    return _sum_groups(design, 1, (_sum_items(group, design, 1) for group in design.groups))


def simulate_totals(
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
    cells = max(_count_cells(group, design) for group in design.groups)
    size = max(1, TOTALS_AT_ONCE // (cells + design.n_raters**2))
    draws = [_make_sampler(group, design, accuracy, base_rates) for group in design.groups]
    for start in with_progress("simulating", range(0, n_samples, size)):
        n = min(size, n_samples - start)
        yield _sum_groups(design, n, (draw(n, rng) for draw in draws))


def sum_triples(values: Floats) -> Floats:
    """Sum the products of all triples along the last axis.

    Examples
    --------
    >>> float(sum_triples(np.array([1.0, 2.0, 3.0, 4.0])))  # 6 + 8 + 12 + 24
    50.0
    """
    power_1, power_2, power_3 = ((values**power).sum(axis=-1) for power in (1, 2, 3))
    return np.asarray((power_1**3 - 3 * power_1 * power_2 + 2 * power_3) / 6)


def _has_few_patterns(group: Group, design: Design) -> bool:
    n_patterns = design.n_categories ** len(group.raters)
    return n_patterns <= min(MOST_PATTERNS_OF_A_GROUP, PATTERNS_PER_ITEM * group.n_items)


def _make_sampler(
    group: Group, design: Design, accuracy: Floats, base_rates: Floats
) -> Callable[[int, np.random.Generator], Floats]:
    """Make the function that draws a group's features, (n_samples, n_features)."""
    k, right = design.n_categories, accuracy[group.raters]
    if not _has_few_patterns(group, design):
        return lambda n, rng: _draw_items(group, design, right, base_rates, n, rng)
    codes = np.indices((k,) * len(right)).reshape(len(right), -1).T
    every = Group(raters=group.raters, codes=codes, weights=np.ones(len(codes), np.int64))
    pattern, feature, value, n_features = _list_features(every, design)
    if len(codes) * n_features <= TOTALS_AT_ONCE:
        cells = pattern * n_features + feature
        features = np.bincount(cells, value, len(codes) * n_features).reshape(len(codes), -1)
    else:
        # SciPy takes as long to load as a small test takes.
        features = sparse.csr_array((value, (pattern, feature)), (len(codes), n_features))
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
    return _sum_items(drawn, design, n_samples)


def _sum_items(group: Group, design: Design, n_samples: int) -> Floats:
    """Sum features over the items of each sample, which have equally many rows each."""
    row, feature, value, n = _list_features(group, design)
    cell = row // (len(group.codes) // n_samples) * n + feature
    return np.bincount(cell, group.weights[row] * value, n_samples * n).reshape(n_samples, n)


def _count_cells(group: Group, design: Design) -> int:
    """Count the numbers that a simulated sample of a group needs."""
    m, k = len(group.raters), design.n_categories
    n_features = m * k + m * (m - 1) // 2 + k * (k - 1) // 2 + 1
    if _has_few_patterns(group, design):
        return int(k**m) + group.n_items * (group.n_items <= ITEMS_PER_PATTERN * k**m) + n_features
    return group.n_items * n_features


def _list_features(group: Group, design: Design) -> tuple[Integers, Integers, Floats, int]:
    """List what each pattern adds to the totals: pattern, feature, value, and number of features.

    The features are ratings by place and category, agreement by pair of places, disagreement by
    pair of categories, and agreement of triples. Few categories occur in a pattern, so that
    features of 0 are left out.
    """
    (n, m), k, codes = group.codes.shape, design.n_categories, group.codes
    (first, second), every = (codes[:, position] for position in group.pairs), np.arange(n)
    agreeing, pair = np.nonzero(first == second)
    disagreeing, at = np.nonzero(first != second)
    first, second = first[disagreeing, at], second[disagreeing, at]
    a, b = np.minimum(first, second), np.maximum(first, second)
    kinds = (
        (np.repeat(every, m), (np.arange(m) * k + codes).ravel(), np.ones(n * m)),
        (agreeing, pair, np.ones(len(pair))),
        (disagreeing, a * (2 * k - a - 1) // 2 + b - a - 1, np.ones(len(at))),
        (every, np.zeros(n, np.int64), _count_triples(group)),
    )
    pattern, feature, value = (np.concatenate([kind[i] for kind in kinds]) for i in range(3))
    starts = np.cumsum([0, m * k, len(group.pairs[0]), k * (k - 1) // 2])
    feature += np.repeat(starts, [len(values) for _, _, values in kinds])
    return pattern, feature, value, int(starts[-1]) + 1


def _count_triples(group: Group) -> Integers:
    """Count the triples of ratings in one category, shape (n_patterns,)."""
    # Each rating belongs to a triple with each two others that agree with it.
    n_alike = (group.codes[:, :, None] == group.codes[:, None, :]).sum(axis=2) - 1
    return np.asarray((n_alike * (n_alike - 1)).sum(axis=1) // 6)


def _sum_groups(design: Design, n_samples: int, features: Iterable[Floats]) -> Totals:
    j, k, n_pairs = design.n_raters, design.n_categories, len(design.first)
    ends = np.cumsum([j * k, n_pairs, k * (k - 1) // 2])
    sums, pairs, triples = np.zeros((n_samples, ends[-1] + 1)), np.zeros(n_pairs), 0.0
    for group, feature in zip(design.groups, features, strict=True):
        first, second = group.raters[np.stack(group.pairs)]
        pair = np.searchsorted(design.first * j + design.second, first * j + second)
        cells = (group.raters[:, None] * k + np.arange(k)).ravel()
        columns = np.concatenate([cells, j * k + pair, np.arange(j * k + n_pairs, ends[-1] + 1)])
        np.add.at(sums.T, columns, feature.T)
        np.add.at(pairs, pair, group.n_items)
        triples += float(group.n_items * comb(len(group.raters), 3))
    frequency, agreeing, disagreeing, agreeing_triples = np.split(sums, ends, axis=1)
    return Totals(
        frequency=frequency.reshape(n_samples, j, k),
        agreeing=agreeing,
        pairs=pairs,
        disagreeing=disagreeing,
        agreeing_triples=agreeing_triples[:, 0],
        triples=triples,
    )
