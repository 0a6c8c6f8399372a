"""Sums over the ratings of patterns: few by NumPy, many by SciPy, the same to the last digit."""

import numpy as np
import pandas as pd
import pytest

from lehner import Ratings
from lehner.data import patterns as module


@pytest.fixture
def patterns():
    """Ratings of which some are missing, and some repeated."""
    rng = np.random.default_rng(1)
    item, rater = rng.integers(0, 29, 150), rng.integers(0, 4, 150)
    table = {"item": item, "rater": rater, "rating": rng.integers(0, 3, 150)}
    ratings = Ratings.from_long(pd.DataFrame(table), repeated=True)
    return ratings.with_independent_repeats().patterns()


def test_sums_of_cells_are_those_of_the_product(patterns, monkeypatch):
    values = np.random.default_rng(2).normal(size=(12, 5))
    few = patterns.sum_cells(values)
    np.testing.assert_allclose(few, patterns.one_hot().toarray() @ values, rtol=1e-12)
    monkeypatch.setattr(module, "SMALL", 0)
    np.testing.assert_array_equal(patterns.sum_cells(values), few)


def test_sums_of_patterns_are_those_of_the_product(patterns):
    values = np.random.default_rng(3).normal(size=(len(patterns.counts), 5))
    expected = patterns.one_hot().toarray().T @ values
    np.testing.assert_allclose(patterns.sum_patterns(values), expected, rtol=1e-12)
