"""`lehner.label`: labels near the best in simulated crowds, warnings, and variational Bayes."""

from itertools import permutations

import numpy as np
import pytest

import lehner
from lehner import InputError, Ratings, Scenario, fit_latent_class, load_dataset, simulate
from lehner.estimation.methods import OWN_METHODS, gives
from lehner.latent_class import label as mean_field
from lehner.latent_class.label import (
    ANONYMOUS_DEFAULT,
    DEFAULT,
    FALL,
    FIRST_PRIOR,
    POWER,
    find_powers,
    fit_mean_field,
    temper,
    update_prior,
)
from tests.reference.variational import independent_classifier_combination

QUICK_METHODS = [name for name, method in OWN_METHODS.items() if gives(method, "items")]


def truth_and_ratings(scenario, seed):
    simulated = simulate(scenario, seed).without_system()
    return simulated.truth, simulated.with_truth(None)


def right(labels, truth):
    values = labels.truth_probabilities.values
    best = values >= values.max(axis=1, keepdims=True) - 1e-9
    return (best[np.arange(len(truth)), truth] / best.sum(axis=1)).mean()


@pytest.mark.parametrize(
    ("scenario", "better"),
    [
        (
            Scenario(n_categories=4, n_items=300, initial_rater_accuracy=(0.9, 0.6, 0.5, 0.5, 0.4)),
            0.05,
        ),
        (
            Scenario(
                n_categories=4,
                n_items=400,
                initial_rater_accuracy=tuple(np.linspace(0.35, 0.95, 40).tolist()),
                missing=0.88,
            ),
            0.03,
        ),
        (Scenario(n_categories=3, n_items=200, initial_rater_accuracy=(0.7,) * 5), 0.0),
    ],
)
def test_labels_are_better_than_the_majority_where_raters_differ(scenario, better):
    truth, ratings = truth_and_ratings(scenario, 2)
    result = right(lehner.label(ratings), truth)
    assert result >= right(lehner.label(ratings, "majority"), truth) + better


def fit(ratings):
    """Give probabilities, numbers of ratings, and the correlation by pairs of ratings."""
    table = ratings.to_patterns(truth=False, by_content=True)
    classes, counts = fit_mean_field(table)
    posterior, right = classes[table.inverse], np.diag(counts) / counts.sum(axis=1)
    codes, k = ratings.codes, len(right)
    n, products, variance = (codes >= 0).sum(axis=1), 0.0, 0.0
    for probability, row in zip(posterior, codes, strict=True):
        for i, j in permutations(row[row >= 0], 2):
            error = [(i == c) - right[c] for c in range(k)], [(j == c) - right[c] for c in range(k)]
            products += probability @ np.prod(error, axis=0)
            variance += probability @ (right * (1 - right))
    n_items = (n > 1).sum()
    return posterior, n, n_items / (n_items + 50) * products / variance


def test_labels_are_the_posterior_tempered_by_a_power_of_each_item():
    """The power falls with the number of ratings and how their being right correlates."""
    rng = np.random.default_rng(1)
    truth, hard = rng.integers(0, 2, 300), np.arange(300) < 150
    made = []
    for chances in (np.where(hard, 0.65, 0.98), np.full(300, 0.815)):
        codes = np.where(rng.random((7, 300)) < chances, truth, 1 - truth).T
        made.append(Ratings(np.where(rng.random((300, 7)) < 0.3, -1, codes), ["no", "yes"]))
    ratings, independent = made
    posterior, n, correlation = fit(ratings)
    assert correlation > 0.03 and len(set(n)) > 3
    powers = POWER / (1 + FALL * correlation * (n - 1))
    labels = lehner.label(ratings)
    assert labels.method == "dawid_skene_vb" and not labels.uses_system
    odds = np.log(labels.truth_probabilities.values[:, :1] / labels.truth_probabilities.values)
    expected = powers[:, None] * np.log(posterior[:, :1] / posterior)
    np.testing.assert_allclose(odds, expected, atol=1e-6)
    assert fit(independent)[2] < correlation / 2
    assert find_powers(np.array([1, 7]), -0.2).tolist() == [POWER, POWER]


