"""Lehner's algebra against his published example, its own identities and a slow reference."""

from dataclasses import astuple, dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lehner import Estimate, InputError, Ratings, estimate_algebraic, load_dataset
from lehner.algebra.steps import (
    clip_base_rates,
    estimate_base_rates,
    estimate_rater_accuracy,
    estimate_truth,
    solve_accuracy,
)
from lehner.data.counts import Counts
from tests.reference.algebraic import algebraic

# A warning from NumPy is an undefined number that nobody handled.
pytestmark = pytest.mark.filterwarnings("error")

AGGREGATIONS = ["weighted", "paper"]
all_aggregations = pytest.mark.parametrize("aggregation", AGGREGATIONS)


# ----- Random data sets -----


@dataclass(frozen=True)
class Data:
    """Items as lists of (rater, category), the system's answers (-1: none), counts of items."""

    n_categories: int
    n_raters: int
    rows: list[list[tuple[int, int]]]
    system: list[int]
    counts: list[int] | None = None

    @property
    def weights(self) -> list[int]:
        return [1] * len(self.rows) if self.counts is None else self.counts

    @property
    def estimable(self) -> bool:
        """Whether some items that count have two raters, and some a rating and an answer."""
        counted = [i for i, weight in enumerate(self.weights) if weight > 0]
        pairs = any(len({rater for rater, _ in self.rows[i]}) > 1 for i in counted)
        return pairs and any(self.system[i] >= 0 and self.rows[i] for i in counted)

    def ratings(self) -> Ratings:
        votes = [(i, *rating) for i, row in enumerate(self.rows) for rating in sorted(row)]
        item, rater, category = np.array(votes, dtype=np.int64).reshape(-1, 3).T
        return Ratings(
            Counts(item, rater, category, (len(self.rows), self.n_raters, self.n_categories)),
            range(self.n_categories),
            [f"rater {j}" for j in range(self.n_raters)],
            range(len(self.rows)),
            self.system,
            counts=self.counts,
        ).with_independent_repeats()

    def take(self, items: list[int]) -> "Data":
        """The items in another order, some perhaps more than once."""
        rows, system = [self.rows[i] for i in items], [self.system[i] for i in items]
        counts = None if self.counts is None else [self.counts[i] for i in items]
        return replace(self, rows=rows, system=system, counts=counts)


@st.composite
def all_data(draw) -> Data:
    """Small data sets with missing and repeated ratings; raters follow a hidden truth or not."""
    k, n_columns, n_items = (draw(st.integers(*range_)) for range_ in ((2, 5), (2, 5), (1, 12)))
    n_raters = draw(st.integers(2, n_columns))  # with fewer raters than columns some rate twice
    cells = st.lists(st.integers(0, 2 * k), min_size=n_columns + 2, max_size=n_columns + 2)
    rows, system = [], []
    for truth, *codes in draw(st.lists(cells, min_size=n_items, max_size=n_items)):
        labels = [c if c < k else -1 if c == k else truth % k for c in codes]
        system.append(labels.pop())
        rows.append([(j % n_raters, label) for j, label in enumerate(labels) if label >= 0])
    counts = st.lists(st.integers(0, 4), min_size=n_items, max_size=n_items)
    return Data(k, n_raters, rows, system, draw(st.none() | counts))


data_sets = all_data().filter(lambda data: data.estimable)


def estimate_of(data: Data, aggregation: str) -> Estimate:
    return estimate_algebraic(data.ratings(), aggregation=aggregation, interval=None)


def numbers(estimate: Estimate) -> dict[str, np.ndarray]:
    """All numbers of an estimate; NaN where there is none."""
    return {
        "agreement": np.array(estimate.diagnostics["agreement"]),
        "kappa": np.array(estimate.diagnostics["kappa"]),
        "rater_accuracy": estimate.rater_accuracy.values,
        "base_rates": estimate.base_rates.values,
        "truth_probabilities": estimate.truth_probabilities.values,
        "system_accuracy": np.array(estimate.system_accuracy.estimate, dtype=float),
    }


def results(data: Data, aggregation: str) -> dict[str, np.ndarray]:
    return numbers(estimate_of(data, aggregation))


def reference(data: Data, aggregation: str) -> dict[str, Any]:
    """What the independent implementation gives."""
    system = [None if answer < 0 else answer for answer in data.system]
    return algebraic(data.rows, system, range(data.n_categories), aggregation, data.weights)


