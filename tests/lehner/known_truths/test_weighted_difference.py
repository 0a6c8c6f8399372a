"""Truths found out with unequal probabilities: published, peer and limiting values, and draws."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import lehner
from lehner import (
    InputError,
    Ratings,
    Scenario,
    check_dependence,
    correct_accuracy,
    estimate_algebraic,
    estimate_learned_prior,
    simulate,
)
from lehner.known_truths.correction import infer_proportion
from lehner.known_truths.partly_known import (
    RECALIBRATED,
    WEIGHTED,
    PartlyKnown,
    collect_right,
    count_effective,
    estimate_alone,
    examine_known,
    prediction_powered,
    weigh_difference,
    weigh_labels,
)
from lehner.performance.replicates import correct_measures
from tests.lehner.questions import collect_rows

SCENARIO = Scenario(
    n_categories=2,
    n_items=1000,
    base_rates=(0.85, 0.15),
    initial_rater_accuracy=(0.75,) * 3,
    initial_system_accuracy=0.85,
    misleading=0.2,
)


@pytest.fixture(scope="module")
def drawn() -> Ratings:
    """Positives of the system are verified five times as often as negatives."""
    ratings = simulate(SCENARIO, 1)
    chance = np.where(ratings.system == 1, 0.5, 0.1)
    labelled = np.random.default_rng(98).random(1000) < chance
    return ratings.with_truth(np.where(labelled, ratings.truth, -1), chance)


def population(seed, n=400, *, chances=(0.1, 0.2, 0.4)):
    rng = np.random.default_rng(seed)
    probability = rng.beta(4, 1.5, n)
    chance = rng.permutation(np.resize(chances, n))
    return rng, probability, rng.random(n) < probability, chance


def choose(rng, probability, right, chance):
    labelled = rng.random(len(chance)) < chance
    return PartlyKnown(
        probability=probability,
        counts=np.ones(len(chance)),
        labelled=labelled,
        holds=labelled & right,
        chance=chance,
    )


def test_a_published_table_of_verification_bias():
    """Begg & Greenes (1983): liver scans of 650 patients; livers of 344 were looked at.

    Of 429 with a positive scan 231 were diseased and 32 not, of 221 with a negative one 27 and 54.
    Sensitivity and specificity are .84 and .74, and .90 and .63 of the verified patients alone.
    """
    counts = np.array([231, 32, 429 - 263, 27, 54, 221 - 81])
    scan, liver = np.array([1, 1, 1, 0, 0, 0]), np.array([1, 0, -1, 1, 0, -1])
    chance = np.where(scan == 1, 263 / 429, 81 / 221)
    ratings = Ratings(
        np.zeros((6, 2), int),
        ["well", "ill"],
        system=scan,
        counts=counts,
        truth=liver,
        truth_probability=chance,
    )
    values = {"truth_probabilities": np.full((6, 2), 0.5)}
    ill, of_ill = 429 * 231 / 263, 221 * 27 / 81
    expected = {"ill": ill / (ill + of_ill), "well": (221 - of_ill) / (650 - ill - of_ill)}
    assert expected == pytest.approx({"ill": 0.84, "well": 0.74}, abs=0.005)
    algebra = estimate_algebraic(simulate(SCENARIO, 1), interval=None)
    array = lehner.data.estimable.label_array(
        values["truth_probabilities"], ratings, "item", "category"
    )
    method = lehner.Estimate(
        method="mine",
        system="system",
        system_accuracy=algebra.system_accuracy,
        system_accuracy_in_sample=algebra.system_accuracy_in_sample,
        arrays={"truth_probabilities": array},
    )
    result = collect_rows(correct_measures(ratings, method))
    for name, value in expected.items():
        recall = result.value("recall", category=name)
        assert recall.estimate == pytest.approx(value, abs=0.005) and recall.kind == WEIGHTED
        assert recall.lower < value < recall.upper
    accuracy = correct_accuracy(ratings, method)
    right = (ill + 221 - of_ill) / 650
    assert accuracy.prediction_powered.estimate == pytest.approx(right, abs=1e-9)
    assert accuracy.known_items_alone.estimate == pytest.approx(right, abs=1e-9)


BY_ANSWER = {"answer": lambda full: full.system, "votes": lambda full: full.count_votes()[:, 1] > 1}


def choose_labels(seed, by="answer", low=0.03, high=0.6, n_items=400):
    """Labels with one probability where the system says B, or most raters do, else another."""
    scenario = Scenario(n_categories=2, n_items=n_items, initial_rater_accuracy=(0.75,) * 3)
    full = simulate(scenario, seed)
    chance = np.where(BY_ANSWER[by](full) > 0, high, low)
    chosen = np.random.default_rng(seed).random(n_items) < chance
    return full, full.with_truth(np.where(chosen, full.truth, -1)), chance


def test_probabilities_estimated_from_the_file_give_the_published_correction():
    """Without the probabilities the table of Begg & Greenes gives the same, but for shrinkage."""
    counts = np.array([231, 32, 429 - 263, 27, 54, 221 - 81])
    scan, liver = np.array([1, 1, 1, 0, 0, 0]), np.array([1, 0, -1, 1, 0, -1])
    ratings = Ratings(
        np.tile([0, 1], (6, 1)), ["well", "ill"], system=scan, counts=counts, truth=liver
    )
    weighted, warnings = weigh_labels(ratings)
    assert [warning.code for warning in warnings] == ["truths-weighted"]
    expected = np.where(scan == 1, 263 / 429, 81 / 221)
    np.testing.assert_allclose(weighted.truth_probability, expected, atol=0.003)
    right = (429 * 231 / 263 + 221 * 54 / 81) / 650
    alone = [
        estimate_alone(collect_right(each, np.zeros(6))).estimate for each in (ratings, weighted)
    ]
    assert alone[1] == pytest.approx(right, abs=0.001) and abs(alone[0] - right) > 0.009


def test_estimated_probabilities_maximise_the_penalised_likelihood():
    _, ratings, _ = choose_labels(5)
    weighted, _ = weigh_labels(ratings)
    votes = ratings.count_votes()
    features = np.c_[
        votes / 3, votes.max(axis=1) == 3, ratings.system == 0, ratings.system == 1
    ].astype(float)
    features = (features - features.mean(axis=0)) / features.std(axis=0)

    def loss(slopes):
        chance = expit(slopes[0] + features @ slopes[1:])
        likelihood = np.where(ratings.truth >= 0, chance, 1 - chance)
        return -np.log(likelihood).sum() + (slopes[1:] ** 2).sum() / 2

    best = minimize(loss, np.zeros(6), tol=1e-10).x
    expected = expit(best[0] + features @ best[1:])
    np.testing.assert_allclose(weighted.truth_probability, expected, atol=1e-4)


@pytest.mark.parametrize("by", ["answer", "votes"])
def test_labels_that_were_chosen_are_weighted_and_random_ones_are_not(by):
    full, chosen, _ = choose_labels(3, by)
    weighted, warnings = weigh_labels(chosen)
    assert [(each.code, each.severity) for each in warnings] == [("truths-weighted", "changes")]
    assert not examine_known(chosen).random and examine_known(weighted).random
    assert weigh_labels(weighted) == (weighted, [])
    for other in (full, full.with_truth(None), choose_labels(3, by, 0.2, 0.2)[1]):
        assert weigh_labels(other) == (other, [])


def test_labels_of_one_kind_of_items_only_are_left_out_unless_models_see_them():
    _, ratings, _ = choose_labels(3, low=0.0)
    results = lehner.estimate(ratings, ["learned_prior", "algebraic"])
    blind = lehner.estimate(ratings.with_truth(None), ["learned_prior", "algebraic"])
    assert results.table.equals(blind.table)
    (said,) = (each for each in results.warnings if each.code == "truths-not-random")
    assert "are left out" in said.text and "system says 'A'" in said.text
    kept, warnings = weigh_labels(ratings, in_model=True)
    assert kept is ratings and [each.code for each in warnings] == ["truths-not-random"]


def test_clusters_widen_weighted_intervals():
    """As many whole clusters of equal items tell as much as so many items."""
    rng, probability, right, _ = population(9, 4000)
    items = choose(rng, probability, right, np.full(4000, 0.1))
    groups = {name: np.repeat(getattr(items, name), 5) for name in ("probability", "counts")}
    groups |= {name: np.repeat(getattr(items, name), 5) for name in ("labelled", "holds", "chance")}
    clustered = PartlyKnown(**groups, cluster=np.repeat(np.arange(4000), 5))
    one, five = weigh_difference(items), weigh_difference(clustered)
    assert five.n_effective == pytest.approx(one.n_effective, rel=0.02)
    assert five.variance == pytest.approx(one.variance, rel=0.02)


def test_it_is_the_weighted_mean_of_ppi_python():
    peer = pytest.importorskip("ppi_py")
    rng, probability, right, chance = population(7, 4000)
    items = choose(rng, probability + 0.3 * rng.random(4000), right, chance)
    result = weigh_difference(items)
    labelled = items.labelled
    theirs = peer.ppi_mean_pointestimate(
        items.holds[labelled].astype(float),
        items.probability[labelled],
        items.probability,
        lam=result.slope,
        w=1 / items.chance[labelled],
    )
    assert 0 < result.slope < 1
    assert result.estimate == pytest.approx(theirs.item(), rel=1e-9)


def test_equal_probabilities_give_prediction_powered_inference():
    rng, probability, right, _ = population(3)
    labelled = np.arange(400) < 40
    both = PartlyKnown(
        probability=probability, counts=np.ones(400), labelled=labelled, holds=labelled & right
    )
    weighted = choose(rng, probability, right, np.full(400, 0.1))
    weighted = PartlyKnown(**vars(both) | {"chance": weighted.chance})
    assert prediction_powered(weighted) == prediction_powered(both)
    assert estimate_alone(weighted).estimate == estimate_alone(both).estimate
    assert count_effective(weighted) == pytest.approx((40, (labelled & right).sum()), abs=1)


@pytest.mark.slow
def test_the_standard_error_is_that_of_draws_and_the_slope_the_best():
    rng, probability, right, chance = population(4, 4000)
    draws = [weigh_difference(choose(rng, probability, right, chance)) for _ in range(400)]
    alone = [
        weigh_difference(choose(rng, probability, right, chance), helped=False) for _ in range(400)
    ]
    estimates = np.array([draw.estimate for draw in draws])
    assert estimates.mean() == pytest.approx(right.mean(), abs=3 * estimates.std() / 20)
    assert np.mean([draw.variance for draw in draws]) == pytest.approx(estimates.var(), rel=0.2)
    assert estimates.var() < np.var([estimate.estimate for estimate in alone])
    # An interval rests on as many items as its variance says.
    n_effective = np.mean([draw.n_effective for draw in draws])
    assert n_effective == pytest.approx(right.var() / estimates.var(), rel=0.2)


def test_items_that_are_sure_to_be_known_are_counted_and_not_estimated():
    rng, probability, right, _ = population(6)
    items = choose(rng, probability, right, np.where(np.arange(400) < 100, 1.0, 0.2))
    rest = weigh_difference(items.uncertain).estimate
    assert prediction_powered(items).estimate == pytest.approx(
        (right[:100].sum() + 300 * rest) / 400
    )
    posterior = infer_proportion(items)
    assert posterior.values[0] >= items.n_holding / 400
    exact = choose(rng, probability, right, np.ones(400))
    for result in (estimate_alone(exact), prediction_powered(exact)):
        assert result.estimate == right.mean()
    assert infer_proportion(exact).interval(0.9) == (right.mean(), right.mean())
    none = choose(rng, probability, right, np.where(np.arange(400) < 100, 1.0, 1e-9))
    alone = estimate_alone(none)
    assert (alone.lower, alone.upper) == (right[:100].sum() / 400, (right[:100].sum() + 300) / 400)
    lower, upper = infer_proportion(none).interval(0.9)
    assert upper - lower > 0.1 and prediction_powered(none).estimate is None


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", [0.7, 0.9, 0.97])
def test_intervals_hold_with_few_known_items(accuracy):
    """Also where nearly all are right, and a normal interval would often have no width."""
    rng, inside = np.random.default_rng(8), []
    for _ in range(400):
        truth = rng.beta(3 * accuracy, 3 * (1 - accuracy), 300)
        right = rng.random(300) < truth
        chance = np.where(rng.random(300) < np.where(right, 0.3, 0.5), 0.15, 0.03)
        items = choose(rng, np.clip(truth + rng.normal(0, 0.2), 0, 1), right, chance)
        if items.n_known:
            lower, upper = infer_proportion(items).interval(0.9)
            inside.append(lower <= right.mean() <= upper)
    assert np.mean(inside) > 0.9 - 2.5 * np.sqrt(0.09 / 400)


def test_all_estimates_use_the_weights(drawn):
    hidden = estimate_algebraic(drawn.with_truth(None), interval=None)
    full = simulate(SCENARIO, 1)
    accuracy = float((full.truth == full.system).mean())
    weighted = correct_accuracy(drawn, hidden)
    equal = correct_accuracy(drawn.with_truth(drawn.truth), hidden)
    assert weighted.system_accuracy_in_sample.kind == weighted.system_accuracy.kind == WEIGHTED
    assert equal.system_accuracy_in_sample.kind == RECALIBRATED
    for name in ("system_accuracy_in_sample", "known_items_alone", "prediction_powered"):
        corrected, other = getattr(weighted, name), getattr(equal, name)
        assert corrected.lower < accuracy < corrected.upper
        assert abs(corrected.estimate - accuracy) < abs(other.estimate - accuracy)
    learned_prior = [
        estimate_learned_prior(corrected).system_accuracy_in_sample
        for corrected in (drawn, drawn.with_truth(drawn.truth))
    ]
    assert learned_prior[0].lower < accuracy < learned_prior[0].upper
    assert abs(learned_prior[0].estimate - accuracy) < abs(learned_prior[1].estimate - accuracy)
    groups = np.where(np.arange(1000) % 2, "odd", "even")
    result = lehner.estimate(drawn, ["algebraic"], groups=groups)
    for group in ("odd", "even"):
        in_group = result.value("system_accuracy_in_sample", group=group, method="algebraic")
        assert in_group.kind == WEIGHTED
    for quantity in ("base_rates", "precision"):
        assert result.value(quantity, category="A", method="algebraic").kind == WEIGHTED


def test_choice_is_compared_with_the_probabilities(drawn):
    assert not examine_known(drawn.with_truth(drawn.truth)).random
    assert examine_known(drawn).random
    wrong = drawn.with_truth(drawn.truth, np.where(drawn.system == 1, 0.1, 0.5))
    sample = examine_known(wrong)
    assert not sample.random and "are expected" in str(sample)
    hidden = estimate_algebraic(drawn.with_truth(None), interval=None)
    codes = [
        {warning.code for warning in correct_accuracy(ratings, hidden).warnings}
        for ratings in (drawn, wrong)
    ]
    assert "truths-not-random" not in codes[0] and "truths-not-random" in codes[1]
    # What takes the known items for a simple random sample does without them.
    assert check_dependence(drawn).effective_raters.source == "unknown"


@pytest.mark.slow
def test_chosen_as_said_is_seldom_doubted():
    full = simulate(SCENARIO, 2)
    votes = full.count_votes()
    chance = np.where(votes.max(axis=1) == 3, 0.02, 0.15)
    p_values = []
    for seed in range(300):
        labelled = np.random.default_rng(1000 + seed).random(1000) < chance
        ratings = full.with_truth(np.where(labelled, full.truth, -1), chance)
        p_values.append(examine_known(ratings).p_value)
    assert np.mean(np.array(p_values) < 0.005) < 0.02


def test_a_sure_item_without_a_truth_is_refused():
    with pytest.raises(InputError, match="item 1 was chosen with probability 1, and its truth"):
        Ratings([[0], [1]], ["a", "b"], truth=[0, -1], truth_probability=[0.5, 1.0])
