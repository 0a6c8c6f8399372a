"""The votes of an item, one for each rater, and the agreement of its raters."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.data.flat import FlatRatings


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemVotes:
    """Votes of items in fractions: each of m ratings by the same rater is 1/m of a vote.

    `Patterns` count whole ratings. Categories may be joined, and rows chosen, which other
    coefficients ask for. A row represents as many items as its weight; each has a rating.

    Parameters
    ----------
    weights : ndarray of float, shape (n_rows,)
    n_raters : ndarray of float, shape (n_rows,)
        Number of raters who rated the item.
    votes : ndarray of float, shape (n_rows, n_categories)
    row, rater, category : ndarray of int, shape (n_ratings,)
        The ratings one after another, sorted by row and rater.
    fraction : ndarray of float, shape (n_ratings,)
        The vote of each rating.
    cluster : ndarray of int, shape (n_rows,), optional
        The cluster of each row; None if items are independent.
    """

    weights: Floats
    n_raters: Floats
    votes: Floats
    row: Integers
    rater: Integers
    category: Integers
    fraction: Floats
    cluster: Integers | None = None

    @property
    def n_items(self) -> float:
        """Number of items with a rating."""
        return float(self.weights.sum())

    @property
    def n_paired(self) -> float:
        """Number of items rated by two or more raters."""
        return float(self.weights[self.n_raters > 1].sum())

    @property
    def n_sampled(self) -> float:
        """Number of items rated by two or more raters, or of clusters of such items."""
        if self.cluster is None:
            return self.n_paired
        return float(len(np.unique(self.cluster[self.n_raters > 1])))

    @property
    def n_categories(self) -> int:
        """Number of categories, used or not."""
        return self.votes.shape[1]

    def pair_sums(self, matrix: Floats) -> Floats:
        """Sum a matrix over the ordered pairs of votes by different raters.

        Parameters
        ----------
        matrix : ndarray of float, shape (n_categories, n_categories)

        Returns
        -------
        ndarray of float, shape (n_rows,)
        """
        everyone = ((self.votes @ matrix) * self.votes).sum(axis=1)
        return everyone - self._within_raters(matrix)

    def _within_raters(self, matrix: Floats) -> Floats:
        pairs = self.fraction**2 * np.diag(matrix)[self.category]
        row, rater = self.row, self.rater
        # Earlier ratings of the item by the same rater, one, two, … positions back.
        for back in range(1, int(np.round(1 / self.fraction.min(initial=1)))):
            same = (row[back:] == row[:-back]) & (rater[back:] == rater[:-back])
            one, two = self.category[back:], self.category[:-back]
            product = self.fraction[back:] * self.fraction[:-back] * same
            pairs[back:] += product * (matrix[one, two] + matrix[two, one])
        return np.bincount(row, weights=pairs, minlength=len(self.weights))

    def of_rater(self, rater: int) -> Floats:
        """Lay out a rater's votes as an array, shape (n_rows, n_categories)."""
        mine = self.rater == rater
        laid_out = np.zeros(self.votes.shape)
        np.add.at(laid_out, (self.row[mine], self.category[mine]), self.fraction[mine])
        return laid_out

    def tables(self, rater: int, n_raters: int) -> Floats:
        """Cross-classify a rater (rows) with each, (n_raters, n_categories, n_categories)."""
        mine, k = self.of_rater(rater), self.n_categories
        shared = np.flatnonzero(mine.any(axis=1)[self.row])
        row, fraction = self.row[shared], self.fraction[shared]
        column = self.rater[shared] * k + self.category[shared]
        mine *= self.weights[:, None]
        by_category = [np.bincount(column, mine[row, c] * fraction, n_raters * k) for c in range(k)]
        return np.array(by_category).reshape(k, n_raters, k).transpose(1, 0, 2)

    def sum_cells(self, rater: int, cells: Floats) -> Floats:
        """Sum, for each row, the numbers of the cells of `tables` in which its votes are.

        Parameters
        ----------
        rater : int
        cells : ndarray of float, shape (n_raters, n_categories, n_categories)

        Returns
        -------
        ndarray of float, shape (n_rows,)
        """
        mine = self.of_rater(rater)
        shared = np.flatnonzero(mine.any(axis=1)[self.row])
        row, other, category = self.row[shared], self.rater[shared], self.category[shared]
        each = (mine[row] * cells[other, :, category]).sum(axis=1) * self.fraction[shared]
        return np.bincount(row, weights=each, minlength=len(self.weights))

    def of_rows(self, chosen: Booleans) -> "ItemVotes":
        """Select rows by a mask."""
        kept = chosen[self.row]
        return ItemVotes(
            weights=self.weights[chosen],
            n_raters=self.n_raters[chosen],
            votes=self.votes[chosen],
            row=(np.cumsum(chosen) - 1)[self.row[kept]],
            rater=self.rater[kept],
            category=self.category[kept],
            fraction=self.fraction[kept],
            cluster=None if self.cluster is None else self.cluster[chosen],
        )

    def of_category(self, category: int) -> "ItemVotes":
        """Collapse the categories to one of them and the rest."""
        in_category = self.votes[:, category]
        return ItemVotes(
            weights=self.weights,
            n_raters=self.n_raters,
            votes=np.column_stack([in_category, self.n_raters - in_category]),
            row=self.row,
            rater=self.rater,
            category=(self.category != category).astype(np.int64),
            fraction=self.fraction,
            cluster=self.cluster,
        )


def count_votes(
    flat: FlatRatings, weights: ArrayLike, n_categories: int, cluster: Integers | None = None
) -> ItemVotes:
    """Count votes of the items of each row; rows without items or without ratings are left out."""
    row, rater, category = flat.item_index, flat.rater_index, flat.category_index
    n_items = np.asarray(weights, dtype=float)
    n_rows = len(n_items)
    new = (np.diff(row, prepend=-1) != 0) | (np.diff(rater, prepend=-1) != 0)
    vote = np.cumsum(new) - 1
    fraction = 1 / np.bincount(vote)[vote] if len(row) else np.empty(0)
    cell = row * n_categories + category
    votes = np.bincount(cell, weights=fraction, minlength=n_rows * n_categories)
    n_raters = np.bincount(row[new], minlength=n_rows).astype(float)
    everything = ItemVotes(
        weights=n_items,
        n_raters=n_raters,
        votes=votes.reshape(n_rows, n_categories),
        row=row,
        rater=rater,
        category=category,
        fraction=fraction,
        cluster=cluster,
    )
    return everything.of_rows((n_raters > 0) & (n_items > 0))
