"""Votes of each rater on each item, from which pairs of raters are cross-classified."""

from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.data.ratings import Ratings


@dataclass(frozen=True, kw_only=True, eq=False)
class PairVotes:
    """A list of votes in fractions, sorted by rater, so that a rater's own are found at once.

    `Patterns` are sorted by item, and count whole ratings.

    Parameters
    ----------
    names : tuple of str
        Names of the raters; the system, if there is one, is the last.
    row, rater, category : ndarray of int, shape (n_votes,)
    share : ndarray, shape (n_votes,)
        One over the number of the rater's ratings of the item.
    weights : ndarray, shape (n_rows,)
        Number of items of each row.
    n_categories : int
    """

    names: tuple[str, ...]
    row: Integers
    rater: Integers
    category: Integers
    share: Floats
    weights: Floats
    n_categories: int

    @property
    def n_raters(self) -> int:
        """Number of raters, including the system."""
        return len(self.names)

    def shares(self, rater: int) -> Floats:
        """Lay out a rater's votes as an array, shape (n_rows, n_categories)."""
        mine = slice(*np.searchsorted(self.rater, [rater, rater + 1]))
        laid_out = np.zeros((len(self.weights), self.n_categories))
        np.add.at(laid_out, (self.row[mine], self.category[mine]), self.share[mine])
        return laid_out

    def tables(self, rater: int) -> Floats:
        """Cross-classify a rater (rows) with each, (n_raters, n_categories, n_categories)."""
        mine = self.shares(rater)
        shared = np.flatnonzero(mine.any(axis=1)[self.row])
        row, k = self.row[shared], self.n_categories
        column = self.rater[shared] * k + self.category[shared]
        mine *= self.weights[:, None]
        by_category = [
            np.bincount(column, mine[row, c] * self.share[shared], len(self.names) * k)
            for c in range(k)
        ]
        return np.array(by_category).reshape(k, -1, k).transpose(1, 0, 2)


def list_votes(ratings: Ratings) -> PairVotes:
    """List the votes of all raters and of the system.

    Parameters
    ----------
    ratings : Ratings
        Ratings whose raters are named.

    Returns
    -------
    PairVotes
    """
    flat = ratings.all_given
    row, rater, category = flat.item_index, flat.rater_index, flat.category_index
    together = np.lexsort([row, rater])
    row, rater, category = row[together], rater[together], category[together]
    _, inverse, times = np.unique(
        rater * ratings.n_rows + row, return_inverse=True, return_counts=True
    )
    return PairVotes(
        names=ratings.all_raters,
        row=row,
        rater=rater,
        category=category,
        share=1 / times[inverse],
        weights=ratings.weights.astype(float),
        n_categories=ratings.n_categories,
    )
