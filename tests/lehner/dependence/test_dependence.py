"""Dependence of raters: who is named, how often in vain, and what raters are worth."""

import tracemalloc
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import lehner
from lehner import Ratings, Scenario, check_dependence, check_k_properties, simulate
from lehner.core.arrays import derive_seeds
from lehner.dependence import check as checking
from lehner.dependence.bounds import read_real_crowds
from lehner.dependence.check import (
    correlate_known_errors,
    count_effective_raters,
    predict_effective_raters,
)
from lehner.dependence.score_test import name_pairs, score_pairs
from tests.reference.behaviours import BEHAVIOURS, draw, name_pairs_of

COPYING = Scenario(
    n_items=400,
    initial_rater_accuracy=(0.5, 0.6, 0.7, 0.8),
    n_categories=3,
    copying=(0, 0.4, 0, 0),
    base_rates="equal",
)
FOUR = Scenario(n_items=400, copying=(0, 0.4, 0), base_rates="equal")


def without_truth(ratings):
    return Ratings(ratings.votes, ratings.categories, ratings.raters, ratings.items, ratings.system)


def rates(who, behaviour, k, n_items, n_sets):
    seeds = derive_seeds(5, n_sets)
    rows = [name_pairs_of(seed, who, behaviour, k, n_items) for seed in seeds]
    return pd.DataFrame(rows).sum()


@pytest.mark.parametrize(
    ("who", "k", "n_items"),
    [
        ("3 raters and the system", 2, 300),
        ("4 raters and the system", 3, 100),
        pytest.param("8 raters", 5, 1000, marks=pytest.mark.slow),
    ],
)
def test_independent_raters_of_unequal_accuracy_are_not_accused(who, k, n_items):
    n_sets = 20
    for behaviour in ("independent", "40% missing"):
        named = rates(who, behaviour, k, n_items, n_sets)["anyone"]
        assert named <= binom.ppf(0.999, n_sets, 0.02), behaviour


@pytest.mark.parametrize(
    ("who", "k"), [("8 raters", 2), ("4 raters and the system", 3), ("4 raters and the system", 5)]
)
def test_the_pair_that_shares_mistakes_is_named_and_no_other(who, k):
    result = rates(who, "rater 2 repeats rater 1", k, 300, 20)
    assert result["right"] >= 18
    assert result["innocent"] <= 1
    assert result["undecided"] == 0


def test_a_system_that_repeats_a_rater_is_mostly_named():
    """The best of five repeats the worst: harder to see than a rater who repeats another."""
    result = rates("4 raters and the system", "the system repeats rater 1", 3, 1000, 20)
    assert result["right"] >= 12


@pytest.mark.slow
@pytest.mark.parametrize("behaviour", [b for b in BEHAVIOURS if "repeats" not in b])
def test_other_reasons_to_agree_accuse_few(behaviour):
    named = rates("4 raters and the system", behaviour, 3, 300, 100)["anyone"]
    assert named <= binom.ppf(0.999, 100, 0.06)


def test_three_raters_and_a_system_cannot_tell_which_two_of_four_share_mistakes():
    result = check_dependence(without_truth(simulate(FOUR, 1)))
    assert result.undecided and len(result.list_warnings()) == 1
    assert result.list_warnings()[0].code == "shared-mistakes"
    assert "among four one cannot tell which" in str(result.list_warnings()[0])
    named = {pair.raters for pair in result.pairs if pair.stands_out}
    assert named == {("Rater 1", "Rater 2"), ("Rater 3", "system")}
    assert result.effective_raters.effective is None
    (warning,) = result.warn_of_estimates()
    assert "or Rater 1 and Rater 2 make correlated errors, which looks the same" in str(warning)


