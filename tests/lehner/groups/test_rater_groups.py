"""Accuracies of groups of raters, against hand computations and the rater accuracies themselves."""

import numpy as np
import pytest

from lehner import (
    InputError,
    Ratings,
    Scenario,
    estimate_algebraic,
    estimate_latent_class,
    estimate_rater_groups,
    majority_agreement,
    simulate,
)

RIGHT = (0.9, 0.85, 0.6, 0.65, 0.55)
GROUPS = {"Rater 1": "expert", "Rater 2": "expert", "Rater 3": "crowd", "Rater 4": "crowd"}


def draw(n, seed=1):
    scenario = Scenario(n_categories=3, n_items=n, initial_rater_accuracy=RIGHT)
    return simulate(scenario, seed).with_truth(None)


@pytest.fixture(scope="module")
def ratings():
    return draw(600)


def test_the_algebra_is_that_of_the_raters_of_each_group(ratings):
    estimate = estimate_algebraic(ratings, interval=None)
    found = estimate_rater_groups(ratings, estimate, GROUPS, resamples=200)
    crowd, expert = found.groups
    assert (crowd.group, crowd.raters, crowd.n_ratings) == ("crowd", ("Rater 3", "Rater 4"), 1200)
    for one, columns in ((crowd, [2, 3]), (expert, [0, 1])):
        pair = Ratings(ratings.codes[:, columns], ratings.categories, system=ratings.system)
        of_pair = estimate_algebraic(pair, interval=None).rater_accuracy
        assert one.accuracy.estimate == pytest.approx(float(of_pair[0]))
    (difference,) = found.differences
    assert difference.groups == ("crowd", "expert")
    assert difference.difference.upper < 0 and difference.probability_higher == 0


def test_intervals_are_joint(ratings):
    """A group against itself under another name: the difference is 0 in each resample."""
    twin = Ratings(
        np.tile(ratings.codes[:, :2], 2), ratings.categories, list("abcd"), system=ratings.system
    )
    estimate = estimate_algebraic(twin, interval=None)
    groups = {"a": "one", "b": "one", "c": "two", "d": "two"}
    (difference,) = estimate_rater_groups(twin, estimate, groups, resamples=50).differences
    interval = difference.difference
    assert interval.estimate == interval.lower == interval.upper == 0
    assert difference.probability_higher == 0.5


def test_maximum_likelihood_has_the_mean_by_ratings(ratings):
    codes = ratings.codes.copy()
    codes[:400, 1] = -1
    sparse = Ratings(codes, ratings.categories, ratings.raters, system=ratings.system)
    estimate = estimate_latent_class(sparse, interval=None)
    found = estimate_rater_groups(sparse, estimate, GROUPS, resamples=40)
    first, second, *_ = map(float, estimate.rater_accuracy)
    expert = found.groups[1]
    assert expert.n_ratings == 800
    assert expert.accuracy.estimate == pytest.approx(0.75 * first + 0.25 * second)
    assert expert.accuracy.lower < expert.accuracy.estimate < expert.accuracy.upper


def test_intervals_hold_the_accuracy_of_groups():
    """Sixty data sets: 90% intervals hold mean accuracies and their difference."""
    expected = {"crowd": 0.625, "expert": 0.875}
    inside = []
    for seed in range(60):
        ratings = draw(200, seed)
        estimate = estimate_algebraic(ratings, interval=None)
        found = estimate_rater_groups(ratings, estimate, GROUPS, resamples=200, seed=seed)
        inside += [
            one.accuracy.lower <= expected[one.group] <= one.accuracy.upper for one in found.groups
        ]
        interval = found.differences[0].difference
        inside.append(interval.lower <= -0.25 <= interval.upper)
    assert 0.82 < np.mean(inside) < 0.97


def test_a_group_of_one_rater_has_no_agreement(ratings):
    estimate = estimate_algebraic(ratings, interval=None)
    found = estimate_rater_groups(ratings, estimate, GROUPS | {"Rater 5": "model"}, resamples=10)
    model = found.groups[-1]
    assert model.group == "model" and model.accuracy.estimate is None
    assert found.differences[-1].difference.estimate is None
    assert found.differences[-1].probability_higher is None
    assert "no items in common" in str(found.notes[0])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"Rater 9": "expert"}, "there is no rater 'Rater 9'"),
        ({"system": "expert"}, "'system' is a system"),
        ({}, "no rater belongs to a group"),
    ],
)
def test_bad_groups_are_refused(ratings, groups, message):
    with pytest.raises(InputError, match=message):
        estimate_rater_groups(ratings, estimate_algebraic(ratings, interval=None), groups)


def test_methods_with_one_accuracy_for_all_are_refused(ratings):
    for estimate in (
        majority_agreement(ratings),
        estimate_latent_class(ratings, "one_coin", interval=None),
    ):
        with pytest.raises(InputError, match="does not tell how accurate each rater is"):
            estimate_rater_groups(ratings, estimate, GROUPS, resamples=5)
