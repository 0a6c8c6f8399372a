"""Flat ratings: one rating after another, in memory proportional to their number."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Booleans, Integers
from lehner.core.errors import InputError

MOST_ITEMS = 2**53
DENSE = 4
"""Pairs of items and raters, for each rating, up to which these are sorted by counting."""


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


def flatten(codes: ArrayLike, n_categories: int) -> tuple[FlatRatings, int, int]:
    """Flatten an array (item, rater) of codes; give the numbers of items and raters too."""
    dense = as_array(codes, "codes")
    if dense.ndim != 2:
        raise InputError(f"codes have shape {dense.shape}", "give an array (item, rater)")
    dense = check_codes(dense, n_categories, "codes")
    item, rater = np.nonzero(dense >= 0)
    flat = FlatRatings(item_index=item, rater_index=rater, category_index=dense[item, rater])
    return flat, *dense.shape


def check_flat(flat: FlatRatings, n_rows: int, n_raters: int, n_categories: int) -> FlatRatings:
    """Raise an InputError if an index is out of range, and sort the ratings if need be.

    Parameters
    ----------
    flat : FlatRatings
    n_rows, n_raters, n_categories : int

    Returns
    -------
    FlatRatings
    """
    sizes = {"item_index": n_rows, "rater_index": n_raters, "category_index": n_categories}
    arrays = [_check_index(getattr(flat, name), name, size) for name, size in sizes.items()]
    item, rater, category = arrays
    if not len(item) == len(rater) == len(category):
        raise InputError(
            f"there are {len(item)} item, {len(rater)} rater and {len(category)} category indices",
            "give one of each for each rating",
        )
    if _sorted(item, rater, category):
        return FlatRatings(item_index=item, rater_index=rater, category_index=category)
    return sort_ratings(item, rater, category, n_categories)


def _check_index(values: Any, name: str, size: int) -> Integers:
    index = as_array(values, name)
    if index.ndim != 1 or (index.size and not np.issubdtype(index.dtype, np.integer)):
        raise InputError(
            f"{name} has shape {index.shape} and type {index.dtype}", "give whole numbers in a row"
        )
    if index.size and (index.min() < 0 or index.max() >= size):
        bad = index.min() if index.min() < 0 else index.max()
        raise InputError(f"{name} has the value {bad}", f"give whole numbers from 0 to {size - 1}")
    return index.astype(np.int64, copy=False)


def _sorted(*arrays: Integers) -> bool:
    """Whether rows are in order by the first array, then the second, then the third."""
    in_order = np.ones(max(len(arrays[0]) - 1, 0), dtype=bool)
    for values in reversed(arrays):
        before, after = values[:-1], values[1:]
        in_order &= before == after
        in_order |= before < after
    return bool(in_order.all())


def sort_ratings(item: Integers, rater: Integers, code: Integers, n_categories: int) -> FlatRatings:
    """Sort ratings by item, rater and category."""
    n_raters = int(rater.max(initial=0)) + 1
    pair = item * n_raters + rater
    n_pairs = int(pair.max(initial=0)) + 1
    order: Any = slice(None)
    if not (pair[1:] > pair[:-1]).all():
        place = np.full(n_pairs if n_pairs <= DENSE * len(pair) else 0, -1)
        if len(place):
            place[pair] = np.arange(len(pair))
        order = place[place >= 0]
        if len(order) < len(pair):  # a pair occurs twice, or there are too many to count
            order = np.argsort(pair * n_categories + code, kind="stable")
    return FlatRatings(item_index=item[order], rater_index=rater[order], category_index=code[order])


def add_rater(flat: FlatRatings, answers: Integers, rater: int) -> FlatRatings:
    """Add a rater who gave each row one answer, after the others.

    Parameters
    ----------
    flat : FlatRatings
    answers : ndarray of int, shape (n_rows,)
        The category, -1 if there is no answer.
    rater : int
        The index of the rater, greater than those of the others.

    Returns
    -------
    FlatRatings

    Examples
    --------
    >>> flat, _, n_raters = flatten([[0, 1], [1, -1]], 2)
    >>> both = add_rater(flat, np.array([-1, 0]), n_raters)
    >>> both.item_index, both.rater_index, both.category_index
    (array([0, 0, 1, 1]), array([0, 1, 0, 2]), array([0, 1, 1, 0]))
    """
    answered = np.flatnonzero(answers >= 0)
    item = np.append(flat.item_index, answered)
    order = np.argsort(item, kind="stable")
    return FlatRatings(
        item_index=item[order],
        rater_index=np.append(flat.rater_index, np.full(len(answered), rater))[order],
        category_index=np.append(flat.category_index, answers[answered])[order],
    )


def count_categories(
    item_index: Integers, category_index: Integers, n_rows: int, n_categories: int
) -> Integers:
    """Count the ratings of each row in each category, shape (n_rows, n_categories)."""
    cell = item_index * n_categories + category_index
    return np.bincount(cell, minlength=n_rows * n_categories).reshape(n_rows, n_categories)


def check_rows(rows: ArrayLike, n_rows: int) -> Integers:
    """Positions of rows as NumPy reads them: a mask, or numbers, below 0 from the end."""
    chosen = as_array(rows, "rows")
    remedy = f"give positions from 0 to {n_rows - 1}, or a mask of {n_rows}"
    if chosen.ndim != 1:
        raise InputError(f"rows have shape {chosen.shape}", remedy)
    if chosen.dtype == bool and len(chosen) == n_rows:
        return np.flatnonzero(chosen)
    if chosen.size and not np.issubdtype(chosen.dtype, np.integer):
        raise InputError(f"rows have {len(chosen)} values of type {chosen.dtype}", remedy)
    outside = (chosen < -n_rows) | (chosen >= n_rows)
    if outside.any():
        raise InputError(f"there is no row {chosen[outside][0]}", remedy)
    return chosen.astype(np.int64) % max(n_rows, 1)


def take_rows(flat: FlatRatings, rows: Integers, n_rows: int) -> FlatRatings:
    """Select rows, in the order given; a row may be selected more than once.

    Parameters
    ----------
    flat : FlatRatings
    rows : ndarray of int
    n_rows : int
        Number of rows before the selection.

    Returns
    -------
    FlatRatings
    """
    lengths = np.bincount(flat.item_index, minlength=n_rows)
    starts = np.cumsum(lengths) - lengths
    taken = lengths[rows]
    offsets = np.arange(taken.sum()) - np.repeat(np.cumsum(taken) - taken, taken)
    source = np.repeat(starts[rows], taken) + offsets
    return FlatRatings(
        item_index=np.repeat(np.arange(len(rows)), taken),
        rater_index=flat.rater_index[source],
        category_index=flat.category_index[source],
    )


def take_raters(flat: FlatRatings, raters: Integers) -> FlatRatings:
    """Select the ratings of raters, whose positions are in order, and number these from 0."""
    mine = np.isin(flat.rater_index, raters)
    return FlatRatings(
        item_index=flat.item_index[mine],
        rater_index=np.searchsorted(raters, flat.rater_index[mine]),
        category_index=flat.category_index[mine],
    )


def check_codes(codes: NDArray[Any], n_categories: int, name: str) -> Integers:
    """Raise an InputError unless codes are category indices, or -1 if missing."""
    if codes.size and not np.issubdtype(codes.dtype, np.integer):
        raise InputError(
            f"{name} are of type {codes.dtype}",
            "give whole numbers, -1 for missing, or read labels with Ratings.from_wide",
        )
    bad = np.argwhere((codes < -1) | (codes >= n_categories))
    if len(bad):
        raise InputError(
            f"{name} {codes[tuple(bad[0])]} at {tuple(map(int, bad[0]))}",
            f"codes run from 0 to {n_categories - 1}, -1 for missing",
        )
    return codes.astype(np.int64)


def check_counts(counts: ArrayLike, shape: tuple[int, ...]) -> Integers:
    """Raise an InputError unless counts have the right shape and are whole numbers of 0 or more."""
    array = as_array(counts, "counts")
    if array.shape != shape:
        raise InputError(f"counts have shape {array.shape}", f"give shape {shape}")
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"counts are of type {array.dtype}", "give whole numbers, 0 or more")
    if array.size and (array.min() < 0 or array.astype(float).sum() > MOST_ITEMS):
        bad = array.min() if array.min() < 0 else array.max()
        raise InputError(f"count {bad} is not a number of items", "give whole numbers, 0 or more")
    return array.astype(np.int64)


def as_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """Convert values into an array, or raise an InputError where rows differ in length."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        raise InputError(f"{name} have rows of unequal length", "give a regular array") from None