def test_known_truths_tell_which_two_of_four_share_mistakes():
    right = 0
    for seed in range(10):
        ratings = simulate(FOUR, seed)
        some = ratings.with_truth(np.where(np.arange(400) < 300, ratings.truth, -1))
        result = check_dependence(some)
        named = [pair.raters for pair in result.pairs if pair.stands_out]
        right += named == [("Rater 1", "Rater 2")]
    assert right >= 8


def test_three_raters_are_tested_only_with_known_truths():
    ratings = simulate(FOUR, 1).without_system()
    result = check_dependence(without_truth(ratings))
    assert result.pairs == () and result.p_value is None
    assert "different accuracies explain any agreement of three raters" in result.reason
    named = [pair.raters for pair in check_dependence(ratings).pairs if pair.stands_out]
    assert named == [("Rater 1", "Rater 2")]
    few = ratings.with_truth(np.where(np.arange(400) < 49, ratings.truth, -1))
    assert check_dependence(few).reason == result.reason


def test_truths_that_are_no_random_sample_do_not_enter():
    ratings = simulate(COPYING, 1)
    differ = np.array([len(set(row)) > 1 for row in ratings.codes.tolist()])
    result = check_dependence(ratings.with_truth(np.where(differ, ratings.truth, -1)))
    assert result.effective_raters.source == "unknown"
    assert result.pairs == check_dependence(without_truth(ratings)).pairs
    at_random = ratings.with_truth(np.where(np.arange(400) < 60, ratings.truth, -1))
    assert correlate_known_errors(at_random).n_items == 60


def test_all_say_the_same_of_a_pair():
    ratings = without_truth(simulate(COPYING, 1))
    result = check_dependence(ratings)
    (pair,) = [pair for pair in result.pairs if pair.stands_out]
    assert pair.raters == ("Rater 1", "Rater 2")
    assert pair.shared == pytest.approx(0.4, abs=0.1)
    test = check_k_properties(ratings, replicates=199).tests["independence"]
    assert test.p_value == result.p_value == pair.p_value
    assert str(result.list_warnings()[0]).startswith(f"{test.note}: they make correlated errors")


def test_several_raters_who_repeat_one_are_seen_and_nobody_else_is_named():
    """Three who repeat one another seem to be the ones who know, and the others to share errors."""
    scenario = Scenario(
        n_items=600,
        n_categories=3,
        initial_rater_accuracy=(0.6,) * 8,
        copying=(0, 0.5, 0.5, 0, 0, 0, 0, 0),
        base_rates="equal",
    )
    for seed in range(5):
        result = check_dependence(without_truth(simulate(scenario, seed)).without_system())
        named = {pair.raters for pair in result.pairs if pair.stands_out}
        assert result.p_value < 0.01
        assert all("Rater 1" in pair or pair == ("Rater 2", "Rater 3") for pair in named)


def test_where_all_pairs_agree_more_nobody_is_named():
    scenario = Scenario(
        n_items=5000,
        n_categories=2,
        initial_rater_accuracy=(0.7,) * 8,
        easiness=(-0.2, 0, 0.2),
        base_rates="equal",
    )
    result = check_dependence(without_truth(simulate(scenario, 1)).without_system())
    assert result.p_value < 0.01 and result.list_warnings() == ()
    assert "but no two of them stand out" in result.name_clearest_pair()


def test_the_score_is_the_derivative_of_the_log_likelihood():
    """Numerically, with all parameters known: no truth is unknown, and the fit is by counting."""
    rng = np.random.default_rng(3)
    n = 4000
    truth = rng.integers(0, 3, n)
    right = rng.random((n, 3)) < [0.6, 0.7, 0.8]
    codes = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, 3, (n, 3))) % 3)
    copied = rng.random(n) < 0.2
    codes[copied, 1] = codes[copied, 0]
    scores = score_pairs(codes, np.ones(n), truth, 3)
    accuracy = np.stack([(codes[truth == k] == k).mean(axis=0) for k in range(3)])[truth]
    likelihood = np.where(codes == truth[:, None], accuracy, (1 - accuracy) / 2)

    def log_likelihood(q, a, b):
        alone = likelihood[:, a] * likelihood[:, b]
        repeated = (codes[:, a] == codes[:, b]) * (likelihood[:, a] + likelihood[:, b]) / 2
        return np.log((1 - q) * alone + q * repeated).sum()

    for place, (a, b) in enumerate(combinations(range(3), 2)):
        slope = (log_likelihood(1e-6, a, b) - log_likelihood(-1e-6, a, b)) / 2e-6
        assert scores.score[place] == pytest.approx(slope, rel=0.02, abs=2)
    result = name_pairs(scores, np.full(3, True), 0.01)
    assert result.named == (0,) and result.rival is None


