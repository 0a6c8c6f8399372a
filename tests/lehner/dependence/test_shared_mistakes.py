"""What shared mistakes do to estimates: large-sample identities, limits, and quantiles."""

import numpy as np
import pytest

from lehner import (
    Estimate,
    InputError,
    IntervalEstimate,
    Ratings,
    Scenario,
    estimate_algebraic,
    population_value,
    sensitivity,
    sensitivity_curve,
    simulate,
    widen_interval,
)
from lehner.dependence.misleading_items import (
    accuracy_if_misled,
    accuracy_if_raters_misled,
    interval_if_misled,
)

INTERVAL = IntervalEstimate(estimate=0.8, lower=0.7, upper=0.88, level=0.9, kind="credible")


@pytest.mark.parametrize("n_categories", [2, 5])
@pytest.mark.parametrize("accuracy", [0.3, 0.9])
def test_it_undoes_what_misleading_items_do_to_the_algebra_in_large_samples(n_categories, accuracy):
    share = 0.2
    scenario = Scenario(
        n_categories=n_categories,
        initial_system_accuracy=accuracy,
        base_rates="equal",
        misleading=share,
    )
    found = population_value(scenario, "algebraic_likelihood")
    # The method believes the items are what they seem to be.
    assert found.estimate == pytest.approx(accuracy, abs=1e-6)
    assert accuracy_if_misled(found.estimate, share, n_categories) == pytest.approx(
        found.estimate - found.bias, abs=1e-6
    )


@pytest.mark.parametrize(("n_categories", "accuracy"), [(2, 0.85), (4, 0.7), (3, 0.2)])
def test_it_finds_the_accuracy_of_a_system_that_is_not_misled(n_categories, accuracy):
    share, n_items = 0.15, 200_000
    rng = np.random.default_rng(1)
    scenario = Scenario(n_categories=n_categories, n_items=n_items, base_rates="equal")
    ratings = simulate(scenario, 1)
    elsewhere = rng.integers(1, n_categories, n_items) * (rng.random(n_items) < share)
    truth = (ratings.truth + elsewhere) % n_categories
    wrong = rng.integers(1, n_categories, n_items) * (rng.random(n_items) > accuracy)
    answers = Ratings(ratings.codes, ratings.categories, system=(truth + wrong) % n_categories)
    found = estimate_algebraic(answers, interval=None).system_accuracy.estimate
    assert abs(found - accuracy) > 0.01
    assert accuracy_if_raters_misled(found, share, n_categories) == pytest.approx(
        accuracy, abs=0.01
    )


def test_misled_raters_that_would_say_nothing_are_refused_and_have_no_sensitivity():
    with pytest.raises(InputError, match="mislead the raters; with 2 categories"):
        accuracy_if_raters_misled(0.8, 0.5, 2)
    estimate = Estimate(
        method="x", system="s", system_accuracy=INTERVAL, system_accuracy_in_sample=INTERVAL
    )
    assert sensitivity(estimate, 2, misleading_share=0.5).raters_alone is None
    alone = sensitivity(estimate, 2).to_dict()["raters_alone"]
    moved = accuracy_if_misled([alone["lower"], alone["estimate"]], 0.1, 2)
    assert moved == pytest.approx([INTERVAL.lower, INTERVAL.estimate])
    assert alone["in_sample"]["upper"] == pytest.approx((0.88 - 0.1) / 0.8)


def test_without_misleading_items_or_without_knowledge_nothing_moves():
    assert accuracy_if_misled(0.8, 0, 3) == 0.8
    assert accuracy_if_misled(1 / 3, [0.1, 0.5], 3) == pytest.approx([1 / 3, 1 / 3])
    # A system that is always right takes the bait each time.
    assert accuracy_if_misled(1.0, 0.1, 4) == pytest.approx(0.9)


def test_with_two_categories_and_items_that_all_mislead_right_is_wrong():
    moved = interval_if_misled(INTERVAL, 1.0, 2)
    assert (moved.estimate, moved.lower, moved.upper) == pytest.approx((0.2, 0.12, 0.3))


def test_the_widened_interval_keeps_estimate_and_upper_end():
    for mistakes in (0.1, (0.5, 4.5)):
        wide = widen_interval(INTERVAL, mistakes, 2)
        assert (wide.estimate, wide.upper, wide.level) == (0.8, 0.88, 0.9)
        assert wide.lower < INTERVAL.lower
    assert widen_interval(INTERVAL, 0.1, 2).lower == pytest.approx(0.9 * 0.7 + 0.1 * 0.3)


def test_the_lower_end_is_the_quantile_over_draws_and_shares():
    rng = np.random.default_rng(1)
    draws = rng.beta(40, 10, size=(4, 500))
    lower, upper = np.quantile(draws, [0.05, 0.95])
    interval = IntervalEstimate(
        estimate=float(draws.mean()), lower=float(lower), upper=float(upper), level=0.9
    )
    wide = widen_interval(interval, (0.5, 4.5), 3, draws=draws)
    shares = rng.beta(0.5, 4.5, size=1_000_000)
    misled = accuracy_if_misled(rng.choice(draws.ravel(), 1_000_000), shares, 3)
    assert wide.lower == pytest.approx(np.quantile(misled, 0.05), abs=0.002)
    # Without the draws, from the interval alone, it is nearly the same.
    assert widen_interval(interval, (0.5, 4.5), 3).lower == pytest.approx(wide.lower, abs=0.01)


def test_a_prior_that_is_nearly_certain_is_its_share():
    certain = widen_interval(INTERVAL, (1e5, 9e5), 3).lower
    assert certain == pytest.approx(widen_interval(INTERVAL, 0.1, 3).lower, abs=0.002)


def test_an_interval_below_chance_is_not_made_narrower():
    low = IntervalEstimate(estimate=0.2, lower=0.1, upper=0.3, level=0.9)
    assert widen_interval(low, 0.1, 2).lower == 0.1
    assert widen_interval(low, (0.5, 4.5), 2).lower == 0.1


def test_what_has_no_number_gets_none():
    nothing = IntervalEstimate(estimate=None)
    found = sensitivity(
        Estimate(
            method="x", system="s", system_accuracy=nothing, system_accuracy_in_sample=nothing
        ),
        2,
        shared_mistakes=(0.5, 4.5),
    ).to_dict()
    assert found["estimate"] is None and found["shared_mistakes"]["lower"] is None
    assert np.isnan(sensitivity_curve(nothing, 2)["estimate"]).all()


def test_the_curve_starts_at_the_estimate_and_falls():
    curve = sensitivity_curve(INTERVAL, 2)
    assert [float(curve[name][0]) for name in ("lower", "estimate", "upper")] == [0.7, 0.8, 0.88]
    assert (np.diff(curve["estimate"]) < 0).all()
    assert float(curve["estimate"].sel(misleading_share=0.5)) == pytest.approx(0.5)


def test_a_share_that_cannot_be_is_refused():
    with pytest.raises(InputError):
        widen_interval(INTERVAL, 1.5, 2)
