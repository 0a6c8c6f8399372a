"""`lehner bounds`, as a user types it, its files and the figure."""

import csv
import json

import pytest

from lehner import Scenario, simulate


@pytest.fixture
def file(tmp_path):
    scenario = Scenario(n_categories=2, n_items=120, initial_rater_accuracy=(0.85,) * 3)
    path = tmp_path / "ratings.csv"
    simulate(scenario, seed=1).to_wide().drop(columns="truth").to_csv(path, index=False)
    return path


def test_the_table_the_sentence_and_the_files_have_the_numbers_of_python(run, file, tmp_path):
    arguments = ["bounds", file, "--system", "system", "--item", "item", "--correlation", 0.2]
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
