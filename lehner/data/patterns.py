"""Patterns: items with the same ratings, collapsed; and votes, the ratings of each category."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.errors import Warning, warn
from lehner.core.lazy import sparse
from lehner.core.resampling import ItemCounts, design_effect, widening
from lehner.data.flat import (
    FlatRatings,
    count_categories,
    factorize,
    factorize_by_size,
    unique_rows,
)

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings

UNKNOWN = -1
FEW, SMALL = 1_000, 1_000_000
"""How many patterns, and how many sums, are added up without SciPy, which takes long to load."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Patterns:
    """Different rows of ratings, and how many items have each.

    Parameters
    ----------
    flat : FlatRatings
        The ratings of the patterns one after another. A system is the last rater.
    counts : ndarray of int, shape (n_patterns,)
        How many items have the pattern.
    truths : ndarray of int, shape (n_patterns,)
        Known true category, -1 where unknown.
    first : ndarray of int, shape (n_patterns,)
        The row of the data in which each pattern first occurs.
    inverse : ndarray of int, shape (n_rows,)
        The pattern of each row of the data.
    raters : tuple of str
        Names of the raters, with "system" as the last if there is a system.
    categories : tuple
        Names of the categories, used or not.
    ordered : bool
        Whether the order of the categories is meaningful.
    has_system : bool
        Whether the last rater is a system.
    population : ndarray of int, shape (n_patterns,)
        The population that the items of each pattern are from, all 0 where there are none.
    populations : tuple of str
        Names of the populations.
    dependent : tuple of int, optional
        The dependent pair of raters, or rater and system, see `Ratings.with_dependent_pair`.
    """

    flat: FlatRatings
    counts: Integers
    truths: Integers
    first: Integers
    inverse: Integers
    raters: tuple[str, ...]
    categories: tuple[Any, ...]
    ordered: bool
    has_system: bool
    population: Integers
    populations: tuple[str, ...]
    dependent: tuple[int, int] | None = None

    def __repr__(self) -> str:
        return f"Patterns: {len(self.counts)} of {int(self.counts.sum())} items"

    @cached_property
    def n_categories(self) -> int:
        """Number of categories, used or not."""
        return len(self.categories)

    @cached_property
    def n_raters(self) -> int:
        """Number of raters, without the system."""
        return len(self.raters) - int(self.has_system)

    @cached_property
    def starts(self) -> Integers:
        """Start of the ratings of each pattern, and the end of the last, (n_patterns + 1,)."""
        lengths = np.bincount(self.flat.item_index, minlength=len(self.counts))
        return np.append(0, np.cumsum(lengths))

    @cached_property
    def system(self) -> Integers:
        """The system's answer for each pattern, -1 if there is none, (n_patterns,)."""
        answers = np.full(len(self.counts), -1)
        if self.has_system:
            own = self.flat.select(self.flat.rater_index == len(self.raters) - 1)
            answers[own.item_index] = own.category_index
        return answers

    def one_hot(self) -> "sparse.csr_array":
        """Count how often each rater gave each category, in a sparse array.

        Returns
        -------
        scipy.sparse.csr_array, shape (n_patterns, n_raters * n_categories)
            Repeated ratings of an item by a rater add up. The product with log confusion matrices,
            categories in columns, is the log probability of the ratings given each category.
        """
        cells = self.cells
        shape = (len(self.counts), len(self.raters) * len(self.categories))
        return sparse.csr_array((np.ones(len(cells)), cells, self.starts), shape=shape)

    @cached_property
    def cells(self) -> Integers:
        """The rater and the category of each rating as one number, (n_ratings,)."""
        return self.flat.rater_index * len(self.categories) + self.flat.category_index

    def sum_cells(self, values: Floats) -> Floats:
        """Sum values of each rater's categories over the ratings of each pattern.

        Parameters
        ----------
        values : ndarray, shape (n_raters * n_categories, n_columns)
            A value for each rater and category, as the categories of the first rater, then those
            of the second, and so on.

        Returns
        -------
        ndarray, shape (n_patterns, n_columns)
            As `one_hot` multiplied by the values, to the last digit.
        """
        if not self._few(values):
            return np.asarray(self.one_hot() @ values)
        starts, lengths, cells = self.starts[:-1], np.diff(self.starts), self.cells
        total = np.zeros((len(lengths), values.shape[1]))
        for place in range(lengths.max(initial=0)):
            longer = np.flatnonzero(lengths > place)
            total[longer] += values[cells[starts[longer] + place]]
        return total

    def sum_patterns(self, values: Floats) -> Floats:
        """Sum values of patterns over the ratings of each rater in each category.

        Parameters
        ----------
        values : ndarray, shape (n_patterns, n_columns)
            A value for each pattern.

        Returns
        -------
        ndarray, shape (n_raters * n_categories, n_columns)
        """
        if not self._few(values):
            return np.asarray(self.one_hot().T.tocsr() @ values)
        n_cells, n_columns = len(self.raters) * len(self.categories), values.shape[1]
        place = self.cells[:, None] * n_columns + np.arange(n_columns)
        added = values[self.flat.item_index].ravel()
        return np.bincount(place.ravel(), added, n_cells * n_columns).reshape(n_cells, n_columns)

    def _few(self, values: Floats) -> bool:
        return len(self.counts) <= FEW and len(self.counts) * values.shape[1] <= SMALL

    def votes(self) -> Integers:
        """Count the ratings of each pattern in each category; the system's answers are left out.

        Returns
        -------
        ndarray of int, shape (n_patterns, n_categories)
            Number of ratings.
        """
        flat = self.flat.select(self.flat.rater_index < self.n_raters)
        return count_categories(
            flat.item_index, flat.category_index, len(self.counts), len(self.categories)
        )


