"""The system in detail on the command line, in files and in JSON."""

import json
import re

import pandas as pd
import pytest

import lehner
from experiments.estimate.details import render_details
from lehner import read_costs
from lehner.estimation.details import DETAILS
from lehner.estimation.estimate import compare

FAST = ["--method", "majority_agreement", "--method", "algebraic"]
COSTS = "truth,A,B,C,D\nA,0,1,1,1\nB,1,0,1,1\nC,5,5,0,5\nD,1,1,1,0\n"


@pytest.fixture
def costs(tmp_path):
    file = tmp_path / "costs.csv"
    file.write_text(COSTS)
    return file


def test_json_has_every_number_with_its_interval(run, costs):
    code, out, _ = run("estimate", "lehner_table2", *FAST, "--costs", costs, "--json")
    majority, algebra = json.loads(out)["estimates"]
    assert code == 0
    ends = {"estimate", "lower", "upper", "corrected"}
    for name in ("recall", "precision", "specificity", "f1", "base_rate_intervals"):
        assert list(algebra[name]) == list("ABCD")
        assert all(set(one) == ends for one in algebra[name].values())
    assert set(algebra["confusion"]["A"]["B"]) == ends
    assert sum(one["estimate"] for one in algebra["confusion"]["C"].values()) == pytest.approx(1)
    for name in ("balanced_accuracy", "mcc", "kappa_with_truth", "expected_cost"):
        assert set(algebra[name]) == ends
    assert algebra["recall"]["A"] == pytest.approx(algebra["confusion"]["A"]["A"])
    assert any("step 4" in note["text"] for note in algebra["performance_notes"])
    numbers = {name: one["estimate"] for name, one in algebra["base_rate_intervals"].items()}
    assert numbers == pytest.approx(algebra["base_rates"])
    assert list(algebra["rater_accuracy_intervals"]) == list(algebra["rater_accuracy"])
    assert majority["expected_cost"]["lower"] is None


def test_methods_without_a_matrix_have_null():
    assert DETAILS.to_dict(None)["confusion"] is None and DETAILS.to_dict(None)["recall"] is None


def test_the_screen_shows_recall_and_on_request_everything(run, costs):
    _, short, _ = run("estimate", "--full", "lehner_table2", *FAST)
    assert "\nrecall\n  A " in short and "\nprecision\n  A " in short
    assert "in detail" not in short
    _, long, _ = run("estimate", "--full", "lehner_table2", *FAST, "--details")
    assert "algebraic: System in detail [90% interval]" in long
    assert "compared with the majority, as if it were always right" in long
    assert "expected cost" not in long
    _, out, _ = run("estimate", "--full", "lehner_table2", *FAST, "--costs", costs)
    assert "expected cost" in out


def test_tables_of_four_categories_fit_eighty_columns():
    ratings = lehner.simulate(lehner.Scenario(n_categories=4, initial_rater_accuracy=(0.8,) * 5), 1)
    found = lehner.system_performance(ratings, lehner.estimate_algebraic(ratings))
    bare = [line.plain for line in render_details([found]) if not line.plain.startswith("note")]
    assert max(map(len, bare)) <= 80


def test_files_have_the_same_numbers(run, tmp_path):
    folder = tmp_path / "results"
    _, out, _ = run("estimate", "lehner_table2", *FAST, "--json", "--output", folder)
    algebra = json.loads(out)["estimates"][1]
    table = pd.read_csv(folder / "details.csv", keep_default_na=False)
    row = table.query("method == 'algebraic' and quantity == 'confusion' and label == 'A'")
    shown = dict(zip(row["response"], row["estimate"].astype(float), strict=True))
    expected = {name: one["estimate"] for name, one in algebra["confusion"]["A"].items()}
    assert shown == pytest.approx(expected)
    assert set(table["system"]) == {"System"}
    estimates = pd.read_csv(folder / "estimates.csv").set_index(["method", "quantity", "label"])
    bounds = algebra["rater_accuracy_intervals"]["Rater 1"]
    written = estimates.loc[("algebraic", "rater_accuracy", "Rater 1"), ["estimate", "upper"]]
    assert written.tolist() == pytest.approx([bounds["estimate"], bounds["upper"]])
    for name in ("details.tex", "confusion.tex"):
        text = (folder / name).read_text()
        assert text.count("&") > 20 and "−" not in text
    assert (folder / "confusion.png").stat().st_size > 10_000


@pytest.mark.parametrize("cost", [10.25, -20, 0.0025, 123456.5])
def test_the_expected_cost_is_one_number_in_the_unit_of_the_costs_everywhere(run, tmp_path, cost):
    file, folder = tmp_path / "costs.csv", tmp_path / "out"
    rows = ([truth, *(0 if truth == a else cost for a in "ABCD")] for truth in "ABCD")
    file.write_text("\n".join(",".join(map(str, row)) for row in [["truth", *"ABCD"], *rows]))
    command = ("estimate", "lehner_table2", "--method", "algebraic", "--costs", file)
    _, out, _ = run(*command, "--json")
    found = json.loads(out)["estimates"][0]
    right = sum(
        found["base_rate_intervals"][a]["estimate"] * found["recall"][a]["estimate"] for a in "ABCD"
    )
    expected = found["expected_cost"]
    assert expected["estimate"] == pytest.approx(cost * (1 - right))
    assert min(0, cost) <= expected["lower"] < expected["upper"] <= max(0, cost)
    _, screen, _ = run(*command, "--output", folder)
    table = pd.read_csv(folder / "details.csv").query("quantity == 'expected_cost'").iloc[0]
    ratings = lehner.load_dataset("lehner_table2")
    python = lehner.estimate(ratings, ["algebraic"], costs=read_costs(file, "ABCD").values)
    value = python.results[0].details.value("expected_cost")
    for bound in ("estimate", "lower", "upper"):
        assert table[bound] == pytest.approx(expected[bound]) == getattr(value, bound)
    tex = (folder / "details.tex").read_text().replace("$-$", "-")
    lines = (
        next(line for line in text.splitlines() if line.startswith("expected cost"))
        for text in (screen.replace("−", "-"), tex)
    )
    for line in lines:
        shown = [float(number) for number in re.findall(r"-?\d*\.\d+", line)]
        assert shown == pytest.approx(
            [expected[b] for b in ("estimate", "lower", "upper")],
            rel=0.05,
            abs=0.005 if abs(cost) > 1 else 0,
        )
        assert all(shown) or not all(expected.values())


def test_bad_costs_end_in_one_line(run, costs):
    costs.write_text(COSTS.replace("5,5,0,5", "5,x,0,5"))
    code, _, err = run("estimate", "lehner_table2", *FAST, "--costs", costs)
    assert code == 2 and err.count("\n") == 1
    assert "costs.csv, row 4, column 'B': 'x' is no cost; give a number" in err


def test_details_of_a_comparison_stand_beside_its_estimates():
    ratings = lehner.load_dataset("lehner_table2")
    calibrated = lehner.Estimate(
        system="System",
        method="calibrated",
        system_accuracy=lehner.IntervalEstimate(estimate=0.5),
        system_accuracy_in_sample=lehner.IntervalEstimate(estimate=0.5),
    )
    estimates = [calibrated, lehner.estimate_algebraic(ratings)]
    first, second = (one.details for one in compare("table 2", ratings, estimates).results)
    assert first is None and second.method == "algebraic"
