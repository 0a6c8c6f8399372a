"""Votes: the number of ratings of an item in each category, which is all that the algebra needs."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.resampling import ItemCounts
from lehner.data.clusters import count_items
from lehner.data.numbering import unique_rows
from lehner.data.ratings import Ratings


def count_pairs(ratings: Ratings) -> tuple[Integers, Integers]:
    """Count, for each row, the pairs of ratings by different raters.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    agreeing, pairs : ndarray of int, shape (n_rows,)
    """
    flat, n_rows, n_categories = ratings.flat, ratings.n_rows, ratings.n_categories
    votes = ratings.votes()
    agreeing, pairs = choose_two(votes).sum(axis=1), choose_two(votes.sum(axis=1))
    if ratings.several_votes:
        rater = flat.item_index * ratings.n_raters + flat.rater_index
        for key, total in ((rater * n_categories + flat.category_index, agreeing), (rater, pairs)):
            _, first, count = np.unique(key, return_index=True, return_counts=True)
            within = choose_two(count)
            total -= np.bincount(flat.item_index[first], weights=within, minlength=n_rows).astype(
                np.int64
            )
    return agreeing, pairs


def choose_two(n: Integers) -> Integers:
    """Count the pairs among n things."""
    return n * (n - 1) // 2


def rated_rows(ratings: Ratings) -> Booleans:
    """Tell which rows have a rating, or a gold label that enters estimates, (n_rows,).

    The system's answers to other items tell nothing of its accuracy that does not rest on a
    method's assumptions alone.
    """
    rated = np.bincount(ratings.flat.item_index, minlength=ratings.n_rows) > 0
    if ratings.truth is None or (ratings.truth >= 0).all():
        return np.asarray(rated)
    return np.asarray(rated | (ratings.truth >= 0))


def count_rated(ratings: Ratings) -> Ratings:
    """Count items that no rater rated as no items; all rows stay.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    Ratings
        The same ratings if all items were rated.

    Examples
    --------
    >>> count_rated(Ratings([[0, 1], [-1, -1]], ["no", "yes"])).weights.tolist()
    [1, 0]
    """
    rated = rated_rows(ratings)
    if rated.all():
        return ratings
    return ratings.take(np.arange(ratings.n_rows), np.where(rated, ratings.weights, 0))


@dataclass(frozen=True, kw_only=True, eq=False)
class VoteTable:
    """Unique votes.

    It is used with numbers of items in arrays of shape (..., n_votes, n_categories + 1): items with
    these votes for which the system answered each category, and in the last column items that it
    did not answer.

    Parameters
    ----------
    votes : ndarray of int, shape (n_votes, n_categories)
        Number of ratings in each category.
    agreeing, pairs : ndarray of int, shape (n_votes,)
        Number of pairs of ratings by different raters that agree, and of all pairs.
    """

    votes: Integers
    agreeing: Integers
    pairs: Integers


def tabulate_votes(votes: Integers) -> VoteTable:
    """Count the pairs of ratings in unique votes, in which each rating is by another rater.

    Parameters
    ----------
    votes : ndarray of int, shape (n_votes, n_categories)

    Returns
    -------
    VoteTable

    Examples
    --------
    >>> table = tabulate_votes(np.array([[2, 1], [0, 3]]))
    >>> table.agreeing.tolist(), table.pairs.tolist()
    ([1, 3], [3, 3])
    """
    return VoteTable(
        votes=votes, agreeing=choose_two(votes).sum(axis=1), pairs=choose_two(votes.sum(axis=1))
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class CollapsedVotes:
    """Ratings collapsed to votes and system answers.

    Parameters
    ----------
    table : VoteTable
    cell : ndarray of int, shape (n_cells,)
        Indices, in an array of counts, of the combinations of votes and answer that occur.
    weights : ndarray of int, shape (n_cells,)
        Number of items with each combination.
    sampled : ndarray of int, shape (n_cells,), or csr_array, shape (n_clusters, n_cells)
        The same, in each cluster if items are clustered, of which resamples are drawn.
    row : ndarray of int, shape (n_rows,)
        The votes of each row of the ratings.
    cell_of_row : ndarray of int, shape (n_rows,)
        The combination of votes and answer that each row has, an index into `cell`.
    """

    table: VoteTable
    cell: Integers
    weights: Integers
    sampled: ItemCounts
    row: Integers
    cell_of_row: Integers

    def counts(self, weights: Floats) -> Floats:
        """Lay weights of the cells, (..., n_cells), out as (..., n_votes, n_categories + 1)."""
        shape = (len(self.table.votes), self.table.votes.shape[1] + 1)
        # Samples are contiguous in memory, because sums over categories, of which there are few,
        # are then several times faster.
        laid_out = np.zeros((shape[0] * shape[1], *weights.shape[:-1]))
        laid_out[self.cell] = np.moveaxis(weights, -1, 0)
        return np.moveaxis(laid_out.reshape(*shape, *weights.shape[:-1]), (0, 1), (-2, -1))


def collapse_votes(ratings: Ratings) -> CollapsedVotes:
    """Collapse ratings to the votes and system answers that occur.

    Parameters
    ----------
    ratings : Ratings
        With or without a system; without one, all items count as not answered.

    Returns
    -------
    CollapsedVotes
    """
    patterns = ratings.patterns(truth=False)
    unique = ratings.take(patterns.first, patterns.counts)
    rows, row = unique_rows(np.column_stack([patterns.votes(), *count_pairs(unique)]))
    k = ratings.n_categories
    system = patterns.system
    cell, index = np.unique(row * (k + 1) + np.where(system < 0, k, system), return_inverse=True)
    cell_of_row = index[patterns.inverse]
    return CollapsedVotes(
        table=VoteTable(votes=rows[:, :k], agreeing=rows[:, k], pairs=rows[:, k + 1]),
        cell=cell,
        weights=np.bincount(index, weights=patterns.counts).astype(np.int64),
        sampled=count_items(ratings, cell_of_row, len(cell)),
        row=row[patterns.inverse],
        cell_of_row=cell_of_row,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class PatternVotes:
    """All patterns that raters can give, in lexical order, and their votes.

    Parameters
    ----------
    codes : ndarray of int, shape (n_patterns, n_raters)
        Category indices; -1 for a missing rating, which comes last.
    votes_of_pattern : ndarray of int, shape (n_patterns,)
        The row of the table with each pattern's votes.
    table : VoteTable
    """

    codes: Integers
    votes_of_pattern: Integers
    table: VoteTable


@lru_cache(maxsize=16)
def pattern_votes(n_raters: int, n_categories: int, *, missing: bool) -> PatternVotes:
    """Enumerate the patterns of ratings.

    Parameters
    ----------
    n_raters, n_categories : int
    missing : bool
        Whether ratings may be missing.

    Returns
    -------
    PatternVotes

    Examples
    --------
    >>> enumeration = pattern_votes(2, 2, missing=False)
    >>> enumeration.codes.tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> enumeration.table.votes.tolist()
    [[0, 2], [1, 1], [2, 0]]
    >>> enumeration.votes_of_pattern.tolist()
    [2, 1, 1, 0]
    """
    symbols = [*range(n_categories), *([-1] if missing else [])]
    shape = (len(symbols),) * n_raters
    codes = np.array(symbols)[np.indices(shape).reshape(n_raters, -1).T]
    every = np.stack([(codes == k).sum(axis=1) for k in range(n_categories)], axis=1)
    votes, inverse = unique_rows(every)
    return PatternVotes(codes=codes, votes_of_pattern=inverse, table=tabulate_votes(votes))
