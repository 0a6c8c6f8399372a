"""Agreement against brute force and published examples."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lehner import Ratings, load_dataset, pairwise_agreement
from lehner.algebra.steps import brennan_prediger

CATEGORIES = ["a", "b", "c"]

# Rows (item, rater, rating) with missing ratings and repeated ratings by the same rater.
long_data = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from("xyz"), st.sampled_from(CATEGORIES)), min_size=1
)


def brute_force(rows) -> tuple[int, int]:
    """Agreeing pairs and pairs of ratings of the same item by different raters."""
    pairs = [
        (first[2], second[2])
        for first, second in combinations(rows, 2)
        if first[0] == second[0] and first[1] != second[1]
    ]
    return sum(rating == other for rating, other in pairs), len(pairs)


def read(rows) -> Ratings:
    frame = pd.DataFrame(rows, columns=["item", "rater", "rating"])
    frame["row"] = frame.index
    ratings = Ratings.from_long(frame, occasion="row", categories=CATEGORIES)
    return ratings.with_independent_repeats()


@given(long_data)
def test_pairs_are_those_of_different_raters_on_the_same_item(rows):
    agreeing, pairs = brute_force(rows)
    result = pairwise_agreement(read(rows))
    assert result.n_pairs == pairs
    if pairs == 0:
        assert result.agreement is result.kappa is None
    else:
        assert result.agreement == pytest.approx(agreeing / pairs, abs=1e-12)
        assert result.kappa == pytest.approx((agreeing / pairs - 1 / 3) / (2 / 3), abs=1e-12)


@given(long_data)
def test_pairs_are_counted_item_by_item(rows):
    ratings = read(rows)
    expected = [brute_force([r for r in rows if r[0] == item]) for item in ratings.items]
    assert list(zip(*ratings.votes.count_pairs(), strict=True)) == expected


@given(long_data, st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_counts_equal_repetition(rows, counts):
    ratings = read(rows)
    counts = np.array(counts)[: len(ratings.items)]
    grouped = ratings.take(np.arange(len(counts)), counts)
    repeated = ratings.take(np.repeat(np.arange(len(counts)), counts))
    assert pairwise_agreement(grouped) == pairwise_agreement(repeated)


def test_krippendorff_data_pool_pairs_instead_of_averaging_items():
    # Krippendorff (2011), 12 units by 4 coders with blanks. The R package irrCAC 1.0 averages the
    # items' agreement: .818182, Brennan-Prediger .77273. Eleven items have pairs: nine agree on
    # all of them, two on half, one on none. Pooled, 43 of 55 pairs agree.
    ratings = load_dataset("krippendorff")
    agreeing, pairs = ratings.votes.count_pairs()
    item_averaged = np.mean(agreeing[pairs > 0] / pairs[pairs > 0])
    assert item_averaged == pytest.approx(0.818182, abs=1e-6)
    assert brennan_prediger(item_averaged, 5) == pytest.approx(0.77273, abs=1e-5)
    result = pairwise_agreement(ratings)
    assert result.n_pairs == 55
    assert result.agreement == pytest.approx(43 / 55, abs=1e-12)
    assert result.kappa == pytest.approx((43 / 55 - 1 / 5) / (4 / 5), abs=1e-12)


def test_kappa_is_none_with_a_single_category():
    result = pairwise_agreement(Ratings([[0, 0]], ["a"]))
    assert (result.agreement, result.kappa) == (1, None)


@pytest.mark.parametrize("k", [2, 3, 10])
def test_kappa_is_0_at_chance_1_at_agreement_and_lowest_at_disagreement(k):
    kappa = brennan_prediger([1 / k, 1, 0], k)
    assert kappa == pytest.approx([0, 1, -1 / (k - 1)], abs=1e-12)
