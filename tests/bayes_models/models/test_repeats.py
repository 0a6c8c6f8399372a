"""Ratings that a rater repeats exactly change neither density nor draws."""

import numpy as np
import pytest

import bayes_models
from bayes_models import observe
from bayes_models.models.assemble import list_data
from bayes_models.posterior.predictive import draw_ratings
from lehner import Ratings, Scenario, simulate
from tests.lehner.data.test_repeats import repeat


def once(k: int) -> Ratings:
    scenario = Scenario(
        n_categories=k, n_items=40, initial_rater_accuracy=(0.7, 0.75, 0.8), missing=0.2
    )
    ratings = simulate(scenario, k)
    with_truths = ratings.with_truth(np.where(np.arange(40) < 9, ratings.truth, -1))
    return with_truths.with_populations(np.where(np.arange(40) % 3, "south", "north"))


@pytest.mark.parametrize(("k", "whose"), [(2, (0, 1, 2)), (3, (1,)), (4, (0, 2))])
def test_the_likelihood_reads_the_same_data(k, whose):
    ratings = once(k)
    twice = repeat(ratings, 3, whose)
    assert twice.n_ratings > ratings.n_ratings
    data, same = list_data(observe(ratings)), list_data(observe(twice))
    assert list(data) == list(same)
    for name in data:
        np.testing.assert_array_equal(same[name], data[name])


@pytest.mark.filterwarnings("ignore::bayes_models.ConvergenceWarning")
def test_gibbs_draws_are_the_same():
    ratings = once(3)
    fit, same = (
        bayes_models.fit(
            "dawid_skene", data, engine="gibbs", chains=2, draws=100, tries=1, checks=False, seed=2
        )
        for data in (ratings, repeat(ratings, 5))
    )
    for group in ("posterior", "truth", "log_likelihood"):
        if group in fit.children:
            assert same[group].to_dataset().identical(fit[group].to_dataset())


def test_predicted_ratings_repeat_where_repeats_count():
    ratings = repeat(once(2), 6).with_truth(None).with_populations(None)
    confusion = np.tile([[0.7, 0.3], [0.3, 0.7]], (4, 1, 1))
    for data in (ratings, ratings.with_independent_repeats()):
        drawn = draw_ratings(data, np.array([0.5, 0.5]), confusion, np.random.default_rng(1))
        np.testing.assert_array_equal(drawn.votes.rater_index, data.votes.rater_index)
