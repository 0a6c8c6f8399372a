"""Patterns: items with the same ratings, collapsed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lehner.ratings import Ratings


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
    inverse: NDArray[np.int64]


def number_patterns(ratings: "Ratings") -> NDArray[np.int64]:
    """Give each row the number of its pattern.

    The partition of rows is refined one rating at a time, by hashing: linear time.
    """
    import pandas as pd

    flat, n_categories = ratings.flat, ratings.n_categories
    lengths = np.bincount(flat.item_index, minlength=len(ratings.items))
    starts = np.cumsum(lengths) - lengths
    key = lengths.astype(np.int64)
    for codes in (ratings.system, ratings.truth):
        if codes is not None:
            key = pd.factorize(key * (n_categories + 1) + codes + 1)[0]
    key = pd.factorize(key)[0].astype(np.int64)
    symbol = flat.rater_index * n_categories + flat.category_index
    n_symbols = ratings.n_raters * n_categories
    active = np.arange(len(lengths))
    # Rows of different length differ in `key` from the start, so those that have ended
    # can keep a number below `n_done` while the others are refined above it.
    n_done = int(key.max(initial=-1)) + 1
    for place in range(int(lengths.max(initial=0))):
        active = active[lengths[active] > place]
        refined = pd.factorize(key[active] * n_symbols + symbol[starts[active] + place])[0]
        key[active] = refined + n_done
        n_done += int(refined.max(initial=-1)) + 1
    return pd.factorize(key)[0].astype(np.int64)
