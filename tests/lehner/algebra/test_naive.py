"""Agreement with the majority against brute force and counts by hand."""

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from lehner import InputError, Ratings, load_dataset, majority_agreement
from tests.lehner.algebra.test_algebraic import Data, data_sets


def brute_force_majority(data: Data) -> float | None:
    """Share of answers that are the most frequent rating; of m such ratings each counts 1/m."""
    scores = []
    for row, answer, weight in zip(data.rows, data.system, data.weights, strict=True):
        labels = [label for _, label in row]
        if labels and answer >= 0:
            top = max(map(labels.count, labels))
            modes = {label for label in labels if labels.count(label) == top}
            scores += [(answer in modes) / len(modes)] * weight
    return sum(scores) / len(scores) if scores else None


@given(data_sets)
def test_majority_agreement_equals_brute_force(data):
    estimate = majority_agreement(data.ratings())
    assert estimate.system_accuracy.estimate == pytest.approx(brute_force_majority(data), abs=1e-12)
    assert bool(estimate.warnings) == (estimate.system_accuracy.estimate is None)


def test_ties_share_the_item():
    # Three-way tie with the answer in it: 1/3; two-way tie without it: 0; majority: 1.
    codes = [[0, 1, 2, -1], [0, 0, 1, 1], [2, 2, 1, 0]]
    estimate = majority_agreement(Ratings(codes, range(3), system=[1, 2, 2]))
    assert estimate.system_accuracy.estimate == pytest.approx(4 / 9, abs=1e-12)


def test_majority_agreement_of_lehner_table_2():
    # By hand from Table 2: the majorities of cases 1-10 are C, C, C, BD, B, ABCD, A, ABCD, A, A
    # and the system's answers A, C, C, B, B, A, A, C, D, B: 0 1 1 1/2 1 1/4 1 1/4 0 0.
    estimate = majority_agreement(load_dataset("lehner_table2"))
    assert estimate.system_accuracy.estimate == pytest.approx(5 / 10, abs=1e-12)


def test_ratings_without_an_item_with_rating_and_answer_are_refused():
    with pytest.raises(InputError, match="both a rating and an answer"):
        majority_agreement(Ratings([[0, 0], [-1, -1]], range(2), system=[-1, 0]))


def test_it_has_one_number_for_both_estimands_and_no_interval_in_the_sample():
    estimate = majority_agreement(load_dataset("lehner_table2"))
    in_sample = estimate.system_accuracy_in_sample
    assert estimate.system_accuracy.estimate == in_sample.estimate
    assert in_sample.lower is in_sample.upper is None
    assert np.isfinite(estimate.system_accuracy.estimate)


def test_the_majority_has_wilsons_interval_for_items_like_these():
    ratings = Ratings([[0, 0], [1, 1], [0, 0], [1, 1]], ["no", "yes"], system=[0, 1, 1, -1])
    result = majority_agreement(ratings, level=0.95).system_accuracy
    expected = stats.binomtest(2, 3).proportion_ci(0.95, method="wilson")
    assert (result.lower, result.upper) == pytest.approx((expected.low, expected.high))