def collapse_patterns(
    ratings: "Ratings",
    *,
    truth: bool,
    apart: Sequence[Integers | None] = (),
    by_content: bool = False,
) -> Patterns:
    """Compute the result of `Ratings.patterns`; rows with different numbers can be kept apart."""
    has_system, population = ratings.system is not None, ratings.population
    flat, truths = ratings.all_flat, ratings.truth if truth else None
    inverse, first = number_patterns(
        flat,
        (truths, population, *apart),
        ratings.n_rows,
        len(ratings.all_raters),
        ratings.n_categories,
        by_content=by_content,
    )
    counts = np.bincount(inverse, weights=ratings.weights, minlength=len(first))
    return Patterns(
        flat=flat.take_rows(first, ratings.n_rows),
        counts=counts.astype(np.int64),
        truths=np.full(len(first), UNKNOWN) if truths is None else truths[first],
        first=first,
        inverse=inverse,
        raters=ratings.all_raters,
        has_system=has_system,
        population=np.zeros_like(first) if population is None else population[first],
        dependent=find_pair(ratings),
        categories=ratings.categories,
        ordered=ratings.ordered,
        populations=ratings.populations,
    )


def number_patterns(
    flat: FlatRatings,
    others: Sequence[Integers | None],
    n_rows: int,
    n_raters: int,
    n_categories: int,
    *,
    by_content: bool = False,
) -> tuple[Integers, Integers]:
    """Assign to each row the index of its pattern; patterns are numbered in order of appearance.

    The partition of rows is refined one rating at a time.

    Parameters
    ----------
    flat : FlatRatings
    others : sequence of ndarray of int, shape (n_rows,), or None
        Further values, -1 or more, in which rows of a pattern must agree.
    n_rows, n_raters, n_categories : int
    by_content : bool
        Whether patterns are numbered by what they contain instead, so that another order of the
        rows gives the same patterns in the same order.

    Returns
    -------
    numbers : ndarray of int, shape (n_rows,)
    first : ndarray of int, shape (n_patterns,)
        The row in which each pattern first occurs.
    """
    lengths = np.bincount(flat.item_index, minlength=n_rows)
    starts = np.cumsum(lengths) - lengths
    key = lengths.astype(np.int64)
    for other in others:
        if other is not None:
            key = factorize_by_size(key) * (int(other.max(initial=0)) + 2) + other + 1
    key = factorize_by_size(key)
    symbol = flat.rater_index * n_categories + flat.category_index
    n_symbols = n_raters * n_categories
    active = np.arange(n_rows)
    # Rows of different length differ in `key` from the start, so those that have ended
    # can keep a number below `n_done` while the others are refined above it.
    start, n_done = 0, int(key.max(initial=-1)) + 1
    for place in range(int(lengths.max(initial=0))):
        active = active[lengths[active] > place]
        symbols = symbol[starts[active] + place]
        refined = factorize_by_size((key[active] - start) * n_symbols + symbols)
        key[active] = refined + n_done
        start, n_done = n_done, n_done + int(refined.max(initial=-1)) + 1
    if by_content:
        _, first, numbers = np.unique(key, return_index=True, return_inverse=True)
        return numbers, first
    return factorize(key)


def count_pairs(ratings: "Ratings") -> tuple[Integers, Integers]:
    """Count, for each row, the pairs of ratings by different raters.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    agreeing, pairs : ndarray of int, shape (n_rows,)
    """
    return _count_pairs(ratings.flat, ratings.votes(), several_votes=ratings.several_votes)


