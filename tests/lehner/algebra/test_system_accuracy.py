"""Step 4 is consistent: with items on which raters are tied, and in what is said of its limit."""

from dataclasses import replace

import numpy as np
import pytest

from lehner import Scenario, estimate_algebraic, load_dataset, population_value, simulate_estimates

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
