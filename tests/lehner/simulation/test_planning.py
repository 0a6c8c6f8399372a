"""The kappa of a scenario, by which one plans, is that of the raters it simulates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lehner import InputError, Scenario, expect_kappa, simulate_estimates
from lehner.algebra.steps import estimate_rater_accuracy

PAPER = {"easiness": (-0.2, 0, 0.2), "asymmetric_dispersion": 2, "proportional_error_range": 1}


@given(st.floats(1e-6, 0.999), st.integers(2, 8), st.integers(2, 9))
def test_the_expected_kappa_inverts_equation_2(kappa, n_categories, n_raters):
    agreement = 1 / n_categories + (1 - 1 / n_categories) * kappa
    accuracy = float(estimate_rater_accuracy(agreement, n_categories))
    scenario = Scenario(n_categories=n_categories, initial_rater_accuracy=(accuracy,) * n_raters)
    assert expect_kappa(scenario) == pytest.approx(kappa, abs=1e-9)


@pytest.mark.parametrize(
    ("raters", "kappa"), [((0.3, 0.4, 0.5), 0.1315), ((0.5, 0.6, 0.7), 0.3024)]
)
def test_simulated_raters_have_the_expected_kappa(raters, kappa):
    scenario = Scenario(initial_rater_accuracy=raters, **PAPER)
    assert expect_kappa(scenario) == pytest.approx(kappa, abs=0.003)
    result = simulate_estimates(scenario, 4000, in_sample=False, seed=5).kappa
    assert abs(float(result.mean()) - kappa) < 0.003


def test_expected_kappa_of_raters_who_are_misled():
    scenario = Scenario(initial_rater_accuracy=(0.6, 0.7), misleading=0.2, base_rates="equal")
    result = simulate_estimates(Scenario(**{**vars(scenario), "n_items": 5000}), 500).kappa
    assert expect_kappa(scenario) == pytest.approx(float(result.mean()), abs=0.002)


def test_raters_who_copy_have_another_kappa_and_are_refused():
    never = Scenario(base_rates="equal", copying=(0, 0, 0))
    assert expect_kappa(never) == pytest.approx(0.25)
    with pytest.raises(InputError, match=r"copying is \(0.0, 1.0, 1.0\); simulate instead"):
        expect_kappa(Scenario(base_rates="equal", copying=(0, 1, 1)))