def _count_pairs(
    flat: FlatRatings, votes: Integers, *, several_votes: bool
) -> tuple[Integers, Integers]:
    agreeing, pairs = choose_two(votes).sum(axis=1), choose_two(votes.sum(axis=1))
    if several_votes:  # without the pairs of a rater with himself
        rater = flat.item_index * (int(flat.rater_index.max()) + 1) + flat.rater_index
        cell = rater * votes.shape[1] + flat.category_index
        for key, total in ((cell, agreeing), (rater, pairs)):
            _, first, count = np.unique(key, return_index=True, return_counts=True)
            np.subtract.at(total, flat.item_index[first], choose_two(count))
    return agreeing, pairs


def choose_two(n: Integers) -> Integers:
    """Count the pairs among n things."""
    return n * (n - 1) // 2


def rated_rows(ratings: "Ratings") -> Booleans:
    """Tell which rows have a rating, or a gold label that enters estimates, (n_rows,).

    The system's answers to other items tell nothing of its accuracy that does not rest on a
    method's assumptions alone.
    """
    rated = np.bincount(ratings.flat.item_index, minlength=ratings.n_rows) > 0
    if ratings.truth is None or (ratings.truth >= 0).all():
        return np.asarray(rated)
    return np.asarray(rated | (ratings.truth >= 0))


def count_rated(ratings: "Ratings") -> "Ratings":
    """Count items that no rater rated as no items; all rows stay.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    Ratings
        The same ratings if all items were rated.

    Examples
    --------
    >>> from lehner import Ratings
    >>> count_rated(Ratings([[0, 1], [-1, -1]], ["no", "yes"])).weights.tolist()
    [1, 0]
    """
    rated = rated_rows(ratings)
    if rated.all():
        return ratings
    return ratings.take(np.arange(ratings.n_rows), np.where(rated, ratings.weights, 0))


@dataclass(frozen=True, kw_only=True, eq=False)
class VoteTable:
    """Unique votes.

    It is used with numbers of items in arrays of shape (..., n_votes, n_categories + 1): items with
    these votes for which the system answered each category, and in the last column items that it
    did not answer.

    Parameters
    ----------
    votes : ndarray of int, shape (n_votes, n_categories)
        Number of ratings in each category.
    agreeing, pairs : ndarray of int, shape (n_votes,)
        Number of pairs of ratings by different raters that agree, and of all pairs.
    """

    votes: Integers
    agreeing: Integers
    pairs: Integers


