"""Rates of warnings that are kept: false alarms are few, and what is documented is found."""

from pathlib import Path

import pandas as pd
import pytest

EXPERIMENTS = Path("experiments")
KEPT = pd.read_csv(EXPERIMENTS / "simulations" / "warning_rates.csv")
WARNINGS = ["system-copies-rater", "shared-mistakes", "agreement-unexplained"]
COPY, SHARE, UNEXPLAINED = WARNINGS
DIFFICULTY, RIGHT = "equal difficulty rejected", "right rater"


def rates(process, **at):
    result = KEPT[KEPT["process"] == process]
    for name, value in at.items():
        result = result[result[name] == value]
    assert len(result)
    return result


@pytest.mark.parametrize("process", KEPT["process"].unique()[:4])
def test_in_the_kept_table_few_data_sets_have_a_warning_where_all_is_well(process):
    result = rates(process)
    assert (result[WARNINGS] <= 0.04).all(axis=None)
    assert (result[WARNINGS].mean() <= 0.02).all()
    difficulty = result[DIFFICULTY].dropna()
    assert difficulty.mean() <= 0.06
    assert (difficulty <= 0.05 + 3 * (0.05 * 0.95 / result["data_sets"].iloc[0]) ** 0.5).all()


def test_in_the_kept_table_what_should_be_found_is_found():
    copied = rates("the system repeats rater 1 on 35%", items=500)
    assert copied[copied["categories"] == 4][RIGHT].min() >= 0.95
    assert (copied[COPY] - copied[RIGHT]).max() <= 0.01
    assert rates("raters .4 or 1, the system .8", categories=4)[DIFFICULTY].min() >= 0.95
    assert rates("raters .4 or 1, the system .8", items=500)[UNEXPLAINED].mean() >= 0.8
    assert rates("hidden types, shared confusions")[UNEXPLAINED].mean() >= 0.4
