"""Checks that must name raters who share mistakes, and nobody else."""

import numpy as np
import pytest
import xarray as xr

from bayes_models import check_predictions
from bayes_models.posterior.predictive import _measure_agreement
from lehner import Ratings, Scenario, draw_true_parameters, simulate


def fit_at_the_truth(scenario, seed):
    """A posterior that is certain of the parameters the ratings were drawn from."""
    true = draw_true_parameters(scenario, seed)
    draws = (2, 100)
    base_rates, confusion = true["base_rates"].values, true["confusion"].isel(level=0).values
    posterior = xr.Dataset(
        {
            "base_rates": (
                ("chain", "draw", "category"),
                np.broadcast_to(base_rates, (*draws, *base_rates.shape)),
            ),
            "confusion": (
                ("chain", "draw", "rater", "category", "response"),
                np.broadcast_to(confusion, (*draws, *confusion.shape)),
            ),
        },
        {"rater": true["rater"].values},
    )
    return xr.DataTree.from_dict({"posterior": posterior})


def test_raters_who_copy_are_named_and_only_they():
    scenario = Scenario(n_items=400, copying=(0, 0.4, 0))
    result = check_predictions(fit_at_the_truth(scenario, 1), simulate(scenario, 1))
    (warning,) = result.list_warnings()
    assert warning.code == "agreement-not-predicted" and "Rater 1 and Rater 2" in str(warning)


def test_false_alarms_are_rare():
    scenario = Scenario(n_items=200)
    alarms = [
        len(
            check_predictions(
                fit_at_the_truth(scenario, s), simulate(scenario, s), draws=100
            ).list_warnings()
        )
        for s in range(20)
    ]
    # A hundredth of the data sets at most.
    assert sum(a > 0 for a in alarms) <= 2


def test_predicted_agreement_is_that_of_the_parameters():
    scenario = Scenario(n_items=300, initial_rater_accuracy=(0.5, 0.7, 0.9), base_rates="equal")
    result = check_predictions(fit_at_the_truth(scenario, 2), simulate(scenario, 2))
    expected = 0.5 * 0.7 + 0.5 * 0.3 / 4
    predicted = float(result.table["agreement_predicted"][0, 1])
    assert predicted == pytest.approx(expected, abs=0.01)
    assert float(result.table["agreement_sd"][0, 1]) == pytest.approx(
        np.sqrt(expected * (1 - expected) / 300), rel=0.2
    )


def test_agreement_counts_pairs_of_ratings():
    ratings = Ratings([[0, 0, -1], [0, 1, 1], [1, 1, 1]], ["a", "b"], counts=[1, 1, 2])
    shares, items = _measure_agreement(ratings.to_patterns())
    assert shares[0, 1] == pytest.approx(3 / 4)
    assert shares[1, 2] == pytest.approx(1)
    assert (items[0, 1], items[1, 2]) == (4, 3)


def test_raters_who_never_met_have_no_check():
    codes = [[0, -1, 0], [-1, 1, 1]] * 50
    ratings = Ratings(codes, ["a", "b"])
    scenario = Scenario(n_categories=2, n_items=100)
    tree = fit_at_the_truth(scenario, 1)
    tree["posterior"] = xr.DataTree(tree["posterior"].to_dataset().isel(rater=slice(0, 3)))
    table = check_predictions(tree, ratings, draws=20).table
    assert np.isnan(float(table["agreement"][0, 1])) and np.isfinite(
        float(table["agreement"][0, 2])
    )
