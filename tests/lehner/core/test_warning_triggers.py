"""Warnings that no other test raises, each by data that it is about."""

import numpy as np
import pytest

import lehner
from lehner import Ratings, Scenario, simulate


def codes(warnings):
    return {warning.code for warning in warnings}


def few(n_raters=2, n_items=40, **options):
    accuracy = (0.8, 0.7, 0.75, 0.9)[:n_raters]
    scenario = Scenario(n_items=n_items, initial_rater_accuracy=accuracy, **options)
    return simulate(scenario, 1).with_truth(None)


def without_system(ratings):
    return Ratings(ratings.codes, ratings.categories, ratings.raters)


def test_two_raters_do_not_identify_confusion_matrices():
    results = lehner.estimate(few(), "dawid_skene_ml")
    assert "not-identified" in codes(results.warnings)
    fit = lehner.fit_latent_class(without_system(few()))
    assert "not-identified" in codes(fit.notes)


def test_a_rater_without_ratings_of_a_category_and_items_without_all_raters():
    ratings = few(3, 60)
    sparse = ratings.codes.copy()
    sparse[:, 2] = -1
    sparse[sparse[:, 0] == 0, 2] = 0
    fit = lehner.fit_latent_class(Ratings(sparse, ratings.categories))
    assert "rows-without-ratings" in codes(fit.notes)


def test_repeated_ratings_share_a_vote_in_agreement():
    rows = {"item": [1, 1, 1, 2, 2], "rater": list("xxyxy"), "rating": list("abaab")}
    result = lehner.agreement(Ratings.from_long(rows, repeated=True))
    assert "repeats-share-vote" in codes(result.warnings)


def test_recalls_and_step_4_imply_two_accuracies():
    rng = np.random.default_rng(1)
    truth = (rng.random(600) < 0.2).astype(int)
    right = rng.random((600, 4)) < [0.8, 0.8, 0.8, 1.0]
    right[:, 3] = rng.random(600) < np.where(truth == 1, 0.4, 0.98)
    answers = np.where(right, truth[:, None], 1 - truth[:, None])
    ratings = Ratings(answers[:, :3], ["no", "yes"], system=answers[:, 3])
    assert "two-accuracies" in codes(lehner.estimate(ratings, "algebraic").warnings)


@pytest.mark.parametrize("method", ["algebraic", "dawid_skene_ml"])
def test_a_likelihood_ratio_may_be_infinite(method):
    answers = np.repeat([[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 1, 0], [1, 1, 0, 1]], [30, 30, 1, 1], 0)
    ratings = Ratings(answers[:, :3], ["no", "yes"], system=answers[:, 3])
    assert "measure-undefined" in codes(lehner.estimate(ratings, method).warnings)
