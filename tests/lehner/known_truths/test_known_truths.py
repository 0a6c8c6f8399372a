"""Known truths: the correction against enumeration, limits and simulation; items to ask for."""

import itertools

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import hypergeom, norm

import lehner
from lehner import (
    InputError,
    Ratings,
    Scenario,
    choose_items,
    correct_accuracy,
    estimate_algebraic,
    inclusion_probabilities,
    predict_correctness,
    simulate,
)
from lehner.core.resampling import find_wilson_n, wilson_interval
from lehner.known_truths.correction import CALIBRATION_SLOPES, correct_base_rates, infer_proportion
from lehner.known_truths.partly_known import (
    PartlyKnown,
    estimate_alone,
    examine_known,
    prediction_powered,
)


def partly_known(probability, n_known, holds, counts=None):
    n = len(probability)
    labelled = np.arange(n) < n_known
    return PartlyKnown(
        probability=np.asarray(probability, dtype=float),
        counts=np.ones(n) if counts is None else np.asarray(counts, dtype=float),
        labelled=labelled,
        holds=labelled & np.asarray(holds, dtype=bool),
    )


def enumerated(items):
    """The posterior of the share by the formulas, item by item and outcome by outcome."""
    unknown = items.probability[~items.labelled]
    shares = np.zeros(len(unknown) + 1)
    bias_grid = np.linspace(-0.999, 0.999, 1999)
    for slope in CALIBRATION_SLOPES:
        sloped = slope * logit(items.probability)
        bias = bias_grid[(bias_grid > -items.mean) & (bias_grid < 1 - items.mean)]
        low, high = np.full_like(bias, -40.0), np.full_like(bias, 40.0)
        for _ in range(40):
            middle = (low + high) / 2
            below = expit(middle[:, None] + sloped).mean(axis=1) < items.mean + bias
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        chance = expit(low[:, None] + sloped)
        likelihood = np.where(items.holds, chance, 1 - chance)[:, items.labelled].prod(axis=1)
        weight = likelihood / (1 + (bias / 0.15) ** 2)
        chance = chance[:, ~items.labelled]
        for outcome in itertools.product([0, 1], repeat=len(unknown)):
            shares[sum(outcome)] += weight @ np.where(outcome, chance, 1 - chance).prod(axis=1)
    return shares / shares.sum()


def test_the_posterior_equals_enumeration_of_all_outcomes():
    # Log odds that are whole multiples of the step, so that nothing is rounded.
    probability = expit([2.0, 0.5, 2.0, -0.5, 0.5, 2.0])
    items = partly_known(probability, 3, [1, 0, 1, 0, 0, 0])
    result, expected = infer_proportion(items), enumerated(items)
    values = (2 + np.arange(4)) / 6
    np.testing.assert_allclose(result.values, values)
    assert result.mean == pytest.approx(values @ expected, abs=0.01)
    # The number of unknown items that hold is normal instead: of three items, nearly.
    np.testing.assert_allclose(result.probability, expected, atol=0.06)


def test_what_is_known_for_certain_bounds_the_interval():
    rng = np.random.default_rng(1)
    probability = rng.uniform(0.3, 1, 50)
    for n_known in (1, 10, 45, 49):
        holds = rng.uniform(size=50) < 0.5
        items = partly_known(probability, n_known, holds)
        lower, upper = infer_proportion(items).interval(0.99)
        assert items.n_holding / 50 <= lower <= upper <= (50 - n_known + items.n_holding) / 50
    everything = infer_proportion(partly_known(probability, 50, holds))
    assert everything.interval(0.9) == (holds.mean(), holds.mean())


def test_many_known_items_outweigh_any_probabilities():
    rng = np.random.default_rng(2)
    holds = rng.uniform(size=20_000) < 0.3
    items = partly_known(np.full(20_000, 0.95), 2000, holds)
    alone, result = estimate_alone(items), infer_proportion(items)
    assert result.mean == pytest.approx(alone.estimate, abs=0.002)
    assert result.interval(0.9) == pytest.approx((alone.lower, alone.upper), abs=0.002)


def test_a_method_less_sure_of_itself_is_corrected_more():
    items = partly_known(np.full(100, 0.9), 10, np.arange(100) % 2)
    means = [infer_proportion(items, variance).mean for variance in (0.0, 0.01, 0.1, 1.0)]
    assert means == sorted(means, reverse=True)


