"""The number of items needed, against exact probabilities and independent simulations."""

from collections import namedtuple
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm
from statsmodels.api import WLS, add_constant

from lehner import (
    InputError,
    Scenario,
    find_sample_size,
    make_scenario,
    population_value,
    simulate_estimates,
)
from lehner.simulation.sample_size import Nearness, regress
from tests.reference.loop import simulate_and_estimate

Size = namedtuple("Size", "n_items standard_error lower upper note")
GOOD = Scenario(initial_rater_accuracy=(0.8, 0.8, 0.8))


def find(scenarios, **options):
    """Find a number of items: it, its error, the ends of its interval, and what is said of it."""
    results = find_sample_size(scenarios, **options)
    size, error = results.value("n_items"), results.value("standard_error")
    said = "; ".join(map(str, results.warnings))
    return Size(size.estimate, error.estimate, size.lower, size.upper, said)


def smoothed_binomial_size(accuracy, within, confidence):
    """Items at which a share of right answers is near enough, neighbouring numbers averaged."""
    n = np.arange(2, 1200)
    high = binom.cdf(np.floor(n * (accuracy + within) + 1e-9), n, accuracy)
    low = binom.cdf(np.ceil(n * (accuracy - within) - 1e-9) - 1, n, accuracy)
    exact = high - low
    smooth = [exact[(n >= m / 1.2) & (n <= 1.2 * m)].mean() for m in n[:800]]
    return int(n[:800][np.array(smooth) >= confidence][0])


@pytest.mark.parametrize(
    ("accuracy", "within", "confidence"), [(0.5, 0.1, 0.9), (0.9, 0.05, 0.95), (0.3, 0.08, 0.8)]
)
def test_raters_who_are_always_right_need_what_a_proportion_needs(accuracy, within, confidence):
    scenario = Scenario(initial_rater_accuracy=(1, 1), initial_system_accuracy=accuracy)
    result = find(scenario, within=within, confidence=confidence)
    expected = smoothed_binomial_size(accuracy, within, confidence)
    assert abs(result.n_items - expected) < 4 * result.standard_error + 0.015 * expected
    assert result.standard_error < 0.03 * expected
    assert result.lower < result.n_items <= result.upper
    assert abs(result.upper - result.lower - 2 * 1.96 * result.standard_error) <= 2


def test_the_crossing_and_its_error_are_those_of_weighted_least_squares():
    numbers, shares, n = np.array([40, 60, 90, 130]), np.array([0.6, 0.69, 0.8, 0.86]), 2000
    near = [
        Nearness(n_items=int(items), proportions=np.array([share]), replicates=n, bias=np.zeros(1))
        for items, share in zip(numbers, shares, strict=True)
    ]
    smoothed = (n * shares + 0.5) / (n + 1)
    variance = smoothed * (1 - smoothed) / n / norm.pdf(norm.ppf(smoothed)) ** 2
    fit = WLS(norm.ppf(smoothed), add_constant(np.sqrt(numbers)), 1 / variance)
    fit = fit.fit(cov_type="fixed scale")
    a, b = fit.params
    root = (norm.ppf(0.95) - a) / b
    slopes = np.array([-2 * root / b, -2 * root**2 / b])
    result = regress(near, 0.95)
    assert result.n_items == pytest.approx(root**2)
    assert result.standard_error == pytest.approx(np.sqrt(slopes @ fit.cov_params() @ slopes))


def test_the_share_right_in_the_sample_is_then_known_at_once():
    scenario = Scenario(initial_rater_accuracy=(1, 1), initial_system_accuracy=0.5)
    result = find(scenario, estimand="system_accuracy_in_sample", within=0.01)
    assert (result.n_items, result.standard_error) == (10, 0)
    assert result.note == "10 items or fewer"


@pytest.mark.slow
def test_with_that_many_items_an_independent_simulation_is_as_often_near():
    result = find(GOOD, method="algebraic_paper")
    scenario = replace(GOOD, n_items=int(result.n_items))
    rng = np.random.default_rng(8)
    estimates = np.array([simulate_and_estimate(scenario, rng)[0] for _ in range(2500)])
    near = np.abs(estimates - 0.9) <= 0.1 + 1e-9
    # The standard error of n_items is worth less than a third of this one.
    assert abs(near.mean() - 0.9) < 4 * np.sqrt(0.09 / 2500)


