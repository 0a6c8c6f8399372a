"""Votes of items, contingency tables of two raters, and statistics with influences of items.

Rows are the estimated class, columns the actual one. A table may have leading dimensions.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.data.counts import Counts

STANDS_FOR_0 = 1e-12


@dataclass(frozen=True, eq=False)
class Linearised:
    """A statistic and the influence of each row of the data on it.

    Parameters
    ----------
    value : ndarray of float, shape (...), or float
        The statistic; NaN if it is undefined.
    influence : ndarray of float, shape (..., n_rows)
        n times the derivative of the value by the weight of the row, where n is the number of
        items.
    chance : ndarray of float, shape (...), or float, optional
        The agreement by chance for which the value is corrected.
    """

    value: Floats | np.float64
    influence: Floats
    chance: Floats | np.float64 | None = None


def correct_for_chance(observed: Linearised, chance: Linearised) -> Linearised:
    """Correct agreement for chance: (observed − chance) / (1 − chance).

    Parameters
    ----------
    observed, chance : Linearised

    Returns
    -------
    Linearised
        The corrected agreement; NaN if chance agreement is 1.
    """
    room = np.where(1 - chance.value > STANDS_FOR_0, 1 - chance.value, np.nan)
    value = np.asarray((observed.value - chance.value) / room)
    moved = observed.influence - (1 - value)[..., None] * chance.influence
    return Linearised(value=value, influence=moved / room[..., None], chance=chance.value)


def standard_error(
    statistic: Linearised,
    weights: Floats,
    n_informative: float | Floats,
    cluster: Integers | None = None,
) -> Floats:
    """Compute the standard error of a statistic of independent items, or independent clusters.

    Parameters
    ----------
    statistic : Linearised
    weights : ndarray of float, shape (..., n_rows)
        Number of items of each row.
    n_informative : float or ndarray of float, shape (...)
        Number of items on which the statistic depends. If it is n, the number of all items, the
        variance is that of a mean of n influences: their sum of squares over n (n − 1). With
        clusters, the number of clusters of such items.
    cluster : ndarray of int, shape (n_rows,), optional
        The cluster of each row, whose influences are added up: Liang & Zeger (1986),
        https://doi.org/10.1093/biomet/73.1.13. Then the statistic is one number.

    Returns
    -------
    ndarray of float, shape (...)
        The standard error; NaN with fewer than two items, or if none has an influence.
    """
    n = weights.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (weights * statistic.influence).sum(axis=-1) / n
        deviation = statistic.influence - mean[..., None]
        squares = (weights * deviation**2).sum(axis=-1) / n**2
        if cluster is not None:
            squares = (np.bincount(cluster, weights * deviation) ** 2).sum() / n**2
        error = np.sqrt(squares * n_informative / (n_informative - 1))
    determined = (np.asarray(n_informative) >= 2) & (error > STANDS_FOR_0)
    return np.where(determined, error, np.nan)


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemVotes:
    """Votes of items in fractions: each of m ratings by the same rater is 1/m of a vote.

    `Patterns` count whole ratings. Categories may be joined, and rows chosen, which other
    coefficients ask for. A row represents as many items as its weight; each has a rating.

    Parameters
    ----------
    ratings : Counts
    weights : ndarray of float, shape (n_rows,)
    cluster : ndarray of int, shape (n_rows,), optional
        The cluster of each row; None if items are independent.
    """

    ratings: Counts
    weights: Floats
    cluster: Integers | None = None

    @property
    def n_categories(self) -> int:
        """Number of categories, used or not."""
        return self.ratings.shape[2]

    @cached_property
    def fraction(self) -> Floats:
        """The vote of each rating, (n_ratings,)."""
        again = self.ratings.is_repeated
        if not again.any():
            return np.broadcast_to(1.0, again.shape)
        vote = np.cumsum(~again) - 1
        return np.asarray(1 / np.bincount(vote)[vote])

    @cached_property
    def votes(self) -> Floats:
        """Votes of each row for each category, (n_rows, n_categories)."""
        shape = len(self.weights), self.n_categories
        cell = self.ratings.item_index * self.n_categories + self.ratings.category_index
        return np.bincount(cell, self.fraction, shape[0] * shape[1]).reshape(shape)

    @cached_property
    def n_raters(self) -> Floats:
        """Number of raters who rated the item of each row, (n_rows,)."""
        return self.ratings.count_raters().astype(float)

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

    def sum_pairs(self, matrix: Floats) -> Floats:
        """Sum a matrix over the ordered pairs of votes by different raters.

        Parameters
        ----------
        matrix : ndarray of float, shape (n_categories, n_categories)

        Returns
        -------
        ndarray of float, shape (n_rows,)
        """
        everyone = ((self.votes @ matrix) * self.votes).sum(axis=1)
        return everyone - self._sum_within_raters(matrix)

    def _sum_within_raters(self, matrix: Floats) -> Floats:
        flat = self.ratings
        row, rater, category = flat.item_index, flat.rater_index, flat.category_index
        pairs = np.diag(matrix)[category] * self.fraction**2
        # Earlier ratings of the item by the same rater, one, two, … positions back.
        for back in range(1, int(np.round(1 / self.fraction.min(initial=1)))):
            same = (row[back:] == row[:-back]) & (rater[back:] == rater[:-back])
            later, earlier = category[back:], category[:-back]
            product = self.fraction[back:] * self.fraction[:-back] * same
            pairs[back:] += product * (matrix[later, earlier] + matrix[earlier, later])
        return np.bincount(row, weights=pairs, minlength=len(self.weights))

    def lay_out_rater(self, rater: int) -> Floats:
        """Lay out a rater's votes as an array, shape (n_rows, n_categories)."""
        of_rater = self.ratings.rater_index == rater
        flat, laid_out = self.ratings.select(of_rater), np.zeros(self.votes.shape)
        np.add.at(laid_out, (flat.item_index, flat.category_index), self.fraction[of_rater])
        return laid_out

    def cross_tabulate(self, rater: int, n_raters: int) -> Floats:
        """Cross-classify a rater (rows) with each, (n_raters, n_categories, n_categories)."""
        cast, k = self.lay_out_rater(rater) * self.weights[:, None], self.n_categories
        shared = np.flatnonzero(cast.any(axis=1)[self.ratings.item_index])
        flat, fraction = self.ratings.select(shared), self.fraction[shared]
        row, column = flat.item_index, flat.rater_index * k + flat.category_index
        by_category = [np.bincount(column, cast[row, c] * fraction, n_raters * k) for c in range(k)]
        return np.array(by_category).reshape(k, n_raters, k).transpose(1, 0, 2)

    def select_rows(self, mask: Booleans) -> "ItemVotes":
        """Select rows by a mask."""
        cluster = None if self.cluster is None else self.cluster[mask]
        ratings = self.ratings.take(np.flatnonzero(mask))
        return ItemVotes(ratings=ratings, weights=self.weights[mask], cluster=cluster)

    def collapse_to(self, category: int) -> "ItemVotes":
        """Collapse the categories to one of them and the rest."""
        is_other = (self.ratings.category_index != category).astype(np.int64)
        shape = (*self.ratings.shape[:2], 2)
        return replace(self, ratings=replace(self.ratings, category_index=is_other, shape=shape))