def test_tempering_keeps_the_order_and_what_is_known():
    raw = np.array([[0.7, 0.2, 0.1], [1.0, 0.0, 0.0]])
    result = temper(raw, 0.5)
    assert (np.argsort(result) == np.argsort(raw)).all()
    assert result[1].tolist() == [1, 0, 0]
    np.testing.assert_allclose(result[0], np.sqrt(raw[0]) / np.sqrt(raw[0]).sum())
    np.testing.assert_allclose(temper(raw, 1.0), raw)


def test_maximum_likelihood_is_that_of_fit_latent_class():
    ratings = load_dataset("anesthesia")
    labels = lehner.label(ratings, "dawid_skene_ml")
    expected = fit_latent_class(ratings).truth_probabilities
    np.testing.assert_array_equal(labels.truth_probabilities, expected)
    assert labels.method == "dawid_skene_ml"


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize("method", QUICK_METHODS)
def test_every_method_labels_with_known_truths_as_data(method, n):
    ratings = simulate(Scenario(n_categories=3, n_items=60, initial_rater_accuracy=(0.7,) * 4), 2)
    truth = ratings.truth
    gold = np.where(np.arange(60) < n, truth, -1)
    labels = lehner.label(ratings.with_truth(gold), method)
    assert labels.defined
    assert list(labels.truth_probabilities.dims) == ["item", "category"]
    values = labels.truth_probabilities.values
    np.testing.assert_array_equal(values[:n], np.eye(3)[truth[:n]])
    best = labels.find_most_probable()[:n]
    assert best == [(str(ratings.categories[code]),) for code in truth[:n]]
    if n == 60:
        right = (ratings.codes == truth[:, None]).mean(axis=0)
        np.testing.assert_allclose(labels.rater_accuracy, right)
    if method not in ("algebraic",):
        assert "known-truths-used" in [warning.code for warning in labels.warnings]


def test_an_item_that_gets_the_label_of_most_ratings_contradicts_none():
    labels = lehner.label(Ratings([[1, 0, 1]], ["no", "yes"]))
    assert labels.find_most_probable() == [("yes",)]
    assert "labels-contradict-ratings" not in [warning.code for warning in labels.warnings]


def test_anonymous_raters():
    ratings = Ratings.from_counts([[3, 1], [0, 4], [4, 0]] * 10, ["no", "yes"])
    assert lehner.label(ratings).find_most_probable()[:3] == [("no",), ("yes",), ("no",)]
    with pytest.raises(InputError, match="in dawid_skene_vb raters differ; choose majority"):
        lehner.label(ratings, "dawid_skene_vb")


def test_bad_input():
    ratings = Ratings([[0, 1], [1, 1]], ["no", "yes"])
    with pytest.raises(InputError, match="no method 'dawid'; did you mean 'dawid_skene"):
        lehner.label(ratings, "dawid")
    with pytest.raises(InputError, match="there is 1 rater"):
        lehner.label(Ratings([[0], [1]], ["no", "yes"]))


@pytest.mark.parametrize("method", QUICK_METHODS)
def test_the_accuracy_of_a_rater_is_the_expected_proportion_of_right_ratings(method):
    """By hand from the probabilities; near the proportion that is right in truth."""
    accuracies = (0.9, 0.6, 0.8, 0.7, 0.75)
    scenario = Scenario(n_categories=3, n_items=600, initial_rater_accuracy=accuracies, missing=0.2)
    truth, ratings = truth_and_ratings(scenario, 4)
    labels = lehner.label(ratings, method)
    shown = labels.rater_accuracy
    probability, votes = labels.truth_probabilities.values, ratings.votes
    if method in (DEFAULT, ANONYMOUS_DEFAULT):
        table = ratings.to_patterns(truth=False, by_content=True)
        differ = method == "dawid_skene_vb"
        probability = fit_mean_field(table, raters_differ=differ)[0][table.inverse]
    wide = np.full((ratings.n_items, ratings.n_raters), -1)
    wide[votes.item_index, votes.rater_index] = votes.category_index
    for place, name in enumerate(ratings.raters):
        rated = wide[:, place] >= 0
        rating = wide[rated, place]
        by_hand = probability[rated, rating].mean()
        assert shown.sel(rater=name).item() == pytest.approx(by_hand)
        assert shown.sel(rater=name)["n_ratings"].item() == rated.sum()
        assert by_hand == pytest.approx((rating == truth[rated]).mean(), abs=0.1)
    assert labels.rater_accuracy.to_series().idxmin() == "Rater 2"


