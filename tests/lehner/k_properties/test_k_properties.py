"""Tests of the K-properties: exact large-sample values, size, and what cannot be tested."""

import tracemalloc
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from lehner import InputError, Ratings, Scenario, check_k_properties, simulate
from lehner.core.arrays import derive_seeds
from lehner.dependence.score_test import adjust_by_holm
from lehner.k_properties import totals
from lehner.k_properties.check import (
    K_TESTS,
    KTest,
    _compare,
    _simulate,
    expect_triples,
    find_disagreement,
    fit_k_model,
    fit_null,
    run_k_tests,
)
from lehner.k_properties.totals import find_design, simulate_totals, sum_observed
from lehner.simulation.draw import list_patterns, list_probabilities
from lehner.simulation.scenario import draw_parameters

RATES = (0.3, 0.25, 0.2, 0.15, 0.1)
HOLD = Scenario(base_rates=RATES, initial_system_accuracy=0.8)


def population(scenario: Scenario, n_items: int = 10**9) -> Ratings:
    """Give ratings in which every pattern has the share of the items that it is expected to."""
    k = scenario.n_categories
    parameters = draw_parameters(scenario, 1, np.random.default_rng(1))
    probability = list_probabilities(scenario, parameters, by_rater=True)[0]
    counts = np.rint(n_items * probability).astype(int)
    codes = list_patterns(scenario.n_raters, k, missing=False)
    return Ratings(
        np.tile(codes, (k, 1)),
        list("ABCDEFG"[:k]),
        system=np.repeat(np.arange(k), len(codes)),
        counts=counts.ravel(),
        ordered=True,
    )


def totals_of(ratings, **options):
    design = find_design(ratings.to_grouped(), **options)
    return design, sum_observed(design)


def test_the_fitted_model_describes_raters_for_whom_the_k_properties_hold():
    design, totals = totals_of(population(HOLD))
    model = fit_k_model(totals, design)
    assert model.accuracy[0] == pytest.approx([0.6] * 3, abs=1e-6)
    assert model.base_rates[0] == pytest.approx(RATES, abs=1e-6)
    shares = totals.disagreeing[0] / totals.disagreeing.sum()
    assert find_disagreement(model)[0] == pytest.approx(shares, abs=1e-6)
    assert expect_triples(model, design) == pytest.approx(totals.agreeing_triples, rel=1e-6)


def test_accuracies_of_their_own_explain_pairs_and_triples():
    accuracy = (0.35, 0.5, 0.65, 0.8)
    design, totals = totals_of(population(replace(HOLD, initial_rater_accuracy=accuracy)))
    model = fit_k_model(totals, design, own_accuracies=True)
    assert model.accuracy[0] == pytest.approx(accuracy, abs=1e-4)
    assert expect_triples(model, design) == pytest.approx(totals.agreeing_triples, rel=1e-4)


@pytest.mark.parametrize(
    ("test", "violated"),
    [
        ("error_distance", {"asymmetric_dispersion": 2.0}),
        ("equal_errors", {"proportional_error_range": 0.6}),
        ("equal_accuracy", {"initial_rater_accuracy": (0.4, 0.6, 0.8)}),
        ("equal_difficulty", {"easiness": (-0.2, 0.0, 0.2)}),
        ("independence", {"initial_rater_accuracy": (0.6,) * 4, "copying": (0, 0.5, 0, 0)}),
    ],
)
def test_each_violation_is_rejected(test, violated):
    properties = check_k_properties(population(replace(HOLD, **violated), 50_000), replicates=199)
    assert properties.tests[test].verdict == "rejected"
    rejected = f"Rejected: {properties.tests[test].k_property}"
    assert any(text.startswith(rejected) for text in properties.verdict)


def test_the_papers_chi_square_rejects_most_data_for_which_the_k_properties_hold():
    """Equal disagreements of categories follow from equal errors only if base rates are equal."""
    p_values = []
    for seed in derive_seeds(1, 60):
        design = find_design(simulate(Scenario(), seed).to_grouped())
        p_values.append(stats.chisquare(sum_observed(design).disagreeing[0]).pvalue)
    assert np.mean(np.array(p_values) < 0.05) > 0.8