def test_the_known_items_alone_have_the_survey_interval():
    # A population without end: Wilson's interval for 8 of 10, 95%, as in textbooks.
    items = partly_known(np.full(10**6, 0.5), 10, np.arange(10**6) < 8)
    result = estimate_alone(items, 0.95)
    assert (result.estimate, result.lower, result.upper) == pytest.approx(
        (0.8, 0.4902, 0.9433), abs=1e-4
    )
    # And in any population it is the set of shares that a z-test of the sample allows.
    items = partly_known(np.full(100, 0.5), 20, np.arange(100) < 13)
    result = estimate_alone(items, 0.9)
    for end in (result.lower, result.upper):
        error = np.sqrt(end * (1 - end) / 20 * 80 / 99)
        assert abs(0.65 - end) / error == pytest.approx(norm.ppf(0.95))


def test_prediction_powered_inference_is_the_regression_estimator():
    rng = np.random.default_rng(3)
    probability = rng.uniform(size=400)
    holds = rng.uniform(size=400) < 0.2 + 0.5 * probability
    items = partly_known(probability, 100, holds)
    f, h = probability[:100], holds[:100]
    # As printed: lambda over labelled and unlabelled items, n / N = 1/3.
    best = np.cov(h, f)[0, 1] / ((1 + 1 / 3) * probability.var(ddof=1))
    printed = best * probability[100:].mean() + (h - best * f).mean()
    result = prediction_powered(items)
    assert result.estimate == pytest.approx(printed)
    assert result.lower < holds.mean() < result.upper


@pytest.mark.parametrize("n_items", [50, 114, 300])
@pytest.mark.parametrize("seed", range(3))
def test_labels_that_are_all_alike_give_no_interval_of_width_zero(n_items, seed):
    probability = np.random.default_rng(seed).uniform(size=n_items)
    for f in (probability, np.full(n_items, 0.85)):
        certain = prediction_powered(partly_known(f, 10, np.ones(n_items)))
        assert certain.estimate == 1 and certain.lower is None


def test_the_algebra_gets_the_systems_answer_by_bayes_rule():
    ratings = simulate(Scenario(n_items=300), 1)
    algebra = estimate_algebraic(ratings, interval=None)
    truth, accuracy = algebra.truth_probabilities.values, algebra.system_accuracy.estimate
    right, k = truth[np.arange(300), ratings.system] * accuracy, ratings.n_categories
    wrong = (1 - right / accuracy) * (1 - accuracy) / (k - 1)
    assert predict_correctness(ratings, algebra) == pytest.approx(right / (right + wrong))


def some_known(scenario, n_known, seed):
    """Ratings of which the first items are known, and the accuracy in the sample."""
    ratings = simulate(scenario, seed)
    truth = np.where(np.arange(len(ratings.items)) < n_known, ratings.truth, -1)
    return ratings.with_truth(truth), float(np.mean(ratings.truth == ratings.system))


MISLED = Scenario(n_categories=2, n_items=200, initial_rater_accuracy=(0.8,) * 3, misleading=0.3)


@pytest.mark.slow
def test_items_that_mislead_everybody_are_found_and_corrected_for():
    errors, alone, uncorrected, covered, alarms = [], [], [], [], []
    for seed in range(40):
        ratings, truth = some_known(MISLED, 50, seed)
        algebra = estimate_algebraic(ratings, resamples=50)
        result = correct_accuracy(ratings, algebra)
        accuracy = result.system_accuracy_in_sample
        errors.append(accuracy.estimate - truth)
        alone.append(result.known_items_alone.estimate - truth)
        uncorrected.append(algebra.system_accuracy_in_sample.estimate - truth)
        covered.append(accuracy.lower <= truth <= accuracy.upper)
        alarms.append("truths-contradict" in [warning.code for warning in result.warnings])
        assert result.system_accuracy.lower < accuracy.lower < accuracy.upper
    rmse = [np.sqrt(np.mean(np.square(e))) for e in (errors, alone, uncorrected)]
    assert rmse[0] < 1.05 * rmse[1] and rmse[0] < rmse[2] / 2
    assert np.mean(covered) > 0.75 and np.mean(alarms) > 0.65


@pytest.mark.slow
def test_no_alarm_and_little_error_where_the_method_is_right():
    scenario = Scenario(n_categories=2, n_items=200, initial_rater_accuracy=(0.8,) * 3)
    alarms, errors, alone = 0, [], []
    for seed in range(60):
        ratings, truth = some_known(scenario, 20, seed)
        algebra = estimate_algebraic(ratings, resamples=50)
        result = correct_accuracy(ratings, algebra)
        alarms += bool(result.warnings)
        errors.append(result.system_accuracy_in_sample.estimate - truth)
        alone.append(result.known_items_alone.estimate - truth)
    assert alarms <= 3
    assert np.mean(np.square(errors)) < 0.7 * np.mean(np.square(alone))


