"""When known truths contradict a method: p-values if it is right, at any share that is known."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom, norm

import lehner
from lehner import Ratings, Scenario, correct_accuracy, estimate_algebraic, simulate
from lehner.known_truths.correction import check_contradiction
from lehner.known_truths.partly_known import PartlyKnown

SHARES = (0.05, 0.2, 0.5, 0.9, 1.0)
N_ITEMS = 200


def at_most(n_sets, probability):
    """The number of rejections that is exceeded with probability .001."""
    return binom.ppf(0.999, n_sets, probability)


def known_first(n_known, truth):
    return np.where(np.arange(len(truth)) < n_known, truth, -1)


@pytest.mark.slow
@pytest.mark.parametrize("share", SHARES)
def test_calibrated_probabilities_have_uniform_p_values(share):
    n_sets, n_known = 1000, round(share * N_ITEMS)
    p_values = []
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        right = rng.beta(3, 1, N_ITEMS)
        system = rng.integers(0, 2, N_ITEMS)
        truth = np.where(rng.random(N_ITEMS) < right, system, 1 - system)
        items = PartlyKnown(
            probability=right,
            counts=np.ones(N_ITEMS),
            labelled=np.arange(N_ITEMS) < n_known,
            holds=(np.arange(N_ITEMS) < n_known) & (truth == system),
        )
        p_values.append(check_contradiction(items))
        if seed == 0:
            codes = np.column_stack([system, 1 - system])
            ratings = Ratings(codes, ["n", "y"], system=system, truth=known_first(n_known, truth))
            assert correct_accuracy(ratings, right).p_value == p_values[0]
    p_values = np.array(p_values)
    for level in (0.01, 0.05, 0.2):
        # A p-value of the half probability is a little above or below the level.
        assert (p_values < level).sum() <= at_most(n_sets, 1.15 * level)
    assert (p_values < 0.2).sum() >= binom.ppf(0.001, n_sets, 0.17)
    assert abs(p_values.mean() - 0.5) < 4 * np.sqrt(1 / 12 / n_sets)


@pytest.mark.slow
def test_a_method_that_is_right_is_seldom_contradicted_at_any_share():
    scenario = Scenario(
        n_categories=2, n_items=N_ITEMS, initial_rater_accuracy=(0.75,) * 3, base_rates="equal"
    )
    n_sets = 150
    p_values = {share: [] for share in SHARES}
    for seed in range(n_sets):
        ratings = simulate(scenario, seed)
        algebra = estimate_algebraic(ratings.with_truth(None), resamples=200)
        for share in SHARES:
            some = ratings.with_truth(known_first(round(share * N_ITEMS), ratings.truth))
            p_values[share].append(correct_accuracy(some, algebra).p_value)
    for result in p_values.values():
        result = np.array(result)
        assert (result < 0.05).sum() <= at_most(n_sets, 0.06)
        assert (result < 0.01).sum() <= at_most(n_sets, 0.015)
        # With 10 known items there are few possible p-values.
        assert binom.ppf(0.001, n_sets, 0.4) <= (result < 0.5).sum() <= at_most(n_sets, 0.5)


@pytest.mark.slow
def test_a_method_that_is_wrong_is_contradicted():
    misled = Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3, misleading=0.3)
    contradicted = 0
    for seed in range(30):
        ratings = simulate(misled, seed)
        algebra = estimate_algebraic(ratings.with_truth(None), resamples=100)
        some = ratings.with_truth(known_first(100, ratings.truth))
        contradicted += correct_accuracy(some, algebra).p_value < 0.01
    assert contradicted >= 25


def test_the_p_value_is_that_of_all_outcomes_enumerated():
    right = np.array([0.9, 0.6, 0.75, 0.35])
    holds = np.array([True, False, True, False])
    items = PartlyKnown(
        probability=np.append(right, [0.5, 0.8]),
        counts=np.ones(6),
        labelled=np.arange(6) < 4,
        holds=np.append(holds, [False, False]),
    )
    chance = np.zeros(5)
    for outcome in itertools.product([0, 1], repeat=4):
        chance[sum(outcome)] += np.where(outcome, right, 1 - right).prod()
    below = chance[:2].sum() + chance[2] / 2
    assert check_contradiction(items) == pytest.approx(2 * min(below, 1 - below))
    # With an error of the parameters it is that of the sum of both.
    sd = 0.1
    below = chance @ norm.cdf((2 - np.arange(5)) / (4 * sd))
    assert check_contradiction(items, sd**2) == pytest.approx(2 * min(below, 1 - below))


def test_an_estimate_is_all_that_is_needed():
    ratings = simulate(Scenario(n_categories=2, initial_rater_accuracy=(0.75,) * 3), 3)
    some = ratings.with_truth(known_first(40, ratings.truth))
    algebra = estimate_algebraic(some, resamples=200)
    result = correct_accuracy(some, algebra)
    results = lehner.estimate(some, ["algebraic"])
    own = correct_accuracy(some, estimate_algebraic(some, seed=1))
    in_results = results.value("system_accuracy_in_sample", method="algebraic")
    assert in_results.corrected and in_results.upper == own.system_accuracy_in_sample.upper
    test = results.select(quantity="known_truths_test")["probability"].item()
    assert test == own.p_value
    bare = correct_accuracy(some, lehner.predict_correctness(some, algebra))
    assert bare.p_value < result.p_value
