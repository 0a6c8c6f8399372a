"""Ratings one after another, their patterns (items with the same ratings, collapsed), and votes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Booleans, Floats, Integers, check_integers, to_array
from lehner.core.errors import InputError
from lehner.core.lazy import sparse
from lehner.core.resampling import ItemCounts

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings

UNKNOWN = -1
MOST_ITEMS = 2**53
# The greatest key, for each of them, up to which keys are sorted by counting.
DENSE = 4


@dataclass(frozen=True, eq=False, repr=False)
class FlatRatings:
    """The row, rater and category of each rating.

    Parameters
    ----------
    item_index, rater_index, category_index : ndarray of int, shape (n_ratings,)
        The row, rater and category of each rating, sorted by row, then rater, then category.
    """

    item_index: Integers
    rater_index: Integers
    category_index: Integers

    @cached_property
    def is_repeated(self) -> Booleans:
        """Whether a rating is of the item and by the rater of the rating before, (n_ratings,)."""
        again = np.zeros(len(self.item_index), bool)
        item, rater = self.item_index, self.rater_index
        again[1:] = (item[1:] == item[:-1]) & (rater[1:] == rater[:-1])
        return again

    @cached_property
    def occasion(self) -> Integers:
        """How many ratings of the item by the rater come before each rating, (n_ratings,)."""
        position = np.arange(len(self.item_index))
        return position - np.maximum.accumulate(np.where(self.is_repeated, 0, position))

    @cached_property
    def one_vote_each(self) -> "FlatRatings":
        """Of each rater's ratings of an item, the most frequent once, and none where two tie.

        It is the same object if no rater rated an item more than once.

        Examples
        --------
        >>> ratings = FlatRatings(
        ...     item_index=np.array([0, 0, 0, 0, 1, 1]),
        ...     rater_index=np.array([0, 0, 0, 1, 0, 0]),
        ...     category_index=np.array([0, 1, 1, 0, 0, 1]),
        ... )
        >>> votes = ratings.one_vote_each
        >>> votes.item_index, votes.rater_index, votes.category_index
        (array([0, 0]), array([0, 1]), array([1, 0]))
        """
        again = self.is_repeated
        if not again.any():
            return self
        same = np.append(False, np.diff(self.category_index) == 0) & again
        first = np.flatnonzero(~same)
        times = np.diff(first, append=len(same))
        new = ~again[first]
        whose = np.cumsum(new) - 1
        top = times == np.maximum.reduceat(times, np.flatnonzero(new))[whose]
        return self.select(first[top & (np.bincount(whose[top])[whose] == 1)])

    def select(self, ratings: Booleans | Integers | slice) -> "FlatRatings":
        """Select ratings by a mask or by their positions."""
        columns = (self.item_index, self.rater_index, self.category_index)
        return FlatRatings(*(column[ratings] for column in columns))

    def take_rows(self, rows: Integers, n_rows: int) -> "FlatRatings":
        """Select rows, in the order given, of n_rows; a row may be selected more than once."""
        lengths = np.bincount(self.item_index, minlength=n_rows)
        starts = np.cumsum(lengths) - lengths
        taken = lengths[rows]
        offsets = np.arange(taken.sum()) - np.repeat(np.cumsum(taken) - taken, taken)
        source = np.repeat(starts[rows], taken) + offsets
        item = np.repeat(np.arange(len(rows)), taken)
        return FlatRatings(item, self.rater_index[source], self.category_index[source])

    def take_raters(self, raters: Integers) -> "FlatRatings":
        """Select the ratings of raters, whose positions are in order, and number these from 0."""
        own = self.select(np.isin(self.rater_index, raters))
        return replace(own, rater_index=np.searchsorted(raters, own.rater_index))

    def add_raters(self, answers: Integers, first: int) -> "FlatRatings":
        """Add raters who gave each row one answer.

        Parameters
        ----------
        answers : ndarray of int, shape (n_rows, n_added)
            The category, -1 if there is no answer.
        first : int
            The index of the first of them, greater than those of the others.

        Returns
        -------
        FlatRatings

        Examples
        --------
        >>> flat, _, n_raters = flatten([[0, 1], [1, -1]], 2)
        >>> both = flat.add_raters(np.array([[-1], [0]]), n_raters)
        >>> both.item_index, both.rater_index, both.category_index
        (array([0, 0, 1, 1]), array([0, 1, 0, 2]), array([0, 1, 1, 0]))
        """
        if not answers.size:
            return self
        item, rater = np.nonzero(answers >= 0)
        items = np.append(self.item_index, item)
        raters = np.append(self.rater_index, first + rater)
        both = FlatRatings(items, raters, np.append(self.category_index, answers[item, rater]))
        return both.select(np.argsort(items, kind="stable"))

    def take_answers(self, rater: int, name: str, items: NDArray[Any]) -> Integers:
        """Turn a rater's ratings into a system's answers, or raise an InputError.

        Parameters
        ----------
        rater : int
            Index of the rater.
        name : str
            Of the rater, for the error.
        items : ndarray, shape (n_rows,)
            Names of the items, for the error.

        Returns
        -------
        ndarray of int, shape (n_rows,)
            The category, -1 if there is no answer.
        """
        own = np.flatnonzero(self.rater_index == rater)
        rows = self.item_index[own]
        for row in rows[:-1][np.diff(rows) == 0]:
            problem = f"rater {name!r} rated item {items[row]} more than once, and a system gives "
            raise InputError(f"{problem}one answer per item", "choose another rater as the system")
        answers = np.full(len(items), -1)
        answers[rows] = self.category_index[own]
        return answers


def check_counts(counts: ArrayLike, shape: tuple[int, ...]) -> Integers:
    """Raise an InputError unless counts have a shape and are numbers of items, 0 or more."""
    array = check_integers(counts, "counts", shape, 0, MOST_ITEMS)
    if array.astype(float).sum() > MOST_ITEMS:
        raise InputError(f"the counts sum to more than {MOST_ITEMS:,}", "give numbers of items")
    return array


def require_several_clusters(cluster: Integers) -> Integers:
    """Refuse a user's clusters if there is only one; a group of items may be of one."""
    if len(cluster) > 1 and len(np.unique(cluster)) == 1:
        problem = "all items are of one cluster, so nothing shows how clusters differ"
        raise InputError(problem, "name the column of the clusters, of which there are several")
    return cluster


