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


def draws_of(*scenarios, n_draws):
    """A fit in which one draw after another is of another scenario."""
    each = [certain_tree(one, n_draws)["posterior"].to_dataset() for one in scenarios]
    tree = xr.DataTree.from_dict({"posterior": xr.concat(each, "draw")})
    tree.attrs["model"] = "relaxed_k"
    return tree


AT_CHANCE = Scenario(rater_accuracy=(0.2, 0.2, 0.2), n_items=50, base_rates="equal")


def test_draws_without_agreement_beyond_chance_are_told_and_leave_no_estimate_if_most():
    ratings = simulate(Scenario(n_items=50), 1)
    found = adjust_algebraic(certain_tree(AT_CHANCE, 200), ratings)
    accuracy = found.system_accuracy
    assert (accuracy.estimate, accuracy.lower, accuracy.upper) == (None, None, None)
    assert found.system_accuracy_in_sample == accuracy
    assert "at or below chance: there is no adjusted estimate" in found.warnings[-1]
    mixed = draws_of(Scenario(n_items=50), AT_CHANCE, n_draws=100)
    some = adjust_algebraic(mixed, ratings)
    assert some.system_accuracy.estimate is not None
    assert "estimate and interval leave these out" in some.warnings[-1]
    none = adjust_algebraic(certain_tree(Scenario(n_items=50), 100), ratings)
    assert not any("at or below chance" in text for text in none.warnings)


def test_many_raters_have_few_votes():
    scenario = Scenario(rater_accuracy=(0.6,) * 10, n_items=500)
    found = adjust_algebraic(certain_tree(scenario, 40), simulate(scenario, 1))
    assert found.system_accuracy.estimate == pytest.approx(0.9, abs=0.1)


def test_repeated_ratings_are_refused():
    item = np.repeat(np.arange(10), 4)
    table = {
        "item": item,
        "rater": list("aabb") * 10,
        "occasion": [1, 2] * 20,
        "rating": np.where(item % 2, "y", "x"),
    }
    once = Ratings.from_long(table, occasion="occasion")
    ratings = Ratings(once.flat, once.categories, once.raters, once.items, [0, 1] * 5)
    scenario = Scenario(n_categories=2, rater_accuracy=(0.7, 0.7), n_items=10)
    with pytest.raises(InputError, match="more than once"):
        adjust_algebraic(certain_tree(scenario, 4), ratings)
