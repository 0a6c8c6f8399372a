"""`lehner plan`, as a user types it, and the paper's two sample sizes."""

import json

import numpy as np
import pandas as pd
import pytest

from lehner import find_sample_size, make_scenario
from lehner.command.show_plan import PlanOptions, find_sizes

QUICK = ("--replicates", 1000)
EASY = ("--kappa", 0.6, "--system-accuracy", 0.8, *QUICK)


@pytest.mark.slow
def test_the_plan_of_the_issue_answers_for_both_violations(run):
    asked = "--categories 5 --raters 3 --kappa 0.3 --within 0.1 --confidence 0.9".split()
    code, out, err = run("plan", *asked, "--replicates", 5000)
    assert (code, err) == (0, "")
    assert "5 categories, 3 raters who agree with kappa 0.3; method algebraic." in out
    lines = {line[:24].strip(): line[24:] for line in out.splitlines()}
    assert lines["rater accuracy"].split() == ["0.64", "0.50", "0.60", "0.70"]
    holding, violated = (
        int(part.split()[-1].replace(",", ""))
        for part in lines["on average over these"].split("±")[:2]
    )
    assert 60 < holding < 80 < 200 < violated < 350


def test_the_command_answers_what_the_function_answers():
    question = PlanOptions(kappa=0.6, system_accuracies=(0.5, 0.9), n_categories=3)
    sizes = find_sizes(question, question.make_scenarios(), replicates=4000)
    assert list(sizes) == ["mean", "0.5", "0.9"]
    for accuracy in (0.5, 0.9):
        scenario = make_scenario(0.6, n_categories=3, system_accuracy=accuracy)
        again, size = find_sample_size(scenario, replicates=4000, seed=11), sizes[f"{accuracy}"]
        errors = again.value("standard_error").estimate, size["standard_error"]
        difference = again.value("n_items").estimate - size["n_items"]
        assert abs(difference) < 4 * np.hypot(*errors) + 1


@pytest.mark.slow
def test_where_no_number_is_enough_it_says_so_with_exit_1(run):
    options = ("--kappa", 0.12, "--system-accuracy", 0.9, "--violation", 1, *QUICK)
    code, out, _ = run("plan", *options)
    assert code == 1
    assert any(line.split()[-2:] == ["0.9", "–"] for line in out.splitlines())
    assert "Violation 1, 0.9: no number of items up to 100,000 is enough" in " ".join(out.split())
    code, out, _ = run("plan", *options, "--json")
    (plan,) = json.loads(out)["plans"]
    (row,) = plan["rows"]
    assert code == 1 and row["n_items"] is None and "large-sample bias" in row["note"]


def test_files_and_the_items_needed(run, tmp_path):
    folder = tmp_path / "new" / "plan"
    violations = ("--violation", 0, "--violation", 1)
    code, out, err = run("plan", *EASY, "--raters", 2, *violations, "--output", folder)
    assert code == 0 and "5 categories, 2 raters" in out
    names = ["plan.csv", "plan.tex"]
    assert {path.name for path in folder.iterdir()} == set(names)
    assert all(f"wrote {folder / name}" in err for name in names)
    rows = pd.read_csv(folder / "plan.csv")
    assert rows.violation.tolist() == [0, 1] and rows.system_accuracy.tolist() == [0.8, 0.8]
    assert rows.n_raters.tolist() == [2, 2]
    # More raters, fewer items.
    more = run("plan", *EASY, "--raters", 4, "--violation", 0, "--json")[1]
    assert json.loads(more)["plans"][0]["rows"][0]["n_items"] < rows.n_items.iloc[0]
    assert (rows.lower <= rows.n_items).all() and (rows.n_items <= rows.upper).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--kappa", "1"], "--kappa is 1.0; give a number from 0 to below 1"),
        (["--kappa", "-0.1"], "--kappa is -0.1"),
        (["--kappa", "nan"], "--kappa is nan"),
        (["--kappa", "0.99"], "kappa is 0.99, but with violation 1"),
        (["--within", "0"], "--within is 0.0"),
        (["--confidence", "1"], "--confidence is 1.0"),
        (["--confidence", "90%"], "--confidence"),
        (["--categories", "1"], "--categories is 1"),
        (["--raters", "1"], "--raters is 1"),
        (["--raters", "40", "--categories", "9"], "the answers of 40 raters in 9 categories"),
        (["--raters", "40"], "take fewer raters or categories"),
        (["--raters", "12", "--categories", "10"], "take fewer raters or categories"),
        (["--violation", "2"], "--violation is 2.0"),
        (["--system-accuracy", "1.2"], "--system-accuracy is 1.2"),
        (["--system-accuracy", "0.99"], "between 0.067 and 0.933"),
        (["--method", "dawid_skene"], "'dawid_skene'"),
        (["--estimand", "bias"], "--estimand is 'bias'"),
        (["--replicates", "10"], "--replicates is 10"),
        (["--seed", "-1"], "--seed is -1"),
    ],
)
def test_bad_options_are_told_in_one_line_with_exit_2(run, options, said):
    code, out, err = run("plan", *options)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1 and err.startswith("lehner: ")
    assert said in err