@pytest.mark.slow
def test_scores_have_the_spread_that_is_computed():
    z = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 2, 300)
        codes = np.where(rng.random((300, 5)) < 0.75, truth[:, None], 1 - truth[:, None])
        scores = score_pairs(codes, np.ones(300), np.full(300, -1), 2)
        z.append(scores.score / np.sqrt(np.diag(scores.covariance)))
    z = np.array(z)
    assert abs(z.mean()) < 0.25
    assert 0.85 < z.std() < 1.15


def mistakes_of(ratings):
    codes = np.stack(
        [
            ratings.votes.category_index[ratings.votes.rater_index == j]
            for j in range(ratings.n_raters)
        ]
    )
    return (codes != ratings.truth).astype(float)


def test_known_truths_give_the_mean_phi_of_two_raters():
    ratings = simulate(Scenario(n_items=300, copying=(0, 0.5, 0.5)), 3)
    result = correlate_known_errors(ratings)
    phi = np.corrcoef(mistakes_of(ratings))[np.triu_indices(3, 1)]
    assert result.correlation == pytest.approx(phi.mean())
    assert result.source == "gold labels" and result.n_items == 300
    assert result.effective == pytest.approx(3 / (1 + 2 * result.correlation))


def test_each_rater_is_compared_with_their_own_rate_of_mistakes():
    # On 40% of the items all three err where the first is wrong.
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 20_000)
    common = rng.random(20_000)
    wrong = [
        np.where(rng.random(20_000) < 0.4, common, rng.random(20_000)) < rate
        for rate in (0.05, 0.05, 0.5)
    ]
    codes = np.column_stack([np.where(mistakes, 1 - truth, truth) for mistakes in wrong])
    ratings = Ratings(codes, ["n", "y"], truth=truth)
    result = correlate_known_errors(ratings)
    phi = np.corrcoef(mistakes_of(ratings))[np.triu_indices(3, 1)]
    assert result.correlation == pytest.approx(phi.mean())
    assert result.correlation > 0.05 and result.effective < 2.8
    # With one rate for all, raters who differ would seem to err in turns.
    anonymous = correlate_known_errors(Ratings(codes, ["n", "y"], truth=truth, anonymous=True))
    assert anonymous.correlation < 0 and anonymous.source == "gold labels, equal raters"


def test_pairs_count_by_the_items_that_both_rated_and_by_own_rates():
    rng = np.random.default_rng(2)
    ratings = simulate(Scenario(n_items=400, copying=(0, 0.5, 0), n_categories=2), 5)
    codes = np.where(rng.random((400, 3)) < [0.1, 0.3, 0.6], -1, ratings.codes)
    some = Ratings(codes, ["n", "y"], truth=ratings.truth)
    wrong = np.where(codes >= 0, codes != ratings.truth[:, None], np.nan)
    z = (wrong - np.nanmean(wrong, axis=0)) / np.nanstd(wrong, axis=0)
    products = np.concatenate([z[:, i] * z[:, j] for i, j in ((0, 1), (0, 2), (1, 2))])
    assert correlate_known_errors(some).correlation == pytest.approx(np.nanmean(products))