@pytest.mark.slow
def test_p_values_are_those_of_data_sets_simulated_one_by_one_and_fitted_anew():
    data = simulate(replace(HOLD, n_items=100, initial_rater_accuracy=(0.45, 0.6, 0.75)), 4)
    ratings = Ratings(data.codes, data.categories, system=data.system, ordered=True)
    result = run_k_tests(ratings.to_grouped(truth=False), 999, 1)
    for own in (False, True):
        names = [name for name, test in K_TESTS.items() if test.own_accuracies == own]
        null = fit_null(ratings.to_grouped(truth=False), own_accuracies=own)
        model, accuracy = null.model, null.model.accuracy[0]
        assert (np.ptp(accuracy) > 0.1) == own
        scenario = Scenario(
            n_items=100,
            initial_rater_accuracy=tuple(accuracy[:3]),
            base_rates=tuple(model.base_rates[0]),
        )
        statistics = {name: [] for name in names}
        for seed in derive_seeds(7, 400):
            drawn = simulate(scenario, seed)
            drawn = Ratings(drawn.codes, drawn.categories, system=drawn.system, ordered=True)
            design, totals = totals_of(drawn)
            fitted = fit_k_model(totals, design, own_accuracies=own)
            for name in names:
                statistics[name].append(K_TESTS[name].statistic(totals, fitted, design)[0])
        tests = {name: K_TESTS[name] for name in names}
        simulated = _simulate(null, tests, 999, np.random.default_rng(1))
        for name in names:
            tails = [np.mean(np.array(statistics[name]) >= result[name].statistic)]
            if name == "error_distance":
                tails.append(1 - tails[0])
            expected = min(1, len(tails) * min(tails))
            error = len(tails) * np.sqrt(0.25 / 400 + 0.25 / 999)
            assert result[name].p_value == pytest.approx(expected, abs=4 * error * 0.6), name
            spread = np.std(statistics[name]) / 20
            assert abs(simulated[name].mean() - np.mean(statistics[name])) < 4.5 * spread, name


def p_value(statistic, simulated, *, two_sided=True):
    null = fit_null(population(HOLD, 1000).to_grouped())
    test = KTest(k_property="", statistic=lambda *_: np.array([statistic]), two_sided=two_sided)
    return _compare(null, test, np.array(simulated, dtype=float))[1:]


def test_equal_statistics_count_as_extreme_and_two_sides_count_twice():
    simulated = [1.0, 2.0, 3.0, 3.0, 4.0, *[0.0] * 14]
    assert p_value(3.0 + 1e-12, simulated, two_sided=False)[0] == pytest.approx(4 / 20)
    assert p_value(3.0 + 1e-12, simulated)[0] == pytest.approx(8 / 20)
    assert p_value(-1.0, simulated)[0] == pytest.approx(2 / 20)
    assert p_value(0.0, simulated)[0] == 1
    assert p_value(3.0, simulated)[1] == pytest.approx(2 * np.sqrt(0.2 * 0.8 / 19))


def test_notes_and_the_statistic_of_accuracy_are_those_of_loops():
    data = simulate(replace(HOLD, n_items=80, initial_rater_accuracy=(0.8, 0.6, 0.4)), 1)
    ratings = Ratings(data.codes, data.categories, ["x", "y", "z"], ordered=True)
    result = check_k_properties(ratings, replicates=199).tests
    ends = [(i, j) for i in range(3) for j in range(3) if i != j]
    agree = {(i, j): np.sum(data.codes[:, i] == data.codes[:, j]) for i, j in ends}
    mean = sum(agree.values()) / (6 * 80)
    of_rater = [sum(n for pair, n in agree.items() if pair[0] == i) for i in range(3)]
    chi_square = sum((n - 160 * mean) ** 2 for n in of_rater) / (160 * mean * (1 - mean))
    assert result["equal_accuracy"].statistic == pytest.approx(chi_square)
    low, high = of_rater[2] / 160, of_rater[0] / 160
    assert result["equal_accuracy"].note == (
        f"agreement with the others is between {low:.3f} (z) and {high:.3f} (x)"
    )
    steps = [abs(data.codes[:, i] - data.codes[:, j]) for i, j in ends]
    seen = np.mean(np.concatenate([step[step > 0] for step in steps]))
    frequency = np.bincount(data.codes.ravel(), minlength=5) / 240
    error = (1 - np.sqrt((mean - 0.2) / 0.8)) / 5
    share = {(a, b): frequency[a] + frequency[b] - error for a in range(5) for b in range(a + 1, 5)}
    expected = sum((b - a) * x for (a, b), x in share.items()) / sum(share.values())
    assert result["error_distance"].note == (
        f"disagreeing ratings are {seen:.2f} steps apart on average, {expected:.2f} expected"
    )


def test_p_values_count_the_simulated_data_and_repeat():
    ratings = simulate(replace(HOLD, n_items=60))
    first, again = (check_k_properties(ratings, replicates=199, seed=5) for _ in range(2))
    assert first == again
    assert first != check_k_properties(ratings, replicates=199, seed=6)
    for test in first.tests.values():
        if test.p_value_se is not None:
            assert test.p_value * 200 == pytest.approx(round(test.p_value * 200))
            assert test.p_value_se == pytest.approx(
                np.sqrt(test.p_value * (1 - test.p_value) / 199)
            )


