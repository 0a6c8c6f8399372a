"""The adjusted estimate: samples are the simulator's, and the bias of large samples goes."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lehner import (
    InputError,
    Ratings,
    Scenario,
    estimate_adjusted,
    estimate_algebraic,
    fit_violations,
    population_value,
    simulate,
    simulate_estimates,
    true_parameters,
)
from lehner.data.flat import FlatRatings
from lehner.k_properties.adjustment import ACCURACY_GRID, _initial_accuracy, _invert, _simulate

VIOLATED = Scenario(
    n_items=200,
    initial_rater_accuracy=(0.5, 0.6, 0.7),
    easiness=(-0.2, 0, 0.2),
    asymmetric_dispersion=2,
    base_rates=(0.3, 0.25, 0.2, 0.15, 0.1),
)


@settings(deadline=None)
@given(st.floats(0, 0.5))
def test_initial_accuracies_give_the_expected_ones(difficulty):
    initial = _initial_accuracy(np.array([difficulty]))[0]
    levels = np.clip(initial[:, None] + difficulty * np.array([-1, 0, 1]), 0, 1)
    np.testing.assert_allclose(levels.mean(axis=1), ACCURACY_GRID, atol=1e-9)


@pytest.mark.parametrize("aggregation", ["weighted", "likelihood"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_samples_are_those_of_the_simulator(aggregation, missing):
    data = simulate(replace(VIOLATED, missing=missing), 1)
    fit = fit_violations(data)
    certain = replace(fit, root=np.zeros_like(fit.root))
    values = _simulate(data, certain, aggregation, 500, np.random.default_rng(1))
    method = "algebraic" if aggregation == "weighted" else "algebraic_likelihood"
    for initial in (0.5, 0.85):
        found = simulate_estimates(
            replace(fit.scenario, initial_system_accuracy=initial), 2000, methods=[method], seed=2
        )
        ours = np.array([np.interp(found.system_accuracy[0], ACCURACY_GRID, row) for row in values])
        error = np.hypot(ours.std() / np.sqrt(500), float(found[method].std()) / np.sqrt(2000))
        assert ours.mean() == pytest.approx(float(found[method].mean()), abs=4 * error)
        assert ours.std() == pytest.approx(float(found[method].std()), rel=0.1)


@pytest.mark.parametrize("aggregation", ["weighted", "likelihood"])
def test_bias_of_large_samples_goes(aggregation):
    scenario = replace(VIOLATED, n_items=200_000, initial_system_accuracy=0.9)
    data, truth = simulate(scenario, 1), float(true_parameters(scenario, 1).system_accuracy)
    found = estimate_adjusted(data, aggregation=aggregation, samples=100)
    assert truth == pytest.approx(0.8667, abs=1e-4)
    assert found.diagnostics["unadjusted"] < truth - 0.012
    assert found.system_accuracy.estimate == pytest.approx(truth, abs=0.01)


def test_without_violations_large_samples_stay_as_they_are():
    data = simulate(Scenario(n_items=50_000, base_rates="equal", initial_system_accuracy=0.7), 1)
    none = fit_violations(data, difficulty=0, asymmetric_dispersion=1)
    found = estimate_adjusted(data, none, samples=100)
    unadjusted = found.diagnostics["unadjusted"]
    assert found.system_accuracy.estimate == pytest.approx(unadjusted, abs=0.008)


def test_population_is_that_of_all_patterns():
    data = simulate(replace(VIOLATED, initial_system_accuracy=0.6), 1)
    found = estimate_adjusted(data, samples=2)
    fitted = fit_violations(data).scenario
    exact = [
        population_value(replace(fitted, initial_system_accuracy=initial))
        for initial in ACCURACY_GRID
    ]
    inverted = np.interp(
        found.diagnostics["unadjusted"],
        [value.estimate for value in exact],
        [value.system_accuracy for value in exact],
    )
    assert found.system_accuracy.estimate == pytest.approx(inverted, abs=0.01)


def test_estimate_says_what_was_done():
    data = simulate(VIOLATED, 1)
    found = estimate_adjusted(data, samples=50)
    algebraic = estimate_algebraic(data, interval=None)
    assert found.method == "algebraic_adjusted"
    assert found.diagnostics["unadjusted"] == algebraic.system_accuracy.estimate
    fit = fit_violations(data)
    assert found.diagnostics["violations"]["difficulty"] == fit.difficulty
    np.testing.assert_allclose(found.rater_accuracy, fit.expected_rater_accuracy())
    accuracy = found.system_accuracy
    assert 0 <= accuracy.lower <= accuracy.estimate <= accuracy.upper <= 1
    assert json.loads(json.dumps(found.to_dict()))["diagnostics"]["samples"] == 50


def test_given_violations_are_used():
    data = simulate(VIOLATED, 1)
    none = fit_violations(data, difficulty=0.0, asymmetric_dispersion=1.0)
    much = fit_violations(data, difficulty=0.4, asymmetric_dispersion=3.0)
    found = [estimate_adjusted(data, fit, samples=100) for fit in (none, much)]
    assert found[1].diagnostics["violations"]["difficulty"] == pytest.approx(0.4)
    assert found[1].system_accuracy.estimate > found[0].system_accuracy.estimate + 0.02


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_at_the_ends_of_the_interval_the_estimate_is_at_the_edge_of_a_tail(level):
    data = simulate(replace(VIOLATED, initial_system_accuracy=0.6), 1)
    found = estimate_adjusted(data, samples=400, level=level, seed=3)
    # The samples of this seed: the first that it draws.
    rng = np.random.default_rng(3)
    samples = _simulate(data, fit_violations(data), "weighted", 400, rng)
    at = {
        end: np.array(
            [np.interp(getattr(found.system_accuracy, end), ACCURACY_GRID, row) for row in samples]
        )
        for end in ("lower", "upper")
    }
    observed, tail = found.diagnostics["unadjusted"], (1 - level) / 2
    assert np.mean(at["lower"] >= observed) == pytest.approx(tail, abs=0.02)
    assert np.mean(at["upper"] <= observed) == pytest.approx(tail, abs=0.02)


def test_same_seed_same_numbers():
    data = simulate(VIOLATED, 1)
    first, second, other = (estimate_adjusted(data, samples=20, seed=seed) for seed in (1, 1, 2))
    assert first.system_accuracy == second.system_accuracy != other.system_accuracy


def test_grouped_items_and_missing_answers():
    data = simulate(replace(VIOLATED, missing=0.2), 1)
    answers = np.where(np.arange(200) < 20, -1, data.system)
    data = Ratings(data.codes, data.categories, system=answers, ordered=True)
    found = [estimate_adjusted(one, samples=100) for one in (data, data.collapse())]
    one, grouped = (estimate.system_accuracy.estimate for estimate in found)
    assert one == pytest.approx(grouped, abs=0.05)


def test_out_of_reach():
    data = simulate(replace(VIOLATED, n_items=50), 1)
    right = Ratings(data.codes, data.categories, system=data.truth, ordered=True)
    found = estimate_adjusted(right, samples=100)
    top = [one for one in found.warnings if "adjusted estimate is 1" in str(one)]
    assert (found.system_accuracy.estimate == 1) == bool(top)
    wrong = Ratings(data.codes, data.categories, system=(data.truth + 2) % 5, ordered=True)
    found = estimate_adjusted(wrong, samples=100)
    bottom = [one for one in found.warnings if "adjusted estimate is 0" in str(one)]
    assert (found.system_accuracy.estimate == 0) == bool(bottom)


def test_few_items_that_are_all_right_are_no_certainty():
    data = Ratings([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 0, 1]], "xy", system=[0, 1, 0, 1])
    accuracy = estimate_adjusted(data, samples=100).system_accuracy
    assert accuracy.lower < 0.8 and accuracy.upper == 1


def test_flat_curves_have_two_ends():
    curve = np.minimum(ACCURACY_GRID + 0.3, 1.0)
    assert _invert(curve, 1.0) == pytest.approx((0.7, 1.0))
    assert _invert(curve, 0.5) == pytest.approx((0.2, 0.2))
    assert _invert(curve, 0.1) == pytest.approx((0.0, 0.0))


@pytest.mark.parametrize("seed", [1, 2])
def test_raters_who_are_nearly_always_right_leave_little_doubt(seed):
    data = simulate(Scenario(initial_rater_accuracy=(0.999,) * 3, n_items=2000), seed)
    accuracy = estimate_adjusted(data, samples=100).system_accuracy
    # The system's answers alone leave .022.
    assert accuracy.lower < 0.9 + 0.01 and accuracy.upper > 0.9 - 0.01
    assert accuracy.upper - accuracy.lower < 0.08


def test_agreement_at_chance_is_refused():
    data = Ratings([[0, 1, 2], [1, 2, 0]] * 10, "ABC", system=[0, 1] * 10, ordered=True)
    found = estimate_adjusted(data)
    assert found.system_accuracy.estimate is None
    assert found.warnings[0].code == "agreement-at-chance"


def test_agreement_close_to_chance_is_refused():
    data = simulate(
        replace(VIOLATED, n_items=12, initial_rater_accuracy=(0.25,) * 3, easiness=(0,)), 13
    )
    found = estimate_adjusted(data, samples=100)
    assert found.system_accuracy.estimate is None
    assert found.warnings[-1].code == "agreement-at-chance"


@pytest.mark.parametrize("seed", [3, 4, 5, 6])
def test_agreement_close_to_chance_gives_a_number_or_none(seed):
    """The large sample that the estimate rests on may be at chance where samples are not."""
    scenario = Scenario(
        n_categories=3, initial_rater_accuracy=(0.36,) * 3, n_items=100, base_rates=(0.8, 0.1, 0.1)
    )
    found = estimate_adjusted(simulate(scenario, 0), samples=30, seed=seed)
    accuracy = found.system_accuracy
    if accuracy.estimate is None:
        assert found.warnings[-1].code == "adjustment-undefined"
    else:
        assert accuracy.lower <= accuracy.estimate <= accuracy.upper


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.5}, "level is 1.5"),
        ({"samples": 0}, "samples is 0"),
        ({"aggregation": "x"}, "x"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        estimate_adjusted(simulate(VIOLATED, 1), **options)


def test_violations_of_other_raters():
    data = simulate(VIOLATED, 1)
    other = fit_violations(Ratings(data.codes[:, :2], data.categories))
    with pytest.raises(
        InputError, match="of 2 raters and 5 categories, and the ratings of 3 and 5"
    ):
        estimate_adjusted(data, other)


def test_repeated_ratings_are_refused_with_given_violations_too():
    data = simulate(VIOLATED, 1)
    flat = FlatRatings(
        item_index=np.repeat(np.arange(200), 4),
        rater_index=np.tile([0, 0, 1, 2], 200),
        category_index=data.codes[:, [0, 0, 1, 2]].ravel(),
    )
    twice = Ratings(flat, data.categories, data.raters, data.items, system=data.system)
    with pytest.raises(InputError, match="more than once"):
        estimate_adjusted(twice.with_independent_repeats(), fit_violations(data))


def test_no_system():
    with pytest.raises(InputError, match="system"):
        estimate_adjusted(Ratings([[0, 0, 1]] * 5, "ABC"))
