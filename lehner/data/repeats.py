"""One vote of a rater for an item: the most frequent of the rater's ratings of it."""

import numpy as np

from lehner.core.arrays import Booleans, Integers
from lehner.data.flat import FlatRatings


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
