"""When known truths contradict a method, and confidence sequences of them."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, norm

import lehner
from lehner import Ratings, Scenario, correct_accuracy, estimate_algebraic, simulate
from lehner.known_truths.anytime import confidence_sequence, estimate_anytime
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


# Confidence sequences against the published formulas, and how often they miss the truth.


LEVEL = 0.9


def is_excluded(mean, values, control, control_mean, size, level=LEVEL):
    """Bet against one mean, a label after the other (Waudby-Smith & Ramdas 2024)."""
    alpha, more, less = 1 - level, 1.0, 1.0
    total = of_control = together = variation = adjusted_total = squares = 0.0
    for t, (x, c) in enumerate(zip(values, control, strict=True), start=1):
        n_left = size - (t - 1)
        left = mean if size == math.inf else (size * mean - total) / n_left
        control_left = control_mean
        if size < math.inf:
            control_left = (size * control_mean - of_control) / n_left
        slope = min(1.0, max(0.0, together / (1 + variation)))
        adjusted = x - slope * (c - control_left)
        variance = (0.25 + squares) / t
        bet = math.sqrt(2 * math.log(2 / alpha) / (variance * t * math.log(1 + t)))
        bet *= math.sqrt(size / n_left) if size < math.inf else 1
        more *= 1 + min(bet, 0.5 / (left + slope * (1 - control_left))) * (adjusted - left)
        less *= 1 - min(bet, 0.5 / (1 - left + slope * control_left)) * (adjusted - left)
        adjusted_total += adjusted
        squares += (adjusted - (0.5 + adjusted_total) / (t + 1)) ** 2
        together += (x - (0.5 + total) / t) * (c - control_mean)
        variation += (c - control_mean) ** 2
        total, of_control = total + x, of_control + c
    possible = total / size <= mean <= 1 - (len(values) - total) / size
    return not possible or max(more, less) / 2 >= 1 / alpha


def draw(rng, n, rate=0.7, right=0.85):
    truth = (rng.random(n) < rate).astype(float)
    return truth, np.where(rng.random(n) < right, truth, 1 - truth)


@pytest.mark.parametrize("size", [120, math.inf])
@pytest.mark.parametrize("with_control", [False, True])
def test_the_ends_are_where_the_published_bets_exclude_a_mean(size, with_control):
    truth, judge = draw(np.random.default_rng(3), 120)
    control, mean = (judge, judge.mean()) if with_control else (np.full(120, 0.5), 0.5)
    ends = confidence_sequence(truth[:60], size, control[:60] if with_control else None, mean)
    for n in (10, 35, 60):
        lower, upper = ends[n - 1]
        seen = truth[:n], control[:n], mean, size
        assert is_excluded(lower - 0.002, *seen) and is_excluded(upper + 0.002, *seen)
        for inside in np.linspace(lower + 0.0025, upper - 0.0025, 20):
            assert not is_excluded(inside, *seen)


@pytest.mark.parametrize("rate", [0.6, 0.95])
@pytest.mark.parametrize("right", [0.5, 0.9])
def test_it_seldom_excludes_the_truth_at_any_time(rate, right):
    rng, missed, n = np.random.default_rng(1), 0, 120
    for _ in range(n):
        truth, judge = draw(rng, 150, rate, right)
        ends = confidence_sequence(truth[:100], 150, judge[:100], judge.mean(), level=LEVEL)
        missed += ((ends[:, 0] > truth.mean()) | (ends[:, 1] < truth.mean())).any()
    assert missed / n <= 0.1 + 2 * math.sqrt(0.09 / n)


def test_a_judge_who_is_right_makes_it_narrower_and_all_labels_tell_all():
    truth, judge = draw(np.random.default_rng(2), 400)
    some = np.where(np.arange(400) < 100, truth, np.nan)
    alone, helped = (estimate_anytime(some, x, LEVEL) for x in (np.full(400, 0.5), judge))
    assert np.ptp(helped[1:]) < 0.8 * np.ptp(alone[1:])
    assert np.allclose(estimate_anytime(truth, judge, LEVEL), truth.mean())
    assert estimate_anytime(some * np.nan, judge, LEVEL)[1:].tolist() == [0, 1]