def test_statistics_do_not_depend_on_the_order_of_raters_items_and_names():
    ratings = simulate(replace(HOLD, initial_rater_accuracy=(0.5, 0.6, 0.8, 0.7), missing=0.2))
    shuffled = Ratings(
        np.where(ratings.codes < 0, -1, 4 - ratings.codes)[::-1, [2, 0, 3, 1]],
        list("EDCBA"),
        system=4 - ratings.system[::-1],
    )
    first, other = (check_k_properties(r, replicates=199).tests for r in (ratings, shuffled))
    for name in first:
        assert first[name].statistic == pytest.approx(other[name].statistic, abs=1e-6), name


def test_holms_adjustment_is_that_of_statsmodels():
    p = dict(zip("abcdef", np.random.default_rng(1).uniform(0, 0.1, 6), strict=True))
    expected = multipletests(list(p.values()), method="holm")[1]
    result = adjust_by_holm(p)
    assert [result[name] for name in p] == pytest.approx(expected)


THREE = simulate(Scenario(n_items=100)).codes
TWO_CATEGORIES = simulate(Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3)).codes


@pytest.mark.parametrize(
    ("ratings", "untested"),
    [
        (
            Ratings(THREE[:, :2], range(5), ordered=True),
            {
                "equal_accuracy": "the test needs three",
                "equal_difficulty": "no item was rated by three",
                "independence": "the test needs four",
            },
        ),
        (Ratings(THREE, range(5), ordered=True), {"independence": "the test needs four"}),
        (
            Ratings(THREE, range(5), system=THREE[:, 0]),
            {"error_distance": "categories have no order"},
        ),
        (
            Ratings(TWO_CATEGORIES, range(2)),
            {
                "equal_errors": "only one wrong answer",
                "error_distance": "only one wrong answer",
                "equal_difficulty": "follows from how often two do",
                "independence": "the test needs four",
            },
        ),
        (
            Ratings(THREE, range(5), ordered=True, anonymous=True),
            {"equal_accuracy": "unknown who", "independence": "unknown who"},
        ),
    ],
)
def test_what_cannot_be_tested_has_no_p_value_but_a_reason(ratings, untested):
    result = check_k_properties(ratings, replicates=199)
    assert {name for name, test in result.tests.items() if test.p_value is None} == set(untested)
    for name, reason in untested.items():
        assert reason in result.tests[name].note
        assert result.tests[name].statistic is None
        assert result.tests[name].verdict == "not tested"


@pytest.mark.parametrize(
    ("codes", "reason"),
    [
        ([[0, 1, 2], [1, 2, 0], [2, 0, 1]], "at or below the chance level"),
        ([[0, 0, 0], [1, 1, 1], [2, 2, 2]], "never disagree"),
    ],
)
def test_agreement_at_chance_or_always_leaves_nothing_to_test(codes, reason):
    result = check_k_properties(Ratings(codes, range(3)))
    assert all(reason in test.note and test.p_value is None for test in result.tests.values())
    assert result.verdict == ("None of the K-properties can be tested with these ratings.",)


@pytest.mark.parametrize(
    ("codes", "categories", "options", "message"),
    [
        ([[0, 0]], ["a"], {}, "the only category is a"),
        ([[0, -1], [-1, 1]], ["a", "b"], {}, "no item was rated by two raters"),
        ([[0, 0]], ["a", "b"], {"replicates": 99}, "replicates is 99"),
        ([[0, 0], [0, 1], [1, 1]], ["a", "b"], {"seed": -1}, "seed is -1"),
    ],
)
def test_bad_input_is_refused(codes, categories, options, message):
    with pytest.raises(InputError, match=message):
        check_k_properties(Ratings(codes, categories), **options)


def test_grouped_items_rows_of_no_items_and_their_order_change_nothing():
    scenario = replace(HOLD, n_items=80, missing=0.3, initial_rater_accuracy=(0.5, 0.6, 0.7, 0.8))
    ratings = simulate(scenario).with_truth(None).replace(ordered=True)
    rows, counts = np.arange(80), np.arange(80) % 3
    apart, together = ratings.take(np.repeat(rows, counts)), ratings.take(rows, counts)
    expected = check_k_properties(apart, replicates=199).to_dict()
    for same in (together, apart.to_grouped(), together.take(rows[::-1])):
        assert check_k_properties(same, replicates=199).to_dict() == expected


def test_many_raters_and_items_with_few_ratings_are_handled():
    rng = np.random.default_rng(1)
    n_items, n_raters = 120, 120
    codes = np.full((n_items, n_raters), -1)
    truth = rng.integers(0, 4, n_items)
    for item in range(n_items):
        who = rng.choice(n_raters, 4, replace=False)
        codes[item, who] = np.where(rng.random(4) < 0.7, truth[item], rng.integers(0, 4, 4))
    result = check_k_properties(Ratings(codes, range(4), ordered=True), replicates=199).tests
    assert "100 raters or more" in result["equal_accuracy"].note
    assert result["equal_errors"].p_value > 0.05
    few = check_k_properties(Ratings(codes[:, :90], range(4), ordered=True), replicates=199).tests
    assert few["equal_accuracy"].p_value is not None


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
