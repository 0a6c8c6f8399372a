"""Groups of raters by the draws of a fit."""

import numpy as np
import pytest

import bayes_models
from lehner import Scenario, simulate
from lehner import estimate as estimate_all


def test_draws_are_averaged_one_by_one():
    right = (0.9, 0.85, 0.6, 0.65, 0.55)
    scenario = Scenario(n_categories=3, n_items=300, initial_rater_accuracy=right)
    ratings = simulate(scenario, 1).with_truth(None)
    groups = {"Rater 1": "expert", "Rater 2": "expert", "Rater 3": "crowd", "Rater 4": "crowd"}
    tree = bayes_models.fit(
        "dawid_skene", ratings, engine="gibbs", checks=False, tries=1, progressbar=False
    )
    estimate = bayes_models.estimate_from_draws(tree)
    found = estimate_all(ratings.with_rater_groups(groups), estimate)
    draws = tree.posterior["accuracy"].values.reshape(-1, 6)
    crowd, expert = draws[:, 2:4].mean(axis=1), draws[:, :2].mean(axis=1)
    one = found.value("rater_accuracy", group="crowd")
    assert one.estimate == pytest.approx(crowd.mean())
    assert (one.lower, one.upper) == pytest.approx(tuple(np.quantile(crowd, [0.05, 0.95])))
    difference = found.select(quantity="rater_accuracy_difference", group="crowd").iloc[0]
    assert difference["estimate"] == pytest.approx((crowd - expert).mean())
    assert difference["probability"] == pytest.approx((crowd > expert).mean())
