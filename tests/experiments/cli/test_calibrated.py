"""The first row of `lehner estimate`: the same numbers everywhere, and what they rest on."""

import json

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner.core.text import decimal, with_interval

METHODS = ("--method", "majority_agreement,algebraic,calibrated")


@pytest.fixture
def file(tmp_path):
    scenario = lehner.Scenario(
        n_categories=3, n_items=90, initial_rater_accuracy=(0.7, 0.8, 0.6), copying=(0, 0, 0.3)
    )
    table = lehner.simulate(scenario, 5).to_wide()
    table.drop(columns="truth").to_csv(tmp_path / "ratings.csv", index=False)
    known = table.assign(truth=table["truth"].where(np.arange(90) % 6 == 0))
    known.to_csv(tmp_path / "known.csv", index=False)
    return tmp_path / "ratings.csv"


def test_calibrated_is_first_and_the_others_stand_below_what_they_assume(run, file):
    code, out, _ = run("estimate", "--full", file, *METHODS)
    assert code == 0
    lines = out[out.index("[90% interval]") :].splitlines()
    starts = [line.split("  ")[0] if line[0] != " " else line.split()[0] for line in lines[1:6]]
    assert starts == [
        "calibrated",
        "if mistakes are independent",
        "algebraic",
        "if the majority is right",
        "majority_agreement",
    ]
    assert "--system-is" in out and "families whose truth is known" in out
    assert "Without any model, the accuracy on these items" in out


@pytest.mark.parametrize("system_is", ["like", "better", "unknown"])
def test_its_numbers_are_the_same_on_screen_in_files_in_json_and_in_python(
    run, file, tmp_path, system_is
):
    options = ("--system-is", system_is, "--interval", "0.8")
    expected = lehner.estimate_calibrated(
        lehner.read_ratings(file, system="system"), system_is=system_is, level=0.8
    )
    value = expected.system_accuracy_in_sample
    text = with_interval(value.estimate, value.lower, value.upper)
    _, out, _ = run("estimate", "--full", file, *METHODS, *options, "--output", tmp_path / "out")
    assert text in out
    assert f"(--system-is {system_is}" in out or system_is == "unknown"
    assert text in (tmp_path / "out" / "estimates.tex").read_text()
    rows = pd.read_csv(tmp_path / "out" / "estimates.csv")
    row = rows[(rows.method == "calibrated") & (rows.quantity == "system_accuracy_in_sample")]
    assert row[["estimate", "lower", "upper"]].to_numpy()[0] == pytest.approx(
        [value.estimate, value.lower, value.upper]
    )
    _, out, _ = run("estimate", "--full", file, *METHODS, *options, "--json")
    found = {one["method"]: one for one in json.loads(out)["estimates"]}["calibrated"]
    assert found["system_accuracy_in_sample"]["lower"] == pytest.approx(value.lower)
    assert found["diagnostics"]["system_is"] == system_is
    _, out, _ = run("estimate", "--full", file, *METHODS, *options, "--sentence")
    said = f"{decimal(value.estimate)} (80% interval {decimal(value.lower)} to"
    assert said in out and out.count("\n") == 1


def test_with_known_truths_the_corrected_estimates_stand_first(run, file):
    known = file.with_name("known.csv")
    _, out, _ = run("estimate", "--full", known, *METHODS)
    corrected, uncorrected = out.index("corrected by the known truths:"), out.index("without the")
    assert corrected < out.index("calibrated") < out.index("known items alone") < uncorrected
    _, out, _ = run("estimate", "--full", known, *METHODS, "--json")
    found = {one["method"]: one for one in json.loads(out)["estimates"]}
    assert found["calibrated"]["diagnostics"]["known_truths"] == 15
    assert found["calibrated"]["without_known_truths"] is None
    assert found["calibrated"]["system_accuracy"]["corrected"]
    assert found["algebraic"]["known_truth_details"]["n_known"] == 15
    _, out, _ = run("estimate", "--full", known, "--method", "algebraic", "--sentence")
    value = found["algebraic"]["system_accuracy_in_sample"]
    assert f"{decimal(value['estimate'])} (90% interval {decimal(value['lower'])} to" in out
    assert "15 known truths" in out and "corrected by the known truths" in out


def test_several_systems_have_a_sentence_each(run, file, tmp_path):
    table = pd.read_csv(file)
    table.assign(second=table["system"].sample(frac=1, random_state=1).to_numpy()).to_csv(
        tmp_path / "two.csv", index=False
    )
    _, out, _ = run(
        "estimate", tmp_path / "two.csv", "--system", "system,second", *METHODS, "--sentence"
    )
    first, second = out.splitlines()
    assert "accuracy of system was" in first and "accuracy of second was" in second


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


def test_no_estimate_is_said_in_the_sentence(run, tmp_path):
    (tmp_path / "r.csv").write_text("a,b,system\nx,,\ny,x,\n,,y\nx,x,\n")
    code, out, _ = run("estimate", tmp_path / "r.csv", "--method", "calibrated", "--sentence")
    assert code == 1 and "cannot be estimated" in out
