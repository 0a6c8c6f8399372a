"""Steps of the algebra: agreement of raters, step 4 with ties, sparse votes; and the majority."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lehner import (
    InputError,
    Ratings,
    Scenario,
    estimate_algebraic,
    load_dataset,
    majority_agreement,
    pairwise_agreement,
    population_value,
    simulate_estimates,
)
from lehner.algebra import steps
from lehner.algebra.steps import brennan_prediger, find_sparse_votes
from tests.lehner.algebra.test_algebraic import Data, data_sets
from tests.lehner.questions import performance

PAPER = "algebraic_paper"
# Raters are tied on many items, for which the top probability is, or is nearly, 1/K.
TIED = {
    "4 raters, K = 2": Scenario(
        n_categories=2, initial_rater_accuracy=(0.7,) * 4, base_rates=(0.55, 0.45), n_items=200
    ),
    "2 raters, K = 2": Scenario(
        n_categories=2, initial_rater_accuracy=(0.7,) * 2, base_rates="equal", n_items=50_000
    ),
    "3 raters, K = 3": Scenario(
        n_categories=3, initial_rater_accuracy=(0.6,) * 3, base_rates="equal", n_items=50_000
    ),
    "missing": Scenario(
        n_categories=2,
        initial_rater_accuracy=(0.7,) * 3,
        base_rates="equal",
        missing=0.3,
        n_items=50_000,
    ),
}
VIOLATIONS = {
    "none": {},
    "raters": {"rater_accuracy": 0.1},
    "difficulty": {"easiness": (-0.1, 0, 0.1)},
    "dispersion": {"asymmetric_dispersion": 2.0},
}


@pytest.mark.parametrize("scenario", TIED.values(), ids=TIED)
def test_without_violations_the_algebra_is_near_the_truth_where_raters_are_tied(scenario):
    methods = ("algebraic", PAPER)
    result = simulate_estimates(scenario, 400, methods=methods, in_sample=False, seed=3)
    error, of_paper = (result[method].values - 0.9 for method in methods)
    rmse = np.sqrt(np.mean(error**2))
    assert abs(error.mean()) < 4 * error.std() / 20
    assert rmse < 1.5 / np.sqrt(scenario.n_items)
    assert of_paper.mean() < -0.05
    assert np.sqrt(np.mean(of_paper**2)) > 2.5 * rmse


def test_the_paper_s_step_stays_under_its_name():
    ratings = load_dataset("lehner_table2")
    default, paper = (
        estimate_algebraic(ratings, interval=None, **options)
        for options in ({}, {"aggregation": "paper"})
    )
    assert (default.method, paper.method) == ("algebraic", PAPER)
    assert paper.system_accuracy.estimate == pytest.approx(0.7314, abs=1e-4)
    assert paper.bins is not None and default.bins is None


def test_two_categories_and_four_raters_do_not_need_hundreds_of_items():
    scenario = Scenario(n_categories=2, initial_rater_accuracy=(0.7,) * 4)
    near = []
    for n_items in (50, 90):
        drawn = simulate_estimates(replace(scenario, n_items=n_items), 4000, in_sample=False)
        near.append(float((abs(drawn.algebraic - drawn.system_accuracy) <= 0.1).mean()))
    assert near[0] < 0.9 < near[1]


# ----- Limits -----


def grid_scenario(k, n_raters, accuracy, equal, missing, violation):
    rates = 0.6 ** np.arange(k)
    changes = dict(VIOLATIONS[violation])
    spread = changes.pop("rater_accuracy", 0)
    return Scenario(
        n_categories=k,
        initial_rater_accuracy=tuple(accuracy + np.linspace(-spread, spread, n_raters)),
        base_rates="equal" if equal else tuple(rates / rates.sum()),
        missing=missing,
        **changes,
    )


FEW = [
    (2, 2, 0.7, True, 0.0, "none"),
    (2, 4, 0.7, True, 0.0, "raters"),
    (2, 4, 0.7, False, 0.3, "difficulty"),
    (3, 3, 0.6, True, 0.0, "dispersion"),
    (5, 2, 0.6, True, 0.3, "difficulty"),
    (5, 3, 0.6, True, 0.0, "none"),
]


def largest_difference_from_samples(scenario, method_names, seed):
    """Give each method's distance from the mean of samples of a million items, and its error."""
    values = {name: population_value(scenario, name) for name in method_names}
    samples = simulate_estimates(
        replace(scenario, n_items=1_000_000), 100, methods=method_names, in_sample=False, seed=seed
    )
    return {
        name: (
            abs(float(samples[name].mean()) - values[name].estimate),
            float(samples[name].std()) / 10,
        )
        for name in method_names
    }


def assert_limit(cell):
    scenario = grid_scenario(*cell)
    methods = ("algebraic", "majority_agreement")
    values = {name: population_value(scenario, name) for name in methods}
    undefined = [value for value in values.values() if value.estimate is None]
    # Raters right in .5 and .7 agree by chance if there are two categories.
    assert all("at or below chance" in value.reason for value in undefined)
    defined = [name for name, value in values.items() if value.estimate is not None]
    result = largest_difference_from_samples(scenario, defined, seed=5)
    for method, (difference, error) in result.items():
        assert difference < 4.5 * error + 1e-4, (cell, method)


@pytest.mark.parametrize("cell", FEW, ids=str)
def test_population_values_are_the_means_of_a_million_items(cell):
    assert_limit(cell)


