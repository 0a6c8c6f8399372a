"""EM from a vote, where chains start."""

import numpy as np
import pytest

from bayes_models import observe
from bayes_models.sampling.start import start_at_vote
from lehner import Ratings, Scenario, simulate


def test_known_truths_are_counted_as_they_are_known():
    codes = [[0, 0], [0, 1], [1, 1], [0, 1]]
    ratings = Ratings(codes, ["a", "b"], system=[0, 1, 1, -1], truth=[1, 1, 0, -1])
    start = start_at_vote(ratings.to_patterns())
    unknown = start.items - [1, 2]
    assert unknown.sum() == pytest.approx(1) and (unknown >= 0).all()
    np.testing.assert_allclose(start.ratings[2], [[0, 1], [1, 1]])
    first = start.ratings[0] - [[0, 1], [2, 0]]
    np.testing.assert_allclose(first, np.outer(unknown, [1, 0]), atol=1e-12)


def test_a_known_truth_that_a_thousand_ratings_deny_stays_known():
    codes = np.zeros((3, 1000), dtype=int)
    codes[2] = 1
    items = start_at_vote(Ratings(codes, ["a", "b"], truth=[1, -1, -1]).to_patterns()).items
    assert np.isfinite(items).all() and items.sum() == pytest.approx(3)
    assert items[1] >= 1


def test_the_start_of_many_items_is_near_the_parameters_they_were_drawn_with():
    scenario = Scenario(initial_rater_accuracy=(0.7, 0.8, 0.8, 0.9), n_items=20_000)
    ratings = simulate(scenario, 1)
    start = start_at_vote(observe(ratings.with_truth(None)))
    share = np.bincount(ratings.truth, minlength=5) / ratings.n_items
    np.testing.assert_allclose(start.base_rates, share, atol=0.02)
    diagonal = np.diagonal(start.confusion, axis1=1, axis2=2)
    np.testing.assert_allclose(diagonal @ share, [0.7, 0.8, 0.8, 0.9, 0.9], atol=0.02)
