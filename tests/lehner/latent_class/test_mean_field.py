"""Variational Bayes for labels: against plain loops, a known prior, and identities."""

import numpy as np
import pytest

from lehner import Scenario, simulate
from lehner.latent_class import label as mean_field
from lehner.latent_class.label import FIRST_PRIOR, fit_mean_field, update_prior
from tests.reference.variational import independent_classifier_combination

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