@pytest.mark.parametrize("name", ["2 raters, K = 2", "3 raters, K = 3", "missing"])
def test_the_paper_s_step_has_no_limit_where_the_top_probability_is_1_over_k(name):
    value = population_value(TIED[name], PAPER)
    assert (value.estimate, value.bias, value.undefined) == (None, None, 1)
    assert value.reason.startswith("large samples of the same scenario give different values")
    samples = simulate_estimates(
        replace(TIED[name], n_items=10**9), 50, methods=[PAPER], in_sample=False
    )
    assert samples[PAPER].std() > 0.05
    assert population_value(TIED[name]).reason == ""
    assert population_value(TIED[name]).bias == pytest.approx(0, abs=1e-9)


def test_the_paper_s_step_has_its_limit_elsewhere():
    for cell in ((2, 3, 0.7, False, 0.0, "none"), (3, 3, 0.7, False, 0.0, "raters")):
        scenario = grid_scenario(*cell)
        difference, error = largest_difference_from_samples(scenario, [PAPER], seed=6)[PAPER]
        assert difference < 4.5 * error + 1e-4


def test_ties_that_chance_breaks_do_not_matter_where_eq_7_gives_the_same_on_both_sides():
    # Three raters who differ leave three of five categories with .3 each, at the edge of two bins.
    scenario = Scenario(initial_rater_accuracy=(0.6,) * 3, base_rates="equal")
    assert population_value(scenario, PAPER).bias == pytest.approx(0, abs=1e-5)


def test_agreement_at_chance_is_the_reason():
    value = population_value(Scenario(initial_rater_accuracy=(0.2,) * 3, base_rates="equal"))
    assert value.estimate is None and "at or below chance" in value.reason


# Agreement against brute force and published examples.


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


# Agreement with the majority against brute force and counts by hand.


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


def test_ratings_without_an_item_with_rating_and_answer_are_refused():
    with pytest.raises(InputError, match="both a rating and an answer"):
        majority_agreement(Ratings([[0, 0], [-1, -1]], range(2), system=[-1, 0]))


def test_it_has_one_number_for_both_estimands_and_no_interval_in_the_sample():
    # By hand from Table 2: the majorities of cases 1-10 are C, C, C, BD, B, ABCD, A, ABCD, A, A
    # and the system's answers A, C, C, B, B, A, A, C, D, B: 0 1 1 1/2 1 1/4 1 1/4 0 0.
    estimate = majority_agreement(load_dataset("lehner_table2"))
    in_sample = estimate.system_accuracy_in_sample
    assert estimate.system_accuracy.estimate == in_sample.estimate == 5 / 10
    assert in_sample.lower is in_sample.upper is None


def test_the_majority_has_wilsons_interval_for_items_like_these():
    ratings = Ratings([[0, 0], [1, 1], [0, 0], [1, 1]], ["no", "yes"], system=[0, 1, 1, -1])
    result = majority_agreement(ratings, level=0.95).system_accuracy
    expected = stats.binomtest(2, 3).proportion_ci(0.95, method="wilson")
    assert (result.lower, result.upper) == pytest.approx((expected.low, expected.high))


# Items whose ratings are in few of many categories: the same numbers as over all categories.


K = 40
MOST = 10**9


def _crowd(n_items: int, missing: float, accuracy: float, used: int = K) -> Ratings:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, used, n_items)
    right = rng.random((n_items, 6)) < accuracy
    wrong = (truth[:, None] + rng.integers(1, used, (n_items, 6))) % used
    codes = np.where(right, truth[:, None], wrong)
    codes[rng.random(codes.shape) < missing] = -1
    return Ratings(codes[:, 1:], list(range(K)), system=codes[:, 0])


CROWDS = {
    "all rated": _crowd(200, 0.0, 0.7),
    "missing ratings and answers, items without any": _crowd(200, 0.5, 0.7),
    "categories that are not used": _crowd(150, 0.1, 0.6, used=7),
    "resamples at chance": _crowd(60, 0.6, 0.12),
    "always right": _crowd(80, 0.0, 1.0),
}


@pytest.mark.parametrize("name", CROWDS)
def test_numbers_are_those_of_all_categories(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = CROWDS[name]
    estimates, details = [], []
    for few in (0, MOST):
        monkeypatch.setattr(steps, "FEW_VOTES", few)
        assert (find_sparse_votes(ratings.collapsed_votes) is None) == (few == MOST)
        result = estimate_algebraic(ratings, resamples=300)
        estimates.append(result)
        details.append(performance(ratings, result, resamples=50).table)
    undefined = estimates[1].diagnostics["undefined_resamples"]
    assert (undefined > 0) == (name == "resamples at chance")
    sparse, dense = (estimate.system_accuracy for estimate in estimates)
    assert estimates[0].diagnostics == estimates[1].diagnostics
    assert sparse.lower == pytest.approx(dense.lower, abs=1e-11)
    assert sparse.upper == pytest.approx(dense.upper, abs=1e-11)
    for column in ("estimate", "lower", "upper"):
        np.testing.assert_allclose(details[0][column], details[1][column], atol=1e-10)


def test_few_categories_are_as_before() -> None:
    """Where most categories have votes, or there are few, nothing is laid out as sparse arrays."""
    assert find_sparse_votes(CROWDS["all rated"].collapsed_votes) is None
    votes = _crowd(2000, 0.0, 0.7)
    assert find_sparse_votes(votes.collapsed_votes) is not None
