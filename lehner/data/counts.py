"""Ratings as a sparse count of items by raters and categories, and its different rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from lehner.core.arrays import Booleans, Floats, Integers, check_integers, to_array
from lehner.core.errors import InputError
from lehner.core.lazy import pd, sparse
from lehner.core.resampling import ItemCounts

UNKNOWN = -1
MOST_ITEMS = 2**53
# The greatest key, for each of them, up to which keys are sorted by counting.
DENSE = 4


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """How often each rater put each item into each category, as the entries of a sparse table.

    Parameters
    ----------
    item_index, rater_index, category_index : ndarray of int, shape (n_ratings,)
        The row, rater and category of each rating, sorted by row, then rater, then category.
    shape : tuple of int
        Numbers of rows, raters and categories.
    checked : bool
        Whether indices are known to be in range and sorted.

    Examples
    --------
    >>> counts = count_codes([[0, 1], [1, -1]], 2)
    >>> counts.item_index, counts.rater_index, counts.category_index
    (array([0, 0, 1]), array([0, 1, 0]), array([0, 1, 1]))
    >>> counts.take(np.array([1, 1])).count_votes().tolist()
    [[0, 1], [0, 1]]
    """

    item_index: Integers
    rater_index: Integers
    category_index: Integers
    shape: tuple[int, int, int]
    checked: bool = False

    @cached_property
    def starts(self) -> Integers:
        """Where the ratings of each row start, and where those of the last end, (n_rows + 1,)."""
        return np.append(0, np.cumsum(np.bincount(self.item_index, minlength=self.shape[0])))

    @property
    def n_ratings(self) -> Integers:
        """Number of ratings of each row, (n_rows,)."""
        return np.diff(self.starts)

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
    def one_vote_each(self) -> "Counts":
        """Of each rater's ratings of an item, the most frequent once, and none where two tie.

        It is the same object if no rater rated an item more than once.

        Examples
        --------
        >>> ratings = Counts(
        ...     item_index=np.array([0, 0, 0, 0, 1, 1]),
        ...     rater_index=np.array([0, 0, 0, 1, 0, 0]),
        ...     category_index=np.array([0, 1, 1, 0, 0, 1]),
        ...     shape=(2, 2, 2),
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
        vote = np.cumsum(new) - 1
        top = times == np.maximum.reduceat(times, np.flatnonzero(new))[vote]
        return self.select(first[top & (np.bincount(vote[top])[vote] == 1)])

    def select(self, entries: Booleans | Integers | slice) -> "Counts":
        """Select ratings by a mask or by their positions."""
        indices = (self.item_index, self.rater_index, self.category_index)
        item, rater, category = (index[entries] for index in indices)
        is_mask = isinstance(entries, np.ndarray) and entries.dtype == np.bool_
        checked = self.checked and is_mask  # a mask keeps the order
        return Counts(item, rater, category, self.shape, checked)

    def take(self, rows: Integers) -> "Counts":
        """Select rows by their positions, in the order given; one may be selected twice."""
        n_ratings = self.n_ratings[rows]
        offsets = np.arange(n_ratings.sum()) - np.repeat(
            np.cumsum(n_ratings) - n_ratings, n_ratings
        )
        source = np.repeat(self.starts[rows], n_ratings) + offsets
        item = np.repeat(np.arange(len(rows)), n_ratings)
        # Compiled models read numbers of this type.
        rater = self.rater_index[source].astype(np.int64)
        category = self.category_index[source].astype(np.int64)
        return Counts(item, rater, category, (len(rows), *self.shape[1:]), self.checked)

    def take_raters(self, raters: Integers) -> "Counts":
        """Select the ratings of raters, whose positions are in order, and number these from 0."""
        kept = np.isin(np.arange(self.shape[1]), raters)
        ratings, shape = self.select(kept[self.rater_index]), (self.shape[0], len(raters))
        number = np.cumsum(kept, dtype=self.rater_index.dtype) - 1
        rater = number[ratings.rater_index]
        return replace(ratings, rater_index=rater, shape=(*shape, self.shape[2]))

    def add_raters(self, answers: Integers) -> "Counts":
        """Add raters who gave each row one answer.

        Parameters
        ----------
        answers : ndarray of int, shape (n_rows, n_added)
            The category, -1 if there is no answer.

        Returns
        -------
        Counts

        Examples
        --------
        >>> both = count_codes([[0, 1], [1, -1]], 2).add_raters(np.array([[-1], [0]]))
        >>> both.item_index, both.rater_index, both.category_index
        (array([0, 0, 1, 1]), array([0, 1, 0, 2]), array([0, 1, 1, 0]))
        """
        n_rows, n_raters, n_categories = self.shape
        item, rater = np.nonzero(answers >= 0)
        added = (item, n_raters + rater, answers[item, rater])
        indices = (self.item_index, self.rater_index, self.category_index)
        # The new raters come last in each row.
        ends = self.starts[item + 1]
        pairs = zip(indices, added, strict=True)
        items, raters, categories = (np.insert(old, ends, new) for old, new in pairs)
        shape = (n_rows, n_raters + answers.shape[1], n_categories)
        return Counts(items, raters, categories, shape)

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
        ratings = self.select(self.rater_index == rater)
        rows = ratings.item_index
        for row in rows[:-1][np.diff(rows) == 0]:
            problem = f"rater {name!r} rated item {items[row]} more than once, and a system gives "
            raise InputError(f"{problem}one answer per item", "choose another rater as the system")
        answers = np.full(len(items), -1)
        answers[rows] = ratings.category_index
        return answers

    def count_votes(self) -> Integers:
        """Count the ratings of each row in each category, (n_rows, n_categories)."""
        n_rows, _, n_categories = self.shape
        cell = self.item_index * n_categories + self.category_index
        return np.bincount(cell, minlength=n_rows * n_categories).reshape(n_rows, n_categories)

    def count_raters(self) -> Integers:
        """Count the different raters of each row, (n_rows,)."""
        return np.bincount(self.item_index[~self.is_repeated], minlength=self.shape[0])

    def count_pairs(self) -> tuple[Integers, Integers]:
        """Count the agreeing pairs, and all pairs, of ratings by different raters, (n_rows,)."""
        votes = self.count_votes()
        agreeing, pairs = count_agreeing(votes)
        if self.is_repeated.any():  # pairs of a rater with himself do not count
            rater = self.item_index * self.shape[1] + self.rater_index
            cell = rater * votes.shape[1] + self.category_index
            for key, total in ((cell, agreeing), (rater, pairs)):
                _, first, count = np.unique(key, return_index=True, return_counts=True)
                np.subtract.at(total, self.item_index[first], count * (count - 1) // 2)
        return agreeing, pairs

    @cached_property
    def unique_votes(self) -> tuple[Integers, Integers]:
        """The different numbers of votes, with those of pairs, and which of them each row has."""
        return find_unique_rows(np.column_stack([self.count_votes(), *self.count_pairs()]))

    def number_patterns(
        self, apart: Sequence[Integers | None] = (), *, by_content: bool = False
    ) -> tuple[Integers, Integers]:
        """Assign to each row the index of its pattern, the same for rows with the same ratings.

        Patterns are numbered in order of appearance. The partition of rows is refined one rating
        at a time.

        Parameters
        ----------
        apart : sequence of ndarray of int, shape (n_rows,), or None
            Further values, -1 or more, in which rows of a pattern must agree.
        by_content : bool
            Whether patterns are numbered by what they contain instead, so that another order of
            the rows gives the same patterns in the same order.

        Returns
        -------
        numbers : ndarray of int, shape (n_rows,)
        first : ndarray of int, shape (n_patterns,)
            The row in which each pattern first occurs.
        """
        lengths, starts = self.n_ratings, self.starts
        key = lengths.astype(np.int64)
        for values in apart:
            if values is not None:
                key = factorize_by_size(key) * (int(values.max(initial=0)) + 2) + values + 1
        key = factorize_by_size(key)
        n_categories = int(self.category_index.max(initial=0)) + 1
        symbol = self.rater_index * n_categories + self.category_index
        n_symbols = int(symbol.max(initial=0)) + 1
        active = np.arange(self.shape[0])
        # Rows of different length differ in `key` from the start, so those that have ended
        # can keep a number below `n_done` while the others are refined above it.
        start, n_done = 0, int(key.max(initial=-1)) + 1
        for position in range(int(lengths.max(initial=0))):
            active = active[lengths[active] > position]
            symbols = symbol[starts[active] + position]
            refined = factorize_by_size((key[active] - start) * n_symbols + symbols)
            key[active] = refined + n_done
            start, n_done = n_done, n_done + int(refined.max(initial=-1)) + 1
        if by_content:
            _, first, numbers = np.unique(key, return_index=True, return_inverse=True)
            return numbers, first
        return factorize(key)

    def check(self, n_categories: int) -> "Counts":
        """Raise an InputError if an index is out of range, and sort the ratings if need be."""
        if self.checked and self.shape[2] == n_categories:
            return self
        size, (n_rows, n_raters, _) = (len(self.item_index),), self.shape
        item = check_integers(self.item_index, "item_index", size, 0, n_rows - 1)
        rater = check_integers(self.rater_index, "rater_index", size, 0, n_raters - 1)
        category = check_integers(self.category_index, "category_index", size, 0, n_categories - 1)
        return sort_ratings(item, rater, category, (n_rows, n_raters, n_categories))


def count_codes(codes: ArrayLike, n_categories: int) -> Counts:
    """Count ratings that are given as an array (item, rater) of codes, -1 where missing."""
    dense = to_array(codes, "codes")
    if dense.ndim != 2:
        raise InputError(f"codes have shape {dense.shape}", "give an array (item, rater)")
    if dense.size and dense.dtype.kind in "OUST":
        remedy = "give whole numbers, -1 for missing, or read labels with Ratings.from_wide"
        raise InputError(f"codes are of type {dense.dtype}", remedy)
    checked = check_integers(dense, "codes", dense.shape, -1, n_categories - 1)
    dense = dense if dense.dtype == np.int32 else checked
    rated = dense >= 0
    item = np.repeat(np.arange(len(dense)), np.count_nonzero(rated, axis=1))
    rater = np.broadcast_to(np.arange(dense.shape[1], dtype=dense.dtype), dense.shape)[rated]
    return Counts(item, rater, dense[rated], (*dense.shape, n_categories), checked=True)


def sort_ratings(
    item: Integers, rater: Integers, category: Integers, shape: tuple[int, int, int]
) -> Counts:
    """Sort ratings, whose indices are in range, by item, rater and category."""
    # Of products with items, 32 bits may be too few.
    n_cells = shape[1] * shape[2]
    kind = np.int32 if shape[0] * n_cells <= np.iinfo(np.int32).max else np.int64
    key: Any = item.astype(kind)
    key *= n_cells
    key += rater.astype(kind, copy=False) * shape[2]
    key += category.astype(kind, copy=False)
    if (key[1:] >= key[:-1]).all():
        return Counts(item.astype(np.int64, copy=False), rater, category, shape, checked=True)
    # A rating is known by its key, so that keys are sorted, and no order is needed.
    key.sort()
    item, rest = np.divmod(key, n_cells)
    indices = np.divmod(rest, shape[2])
    rater, category = (index.astype(rater.dtype, copy=False) for index in indices)
    return Counts(item.astype(np.int64, copy=False), rater, category, shape, checked=True)


def count_agreeing(votes: Integers) -> tuple[Integers, Integers]:
    """Count the agreeing pairs, and all pairs, of the votes of each row, (n_rows,)."""
    total = votes.sum(axis=1)
    return (votes * (votes - 1) // 2).sum(axis=1), total * (total - 1) // 2


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


def find_positions(rows: ArrayLike, n_rows: int) -> Integers:
    """Positions of rows as NumPy reads them: a mask, or numbers, below 0 from the end."""
    selected = to_array(rows, "rows")
    if selected.dtype == bool and selected.shape == (n_rows,):
        return np.flatnonzero(selected)
    positions = check_integers(selected, "rows", (selected.size,), -n_rows, n_rows - 1)
    return positions % max(n_rows, 1)


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
    greatest = np.maximum.accumulate(keys)
    first = np.flatnonzero(np.concatenate([keys[:1] >= 0, greatest[1:] != greatest[:-1]]))
    in_order = np.array_equal(keys[first], np.arange(len(first)))
    return (keys, first) if in_order else factorize(pd.factorize(keys)[0])


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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Patterns:
    """Different rows of ratings, and how many items have each.

    Parameters
    ----------
    votes : Counts
        The votes of each pattern. A system is the last rater.
    counts : ndarray, shape (n_patterns,)
        How many items have the pattern; in the limit of many items a proportion.
    truths : ndarray of int, shape (n_patterns,)
        Known true category, -1 where unknown.
    inverse : ndarray of int, shape (n_rows,)
        The pattern of each row of the data.
    raters : tuple of str
        Names of the raters, with "system" as the last if there is a system.
    categories : tuple
        Names of the categories, used or not.
    has_system : bool
        Whether the last rater is a system.
    population : ndarray of int, shape (n_patterns,)
        The population that the items of each pattern are from, all 0 where there are none.
    populations : tuple of str
        Names of the populations.
    ordered : bool
        Whether the order of the categories is meaningful.
    dense : bool
        Whether `answers` is an ordinary array: few patterns are multiplied before SciPy is loaded.
    """

    votes: Counts
    counts: NDArray[Any]
    truths: Integers
    inverse: Integers
    raters: tuple[str, ...]
    categories: tuple[Any, ...]
    has_system: bool
    population: Integers
    populations: tuple[str, ...] = ()
    ordered: bool = False
    dense: bool = False

    def __repr__(self) -> str:
        return f"Patterns: {len(self.counts)} of {int(self.counts.sum())} items"

    @property
    def n_categories(self) -> int:
        """Number of categories, used or not."""
        return len(self.categories)

    @property
    def n_raters(self) -> int:
        """Number of raters, without the system."""
        return len(self.raters) - int(self.has_system)

    @property
    def starts(self) -> Integers:
        """Start of the ratings of each pattern, and the end of the last, (n_patterns + 1,)."""
        return self.votes.starts

    @cached_property
    def weights(self) -> Floats:
        """The counts as numbers to multiply by, (n_patterns,)."""
        return self.counts.astype(float)

    @cached_property
    def has_truths(self) -> bool:
        """Whether the true category of some pattern is known."""
        return bool((self.truths >= 0).any())

    @cached_property
    def system(self) -> Integers:
        """The system's answer for each pattern, -1 if there is none, (n_patterns,)."""
        answers = np.full(len(self.counts), -1)
        if self.has_system:
            of_system = self.votes.select(self.votes.rater_index == len(self.raters) - 1)
            answers[of_system.item_index] = of_system.category_index
        return answers

    @cached_property
    def answers(self) -> Union[Floats, "sparse.csr_array"]:
        """How often each rater gave each category, (n_patterns, n_raters * n_categories).

        Repeated ratings of an item by a rater add up. The product with log confusion matrices,
        categories in columns, is the log probability of the ratings given each category.
        """
        cells = self.votes.rater_index * self.n_categories + self.votes.category_index
        shape = (len(self.counts), len(self.raters) * self.n_categories)
        if self.dense:
            answers = np.zeros(shape)
            np.add.at(answers, (self.votes.item_index, cells), 1)
            return answers
        return sparse.csr_array((np.ones(len(cells)), cells, self.starts), shape=shape)

    @cached_property
    def _by_answer(self) -> Union[Floats, "sparse.csc_array"]:
        # SciPy takes as long to transpose a small table as to multiply by it.
        return self.answers.T

    @cached_property
    def _by_population(self) -> "sparse.csc_array":
        n = len(self.counts)
        return sparse.csc_array((np.ones(n), (self.population, np.arange(n))))

    def allows(self, n_classes: int) -> Booleans:
        """Tell whether a pattern can belong to a class, given its gold label if it has one.

        Parameters
        ----------
        n_classes : int
            How many classes there are, of which the first are the categories.

        Returns
        -------
        ndarray of bool, shape (n_patterns, n_classes)
        """
        return (self.truths[:, None] < 0) | (self.truths[:, None] == np.arange(n_classes))

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
        return np.asarray(self._by_answer @ values)

    def sum_populations(self, values: Floats) -> Floats:
        """Sum values of patterns over each population, or over all if there are none.

        Parameters
        ----------
        values : ndarray, shape (n_patterns, n_columns)
            A value for each pattern.

        Returns
        -------
        ndarray, shape (n_populations, n_columns)
        """
        if not self.populations:
            return np.asarray(values.sum(axis=0, keepdims=True))
        return np.asarray(self._by_population @ values)


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
class CollapsedVotes(VoteTable):
    """The unique votes of ratings, and which of them, with which system answer, each row has.

    Parameters
    ----------
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

    cell: Integers
    weights: Integers
    sampled: ItemCounts
    row: Integers
    cell_of_row: Integers

    def find_cells(self, row: Integers, dtype: DTypeLike) -> "sparse.csc_array":
        """Give a table with a 1 at the cell of each of some items of these rows, (n_cells, n)."""
        parts = np.ones(len(row), dtype), self.cell_of_row[row], np.arange(len(row) + 1)
        return sparse.csc_array(parts, (len(self.cell), len(row)))

    def lay_out(self, weights: Floats) -> Floats:
        """Lay weights of the cells, (..., n_cells), out as (..., n_votes, n_categories + 1)."""
        shape = (len(self.votes), self.votes.shape[1] + 1)
        # Samples are contiguous in memory, because sums over categories, of which there are few,
        # are then several times faster.
        laid_out = np.zeros((shape[0] * shape[1], *weights.shape[:-1]))
        laid_out[self.cell] = np.moveaxis(weights, -1, 0)
        return np.moveaxis(laid_out.reshape(*shape, *weights.shape[:-1]), (0, 1), (-2, -1))


def collapse_votes(
    votes: Counts, system: Integers | None, weights: Integers, cluster: Integers | None
) -> CollapsedVotes:
    """Collapse rows to votes and system answers, without a system as if it did not answer.

    Parameters
    ----------
    votes : Counts
        Of the raters.
    system : ndarray of int, shape (n_rows,), optional
        The answers, -1 where there is none.
    weights, cluster : ndarray of int, shape (n_rows,)
        As of `count_items`.

    Returns
    -------
    CollapsedVotes
    """
    (rows, row), k = votes.unique_votes, votes.shape[2]
    answer = k if system is None else np.where(system < 0, k, system)
    cell, cell_of_row = np.unique(row * (k + 1) + answer, return_inverse=True)
    return CollapsedVotes(
        votes=rows[:, :k],
        agreeing=rows[:, k],
        pairs=rows[:, k + 1],
        cell=cell,
        weights=np.bincount(cell_of_row, weights, len(cell)).astype(np.int64),
        sampled=count_items(cell_of_row, len(cell), weights, cluster),
        row=row,
        cell_of_row=cell_of_row,
    )


def count_items(
    cell: Integers, n_cells: int, weights: Integers, cluster: Integers | None
) -> ItemCounts:
    """Count the items in each cell; where they are clustered, of each cluster.

    Parameters
    ----------
    cell : ndarray of int, shape (n_rows,)
        The cell of each row, as its pattern of ratings.
    n_cells : int
    weights : ndarray of int, shape (n_rows,)
        Number of items of each row.
    cluster : ndarray of int, shape (n_rows,), optional
        The cluster of each row; None if items are independent.

    Returns
    -------
    ndarray of int, shape (n_cells,), or scipy.sparse.csr_array, shape (n_clusters, n_cells)
        As `lehner.core.resampling.draw_counts` takes them.
    """
    if cluster is None:
        return np.bincount(cell, weights, n_cells).astype(np.int64)
    used = weights > 0
    number = factorize(cluster[used])[0]
    shape = (int(number.max(initial=-1)) + 1, n_cells)
    return sparse.coo_array((weights[used], (number, cell[used])), shape).tocsr()