def test_base_rates_are_corrected():
    scenario = Scenario(n_categories=3, initial_rater_accuracy=(0.7,) * 3, misleading=0.3)
    own, corrected, alone = [], [], []
    for seed in range(15):
        ratings = simulate(scenario, seed)
        true = np.bincount(ratings.truth, minlength=3) / 200
        probability = lehner.label(ratings.with_truth(None), "algebraic").truth_probabilities
        some = ratings.with_truth(np.where(np.arange(200) < 20, ratings.truth, -1))
        result = correct_base_rates(some, probability.values, 0.9)
        assert (result[:, 1] < result[:, 2]).all()
        own.append(probability.mean("item") - true)
        corrected.append(result[:, 0] - true)
        alone.append(np.bincount(ratings.truth[:20], minlength=3) / 20 - true)
    assert np.mean(np.square(corrected)) < np.mean(np.square(alone))
    assert np.mean(np.square(corrected)) < 0.7 * np.mean(np.square(own))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ratings": "no truth"}, "no truth is known"),
        ({"ratings": "no system"}, "no answer of a system"),
        ({"estimate": [0.5] * 3}, r"shape \(3,\) for 4 rows"),
        ({"estimate": [0.5, 0.5, np.nan, 1]}, "probability of item 2 is nan"),
        ({"estimate": [0.5, 1.5, 0, 1]}, "probability of item 1 is 1.5"),
        ({"estimate": ["a"] * 4}, "not all numbers"),
        ({"variance": -1}, "variance is -1"),
        ({"level": 1.0}, "level is 1.0"),
    ],
)
def test_bad_input_is_refused(change, said):
    ratings = Ratings(
        [[0, 0], [1, 1], [0, 1], [1, 0]], ["n", "y"], system=[0, 1, 0, 1], truth=[0, 1, -1, -1]
    )
    named = {"no truth": ratings.with_truth(None), "no system": ratings.without_system()}
    arguments = {"ratings": ratings, "estimate": [0.9, 0.8, 0.7, 0.6]} | change
    if isinstance(arguments["ratings"], str):
        arguments["ratings"] = named[arguments["ratings"]]
    with pytest.raises(InputError, match=said):
        correct_accuracy(**arguments)


def test_a_method_without_an_estimate_has_no_probabilities():
    ratings = Ratings([[0, 1], [1, 0], [0, 1], [1, 1]], ["n", "y"], system=[0, 1, 0, 1])
    with pytest.raises(InputError, match="gives no probabilities"):
        predict_correctness(ratings, lehner.majority_agreement(ratings))


@pytest.mark.slow
def test_all_items_are_equally_likely_to_be_asked_for():
    ratings, _ = some_known(
        Scenario(n_categories=2, n_items=40, initial_rater_accuracy=(0.7,) * 3), 10, 1
    )
    draws = [choose_items(ratings, 6, seed=seed) for seed in range(2000)]
    assert all(len(np.unique(rows)) == 6 for rows in draws)
    share = np.bincount(np.concatenate(draws), minlength=40) / 2000
    assert (share[:10] == 0).all()
    np.testing.assert_allclose(share[10:], 0.2, atol=4 * np.sqrt(0.16 / 2000))
    np.testing.assert_array_equal(draws[7], choose_items(ratings, 6, seed=7))


def test_items_by_votes_are_in_proportion_to_the_votes():
    scenario = Scenario(n_categories=2, n_items=300, initial_rater_accuracy=(0.7,) * 3)
    ratings = simulate(scenario, 1).with_truth(None)
    agreed = ratings.count_votes().max(axis=1) == 3
    for seed in range(20):
        rows = choose_items(ratings, 30, seed=seed)
        assert abs(agreed[rows].sum() - 30 * agreed.mean()) < 1


def test_what_cannot_be_asked_for_is_refused():
    ratings = Ratings([[0, 1], [1, 1]], ["n", "y"], system=[0, -1])
    with pytest.raises(InputError, match="2 items asked for, but the system answered only 1"):
        choose_items(ratings, 2)
    with pytest.raises(InputError, match="several items"):
        choose_items(ratings.take([0, 1], [3, 4]), 1)


@pytest.mark.parametrize("with_system", [False, True])
def test_the_p_value_allows_for_as_many_tests_as_there_are(with_system):
    """Three tests without a system, six with one; alone the least p-value would be too small."""
    votes, n = np.repeat([[0, 0], [1, 1], [0, 1]], [40, 40, 20], axis=0), np.arange(100)
    labelled = np.isin(n, [*range(12), 40, 41, *range(80, 86)])
    system = np.resize([0, 0, 1, 1], 100) if with_system else None
    ratings = Ratings(votes, ["no", "yes"], system=system, truth=np.where(labelled, 0, -1))
    # Most say yes on 2 of 20 labelled items and on 40 of all 100, by the hypergeometric law.
    drawn = hypergeom(100, 40, 20).pmf(np.arange(21))
    p_value = drawn[drawn <= drawn[2] * (1 + 1e-9)].sum()
    sample = examine_known(ratings)
    assert sample.what == "most raters say 'yes'" and p_value < 0.005 and sample.random
    assert sample.p_value == pytest.approx((6 if with_system else 3) * p_value, rel=1e-9)


