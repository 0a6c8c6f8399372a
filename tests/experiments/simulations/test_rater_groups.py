"""The simulation of raters pooled within groups: what it draws, and what was found."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from experiments.simulations import rater_groups

TABLE = Path(rater_groups.__file__).with_suffix(".csv")


def test_each_rater_rates_as_often_and_each_item_is_rated_as_often():
    ratings, accuracy = rater_groups.draw_crowd(3000, np.random.default_rng(1))
    rated = ratings.codes >= 0
    assert set(rated.sum(axis=0)) == {3000} and set(rated.sum(axis=1)) == {4}
    assert not ratings.rater_group and ratings.truth is None
    assert accuracy[:4].mean() == pytest.approx(0.85, abs=0.05)
    assert accuracy[4:12].mean() == pytest.approx(0.6, abs=0.05)
    # Two raters of accuracy a and b who err independently agree about as often as these do.
    agree = (ratings.codes[:, [0]] == ratings.system[:, None])[rated[:, [0]]].mean()
    a, b = accuracy[[0, 12]]
    assert agree == pytest.approx(a * b + (1 - a) * (1 - b) / 2, abs=0.05)


def test_draws_at_the_truth_have_no_error_and_hold_it():
    _, accuracy = rater_groups.draw_crowd(3, np.random.default_rng(2))
    draws = accuracy + np.random.default_rng(3).normal(0, 0.01, (2, 4000, 13))
    posterior = xr.Dataset({"accuracy": (("chain", "draw", "rater"), draws)})
    tree = xr.DataTree.from_dict({"posterior": posterior})
    found = rater_groups.measure_draws(tree, accuracy)
    for row in found.values():
        assert abs(row["bias"]) < 1e-3 and row["coverage"] == 1
    assert found["rater, crowd"]["interval_width"] == pytest.approx(2 * 1.645 * 0.01, rel=0.05)
    narrower = found["group, crowd"]["interval_width"] / found["rater, crowd"]["interval_width"]
    assert narrower == pytest.approx(8**-0.5, rel=0.1)


def test_pooling_within_groups_has_smaller_errors():
    table = pd.read_csv(TABLE)
    assert (table["n"] >= 40).all() and (table["coverage_se"] > 0).all()
    by = table.set_index(["quantity", "method", "with_groups", "ratings_of_a_rater"])
    for method in ("hierarchical_dawid_skene", "relaxed_k"):
        for quantity in ("rater, expert", "group, expert", "difference of groups"):
            for size in (10, 30):
                told, untold = (by.loc[quantity, method, groups, size] for groups in (True, False))
                assert told["rmse"] + 2 * told["rmse_se"] < untold["rmse"], (method, quantity, size)