def test_anonymous_raters_and_raters_without_ratings_have_no_accuracy():
    labels = lehner.label(load_dataset("fleiss1971"))
    assert labels.rater_accuracy is None
    ratings = Ratings([[0, 1, -1], [1, 1, -1], [0, 0, -1]], ["no", "yes"])
    result = lehner.label(ratings, "majority").rater_accuracy
    assert np.isnan(result.values[2]) and result["n_ratings"].values.tolist() == [3, 3, 0]


# Variational Bayes for labels: against plain loops, a known prior, and identities.


CROWD = Scenario(
    n_categories=3, n_items=120, initial_rater_accuracy=(0.4, 0.5, 0.6, 0.7, 0.8, 0.9), missing=0.4
)


def crowd(seed=1):
    """Simulate a crowd without system and truth, each item with a rating."""
    ratings = simulate(CROWD, seed).without_system().with_truth(None)
    return ratings.take(ratings.count_votes().sum(axis=1) > 0)


def classes(ratings, name):
    table = ratings.to_patterns(truth=False, by_content=True)
    differ = name == "dawid_skene_vb"
    return fit_mean_field(table, raters_differ=differ)[0][table.inverse]


@pytest.mark.parametrize("steps", [1, 7])
def test_full_matrices_are_those_of_plain_loops(steps, monkeypatch):
    ratings = crowd()
    monkeypatch.setattr(mean_field, "STEPS", steps)
    expected = independent_classifier_combination(ratings.codes, 3, steps)
    np.testing.assert_allclose(classes(ratings, "dawid_skene_vb"), expected, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong", "n_wrong"), [(6.0, 1.5, 3), (2.0, 2.0, 1)])
def test_the_prior_of_rows_is_found(right, wrong, n_wrong):
    rng = np.random.default_rng(1)
    rows = rng.dirichlet([right, *[wrong] * n_wrong], 4000)
    counts = np.array([rng.multinomial(40, row) for row in rows], dtype=float)
    prior = FIRST_PRIOR
    for _ in range(300):
        prior = update_prior(counts[:, 0], counts[:, 1:], prior)
    assert prior.right == pytest.approx(right, rel=0.06)
    assert prior.wrong == pytest.approx(wrong, rel=0.06)


def test_no_ratings_leave_the_prior():
    assert update_prior(np.zeros(3), np.zeros((3, 2)), FIRST_PRIOR) == FIRST_PRIOR


def test_the_majority_is_that_of_the_votes_and_says_how_sure_it_is():
    ratings = simulate(
        Scenario(
            n_categories=3, n_items=5000, initial_rater_accuracy=(0.7,) * 5, base_rates="equal"
        ),
        1,
    )
    truth = np.eye(3)[ratings.truth]
    bare = ratings.without_system().with_truth(None)
    votes, result = bare.count_votes(), classes(bare, "majority")
    best = result >= result.max(axis=1, keepdims=True) - 1e-9
    np.testing.assert_array_equal(best, votes == votes.max(axis=1, keepdims=True))
    # Probabilities come in few values: among items with one of them, about that share is right.
    for value in np.unique(result.round(9)):
        alike = np.abs(result - value) < 1e-8
        assert abs(truth[alike].mean() - value) < 4 * np.sqrt(0.25 / alike.sum()) + 0.01


def test_categories_in_another_order_give_the_same_labels():
    ratings = crowd(3)
    turned = type(ratings)(np.where(ratings.codes < 0, -1, 2 - ratings.codes), ("C", "B", "A"))
    result = classes(turned, "dawid_skene_vb")[:, ::-1]
    np.testing.assert_allclose(result, classes(ratings, "dawid_skene_vb"), atol=1e-9)