def reference_numbers(data: Data, reference: dict[str, Any]) -> dict[str, np.ndarray]:
    """The same numbers from `reference`."""
    undefined = dict.fromkeys(range(data.n_categories), np.nan)
    truth = reference["truth_probabilities"] or [undefined] * len(data.rows)
    return {
        "agreement": np.array(reference["agreement"]),
        "kappa": np.array(reference["kappa"]),
        "rater_accuracy": np.array([reference["rater_accuracy"]] * data.n_raters, dtype=float),
        "base_rates": np.array(list((reference["base_rates"] or undefined).values())),
        "truth_probabilities": np.array([list(p.values()) for p in truth]),
        "system_accuracy": np.array(reference["system_accuracy"], dtype=float),
    }


def assert_same(actual: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert actual.keys() == expected.keys()
    for name, values in actual.items():
        np.testing.assert_allclose(values, expected[name], rtol=0, atol=1e-8, err_msg=name)


def of_codes(codes, system, n_categories: int, aggregation: str = "weighted"):
    ratings = Ratings(codes, range(n_categories), system=system)
    return estimate_algebraic(ratings, aggregation=aggregation, interval=None)


# ----- Published: Lehner (2015), https://doi.org/10.22237/jmasm/1430453520 -----

# Table 3: probability that A, B, C, D is true, for the ten cases of Table 2.
TABLE_3 = [
    [0.041, 0.032, 0.860, 0.067],
    [0.084, 0.195, 0.584, 0.136],
    [0.041, 0.032, 0.860, 0.067],
    [0.074, 0.511, 0.057, 0.358],
    [0.120, 0.828, 0.031, 0.021],
    [0.325, 0.250, 0.250, 0.175],
    [0.975, 0.009, 0.009, 0.006],
    [0.325, 0.250, 0.250, 0.175],
    [0.657, 0.169, 0.056, 0.118],
    [0.657, 0.169, 0.056, 0.118],
]

# Table 4, recomputed from Tables 2 and 3 by a separate program: three printed cells disagree with
# the paper's own tables. The bottom line, .731, is printed and agrees.
TABLE_4 = {
    "lower": [0.3, 0.5, 0.6, 0.8, 0.9],
    "upper": [0.4, 0.6, 0.7, 0.9, 1.0],
    "mean_probability": [0.3250, 0.5479, 0.6573, 0.8493, 0.9750],
    "n_items": [2, 2, 2, 3, 1],
    "agreement": [0.5, 1.0, 0.0, 0.6667, 1.0],
    "accuracy": [1.0, 1.0, 0.0, 0.7714, 1.0],
}


@pytest.fixture(scope="module")
def table_2():
    return estimate_algebraic(load_dataset("lehner_table2"), aggregation="paper", interval=None)


def test_example_has_printed_kappa_and_rater_accuracy(table_2):
    assert table_2.diagnostics["agreement"] == pytest.approx(20 / 60, abs=1e-12)
    assert table_2.diagnostics["kappa"] == pytest.approx(0.111, abs=5e-4)
    assert table_2.rater_accuracy.values == pytest.approx([0.5] * 4, abs=1e-12)


def test_example_has_printed_base_rates(table_2):
    assert list(table_2.base_rates["category"].values) == ["A", "B", "C", "D"]
    assert table_2.base_rates.values == pytest.approx([0.325, 0.25, 0.25, 0.175], abs=1e-12)


def test_example_has_table_3_to_the_printed_digit(table_2):
    assert table_2.truth_probabilities.values.round(3).tolist() == TABLE_3


@pytest.mark.parametrize("column", TABLE_4)
def test_example_has_table_4(table_2, column):
    assert table_2.bins[column].values == pytest.approx(TABLE_4[column], abs=5.1e-5)


def test_example_has_printed_system_accuracy(table_2):
    assert table_2.system_accuracy.estimate == pytest.approx(0.7314, abs=1e-4)
    assert table_2.system_accuracy_in_sample.estimate == table_2.system_accuracy.estimate
    assert table_2.warnings == ()


# ----- Identities of Eq. 1-7 -----

n_categories = st.integers(2, 8)
above_chance = st.floats(0.01, 1)  # kappa's square root: where between chance (0) and 1


@given(n_categories, above_chance)
def test_eq_2_inverts_eq_1(k, root):
    accuracy = 1 / k + (1 - 1 / k) * root
    agreement = accuracy**2 + (1 - accuracy) ** 2 / (k - 1)
    assert estimate_rater_accuracy(agreement, k) == pytest.approx(accuracy, abs=1e-12)


@given(st.lists(st.floats(0.1, 1), min_size=2, max_size=8), above_chance)
def test_eq_5_inverts_corrected_eq_3(rates, root):
    k, rates = len(rates), np.array(rates) / sum(rates)
    accuracy = 1 / k + (1 - 1 / k) * root
    frequency = accuracy * rates + (1 - accuracy) / (k - 1) * (1 - rates)
    assert estimate_base_rates(frequency, accuracy) == pytest.approx(rates, abs=1e-10)


@given(n_categories, above_chance, st.floats(0, 1))
def test_eq_7_inverts_eq_6(k, certainty, accuracy):
    top = 1 / k + (1 - 1 / k) * certainty
    agreement = top * accuracy + (1 - top) * (1 - accuracy) / (k - 1)
    assert solve_accuracy(agreement, top, k) == pytest.approx(accuracy, abs=1e-10)


@given(n_categories, st.floats(0, 1))
def test_eq_7_says_nothing_at_a_flat_top_probability(k, agreement):
    assert np.isnan(solve_accuracy(agreement, 1 / k, k))


@given(n_categories, st.floats(0, 1))
def test_rater_accuracy_is_undefined_at_or_below_chance(k, share):
    assert np.isnan(estimate_rater_accuracy(share / k, k))


def test_negative_base_rates_become_zero_and_the_others_keep_their_proportions():
    clipped = clip_base_rates([[-0.2, 0.3, 0.9], [0.2, 0.3, 0.5]])
    np.testing.assert_allclose(clipped, [[0, 0.25, 0.75], [0.2, 0.3, 0.5]], atol=1e-15)


def test_truth_probabilities_are_bayes_rule_and_base_rates_without_ratings():
    truth = estimate_truth([[2, 1], [0, 0]], 0.8, [0.3, 0.7])
    first = 0.3 * 0.8**2 * 0.2 / (0.3 * 0.8**2 * 0.2 + 0.7 * 0.2**2 * 0.8)
    np.testing.assert_allclose(truth, [[first, 1 - first], [0.3, 0.7]], atol=1e-15)


def exact_truth_probabilities(votes, accuracy, rates):
    """Bayes' rule in fractions, which no number of votes underflows."""
    right = Fraction(accuracy)
    error = (1 - right) / (len(votes) - 1)
    joint = [
        Fraction(rate) * (right / error) ** n for rate, n in zip(rates, votes.tolist(), strict=True)
    ]
    return [float(p / sum(joint)) for p in joint]


def test_truth_probabilities_keep_their_digits_however_many_votes_are_against_them():
    accuracy, rates = 0.999, (0, 0.5, 0.5)
    for n in range(90, 101):
        row = np.array([n, 1, 0])
        result = estimate_truth(row[None], accuracy, rates)[0]
        expected = exact_truth_probabilities(row, accuracy, rates)
        np.testing.assert_allclose(result, expected, rtol=1e-10, err_msg=str(row))


@given(data_sets)
def test_steps_take_leading_dimensions_one_by_one(data):
    votes, accuracy = data.ratings().count_votes(), np.array([[0.6], [0.7], [0.8]])
    rates = np.random.default_rng(0).dirichlet(np.ones(data.n_categories), size=(3, 1))
    together = estimate_truth(votes, accuracy, rates)
    for i in range(3):
        alone = estimate_truth(votes, accuracy[i, 0], rates[i, 0])
        np.testing.assert_allclose(together[i, 0], alone, atol=1e-14)


# ----- Against the independent implementation -----


@given(data_sets)
def test_every_number_equals_the_reference(data):
    for aggregation in AGGREGATIONS:
        estimate, expected = estimate_of(data, aggregation), reference(data, aggregation)
        assert_same(numbers(estimate), reference_numbers(data, expected))
        clipped = "negative-base-rate" in [warning.code for warning in estimate.warnings]
        assert clipped == bool(expected["base_rates_clipped"])
        for name in TABLE_4 if expected["bins"] else ():
            column = np.array([b[name] for b in expected["bins"]], dtype=float)
            np.testing.assert_allclose(estimate.bins[name].values, column, atol=1e-8, err_msg=name)


# ----- Symmetries -----


@all_aggregations
@given(data=data_sets, random=st.randoms(use_true_random=False))
def test_relabelled_categories_permute_every_result(aggregation, data, random):
    new = random.sample(range(data.n_categories), data.n_categories)
    relabelled = replace(
        data,
        rows=[[(rater, new[label]) for rater, label in row] for row in data.rows],
        system=[-1 if answer < 0 else new[answer] for answer in data.system],
    )
    actual = results(relabelled, aggregation)
    for name in ("base_rates", "truth_probabilities"):
        actual[name] = actual[name][..., new]
    assert_same(actual, results(data, aggregation))


@all_aggregations
def test_names_of_raters_and_items_change_nothing_but_labels(aggregation):
    plain = load_dataset("lehner_table2")
    named = Ratings(plain.codes, "ABCD", "zyxw", list("jihgfedcba"), plain.system)
    first, second = (
        estimate_algebraic(r, aggregation=aggregation, resamples=100) for r in (plain, named)
    )
    assert first.system_accuracy == second.system_accuracy
    assert list(second.rater_accuracy["rater"].values) == list("zyxw")
    assert list(second.truth_probabilities["item"].values) == list("jihgfedcba")
    np.testing.assert_array_equal(first.truth_probabilities, second.truth_probabilities)


@example(Data(2, 2, [[(0, 0), (0, 0)], [(1, 0)]], [0, 0]))
@example(Data(2, 2, [[(0, 0), (1, 0)]], [0], counts=[0]))
@example(Data(2, 2, [[(0, 0), (1, 0)], [(0, 0)]], [0, 0], counts=[0, 1]))
@example(Data(2, 2, [[(0, 0), (1, 0)], [(0, 0)]], [-1, 0], counts=[1, 0]))
@given(all_data())
def test_data_are_refused_unless_items_that_count_have_two_raters_and_an_answer(data):
    if data.estimable:
        estimate_algebraic(data.ratings(), interval=None)
    else:
        with pytest.raises(InputError):
            estimate_algebraic(data.ratings(), interval=None)


# ----- Limiting cases -----


@all_aggregations
@pytest.mark.parametrize("codes", [[[0, 0], [0, 1]], [[0, 1], [1, 0]]], ids=["at", "below"])
def test_nothing_is_estimated_from_agreement_at_or_below_chance(aggregation, codes):
    estimate = of_codes(codes, [0, 1], 2, aggregation)
    assert astuple(estimate.system_accuracy) == (None, None, None, None, "", None, False)
    (warning,) = estimate.warnings
    assert (warning.code, warning.severity) == ("agreement-at-chance", "changes")
    assert "at or below the chance level 1/2" in str(warning)
    for values in (estimate.rater_accuracy, estimate.base_rates, estimate.truth_probabilities):
        assert np.isnan(values).all()


@all_aggregations
def test_raters_who_always_agree_are_the_truth(aggregation):
    codes = [[c] * 3 for c in (0, 0, 1, 1, 2)]
    estimate = of_codes(codes, [0, 1, 1, 1, 0], 3, aggregation)
    assert estimate.diagnostics["kappa"] == 1
    assert estimate.rater_accuracy.values == pytest.approx([1, 1, 1], abs=1e-12)
    assert estimate.base_rates.values == pytest.approx([0.4, 0.4, 0.2], abs=1e-12)
    np.testing.assert_allclose(estimate.truth_probabilities, np.eye(3)[[0, 0, 1, 1, 2]], atol=1e-12)
    assert estimate.system_accuracy.estimate == pytest.approx(3 / 5, abs=1e-12)
    assert "raters-always-agree" in [warning.code for warning in estimate.warnings]


@all_aggregations
def test_one_rating_for_everything_makes_that_category_certain(aggregation):
    estimate = of_codes([[1, 1]] * 4, [1, 1, 1, 0], 3, aggregation)
    assert estimate.base_rates.values.tolist() == [0, 1, 0]
    assert estimate.system_accuracy.estimate == pytest.approx(3 / 4, abs=1e-12)


@all_aggregations
def test_flat_truth_probabilities_of_the_answered_item_give_none_and_the_reason(aggregation):
    # Items 1 and 2 set agreement 2/3 and equal base rates; the votes on item 3 are a tie.
    estimate = of_codes([[0, 0], [1, 1], [0, 1]], [-1, -1, 0], 2, aggregation)
    np.testing.assert_allclose(estimate.truth_probabilities[2], [0.5, 0.5], atol=1e-12)
    assert estimate.system_accuracy.estimate is None
    (reason,) = estimate.warnings
    assert reason.code == "answers-undetermined" and "1/2" in str(reason)
    assert "answered" in str(reason)  # the truth probabilities of items 1 and 2 are not flat


def test_an_estimate_of_1_has_the_interval_of_as_many_known_truths():
    """Resamples of it do not vary, and one right answer does not prove that all are."""
    ratings = Ratings([[0, 0]], range(2), system=[0])
    accuracy = estimate_algebraic(ratings, resamples=20).system_accuracy
    z = NormalDist().inv_cdf(0.95)
    assert (accuracy.lower, accuracy.upper) == pytest.approx((1 / (1 + z**2), 1))


@all_aggregations
@given(data=data_sets, level=st.floats(0.01, 0.99))
def test_intervals_are_ordered_and_within_0_and_1_and_never_nan(aggregation, data, level):
    estimate = estimate_algebraic(
        data.ratings(), aggregation=aggregation, level=level, resamples=20
    )
    accuracy = estimate.system_accuracy
    if accuracy.estimate is None:
        assert astuple(accuracy) == (None, None, None, None, "", None, False)
        assert estimate.warnings
    else:
        assert 0 <= accuracy.lower <= accuracy.upper <= 1
        assert 0 <= accuracy.estimate <= 1
