"""Sums over the ratings of patterns; different rows as NumPy finds them, and in its order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from lehner import Ratings


@pytest.fixture
def patterns():
    """Ratings of which some are missing, and some repeated."""
    rng = np.random.default_rng(1)
    item, rater = rng.integers(0, 29, 150), rng.integers(0, 4, 150)
    table = {"item": item, "rater": rater, "rating": rng.integers(0, 3, 150)}
    ratings = Ratings.from_long(pd.DataFrame(table), repeated=True)
    return ratings.with_independent_repeats().to_patterns()


def test_sums_are_those_of_the_ratings_one_by_one(patterns):
    votes, k = patterns.votes, patterns.n_categories
    cells = votes.rater_index * k + votes.category_index
    rng = np.random.default_rng(2)
    of_cells, of_patterns = rng.normal(size=(12, 5)), rng.normal(size=(len(patterns.counts), 5))
    by_pattern, by_cell = np.zeros((len(of_patterns), 5)), np.zeros((12, 5))
    for pattern, cell in zip(votes.item_index, cells, strict=True):
        by_pattern[pattern] += of_cells[cell]
        by_cell[cell] += of_patterns[pattern]
    np.testing.assert_array_equal(patterns.sum_cells(of_cells), by_pattern)
    np.testing.assert_array_equal(patterns.sum_patterns(of_patterns), by_cell)


NUMBERS = st.one_of(st.integers(-2, 2), st.integers(-70_000, 70_000))
