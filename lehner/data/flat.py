"""Flat ratings: one after another, in memory proportional to their number; keys as numbers."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Booleans, Integers
from lehner.core.errors import InputError

MOST_ITEMS = 2**53
DENSE = 4
"""The greatest key, for each of them, up to which keys are sorted by counting."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
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
        return FlatRatings(
            item_index=self.item_index[ratings],
            rater_index=self.rater_index[ratings],
            category_index=self.category_index[ratings],
        )

    def take_rows(self, rows: Integers, n_rows: int) -> "FlatRatings":
        """Select rows, in the order given, of n_rows; a row may be selected more than once."""
        lengths = np.bincount(self.item_index, minlength=n_rows)
        starts = np.cumsum(lengths) - lengths
        taken = lengths[rows]
        offsets = np.arange(taken.sum()) - np.repeat(np.cumsum(taken) - taken, taken)
        source = np.repeat(starts[rows], taken) + offsets
        return FlatRatings(
            item_index=np.repeat(np.arange(len(rows)), taken),
            rater_index=self.rater_index[source],
            category_index=self.category_index[source],
        )

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
        both = FlatRatings(
            item_index=np.append(self.item_index, item),
            rater_index=np.append(self.rater_index, first + rater),
            category_index=np.append(self.category_index, answers[item, rater]),
        )
        return both.select(np.argsort(both.item_index, kind="stable"))

    def answers_of(self, rater: int, name: str, items: NDArray[Any]) -> Integers:
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
        twice = np.flatnonzero(np.diff(rows) == 0)
        if twice.size:
            raise InputError(
                f"rater {name!r} rated item {items[rows[twice[0]]]} more than once, and a system "
                "gives one answer per item",
                "choose another rater as the system",
            )
        answers = np.full(len(items), -1)
        answers[rows] = self.category_index[own]
        return answers


def as_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """Convert values into an array, or raise an InputError where rows differ in length."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        raise InputError(f"{name} have rows of unequal length", "give a regular array") from None


def check_integers(
    values: ArrayLike, name: str, shape: tuple[int, ...], least: int, most: int
) -> Integers:
    """Raise an InputError unless values are an array, of a shape, of whole numbers of a range.

    Parameters
    ----------
    values : array_like
    name : str
        What they are, for the error.
    shape : tuple of int
    least, most : int
        The range, both ends included.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> check_integers([0, -1], "truth", (2,), -1, 1)
    array([ 0, -1])
    """
    array = as_array(values, name)
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}", f"give shape {shape}")
    remedy = f"give whole numbers from {least} to {most:,}"
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"{name} has values of type {array.dtype}", remedy)
    if array.size and (array.min() < least or array.max() > most):
        place = tuple(map(int, np.argwhere((array < least) | (array > most))[0]))
        where = place[0] if len(place) == 1 else place
        raise InputError(f"{name} has the value {array[place]} at {where}", remedy)
    return array.astype(np.int64, copy=False)


def check_counts(counts: ArrayLike, shape: tuple[int, ...]) -> Integers:
    """Raise an InputError unless counts have a shape and are numbers of items, 0 or more."""
    array = check_integers(counts, "counts", shape, 0, MOST_ITEMS)
    if array.astype(float).sum() > MOST_ITEMS:
        raise InputError(f"the counts sum to more than {MOST_ITEMS:,}", "give numbers of items")
    return array


def require_several_clusters(cluster: Integers) -> Integers:
    """Refuse a user's clusters if there is only one; a group of items may be of one."""
    if len(cluster) > 1 and len(np.unique(cluster)) == 1:
        raise InputError(
            "all items are of one cluster, of which no other can be known",
            "name the column of the clusters, of which there are several",
        )
    return cluster


def find_rows(rows: ArrayLike, n_rows: int) -> Integers:
    """Positions of rows as NumPy reads them: a mask, or numbers, below 0 from the end."""
    selected = as_array(rows, "rows")
    if selected.dtype == bool and selected.shape == (n_rows,):
        return np.flatnonzero(selected)
    positions = check_integers(selected, "rows", (selected.size,), -n_rows, n_rows - 1)
    return positions % max(n_rows, 1)


def flatten(codes: ArrayLike, n_categories: int) -> tuple[FlatRatings, int, int]:
    """Flatten an array (item, rater) of codes; give the numbers of items and raters too."""
    dense = as_array(codes, "codes")
    if dense.ndim != 2:
        raise InputError(f"codes have shape {dense.shape}", "give an array (item, rater)")
    if dense.size and dense.dtype.kind in "OUST":
        remedy = "give whole numbers, -1 for missing, or read labels with Ratings.from_wide"
        raise InputError(f"codes are of type {dense.dtype}", remedy)
    dense = check_integers(dense, "codes", dense.shape, -1, n_categories - 1)
    item, rater = np.nonzero(dense >= 0)
    flat = FlatRatings(item_index=item, rater_index=rater, category_index=dense[item, rater])
    return flat, *dense.shape


def check_flat(flat: FlatRatings, n_rows: int, n_raters: int, n_categories: int) -> FlatRatings:
    """Raise an InputError if an index is out of range, and sort the ratings if need be."""
    sizes = {"item_index": n_rows, "rater_index": n_raters, "category_index": n_categories}
    shape = (len(flat.item_index),)
    indices = [
        check_integers(getattr(flat, name), name, shape, 0, size - 1)
        for name, size in sizes.items()
    ]
    return sort_ratings(*indices, n_categories)


def sort_ratings(item: Integers, rater: Integers, code: Integers, n_categories: int) -> FlatRatings:
    """Sort ratings by item, rater and category."""
    n_raters = int(rater.max(initial=0)) + 1
    pair = item.astype(np.int64, copy=False) * n_raters + rater
    flat = FlatRatings(item_index=item, rater_index=rater, category_index=code)
    if (pair[1:] > pair[:-1]).all():
        return flat
    n_pairs = int(pair.max(initial=0)) + 1
    if n_pairs <= DENSE * len(pair):
        by_pair = np.full(n_pairs, -1, np.int64)
        by_pair[pair] = code
        rated = np.flatnonzero(by_pair >= 0)
        if len(rated) == len(pair):  # else a rater rated an item twice
            item, rater = np.divmod(rated, n_raters)
            return FlatRatings(item_index=item, rater_index=rater, category_index=by_pair[rated])
    return flat.select(np.argsort(pair * n_categories + code, kind="stable"))


def count_categories(
    item_index: Integers, category_index: Integers, n_rows: int, n_categories: int
) -> Integers:
    """Count the ratings of each row in each category, shape (n_rows, n_categories)."""
    cell = item_index * n_categories + category_index
    return np.bincount(cell, minlength=n_rows * n_categories).reshape(n_rows, n_categories)


def count_raters(flat: FlatRatings, n_rows: int) -> Integers:
    """Count the different raters of each row, (n_rows,)."""
    return np.bincount(flat.item_index[~flat.is_repeated], minlength=n_rows)


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


def unique_rows(rows: Integers) -> tuple[Integers, Integers]:
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
    >>> unique, which = unique_rows(np.array([[1, 0], [-1, 300], [1, 0]]))
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


def order_of_name(name: str) -> tuple[float, str]:
    """Key by which names are sorted: numbers by size, then the rest by the alphabet.

    Examples
    --------
    >>> sorted(["b", "10", "a", "9"], key=order_of_name)
    ['9', '10', 'a', 'b']
    """
    try:
        return float(name), name
    except ValueError:
        return math.inf, name
