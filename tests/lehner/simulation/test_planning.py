"""Scenarios for planning have the kappa and the system accuracy that were asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lehner import InputError, Scenario, expect_kappa, make_scenario, simulate_estimates
from lehner.algebra.steps import estimate_rater_accuracy
from lehner.simulation.scenario import find_initial_accuracy


@given(st.floats(1e-6, 0.999), st.integers(2, 8), st.integers(2, 9))
def test_without_violation_the_accuracy_inverts_equation_2(kappa, n_categories, n_raters):
    scenario = make_scenario(kappa, n_categories=n_categories, n_raters=n_raters)
    agreement = 1 / n_categories + (1 - 1 / n_categories) * kappa
    expected = float(estimate_rater_accuracy(agreement, n_categories))
    assert scenario.initial_rater_accuracy == pytest.approx((expected,) * n_raters, abs=1e-9)
    assert (scenario.easiness, scenario.asymmetric_dispersion) == ((0.0,), 1.0)
    assert expect_kappa(scenario) == pytest.approx(kappa, abs=1e-9)


@pytest.mark.parametrize(("kappa", "n_categories", "n_raters"), [(0.3, 5, 3), (0.6, 3, 5)])
@pytest.mark.parametrize("violation", [0.5, 1.0])
def test_simulated_raters_agree_with_the_kappa_asked_for(kappa, n_categories, n_raters, violation):
    scenario = make_scenario(
        kappa, n_categories=n_categories, n_raters=n_raters, violation=violation
    )
    result = simulate_estimates(scenario, 4000, in_sample=False, seed=5).kappa
    assert abs(float(result.mean()) - kappa) < 0.003


@pytest.mark.parametrize(
    ("kappa", "raters"), [(0.1315, (0.3, 0.4, 0.5)), (0.3024, (0.5, 0.6, 0.7))]
)
def test_the_kappas_of_the_papers_figures_give_its_raters(kappa, raters):
    result = make_scenario(kappa, violation=1)
    assert result.initial_rater_accuracy == pytest.approx(raters, abs=0.005)
    assert result.easiness == (-0.2, 0.0, 0.2)
    assert (result.asymmetric_dispersion, result.proportional_error_range) == (2.0, 1.0)


def test_violations_are_scaled():
    half = make_scenario(0.3, violation=0.5)
    assert np.ptp(half.initial_rater_accuracy) == pytest.approx(0.1)
    assert half.easiness == (-0.1, 0.0, 0.1)
    assert (half.asymmetric_dispersion, half.proportional_error_range) == (1.5, 0.5)


@given(st.floats(0.07, 0.93), st.floats(0, 1))
def test_the_system_reaches_the_accuracy_asked_for(accuracy, violation):
    difficulty = (-0.2 * violation, 0.0, 0.2 * violation)
    initial = find_initial_accuracy(accuracy, difficulty)
    reached = [min(1.0, max(0.0, initial + d)) for d in difficulty]
    assert np.mean(reached) == pytest.approx(accuracy, abs=1e-12)


def test_simulated_systems_have_the_expected_accuracy():
    scenario = make_scenario(0.3, violation=1, system_accuracy=0.9)
    result = simulate_estimates(scenario, 300, in_sample=False)
    np.testing.assert_allclose(result.system_accuracy, 0.9, atol=1e-9)


def test_expected_kappa_of_raters_who_are_misled():
    scenario = Scenario(initial_rater_accuracy=(0.6, 0.7), misleading=0.2, base_rates="equal")
    result = simulate_estimates(Scenario(**{**vars(scenario), "n_items": 5000}), 500).kappa
    assert expect_kappa(scenario) == pytest.approx(float(result.mean()), abs=0.002)


def test_raters_who_copy_have_another_kappa_and_are_refused():
    never = Scenario(base_rates="equal", copying=(0, 0, 0))
    assert expect_kappa(never) == pytest.approx(0.25)
    with pytest.raises(InputError, match=r"copying is \(0.0, 1.0, 1.0\); simulate instead"):
        expect_kappa(Scenario(base_rates="equal", copying=(0, 1, 1)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kappa": 1.0}, "kappa is 1.0; give a number from 0 to below 1"),
        ({"kappa": -0.1}, "kappa is -0.1"),
        ({"kappa": np.nan}, "kappa is nan"),
        ({"kappa": 0.3, "n_categories": 1}, "n_categories is 1"),
        ({"kappa": 0.3, "n_raters": 1}, "n_raters is 1"),
        ({"kappa": 0.3, "violation": 1.5}, "violation is 1.5"),
        ({"kappa": 0.3, "system_accuracy": -0.1}, "system_accuracy is -0.1"),
        ({"kappa": 0.3, "violation": 1, "system_accuracy": 0.98}, "between 0.067 and 0.933"),
        ({"kappa": 0.01, "violation": 1}, "kappa is 0.01, but with violation 1"),
        ({"kappa": 0.95, "violation": 1}, "kappa is 0.95, but with violation 1"),
    ],
)
def test_what_cannot_be_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        make_scenario(**options)
