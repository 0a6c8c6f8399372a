"""Votes by adding raters one by one are the patterns, summed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multinomial

from lehner import InputError, Scenario, expect_kappa, simulate_estimates
from lehner.simulation.draw import count_cells, list_patterns, list_probabilities, vote_table
from lehner.simulation.scenario import draw_parameters

shares = st.floats(0, 1)


@st.composite
def scenarios(draw):
    n_raters = draw(st.integers(2, 4))
    copying = (0.0, *draw(st.lists(shares, min_size=n_raters - 1, max_size=n_raters - 1)))
    return Scenario(
        n_categories=draw(st.integers(2, 4)),
        initial_rater_accuracy=tuple(draw(st.lists(shares, min_size=n_raters, max_size=n_raters))),
        initial_system_accuracy=draw(shares),
        easiness=draw(st.sampled_from([(0.0,), (-0.2, 0.1)])),
        asymmetric_dispersion=draw(st.sampled_from([1.0, 2.5])),
        proportional_error_range=draw(st.sampled_from([0.0, 0.7])),
        missing=draw(st.sampled_from([0.0, 0.3])),
        copying=draw(st.sampled_from([(), copying])),
        misleading=draw(st.sampled_from([0.0, 0.2])),
    )


@given(scenarios(), st.booleans())
def test_votes_are_as_likely_as_the_patterns_that_give_them(scenario, right):
    drawn = draw_parameters(scenario, 3, np.random.default_rng(1))
    k, missing = scenario.n_categories, scenario.missing > 0
    patterns = list_patterns(scenario.n_raters, k, missing=missing)
    table = vote_table(scenario.n_raters, k, missing=missing)
    votes = (patterns[:, :, None] == np.arange(k)).sum(axis=1)
    gives = (votes[:, None] == table.votes).all(axis=2)
    assert (gives.sum(axis=1) == 1).all() and gives.any(axis=0).all()
    equal = np.triu(patterns[:, :, None] == patterns[:, None], 1) & (patterns >= 0)[:, :, None]
    assert (equal.sum(axis=(1, 2)) == gives @ table.agreeing).all()
    slow = list_probabilities(scenario, drawn, right=right, by_rater=True) @ gives
    fast = list_probabilities(scenario, drawn, right=right)
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-14)
    cells = count_cells(scenario)
    assert slow.size == 3 * cells


def test_many_equal_raters_vote_by_the_multinomial_distribution():
    scenario = Scenario(
        n_categories=4,
        initial_rater_accuracy=(0.7,) * 12,
        initial_system_accuracy=0.8,
        base_rates=(0.4, 0.3, 0.2, 0.1),
    )
    drawn = draw_parameters(scenario, 1, np.random.default_rng(1))
    result = list_probabilities(scenario, drawn)[0]
    votes = vote_table(12, 4, missing=False).votes
    rows = 0.1 + 0.6 * np.eye(4)
    system = 0.2 / 3 + (0.8 - 0.2 / 3) * np.eye(4)
    given_truth = np.array([multinomial(12, row).pmf(votes) for row in rows])
    expected = np.einsum("z,zx,zv->xv", scenario.base_rates, system, given_truth)
    np.testing.assert_allclose(result, expected, atol=1e-13)


def test_votes_in_very_many_categories_stay_in_order():
    votes = vote_table(2, 150, missing=False).votes
    assert votes.shape == (150 * 151 // 2, 150)
    assert (votes.sum(axis=1) == 2).all()
    scenario = Scenario(n_categories=150, initial_rater_accuracy=(0.5, 0.9), base_rates="equal")
    result = list_probabilities(scenario, draw_parameters(scenario, 1, np.random.default_rng(1)))
    agree = result[0, :, votes.max(axis=1) == 2].sum()
    assert agree == pytest.approx(0.5 * 0.9 + 0.5 * 0.1 / 149)


@pytest.mark.slow
def test_rounding_errors_of_many_raters_do_not_stop_the_simulation():
    raters = tuple(np.linspace(0.6, 0.8, 40))
    scenario = Scenario(n_categories=3, initial_rater_accuracy=raters, proportional_error_range=1)
    result = simulate_estimates(replace(scenario, n_items=50), 100, in_sample=False)
    assert float(result.kappa.mean()) == pytest.approx(expect_kappa(scenario), abs=0.02)


def test_too_many_votes_are_refused():
    many = Scenario(n_categories=20, initial_rater_accuracy=(0.6,) * 15)
    with pytest.raises(InputError, match="15 raters in 20 categories"):
        simulate_estimates(many, 10)