def find_rows(rows: ArrayLike, n_rows: int) -> Integers:
    """Positions of rows as NumPy reads them: a mask, or numbers, below 0 from the end."""
    selected = to_array(rows, "rows")
    if selected.dtype == bool and selected.shape == (n_rows,):
        return np.flatnonzero(selected)
    positions = check_integers(selected, "rows", (selected.size,), -n_rows, n_rows - 1)
    return positions % max(n_rows, 1)


def flatten(codes: ArrayLike, n_categories: int) -> tuple[FlatRatings, int, int]:
    """Flatten an array (item, rater) of codes; give the numbers of items and raters too."""
    dense = to_array(codes, "codes")
    if dense.ndim != 2:
        raise InputError(f"codes have shape {dense.shape}", "give an array (item, rater)")
    if dense.size and dense.dtype.kind in "OUST":
        remedy = "give whole numbers, -1 for missing, or read labels with Ratings.from_wide"
        raise InputError(f"codes are of type {dense.dtype}", remedy)
    dense = check_integers(dense, "codes", dense.shape, -1, n_categories - 1)
    n_rows, n_raters = dense.shape
    item, rater = np.repeat(np.arange(n_rows), n_raters), np.tile(np.arange(n_raters), n_rows)
    flat = FlatRatings(item, rater, dense.flatten())
    return (flat if dense.min(initial=0) >= 0 else flat.select(dense.ravel() >= 0)), *dense.shape


def check_flat(votes: FlatRatings, n_rows: int, n_raters: int, n_categories: int) -> FlatRatings:
    """Raise an InputError if an index is out of range, and sort the ratings if need be."""
    shape = (len(votes.item_index),)
    item = check_integers(votes.item_index, "item_index", shape, 0, n_rows - 1)
    rater = check_integers(votes.rater_index, "rater_index", shape, 0, n_raters - 1)
    code = check_integers(votes.category_index, "category_index", shape, 0, n_categories - 1)
    return sort_ratings(item, rater, code)