@pytest.mark.slow
def test_with_that_many_items_violated_scenarios_are_near_often_enough_on_average():
    scenarios = [
        make_scenario(0.5, violation=1, system_accuracy=accuracy) for accuracy in (0.3, 0.8)
    ]
    result = find(scenarios, estimand="system_accuracy_in_sample", replicates=8000)
    shares = []
    for scenario in scenarios:
        drawn = simulate_estimates(replace(scenario, n_items=int(result.n_items)), 8000, seed=99)
        shares.append(np.abs(drawn.algebraic - drawn.system_accuracy_in_sample) <= 0.1 + 1e-9)
    share = float(np.mean(shares))
    slope = 0.17 / result.n_items  # of the probability, over the number of items
    error = np.hypot(np.sqrt(0.09 / 16_000), slope * result.standard_error)
    assert abs(share - 0.9) < 4 * error


@pytest.mark.slow
def test_the_error_bar_is_what_answers_to_different_seeds_differ_by():
    scenario = replace(GOOD, initial_system_accuracy=0.5)
    result = [find(scenario, replicates=1000, seed=seed) for seed in range(20)]
    numbers = [answer.n_items for answer in result]
    stated = np.sqrt(np.mean([answer.standard_error**2 for answer in result]))
    # A standard deviation of 20 values is known to 16%.
    assert 0.55 < np.std(numbers, ddof=1) / stated < 1.5
    inside = [answer.lower <= np.mean(numbers) <= answer.upper for answer in result]
    assert np.mean(inside) >= 0.8


def test_a_bias_larger_than_the_distance_leaves_no_number_of_items():
    scenario = make_scenario(0.12, violation=1, system_accuracy=0.9)
    result = find(scenario, replicates=1000)
    assert result.n_items is result.standard_error is result.lower is result.upper is None
    assert result.note.startswith("no number of items up to 100,000 is enough")
    limit = population_value(scenario, replicates=2000)
    assert limit.bias < -0.1
    bias = float(result.note.rpartition("large-sample bias is ")[2].replace("−", "-"))
    assert abs(bias - limit.bias) < 0.03


@pytest.mark.slow
def test_a_smaller_number_is_named_only_if_it_is_better_beyond_chance():
    falling, level = (
        find(
            make_scenario(0.12, violation=1, system_accuracy=accuracy),
            within=within,
            replicates=1000,
        )
        for accuracy, within in ((0.1, 0.1), (0.5, 0.05))
    )
    assert "and 0.29 with 10;" in falling.note
    assert level.note.count("probability") == 1 and ", and 0." not in level.note


def test_raters_who_agree_below_chance_have_no_bias_to_speak_of():
    opposed = Scenario(n_categories=2, initial_rater_accuracy=(0.9, 0.1))
    result = find(opposed, replicates=1000)
    assert result.n_items is None
    assert result.note.endswith("raters agree at or below chance, and the estimate is undefined")


def test_estimates_that_are_undefined_are_not_near():
    scenario = Scenario(initial_rater_accuracy=(0.3, 0.3, 0.3), base_rates="equal")
    result = find(scenario, within=1, replicates=1000, confidence=0.95)
    # Any estimate is within 1 of the truth, so that only the undefined ones are not.
    few = simulate_estimates(replace(scenario, n_items=10), 1000, in_sample=False)
    assert np.isnan(few.algebraic).mean() > 0.2
    assert result.n_items > 10


def test_the_average_lies_between_the_scenarios():
    scenarios = [replace(GOOD, initial_system_accuracy=accuracy) for accuracy in (0.5, 0.9)]
    each = sorted(find(scenario, replicates=1000).n_items for scenario in scenarios)
    both = find(scenarios, replicates=1000)
    assert each[0] < both.n_items < each[1]


def test_other_methods_have_other_numbers():
    scenario = make_scenario(0.3)
    paper, weighted = (
        find(scenario, method=method, replicates=4000)
        for method in ("algebraic_paper", "algebraic")
    )
    assert weighted.upper < paper.lower


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"within": 0}, "within is 0"),
        ({"within": 1.1}, "within is 1.1"),
        ({"within": np.nan}, "within is nan"),
        ({"confidence": 0}, "confidence is 0; give a number between 0 and 1"),
        ({"confidence": 1}, "confidence is 1"),
        ({"method": "relaxed_k"}, "needs only votes called 'relaxed_k'"),
        ({"estimand": "accuracy"}, "estimand is 'accuracy'"),
        ({"replicates": 10}, "replicates is 10"),
        ({"seed": -1}, "seed is -1"),
        ({"scenarios": []}, "scenarios is"),
        (
            {"scenarios": Scenario(initial_rater_accuracy=(0.6,) * 40)},
            "take fewer raters or categories",
        ),
        (
            {"scenarios": Scenario(n_categories=20, initial_rater_accuracy=(0.6,) * 15)},
            "15 raters in 20",
        ),
    ],
)
def test_bad_arguments_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        find_sample_size(**({"scenarios": GOOD} | options))
