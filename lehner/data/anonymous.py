"""Counts of ratings by anonymous raters, as flat ratings."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.data.flat import FlatRatings, as_array, check_counts


def flatten_counts(
    counts: ArrayLike, categories: Sequence[Any]
) -> tuple[FlatRatings, list[str], int]:
    """Assign each rating of an item to a slot, which replaces its unknown rater.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, n_categories)
        Number of ratings of each item in each category, 0 or more.
    categories : sequence, length n_categories

    Returns
    -------
    flat : FlatRatings
    raters : list of str
        Names of the slots, whose number is the greatest number of ratings of an item.
    n_items : int

    Raises
    ------
    InputError
        If a count is not a whole number of 0 or more, or if there is not a column for each
        category.
    """
    table = as_array(counts, "counts")
    n_items, n_categories = (len(table), len(categories)) if table.ndim else (0, 0)
    table = check_counts(table, (n_items, n_categories))
    lengths = table.sum(axis=1)
    item = np.repeat(np.arange(n_items), lengths)
    category = np.repeat(np.tile(np.arange(n_categories), n_items), table.ravel())
    starts = np.cumsum(lengths) - lengths
    slot = np.arange(len(item)) - starts[item]
    flat = FlatRatings(item_index=item, rater_index=slot, category_index=category)
    raters = [f"rating {j + 1}" for j in range(int(lengths.max(initial=0)))]
    return flat, raters, n_items