def test_memory_does_not_grow_with_squared_categories_for_each_rater():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 100, (1000, 1))
    codes = np.where(rng.random((1000, 5)) < 0.7, truth, rng.integers(0, 100, (1000, 5)))
    ratings = Ratings(codes, [str(k) for k in range(100)])
    tracemalloc.start()
    try:
        check_dependence(ratings)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6


@pytest.mark.parametrize("n_categories", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_raters_who_hardly_ever_err_are_not_accused(n_categories):
    """Their few errors are moved away from 0, and that alone must not make them stand out."""
    n_sets = 60
    rngs = [np.random.default_rng([n_categories, i]) for i in range(n_sets)]
    every = [draw("unequal accuracy", 3, n_categories, 500, rng) for rng in rngs]
    named = sum(any(pair.stands_out for pair in check_dependence(sample).pairs) for sample in every)
    assert named <= binom.ppf(0.999, n_sets, 0.01)


def test_a_system_that_copies_a_rater_is_told_of_in_each_estimate():
    ratings = draw("the system repeats rater 1 on 35%", 5, 4, 500, np.random.default_rng(1))
    results = lehner.estimate(ratings, ["majority_agreement", "algebraic"])
    (warning,) = (warning for warning in results.warnings if warning.code == "system-copies-rater")
    assert warning.method == ""
    assert str(warning).startswith(f"{ratings.raters[0]} and the system agree on")
    assert f"as if the system repeated {ratings.raters[0]} on" in str(warning)


@pytest.mark.slow
def test_a_more_accurate_rater_is_not_taken_for_one_whom_the_system_copies():
    accuracy = np.tile([0.6, 0.6, 0.6, 0.6, 0.95, 0.9], (500, 1))
    named = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = rng.integers(3, size=(500, 1))
        wrong = (truth + rng.integers(1, 3, size=accuracy.shape)) % 3
        codes = np.where(rng.random(accuracy.shape) < accuracy, truth, wrong)
        ratings = Ratings(codes[:, :-1], ["a", "b", "c"], system=codes[:, -1])
        named += bool(check_dependence(ratings).warn_of_estimates())
    assert named <= binom.ppf(0.999, 40, 0.01)


def test_raters_who_together_agree_more_are_told_of_where_no_pair_stands_out():
    ratings = draw("hidden types, shared confusions", 5, 4, 500, np.random.default_rng(1))
    result = check_dependence(ratings)
    assert result.list_outstanding() == [] and result.p_value_together < 0.001
    (warning,) = result.warn_of_estimates()
    assert warning.code == "agreement-unexplained" and "hidden types" in str(warning)


def test_independent_raters_together_agree_as_their_accuracies_explain():
    rngs = [np.random.default_rng([3, i]) for i in range(40)]
    tests = [check_dependence(draw("unequal accuracy", 5, 2, 500, rng)) for rng in rngs]
    assert sum(test.p_value_together <= 0.01 for test in tests) <= binom.ppf(0.999, 40, 0.01)


def test_effective_raters_of_families_left_out_are_between_those_of_the_others(monkeypatch):
    crowds = read_real_crowds()
    inside = {}
    for family in np.unique(crowds["family"]):
        left_out = crowds["family"] == family
        monkeypatch.setattr(checking, "read_real_crowds", lambda rest=crowds[~left_out]: rest)
        lower, upper = predict_effective_raters(5)
        result = [count_effective_raters(5, rater) for rater in crowds["raters"][left_out]]
        inside[family] = np.mean([lower <= number <= upper for number in result])
    # With 22 families the standard error is .06.
    assert np.mean(list(inside.values())) == pytest.approx(0.91, abs=0.01)


def test_more_raters_are_worth_more_in_crowds_but_not_much_more():
    three, thirty = predict_effective_raters(3), predict_effective_raters(30)
    assert 1 < three[0] < thirty[0] < 2
    assert three[1] <= 3
    assert predict_effective_raters(5, level=0.5)[0] > predict_effective_raters(5)[0]
