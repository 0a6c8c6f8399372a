"""Patterns: items with the same ratings, collapsed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lehner.core.arrays import Integers
from lehner.data.numbering import number_by_appearance, number_by_size

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings


@dataclass(frozen=True, kw_only=True)
class Patterns:
    """Unique rows of ratings with their counts.

    Parameters
    ----------
    ratings : Ratings
        A row per pattern, in the order in which they first occur, with counts.
    inverse : ndarray of int, shape (n_rows,)
        The pattern of each row of the data that were collapsed.
    """

    ratings: "Ratings"
    inverse: Integers


def number_patterns(ratings: "Ratings") -> Integers:
    """Give each row the number of its pattern.

    The partition of rows is refined one rating at a time.
    """
    flat, n_categories = ratings.flat, ratings.n_categories
    lengths = np.bincount(flat.item_index, minlength=ratings.n_rows)
    starts = np.cumsum(lengths) - lengths
    key = lengths.astype(np.int64)
    for codes in (ratings.system, ratings.truth):
        if codes is not None:
            key = number_by_size(key * (n_categories + 1) + codes + 1)
    key = number_by_size(key)
    symbol = flat.rater_index * n_categories + flat.category_index
    n_symbols = ratings.n_raters * n_categories
    active = np.arange(len(lengths))
    # Rows of different length differ in `key` from the start, so those that have ended
    # can keep a number below `n_done` while the others are refined above it.
    start, n_done = 0, int(key.max(initial=-1)) + 1
    for place in range(int(lengths.max(initial=0))):
        active = active[lengths[active] > place]
        symbols = symbol[starts[active] + place]
        refined = number_by_size((key[active] - start) * n_symbols + symbols)
        key[active] = refined + n_done
        start, n_done = n_done, n_done + int(refined.max(initial=-1)) + 1
    return number_by_appearance(key)[0]
