"""The first row of `lehner estimate`: the same numbers everywhere, and what they rest on."""

import numpy as np
import pytest

import lehner

METHODS = ("--method", "majority_agreement,algebraic,calibrated")


@pytest.fixture
def file(tmp_path):
    scenario = lehner.Scenario(
        n_categories=3, n_items=90, initial_rater_accuracy=(0.7, 0.8, 0.6), copying=(0, 0, 0.3)
    )
    table = lehner.simulate(scenario, 5).to_wide()
    table.drop(columns="truth").to_csv(tmp_path / "ratings.csv", index=False)
    labelled = table.assign(truth=table["truth"].where(np.arange(90) % 6 == 0))
    labelled.to_csv(tmp_path / "known.csv", index=False)
    return tmp_path / "ratings.csv"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--system-is", "worse"), "choose among like, better, unknown"),
        (("--priors", "no.json"), "no.json"),
    ],
)
def test_what_is_not_there_is_said_in_a_line(run, file, options, said):
    code, _, err = run("estimate", file, *METHODS, *options)
    assert code == 2 and said in err and "Traceback" not in err