def count_votes(ratings: Counts, weights: ArrayLike, cluster: Integers | None = None) -> ItemVotes:
    """Count votes of the items of each row; rows without items or without ratings are left out."""
    items = ItemVotes(ratings=ratings, weights=np.asarray(weights, dtype=float), cluster=cluster)
    kept = (items.n_raters > 0) & (items.weights > 0)
    return items if kept.all() else items.select_rows(kept)


def find_accuracy(table: Floats, weights: Floats) -> Linearised:
    """Find the (weighted) proportion of items on the diagonal.

    Parameters
    ----------
    table : ndarray of float, shape (..., n_categories, n_categories)
    weights : ndarray of float, shape (n_categories, n_categories)

    Returns
    -------
    Linearised
        The statistic with the influence of the cells, row by row.
    """
    value = (table * weights).sum(axis=(-2, -1)) / table.sum(axis=(-2, -1))
    return Linearised(value=value, influence=_lay_cells(weights - value[..., None, None]))


def cohen_kappa(table: Floats, weights: Floats) -> Linearised:
    """Correct for raters who choose categories with their own frequencies (Cohen 1960, 1968).

    The influences give the standard error of Fleiss, Cohen & Everitt (1969).
    """
    proportions = table / table.sum(axis=(-2, -1), keepdims=True)
    row, column = proportions.sum(axis=-1), proportions.sum(axis=-2)
    of_row, of_column = column @ weights, row @ weights
    value = (row * of_row).sum(axis=-1)
    moved = of_row[..., :, None] + of_column[..., None, :] - 2 * value[..., None, None]
    chance = Linearised(value=value, influence=_lay_cells(moved))
    return correct_for_chance(find_accuracy(table, weights), chance)


def _lay_cells(values: Floats) -> Floats:
    return values.reshape(*values.shape[:-2], values.shape[-2] * values.shape[-1])