@pytest.mark.parametrize("pool_name", ["disagreeing", "unanimous", "of one category", "answered"])
def test_known_items_that_were_not_drawn_at_random_are_found(pool_name):
    ratings = simulate(Scenario(n_categories=2, n_items=200, initial_rater_accuracy=(0.7,) * 3), 3)
    votes = ratings.count_votes()
    agree = votes.max(axis=1) == 3
    pools = {
        "disagreeing": ~agree,
        "unanimous": agree,
        "of one category": votes[:, 0] > votes[:, 1],
        "answered": ratings.system == 0,
    }
    pool = np.flatnonzero(pools[pool_name])[:20]
    gold = np.where(np.isin(np.arange(200), pool), ratings.truth, -1)
    assert not examine_known(ratings.with_truth(gold)).random


@pytest.mark.slow
def test_items_drawn_at_random_are_seldom_said_to_be_chosen():
    scenario = Scenario(n_categories=3, n_items=150, initial_rater_accuracy=(0.6,) * 3)
    fired = 0
    for seed in range(300):
        ratings = simulate(scenario, seed)
        truth = np.where(np.arange(150) < 20, ratings.truth, -1)
        fired += not examine_known(ratings.with_truth(truth)).random
    # The level is .005 and Fisher's test is conservative: 5 of 300 has a probability below .02.
    assert fired <= 5


def test_the_number_of_gold_labels_is_found_among_billions():
    assert find_wilson_n(0.8, 0.1, z=1.6449, population=2 * 10**9) == 172
    for n_items in (1, 2, 50):
        n = np.arange(1, n_items + 1)
        lower, upper = wilson_interval(np.full(n_items, 0.7), n, z=1.6449, population=n_items)
        expected = n[upper - lower <= 0.1][0]
        assert find_wilson_n(0.7, 0.1, z=1.6449, population=n_items) == expected


@pytest.mark.parametrize("probability", [0.0, 1e-300, 2.0, np.nan])
def test_probabilities_of_being_known_are_in_a_range(probability):
    with pytest.raises(InputError, match=r"from 0\.000001 to 1"):
        Ratings([[0, 1], [1, 1]], ["no", "yes"], truth_probability=[0.5, probability])


def rare():
    rng = np.random.default_rng(1)
    truth = rng.random(400) < 0.03
    codes = (rng.random((400, 4)) < np.where(truth, 0.7, 0.02)[:, None]).astype(int)
    return Ratings(codes[:, :3], ["ok", "toxic"], system=codes[:, 3])


def test_of_a_rare_category_half_are_asked_for_with_the_chances_that_are_stated():
    ratings = rare()
    named = (ratings.count_votes()[:, 1] > 0) | (ratings.system == 1)
    chances = inclusion_probabilities(ratings, 30, "toxic")
    assert chances.sum() == pytest.approx(30)
    assert chances[named].sum() == pytest.approx(15)
    drawn = [choose_items(ratings, 30, enrich="toxic", seed=seed) for seed in range(400)]
    assert all(named[rows].sum() == 15 and len(set(rows)) == 30 for rows in drawn)
    share = np.bincount(np.concatenate(drawn), minlength=400) / 400
    np.testing.assert_allclose(share, chances, atol=5 * np.sqrt(chances.max() / 400))
    # Of fewer items than half of those asked for, all are chosen.
    many = inclusion_probabilities(ratings, 350, "toxic")
    assert set(many[named]) == {0.999} and (many[~named] < 1).all()


def test_without_a_system_every_rated_item_may_be_asked_for():
    ratings = Ratings([[0, 1], [1, -1], [-1, -1], [1, 1]], ["n", "y"], truth=[-1, -1, -1, 0])
    assert choose_items(ratings, 2).tolist() == [0, 1]
    with pytest.raises(InputError, match="the raters rated only 2"):
        choose_items(ratings, 3)


@pytest.mark.parametrize(
    "ratings, n, enrich, said",
    [
        (rare(), 20, "tox", "no category 'tox'; did you mean 'toxic'"),
        (rare(), 401, "toxic", "ask for 2 items or more"),
        (rare().with_truth([0] * 400), 20, "toxic", "not drawn with these probabilities"),
        (Ratings([[0, 0]] * 9, ["ok", "toxic"]), 2, "toxic", "0 of 9 items are called 'toxic'"),
    ],
)
def test_an_enriched_draw_that_cannot_be_is_refused(ratings, n, enrich, said):
    with pytest.raises(InputError, match=said):
        choose_items(ratings, n, enrich=enrich)
