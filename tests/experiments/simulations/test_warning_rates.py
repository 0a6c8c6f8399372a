"""Rates of warnings that are kept: false alarms are few, and what is documented is found."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import experiments
from experiments.simulations import warning_rates
from experiments.simulations.warning_rates import DIFFICULTY, RIGHT, WARNINGS
from lehner import Ratings

KEPT = pd.read_csv(Path(warning_rates.__file__).with_suffix(".csv"))
REAL = pd.read_csv(Path(experiments.__file__).parent / "benchmarks" / "real" / "warning_rates.csv")
SKIP, COPY, SHARE, UNEXPLAINED = WARNINGS


def rates(process, **at):
    found = KEPT[KEPT["process"] == process]
    for name, value in at.items():
        found = found[found[name] == value]
    assert len(found)
    return found


@pytest.mark.parametrize("process", warning_rates.PROCESSES[:4])
def test_where_all_is_well_few_data_sets_have_a_warning(process):
    found = rates(process)
    assert (found[list(WARNINGS)] <= 0.04).all(axis=None)
    assert (found[list(WARNINGS)].mean() <= 0.02).all()
    difficulty = found[DIFFICULTY].dropna()
    assert difficulty.mean() <= 0.06
    assert (difficulty <= 0.05 + 3 * (0.05 * 0.95 / found["data_sets"].iloc[0]) ** 0.5).all()


def test_what_should_be_found_is_found():
    assert rates("raters skip difficult items", items=500)[SKIP].min() >= 0.95
    assert rates("raters skip difficult items", items=100)[SKIP].mean() >= 0.5
    copied = rates("the system repeats rater 1 on 35%", items=500)
    assert copied[copied["categories"] == 4][RIGHT].min() >= 0.95
    assert (copied[COPY] - copied[RIGHT]).max() <= 0.01
    assert rates("raters .4 or 1, the system .8", categories=4)[DIFFICULTY].min() >= 0.95
    assert rates("raters .4 or 1, the system .8", items=500)[UNEXPLAINED].mean() >= 0.8
    assert rates("hidden types, shared confusions")[UNEXPLAINED].mean() >= 0.4


def test_on_real_crowds_estimates_are_too_high_where_raters_seem_to_skip_items():
    found = REAL[(REAL["warning"] == SKIP) & (REAL["ratings"] == "all")]
    assert len(found) == 2
    assert (found["error"] > found["error_elsewhere"] + 0.05).all()


def test_warnings_of_a_data_set_are_those_that_an_estimate_has():
    rng = np.random.default_rng(1)
    ratings = warning_rates.draw("the system repeats rater 1 on 35%", 5, 4, 500, rng)
    assert isinstance(ratings, Ratings)
    assert warning_rates.warnings_of(ratings) == {
        **{SKIP: 0, COPY: 1, SHARE: 0, UNEXPLAINED: 0, RIGHT: 1}
    }
