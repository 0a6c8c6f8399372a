"""Ratings from the number of anonymous raters who put each item into each category."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.data.categories import Label
from lehner.data.flat import FlatRatings, as_array, check_counts

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings


def from_counts(
    cls: "type[Ratings]",
    counts: ArrayLike,
    categories: Sequence[Label],
    *,
    items: Sequence[Any] | None = None,
    item_counts: ArrayLike | None = None,
    ordered: bool = False,
) -> "Ratings":
    """Read the number of anonymous raters who put each item into each category.

    Parameters
    ----------
    counts : array_like of int, shape (n_rows, n_categories)
        Number of ratings of each item in each category, 0 or more.
    categories : sequence of str or int, length n_categories
        Names of the categories, in the order of the columns.
    items : sequence, length n_rows, optional
        Names of the items.
    item_counts : array_like of int, shape (n_rows,), optional
        Number of items of each row.
    ordered : bool
        Whether the order of the categories is meaningful.

    Returns
    -------
    Ratings
        With anonymous raters: it is unknown who gave which rating.

    Raises
    ------
    InputError
        If a count is not a whole number of 0 or more, or if lengths are inconsistent.

    Examples
    --------
    >>> from lehner import Ratings
    >>> Ratings.from_counts([[3, 0], [1, 2]], ["no", "yes"])
    Ratings: 2 items, 3 anonymous raters, 6 ratings, 2 categories (no, yes)
    """
    table = as_array(counts, "counts")
    n_items, n_categories = (len(table), len(categories)) if table.ndim else (0, 0)
    table = check_counts(table, (n_items, n_categories))
    lengths = table.sum(axis=1)
    item = np.repeat(np.arange(n_items), lengths)
    category = np.repeat(np.tile(np.arange(n_categories), n_items), table.ravel())
    starts = np.cumsum(lengths) - lengths
    # Each rating of an item gets a slot, which replaces its unknown rater.
    slot = np.arange(len(item)) - starts[item]
    return cls(
        FlatRatings(item_index=item, rater_index=slot, category_index=category),
        categories,
        [f"rating {j + 1}" for j in range(int(lengths.max(initial=0)))],
        np.arange(1, n_items + 1) if items is None else items,
        counts=item_counts,
        ordered=ordered,
        anonymous=True,
    )
