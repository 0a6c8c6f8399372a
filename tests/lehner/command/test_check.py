"""`lehner check` and `lehner bounds`, as a user types them; the size and power that are kept."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

from lehner import Scenario, check_k_properties, simulate
from lehner.core.arrays import derive_seeds
from lehner.k_properties.check import INDEPENDENCE, K_TESTS


@pytest.fixture
def file(tmp_path):
    ratings = simulate(Scenario(n_items=200, initial_rater_accuracy=(0.4, 0.6, 0.8)), seed=1)
    path = tmp_path / "ratings.csv"
    ratings.to_wide().to_csv(path, index=False)
    return path


def test_json_holds_every_test_and_nothing_else_is_printed(run, file):
    arguments = ["check", file, "--system", "system", "--item", "item", "--truth", "truth"]
    code, out, err = run(*arguments, "--replicates", 199, "--seed", 2, "--json")
    result = json.loads(out)
    assert (code, err) == (0, "")
    assert [test["name"] for test in result["tests"]] == [*K_TESTS, INDEPENDENCE][:5]
    assert result["data"]["n_items"] == 200
    assert result["replicates"] == 199
    (unordered,) = (test for test in result["tests"] if test["name"] == "error_distance")
    assert unordered["p_value"] is None
    assert "--ordered" in unordered["note"]
    assert out == run(*arguments, "--replicates", 199, "--seed", 2, "--json")[1]


def test_where_nothing_can_be_tested_the_reason_is_given(run, tmp_path):
    path = tmp_path / "opposed.csv"
    path.write_text("Ann,Bo\na,b\nb,a\n")
    code, out, _ = run("check", path, "--json")
    result = json.loads(out)
    assert code == 1
    assert all("at or below the chance level" in test["note"] for test in result["tests"])


@pytest.mark.slow
@pytest.mark.parametrize("base_rates", ["equal", "dirichlet"])
def test_each_test_and_the_verdict_reject_in_5_percent_where_the_k_properties_hold(base_rates):
    # The full table, with 1,000 data sets a cell, is in experiments/simulations.
    scenario, rejected = Scenario(n_items=50, base_rates=base_rates), []
    for seed in derive_seeds(3, 160):
        ratings = simulate(scenario, seed).with_truth(None).replace(ordered=True)
        tests = check_k_properties(ratings, replicates=199, seed=seed).tests
        of_tests = {name: (test.p_value or 1.0) <= 0.05 for name, test in tests.items()}
        whole = any(test.verdict == "rejected" for test in tests.values())
        rejected.append(of_tests | {"any": whole})
    rates = pd.DataFrame(rejected).astype(float).fillna(0).mean()
    assert rates.max() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 160)
    assert rates[list(K_TESTS)].mean() > 0.02


@pytest.fixture
def answered(tmp_path):
    scenario = Scenario(n_categories=2, n_items=120, initial_rater_accuracy=(0.85,) * 3)
    path = tmp_path / "ratings.csv"
    simulate(scenario, seed=1).to_wide().drop(columns="truth").to_csv(path, index=False)
    return path


def test_the_table_the_sentence_and_the_files_have_the_numbers_of_python(run, answered, tmp_path):
    arguments = ["bounds", answered, "--system", "system", "--item", "item", "--correlation", 0.2]
    code, out, err = run(*arguments, "--above", 0.7, "--output", tmp_path / "out")
    assert code == 0 and err.count("wrote") == 2
    code, text, _ = run(*arguments, "--above", 0.7, "--json")
    both, _, alone, _, above, *_ = json.loads(text)["rows"]
    caps = ["raters=0.2, system=0.2", "raters=0.2, system=1"]
    assert [both["versus"], alone["versus"]] == caps and above["estimate"] == 0.7
    assert alone["lower"] - 1e-3 <= both["lower"] <= both["upper"] <= alone["upper"] + 1e-3
    assert f"{both['lower']:.3f} to {both['upper']:.3f}" in out
    assert "accuracy on these items is above 0.70 unless errors" in out
    with (tmp_path / "out" / "bounds.csv").open() as table:
        rows = list(csv.DictReader(table))
    assert float(rows[0]["lower"]) == pytest.approx(both["lower"])
    assert "begin{tabular}" in (tmp_path / "out" / "bounds.tex").read_text()
