"""The bias of the algebra under draws is the simulator's under the same parameters."""

import numpy as np
import pytest
import xarray as xr

from bayes_models.adjustment import adjust_algebraic
from lehner import (
    InputError,
    Ratings,
    Scenario,
    estimate_algebraic,
    simulate,
    simulate_estimates,
    true_parameters,
)

SCENARIO = Scenario(
    rater_accuracy=(0.5, 0.6, 0.7),
    difficulty=(-0.2, 0, 0.2),
    asymmetric_dispersion=2,
    base_rates=(0.3, 0.25, 0.2, 0.15, 0.1),
)


def certain_tree(scenario, n_draws, *, model="relaxed_k"):
    """A fit that knows the parameters: all draws are the true ones."""
    truth = true_parameters(scenario).transpose("rater", "level", "category", "response")
    sizes = {"chain": 2, "draw": n_draws // 2}
    posterior = xr.Dataset(
        {
            "base_rates": truth["base_rates"].expand_dims(sizes),
            "confusion_by_level": truth["confusion"].expand_dims(sizes),
        }
    )
    tree = xr.DataTree.from_dict({"posterior": posterior})
    tree.attrs["model"] = model
    return tree


def test_bias_is_that_of_the_simulator():
    ratings = simulate(SCENARIO, 1)
    found = adjust_algebraic(certain_tree(SCENARIO, 400), ratings)
    runs = simulate_estimates(SCENARIO, 2000, seed=2)
    error = (runs.algebraic - runs.system_accuracy).values
    assert found.diagnostics["bias"] == pytest.approx(error.mean(), abs=4 * error.std() / 20)
    observed = estimate_algebraic(ratings, interval=None).system_accuracy.estimate
    accuracy = found.system_accuracy
    assert accuracy.estimate == pytest.approx(observed - found.diagnostics["bias"])
    lower, upper = np.quantile(observed - error, [0.05, 0.95])
    assert (accuracy.lower, accuracy.upper) == pytest.approx((lower, min(upper, 1)), abs=0.03)


def test_another_model_is_refused():
    with pytest.raises(InputError, match="fit relaxed_k"):
        adjust_algebraic(certain_tree(SCENARIO, 4, model="tap"), simulate(SCENARIO, 1))


def test_many_raters_are_adjusted():
    many = Scenario(rater_accuracy=(0.5,) * 11, n_items=2000)
    found = adjust_algebraic(certain_tree(many, 40), simulate(many, 1))
    assert found.diagnostics["bias"] == pytest.approx(0, abs=0.01)


def test_too_many_votes_are_refused_with_what_is_possible():
    many = Scenario(n_categories=20, rater_accuracy=(0.6,) * 15, n_items=20)
    with pytest.raises(InputError, match=r"15 raters in 20 categories .* 6 raters with 20 cat"):
        adjust_algebraic(certain_tree(many, 2), simulate(many, 1))


def test_agreement_at_chance_has_no_estimate():
    chance = Ratings([[0, 1, 2], [1, 2, 0]] * 10, "ABCDE", system=[0, 1] * 10)
    found = adjust_algebraic(certain_tree(SCENARIO, 4), chance)
    assert found.system_accuracy.estimate is None and "chance" in found.warnings[0]