def sort_ratings(item: Integers, rater: Integers, code: Integers) -> FlatRatings:
    """Sort ratings by item, rater and category."""
    n_raters = int(rater.max(initial=0)) + 1
    pair = item.astype(np.int64, copy=False) * n_raters + rater
    flat = FlatRatings(item, rater, code)
    if (pair[1:] > pair[:-1]).all():
        return flat
    n_pairs = int(pair.max(initial=0)) + 1
    if n_pairs <= DENSE * len(pair):
        by_pair = np.full(n_pairs, -1, np.int64)
        by_pair[pair] = code
        rated = np.flatnonzero(by_pair >= 0)
        if len(rated) == len(pair):  # else a rater rated an item twice
            item, rater = np.divmod(rated, n_raters)
            return FlatRatings(item, rater, by_pair[rated])
    return flat.select(np.argsort(pair * (int(code.max(initial=0)) + 1) + code, kind="stable"))


def count_categories(
    item_index: Integers, category_index: Integers, n_rows: int, n_categories: int
) -> Integers:
    """Count the ratings of each row in each category, shape (n_rows, n_categories)."""
    cell = item_index * n_categories + category_index
    return np.bincount(cell, minlength=n_rows * n_categories).reshape(n_rows, n_categories)


def count_raters(votes: FlatRatings, n_rows: int) -> Integers:
    """Count the different raters of each row, (n_rows,)."""
    return np.bincount(votes.item_index[~votes.is_repeated], minlength=n_rows)


def factorize_by_size(keys: Integers) -> Integers:
    """Number keys, 0 or more, in the order of their size: in linear time where they are dense.

    Examples
    --------
    >>> factorize_by_size(np.array([7, 3, 7, 5])).tolist()
    [2, 0, 2, 1]
    """
    largest = int(keys.max(initial=-1))
    if largest >= DENSE * len(keys):
        return np.unique(keys, return_inverse=True)[1]
    occurs = np.zeros(largest + 1, dtype=bool)
    occurs[keys] = True
    return (np.cumsum(occurs) - 1)[keys]


def factorize(keys: Integers) -> tuple[Integers, Integers]:
    """Number keys in the order in which they first occur.

    Parameters
    ----------
    keys : ndarray of int, shape (n,)
        0 or more.

    Returns
    -------
    numbers : ndarray of int, shape (n,)
    first : ndarray of int, shape (n_different,)
        Where each number first occurs.

    Examples
    --------
    >>> numbers, first = factorize(np.array([7, 3, 7, 5]))
    >>> numbers.tolist(), first.tolist()
    ([0, 1, 0, 2], [0, 1, 3])
    """
    highest = np.maximum.accumulate(keys) if len(keys) else keys
    new = np.flatnonzero(np.diff(highest, prepend=-1))
    if np.array_equal(highest[new], np.arange(len(new))):  # they are numbered so already
        return keys, new
    by_size = factorize_by_size(keys)
    first = np.empty(int(by_size.max(initial=-1)) + 1, dtype=np.int64)
    first[by_size[::-1]] = np.arange(len(keys))[::-1]
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return number[by_size], first[order]


def find_unique_rows(rows: Integers) -> tuple[Integers, Integers]:
    """Give the different rows in their order, and which of them each row is.

    `numpy.unique` with an axis takes ten times as long where rows have many columns.

    Parameters
    ----------
    rows : ndarray of int, shape (n_rows, n_columns)

    Returns
    -------
    unique : ndarray of int, shape (n_different, n_columns)
    which : ndarray of int, shape (n_rows,)

    Examples
    --------
    >>> unique, which = find_unique_rows(np.array([[1, 0], [-1, 300], [1, 0]]))
    >>> unique.tolist(), which.tolist()
    ([[-1, 300], [1, 0]], [1, 0, 1])
    """
    above = rows - rows.min(initial=0)
    # Bytes of unsigned numbers, the greatest byte first, are in the order of the numbers.
    number = np.min_scalar_type(int(above.max(initial=0))).newbyteorder(">")
    as_bytes = np.dtype((np.void, rows.shape[1] * number.itemsize))
    keys = np.ascontiguousarray(above.astype(number)).view(as_bytes).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], which


# Patterns


