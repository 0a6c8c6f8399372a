"""Accuracies of groups of raters, which are means of the raters' accuracies."""

import numpy as np
import pytest

from lehner import (
    InputError,
    Ratings,
    Scenario,
    estimate_algebraic,
    estimate_latent_class,
    majority_agreement,
    simulate,
)
from lehner.estimation.methods import find_method
from lehner.estimation.questions import Fit, Options, ask_rater_groups
from tests.lehner.told import told

RIGHT = (0.9, 0.85, 0.6, 0.65, 0.55)
GROUPS = {"Rater 1": "expert", "Rater 2": "expert", "Rater 3": "crowd", "Rater 4": "crowd"}


def draw(n, seed=1):
    scenario = Scenario(n_categories=3, n_items=n, initial_rater_accuracy=RIGHT)
    return simulate(scenario, seed).with_truth(None)


@pytest.fixture(scope="module")
def ratings():
    return draw(600)


def of_groups(ratings, estimate, groups, resamples=200, seed=1):
    grouped = ratings.with_rater_groups(groups)
    fit = Fit(ratings=grouped, estimate=estimate, method=find_method(estimate))
    return told(ask_rater_groups(fit, Options(resamples=resamples // 2, seed=seed)))


def test_intervals_are_joint(ratings):
    """A group against itself under another name: the difference is nearly 0 in each resample."""
    twin = Ratings(
        np.tile(ratings.codes[:, :2], 2), ratings.categories, list("abcd"), system=ratings.system
    )
    estimate = estimate_latent_class(twin, interval=None)
    found = of_groups(twin, estimate, {"a": "one", "b": "one", "c": "two", "d": "two"}, 50)
    difference = found.select(quantity="rater_accuracy_difference").iloc[0]
    assert difference["estimate"] == pytest.approx(0, abs=1e-6)
    # Pseudo-ratings are drawn for each rater.
    assert difference["upper"] - difference["lower"] < 0.02


def test_maximum_likelihood_has_the_mean_by_ratings(ratings):
    codes = ratings.codes.copy()
    codes[:400, 1] = -1
    sparse = Ratings(codes, ratings.categories, ratings.raters, system=ratings.system)
    estimate = estimate_latent_class(sparse, interval=None)
    first, second, *_ = map(float, estimate.rater_accuracy)
    expert = of_groups(sparse, estimate, GROUPS, 40).value("rater_accuracy", group="expert")
    assert expert.estimate == pytest.approx(0.75 * first + 0.25 * second)
    assert expert.lower < expert.estimate < expert.upper


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"Rater 9": "expert"}, "there is no rater 'Rater 9'"),
        ({"system": "expert"}, "'system' is a system"),
    ],
)
def test_bad_groups_are_refused(ratings, groups, message):
    with pytest.raises(InputError, match=message):
        ratings.with_rater_groups(groups)


def test_methods_with_one_accuracy_for_all_say_nothing(ratings):
    for estimate in (
        majority_agreement(ratings),
        estimate_algebraic(ratings, interval=None),
        estimate_latent_class(ratings, "one_coin", interval=None),
    ):
        assert not len(of_groups(ratings, estimate, GROUPS, 6).table)