def tabulate_votes(votes: Integers) -> VoteTable:
    """Count the pairs of ratings in unique votes, in which each rating is by another rater.

    Parameters
    ----------
    votes : ndarray of int, shape (n_votes, n_categories)

    Returns
    -------
    VoteTable

    Examples
    --------
    >>> table = tabulate_votes(np.array([[2, 1], [0, 3]]))
    >>> table.agreeing.tolist(), table.pairs.tolist()
    ([1, 3], [3, 3])
    """
    return VoteTable(
        votes=votes, agreeing=choose_two(votes).sum(axis=1), pairs=choose_two(votes.sum(axis=1))
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class CollapsedVotes:
    """Ratings collapsed to votes and system answers.

    Parameters
    ----------
    table : VoteTable
    cell : ndarray of int, shape (n_cells,)
        Indices, in an array of counts, of the combinations of votes and answer that occur.
    weights : ndarray of int, shape (n_cells,)
        Number of items with each combination.
    sampled : ndarray of int, shape (n_cells,), or csr_array, shape (n_clusters, n_cells)
        The same, in each cluster if items are clustered, of which resamples are drawn.
    row : ndarray of int, shape (n_rows,)
        The votes of each row of the ratings.
    cell_of_row : ndarray of int, shape (n_rows,)
        The combination of votes and answer that each row has, an index into `cell`.
    """

    table: VoteTable
    cell: Integers
    weights: Integers
    sampled: ItemCounts
    row: Integers
    cell_of_row: Integers

    def counts(self, weights: Floats) -> Floats:
        """Lay weights of the cells, (..., n_cells), out as (..., n_votes, n_categories + 1)."""
        shape = (len(self.table.votes), self.table.votes.shape[1] + 1)
        # Samples are contiguous in memory, because sums over categories, of which there are few,
        # are then several times faster.
        laid_out = np.zeros((shape[0] * shape[1], *weights.shape[:-1]))
        laid_out[self.cell] = np.moveaxis(weights, -1, 0)
        return np.moveaxis(laid_out.reshape(*shape, *weights.shape[:-1]), (0, 1), (-2, -1))


def collapse_votes(ratings: "Ratings") -> CollapsedVotes:
    """Compute `Ratings.collapsed_votes`."""
    patterns, k = collapse_patterns(ratings, truth=False), ratings.n_categories
    flat = patterns.flat.select(patterns.flat.rater_index < patterns.n_raters)
    votes = count_categories(flat.item_index, flat.category_index, len(patterns.counts), k)
    pairs = _count_pairs(flat, votes, several_votes=ratings.several_votes)
    rows, row = unique_rows(np.column_stack([votes, *pairs]))
    system = patterns.system
    cell, index = np.unique(row * (k + 1) + np.where(system < 0, k, system), return_inverse=True)
    cell_of_row = index[patterns.inverse]
    return CollapsedVotes(
        table=VoteTable(votes=rows[:, :k], agreeing=rows[:, k], pairs=rows[:, k + 1]),
        cell=cell,
        weights=np.bincount(index, weights=patterns.counts).astype(np.int64),
        sampled=count_items(ratings, cell_of_row, len(cell)),
        row=row[patterns.inverse],
        cell_of_row=cell_of_row,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class PatternVotes:
    """All patterns that raters can give, in lexical order, and their votes.

    Parameters
    ----------
    codes : ndarray of int, shape (n_patterns, n_raters)
        Category indices; -1 for a missing rating, which comes last.
    votes_of_pattern : ndarray of int, shape (n_patterns,)
        The row of the table with each pattern's votes.
    table : VoteTable
    """

    codes: Integers
    votes_of_pattern: Integers
    table: VoteTable


@lru_cache(maxsize=16)
def pattern_votes(n_raters: int, n_categories: int, *, missing: bool) -> PatternVotes:
    """Enumerate the patterns of ratings.

    Parameters
    ----------
    n_raters, n_categories : int
    missing : bool
        Whether ratings may be missing.

    Returns
    -------
    PatternVotes

    Examples
    --------
    >>> enumeration = pattern_votes(2, 2, missing=False)
    >>> enumeration.codes.tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> enumeration.table.votes.tolist()
    [[0, 2], [1, 1], [2, 0]]
    >>> enumeration.votes_of_pattern.tolist()
    [2, 1, 1, 0]
    """
    symbols = [*range(n_categories), *([-1] if missing else [])]
    shape = (len(symbols),) * n_raters
    codes = np.array(symbols)[np.indices(shape).reshape(n_raters, -1).T]
    every = np.stack([(codes == k).sum(axis=1) for k in range(n_categories)], axis=1)
    votes, inverse = unique_rows(every)
    return PatternVotes(codes=codes, votes_of_pattern=inverse, table=tabulate_votes(votes))


# Clusters and pairs


FEW_CLUSTERS = 10


def count_items(ratings: "Ratings", place: Integers, n_places: int) -> ItemCounts:
    """Count the items in each place; where they are clustered, of each cluster.

    Parameters
    ----------
    ratings : Ratings
    place : ndarray of int, shape (n_rows,)
        Where each row is, as its pattern of ratings.
    n_places : int

    Returns
    -------
    ndarray of int, shape (n_places,), or scipy.sparse.csr_array, shape (n_clusters, n_places)
        As `lehner.core.resampling.draw_counts` takes them.
    """
    if ratings.cluster is None:
        return np.bincount(place, ratings.weights, n_places).astype(np.int64)
    used = ratings.weights > 0
    cluster = factorize(ratings.cluster[used])[0]
    shape = (int(cluster.max(initial=-1)) + 1, n_places)
    return sparse.coo_array((ratings.weights[used], (cluster, place[used])), shape).tocsr()


def widening_of(ratings: "Ratings", values: Floats, weights: Floats, level: float) -> float:
    """Give the factor by which the interval of a mean over rows is wider because of clusters."""
    if ratings.cluster is None:
        return 1.0
    effect = design_effect(values, weights, ratings.cluster)
    return widening(effect, len(np.unique(ratings.cluster[weights > 0])), level)


def cluster_warnings(ratings: "Ratings", ignored: str = "") -> tuple[Warning, ...]:
    """Warn of few clusters, and of what takes clustered items for independent, if anything."""
    if ratings.cluster is None:
        return ()
    few = f"there are only {ratings.n_clusters} clusters, which tell little of others"
    text = f"{ignored} take items for independent, and they are clustered"
    return (
        *((warn("few-clusters", few),) if ratings.n_clusters < FEW_CLUSTERS else ()),
        *((warn("clusters-ignored", text),) if ignored else ()),
    )


def find_pair(ratings: "Ratings") -> tuple[int, int] | None:
    """Look up the pair among raters and system; None if there is none, or one is left out."""
    places = {name: place for place, name in enumerate(ratings.all_raters)}
    if not ratings.dependent or not set(ratings.dependent) <= set(places):
        return None
    first, second = ratings.dependent
    return places[first], places[second]