@dataclass(frozen=True, kw_only=True, eq=False)
class Patterns:
    """Different rows of ratings, and how many items have each.

    Parameters
    ----------
    votes : FlatRatings
        The votes of the patterns one after another. A system is the last rater.
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

    votes: FlatRatings
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
        lengths = np.bincount(self.votes.item_index, minlength=len(self.counts))
        return np.append(0, np.cumsum(lengths))

    @cached_property
    def system(self) -> Integers:
        """The system's answer for each pattern, -1 if there is none, (n_patterns,)."""
        answers = np.full(len(self.counts), -1)
        if self.has_system:
            own = self.votes.select(self.votes.rater_index == len(self.raters) - 1)
            answers[own.item_index] = own.category_index
        return answers

    @cached_property
    def answers(self) -> "sparse.csr_array":
        """How often each rater gave each category, (n_patterns, n_raters * n_categories).

        Repeated ratings of an item by a rater add up. The product with log confusion matrices,
        categories in columns, is the log probability of the ratings given each category.
        """
        cells = self.votes.rater_index * len(self.categories) + self.votes.category_index
        shape = (len(self.counts), len(self.raters) * len(self.categories))
        return sparse.csr_array((np.ones(len(cells)), cells, self.starts), shape=shape)

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
        """
        return np.asarray(self.answers @ values)

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
        return np.asarray(self.answers.T @ values)


def collapse_patterns(
    ratings: "Ratings",
    *,
    truth: bool,
    apart: Sequence[Integers | None] = (),
    by_content: bool = False,
) -> Patterns:
    """Compute the result of `Ratings.patterns`; rows with different numbers can be kept apart."""
    has_system, population = ratings.system is not None, ratings.population
    votes, truths = ratings.all_votes, ratings.truth if truth else None
    apart = truths, population, *apart
    inverse, first = number_patterns(votes, apart, ratings.n_rows, by_content=by_content)
    counts = np.bincount(inverse, weights=ratings.weights, minlength=len(first))
    return Patterns(
        votes=votes.take_rows(first, ratings.n_rows),
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
    votes: FlatRatings, others: Sequence[Integers | None], n_rows: int, *, by_content: bool = False
) -> tuple[Integers, Integers]:
    """Assign to each row the index of its pattern; patterns are numbered in order of appearance.

    The partition of rows is refined one rating at a time.

    Parameters
    ----------
    votes : FlatRatings
    others : sequence of ndarray of int, shape (n_rows,), or None
        Further values, -1 or more, in which rows of a pattern must agree.
    n_rows : int
    by_content : bool
        Whether patterns are numbered by what they contain instead, so that another order of the
        rows gives the same patterns in the same order.

    Returns
    -------
    numbers : ndarray of int, shape (n_rows,)
    first : ndarray of int, shape (n_patterns,)
        The row in which each pattern first occurs.
    """
    lengths = np.bincount(votes.item_index, minlength=n_rows)
    starts = np.cumsum(lengths) - lengths
    key = lengths.astype(np.int64)
    for other in others:
        if other is not None:
            key = factorize_by_size(key) * (int(other.max(initial=0)) + 2) + other + 1
    key = factorize_by_size(key)
    n_categories = int(votes.category_index.max(initial=0)) + 1
    symbol = votes.rater_index * n_categories + votes.category_index
    n_symbols = int(symbol.max(initial=0)) + 1
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
    return _count_pairs(ratings.votes, ratings.count_votes(), several_votes=ratings.several_votes)


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

    def lay_out(self, weights: Floats) -> Floats:
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
    flat = patterns.votes.select(patterns.votes.rater_index < patterns.n_raters)
    votes = count_categories(flat.item_index, flat.category_index, len(patterns.counts), k)
    pairs = _count_pairs(flat, votes, several_votes=ratings.several_votes)
    rows, row = find_unique_rows(np.column_stack([votes, *pairs]))
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


# Clusters and pairs


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


def find_pair(ratings: "Ratings") -> tuple[int, int] | None:
    """Look up the pair among raters and system; None if there is none, or one is left out."""
    places = {name: place for place, name in enumerate(ratings.all_raters)}
    if not ratings.dependent or not set(ratings.dependent) <= set(places):
        return None
    first, second = ratings.dependent
    return places[first], places[second]