def are_repeated(flat: FlatRatings) -> Booleans:
    """Find which ratings are of the item and by the rater of the rating before, (n_ratings,)."""
    again = np.zeros(len(flat.item_index), bool)
    item, rater = flat.item_index, flat.rater_index
    again[1:] = (item[1:] == item[:-1]) & (rater[1:] == rater[:-1])
    return again


def count_raters(flat: FlatRatings, n_rows: int) -> Integers:
    """Count the different raters of each row, (n_rows,)."""
    return np.bincount(flat.item_index[~are_repeated(flat)], minlength=n_rows)


def one_vote_each(flat: FlatRatings) -> FlatRatings:
    """Keep, of each rater's ratings of an item, the most frequent once, and none where two tie.

    Parameters
    ----------
    flat : FlatRatings

    Returns
    -------
    FlatRatings
        The same object if no rater rated an item more than once.

    Examples
    --------
    >>> given = FlatRatings(
    ...     item_index=np.array([0, 0, 0, 0, 1, 1]),
    ...     rater_index=np.array([0, 0, 0, 1, 0, 0]),
    ...     category_index=np.array([0, 1, 1, 0, 0, 1]),
    ... )
    >>> votes = one_vote_each(given)
    >>> votes.item_index, votes.rater_index, votes.category_index
    (array([0, 0]), array([0, 1]), array([1, 0]))
    """
    again = are_repeated(flat)
    if not again.any():
        return flat
    same = np.append(False, np.diff(flat.category_index) == 0) & again
    first = np.flatnonzero(~same)
    times = np.diff(first, append=len(same))
    whose = np.cumsum(~again)[first] - 1
    top = times == _largest(times, whose)[whose]
    kept = first[top & (np.bincount(whose[top])[whose] == 1)]
    return FlatRatings(
        item_index=flat.item_index[kept],
        rater_index=flat.rater_index[kept],
        category_index=flat.category_index[kept],
    )


def _largest(values: Integers, group: Integers) -> Integers:
    """Largest value of each group."""
    largest = np.zeros(int(group.max()) + 1, np.int64)
    np.maximum.at(largest, group, values)
    return largest
