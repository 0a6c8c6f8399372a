"""Totals of agreement against brute force; simulated ones against exact expectations."""

import tracemalloc
from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lehner import Ratings
from lehner.k_properties import totals
from lehner.k_properties.totals import find_design, simulate_totals, sum_observed

CATEGORIES = ["a", "b", "c"]
MANY_CATEGORIES = ["unused", "a", *map(str, range(9)), "b", *map(str, range(9, 20)), "c"]

# Rows (item, rater, rating) with missing ratings.
long_data = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from("wxyz"), st.sampled_from(CATEGORIES)),
    min_size=1,
    unique_by=lambda row: row[:2],
)


def read(rows, categories=CATEGORIES) -> Ratings:
    frame = pd.DataFrame(rows, columns=["item", "rater", "rating"])
    return Ratings.from_long(frame, categories=categories)


def totals_of(ratings, **options):
    design = find_design(ratings.to_grouped(), **options)
    return design, sum_observed(design)


@given(long_data, st.booleans(), st.sampled_from([CATEGORIES, MANY_CATEGORIES]))
def test_totals_are_those_of_pairs_and_triples_of_different_raters(rows, anonymous, categories):
    pairs, kinds, triples, alike = Counter(), Counter(), 0, 0
    for first, other in combinations(rows, 2):
        if first[0] == other[0] and first[1] != other[1]:
            pairs[frozenset((first[1], other[1])), first[2] == other[2]] += 1
            kinds[frozenset((first[2], other[2]))] += 1
    for three in combinations(rows, 3):
        if len({r[0] for r in three}) == 1 and len({r[1] for r in three}) == 3:
            triples += 1
            alike += len({r[2] for r in three}) == 1
    design, totals = totals_of(read(rows, categories), anonymous=anonymous)
    expected = [kinds[frozenset(two)] for two in combinations(categories, 2)]
    assert totals.disagreeing[0].tolist() == expected
    assert (totals.agreeing_triples[0], totals.triples) == pytest.approx((alike, triples))
    assert totals.frequency.sum() == len(rows)
    assert totals.pairs.sum() == sum(pairs.values())
    if not anonymous:
        for place, ends in enumerate(zip(design.first, design.second, strict=True)):
            names = frozenset(design.names[i] for i in ends)
            agreeing = pairs[names, True]
            assert totals.agreeing[0, place] == agreeing
            assert totals.pairs[place] == agreeing + pairs[names, False]


@pytest.mark.parametrize("patterns_per_item", [0, 1e9])
@pytest.mark.parametrize("items_per_pattern", [0, 1e9])
def test_simulated_totals_have_the_expected_means(
    monkeypatch, patterns_per_item, items_per_pattern
):
    # Drawn as counts of patterns, pattern by pattern, or item by item, with a gap.
    monkeypatch.setattr(totals, "PATTERNS_PER_ITEM", patterns_per_item)
    monkeypatch.setattr(totals, "ITEMS_PER_PATTERN", items_per_pattern)
    monkeypatch.setattr(totals, "TOTALS_AT_ONCE", 20_000)
    rows = [(i, rater, "a") for i in range(30) for rater in "xyz" if (i, rater) != (0, "z")]
    design, observed = totals_of(read(rows))
    accuracy, rates, n = np.array([0.5, 0.7, 0.9]), np.array([0.5, 0.3, 0.2]), 4000
    rng = np.random.default_rng(1)
    parts = list(simulate_totals(design, accuracy, rates, n, rng))
    assert sum(len(part.agreeing) for part in parts) == n
    confusion = (1 - accuracy[:, None, None]) / 2 + (1.5 * accuracy[:, None, None] - 0.5) * np.eye(
        3
    )
    agreeing = [
        pairs * np.einsum("k,kr,kr->", rates, confusion[i], confusion[j])
        for i, j, pairs in zip(design.first, design.second, observed.pairs, strict=True)
    ]
    together = np.einsum("k,kr,kr,kr->", rates, *confusion)
    joint = sum(
        pairs * np.einsum("k,ka,kb->ab", rates, confusion[i], confusion[j])
        for i, j, pairs in zip(design.first, design.second, observed.pairs, strict=True)
    )
    a, b = np.triu_indices(3, 1)
    n_ratings = observed.frequency[0].sum(axis=1)
    for name, expected in {
        "agreeing": agreeing,
        "agreeing_triples": observed.triples * together,
        "disagreeing": joint[a, b] + joint[b, a],
        "frequency": n_ratings[:, None] * np.einsum("k,rkc->rc", rates, confusion),
    }.items():
        values = np.concatenate([getattr(part, name) for part in parts])
        se = values.std(axis=0) / np.sqrt(n)
        assert np.abs(values.mean(axis=0) - expected).max() < 4.5 * se.max(), name


def test_patterns_beyond_the_largest_float_are_not_enumerated():
    k, n_raters = 100, 160
    design, _ = totals_of(Ratings(np.zeros((2, n_raters), int), range(k)))
    accuracy, rates = np.full(n_raters, 0.8), np.full(k, 1 / k)
    result = next(simulate_totals(design, accuracy, rates, 1, np.random.default_rng(1)))
    assert result.frequency.sum() == 2 * n_raters


@pytest.mark.parametrize(("n_items", "n_raters"), [(1000, 5), (4000, 2)])
def test_memory_does_not_grow_with_squared_categories_for_each_item(n_items, n_raters):
    k = 200
    rng = np.random.default_rng(1)
    ratings = Ratings(rng.integers(0, k, (n_items, n_raters)), range(k))
    tracemalloc.start()
    design, observed = totals_of(ratings)
    accuracy, rates = np.full(n_raters, 0.6), np.full(k, 1 / k)
    simulated = next(simulate_totals(design, accuracy, rates, 2, np.random.default_rng(2)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert observed.disagreeing.shape == (1, k * (k - 1) // 2) == simulated.disagreeing[:1].shape
    # Of each item and pair of categories there would be 160 MB or more in one array.
    assert peak < 320e6
