"""Pairs of ratings of an item by different raters, counted."""

import numpy as np

from lehner.core.arrays import Integers
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
