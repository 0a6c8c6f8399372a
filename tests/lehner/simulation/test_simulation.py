"""Simulated ratings follow the scenario's law; the fast simulator is the slow one, only faster."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, ks_2samp, multinomial

from lehner import (
    InputError,
    Scenario,
    draw_true_parameters,
    estimate_algebraic,
    simulate,
    simulate_estimates,
)
from lehner.algebra.algebraic import VOTE_METHODS, estimate_from_votes, majority_agreement
from lehner.simulation.draw import count_cells, list_patterns, list_probabilities, vote_table
from lehner.simulation.scenario import draw_parameters
from tests.reference.loop import simulate_and_estimate

VIOLATED = Scenario(
    initial_rater_accuracy=(0.5, 0.6, 0.7),
    easiness=(-0.2, 0, 0.2),
    asymmetric_dispersion=2,
    proportional_error_range=1,
)
ODD = Scenario(
    n_categories=3,
    initial_rater_accuracy=(0.5, 0.6, 0.9),
    initial_system_accuracy=0.7,
    easiness=(-0.3, 0.1, 0.1),
    easiness_affects="raters",
    asymmetric_dispersion=3,
    proportional_error_range=0.5,
    missing=0.2,
    copying=(0, 0.4, 0.1),
    misleading=0.15,
)
SCENARIOS = {
    "K-properties": Scenario(),
    "violated": VIOLATED,
    "odd": ODD,
    "odd, nothing missing": replace(ODD, missing=0.0),
    "odd, nobody copies": replace(ODD, copying=()),
    "two raters, two categories": Scenario(n_categories=2, initial_rater_accuracy=(0.7, 0.8)),
}
each_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


# ----- The law -----


def slow_law(scenario, seed):
    """P(pattern, answer) and P(pattern, answer, answer right), summed one state at a time."""
    parameters = draw_true_parameters(scenario, seed)
    k, n_raters = scenario.n_categories, scenario.n_raters
    codes = list_patterns(n_raters, k, missing=scenario.missing > 0)
    base, confusion = parameters.base_rates.values, parameters.confusion.values
    both = np.zeros((2, k, len(codes)))
    complete = list(product(range(k), repeat=n_raters))
    for g, share in enumerate(parameters.level_probabilities.values):
        for truth in range(k):
            for seen in range(k):
                m = scenario.misleading
                state = share * base[truth] * (1 - m if seen == truth else m / (k - 1))
                for judged in complete:
                    p = state
                    for j, x in enumerate(judged):
                        copies = scenario.copying[j] if scenario.copying else 0.0
                        p *= (1 - copies) * confusion[g, j, seen, x] + copies * (x == judged[0])
                    for i, code in enumerate(codes):
                        if ((code < 0) | (code == np.array(judged))).all():
                            gone = (code < 0).sum()
                            q = (
                                p
                                * scenario.missing**gone
                                * (1 - scenario.missing) ** (n_raters - gone)
                            )
                            both[0, :, i] += q * confusion[g, -1, seen]
                            both[1, truth, i] += q * confusion[g, -1, seen, truth]
    return both


@pytest.mark.parametrize("name", ["odd", "odd, nothing missing", "odd, nobody copies"])
def test_pattern_probabilities_are_the_sum_over_all_states(name):
    scenario = SCENARIOS[name]
    drawn = draw_parameters(scenario, 1, np.random.default_rng(3))
    any_answer, right = slow_law(scenario, 3)
    np.testing.assert_allclose(
        list_probabilities(scenario, drawn, by_rater=True)[0], any_answer, atol=1e-14
    )
    np.testing.assert_allclose(
        list_probabilities(scenario, drawn, right=True, by_rater=True)[0], right, atol=1e-14
    )


@each_scenario
def test_probabilities_sum_to_one_and_right_answers_to_the_accuracy(scenario):
    drawn = draw_parameters(scenario, 5, np.random.default_rng(1))
    np.testing.assert_allclose(
        list_probabilities(scenario, drawn, by_rater=True).sum(axis=(1, 2)), 1
    )
    right = list_probabilities(scenario, drawn, right=True, by_rater=True).sum(axis=(1, 2))
    expected = float(draw_true_parameters(scenario, 1).system_accuracy)
    parameters = draw_parameters(scenario, 1, np.random.default_rng(1))
    np.testing.assert_allclose(
        list_probabilities(scenario, parameters, right=True, by_rater=True).sum(),
        expected,
        atol=1e-12,
    )
    assert (right <= 1 + 1e-12).all()


@each_scenario
def test_simulated_items_follow_the_law(scenario):
    n = 40_000
    ratings = simulate(replace(scenario, n_items=n), seed=7)
    drawn = draw_parameters(scenario, 1, np.random.default_rng(7))
    k = scenario.n_categories
    symbols = k + (scenario.missing > 0)
    codes = np.where(ratings.codes < 0, k, ratings.codes)
    index = np.ravel_multi_index(codes.T, (symbols,) * scenario.n_raters)
    right = ratings.truth == ratings.system
    for rows, name in ((np.full(n, True), False), (right, True)):
        p = list_probabilities(scenario, drawn, right=name, by_rater=True)[0].ravel()
        cell = (ratings.system * symbols**scenario.n_raters + index)[rows]
        observed = np.append(np.bincount(cell, minlength=len(p)), n - len(cell))
        p = np.append(p, max(0.0, 1 - p.sum()))
        assert observed[p < 1e-12].sum() == 0
        common = n * p >= 5
        observed = np.append(observed[common], observed[~common].sum())
        expected = n * np.append(p[common], p[~common].sum())
        kept = expected > 1e-6
        assert chisquare(observed[kept], expected[kept], sum_check=False).pvalue > 1e-4


def test_the_same_seed_gives_the_same_ratings_and_parameters():
    first, two = simulate(ODD, seed=5), simulate(ODD, seed=5)
    assert first.equals(two)
    assert not first.equals(simulate(ODD, seed=6))
    assert draw_true_parameters(ODD, 5).equals(draw_true_parameters(ODD, 5))


def test_simulated_ratings_carry_names_and_order():
    ratings = simulate(Scenario(asymmetric_dispersion=2, n_items=3))
    assert ratings.ordered
    assert ratings.raters == ("Rater 1", "Rater 2", "Rater 3")
    assert ratings.categories == ("A", "B", "C", "D", "E")
    assert not simulate(Scenario(n_items=3)).ordered


# ----- Many samples at once -----


@pytest.mark.parametrize("n_items", [10, 60, 300])
@each_scenario
def test_methods_that_need_only_votes_give_what_they_give_on_ratings(scenario, n_items):
    ratings = simulate(replace(scenario, n_items=n_items), seed=n_items)
    collapsed = ratings.collapsed_votes
    counts = collapsed.lay_out(collapsed.weights[None].astype(float))[..., :-1]
    result = estimate_from_votes(collapsed, counts, tuple(VOTE_METHODS))
    expected = [
        estimate_algebraic(ratings, interval=None),
        estimate_algebraic(ratings, aggregation="paper", interval=None),
        majority_agreement(ratings),
    ]
    for fit in expected:
        point = fit.system_accuracy.estimate
        point = np.nan if point is None else point
        np.testing.assert_allclose(result[fit.method], [point], rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [Scenario(n_items=50), replace(VIOLATED, n_items=50)])
def test_estimates_and_shares_right_are_distributed_as_in_the_loop(scenario):
    rng = np.random.default_rng(4)
    slow = np.array([simulate_and_estimate(scenario, rng) for _ in range(1500)])
    fast = simulate_estimates(scenario, 6000, methods=["algebraic_paper"], seed=4)
    pairs = (
        (slow[:, 0], fast.algebraic_paper.values),
        (slow[:, 1], fast.system_accuracy_in_sample.values),
        # How near the estimate is to the share right in the same sample.
        (slow[:, 0] - slow[:, 1], (fast.algebraic_paper - fast.system_accuracy_in_sample).values),
    )
    for first, other in pairs:
        assert ks_2samp(first[~np.isnan(first)], other[~np.isnan(other)]).pvalue > 0.001


def test_more_replicates_leave_the_first_ones_as_they_are():
    few = simulate_estimates(VIOLATED, 10, seed=3)
    many = simulate_estimates(VIOLATED, 700, seed=3)
    assert few.equals(many.isel(replicate=slice(10)))
    assert not np.array_equal(many.algebraic[:100], many.algebraic[250:350])


def test_undefined_estimates_are_nan_and_only_those():
    result = simulate_estimates(
        Scenario(initial_rater_accuracy=(0.25, 0.25, 0.25), n_items=20),
        500,
        methods=tuple(VOTE_METHODS),
    )
    undefined = np.isnan(result.rater_accuracy.values)
    assert undefined.any() and not undefined.all()
    algebra = result.algebraic.values
    assert np.isnan(algebra[undefined]).all() and not np.isnan(algebra[~undefined]).any()
    assert not np.isnan(result.majority_agreement.values).any()


def test_bad_arguments_are_refused():
    with pytest.raises(InputError, match="replicates is 0"):
        simulate_estimates(Scenario(), 0)
    with pytest.raises(InputError, match="dawid_skene"):
        simulate_estimates(Scenario(), 10, methods=["dawid_skene"])


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
    assert float(result.kappa.mean()) == pytest.approx(0.302, abs=0.02)


def test_too_many_votes_are_refused():
    many = Scenario(n_categories=20, initial_rater_accuracy=(0.6,) * 15)
    with pytest.raises(InputError, match="15 raters in 20 categories"):
        simulate_estimates(many, 10)
