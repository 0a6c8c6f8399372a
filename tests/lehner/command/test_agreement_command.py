"""`lehner agreement`, `lehner check` and `lehner bounds`, as a user types them."""

import csv
import json
import logging
from threading import Event

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import lehner
from lehner import Scenario, check_k_properties, simulate
from lehner import load_dataset as load
from lehner.command.show_ratings import compare_conditions
from lehner.contrasts.groups import group_column
from lehner.core.arrays import derive_seeds
from lehner.k_properties.check import INDEPENDENCE, K_TESTS


def test_json_is_what_the_function_gives(run):
    code, out, err = run("agreement", "krippendorff", "--level", "0.95", "--json")
    expected = lehner.agreement(lehner.load_dataset("krippendorff"), level=0.95).to_dict()
    expected["data"]["name"] = "krippendorff"
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads(json.dumps(expected))


def test_how_far_it_is_is_said(run, monkeypatch):
    monkeypatch.setattr("lehner.core.resampling.EVERY", -1.0)
    assert "pairs of raters: 83% done, " in run("agreement", "krippendorff", "--json")[2]


def test_more_than_50_raters_are_compared_in_pairs_only_if_that_is_asked(run, tmp_path):
    path, rng = tmp_path / "crowd.csv", np.random.default_rng(1)
    names = [f"r{k}" for k in range(51)]
    pd.DataFrame(rng.integers(2, size=(40, 51)), columns=names).to_csv(path, index_label="item")
    compared = {
        options: json.loads(run("agreement", path, *options, "--json")[1])
        for options in ((), ("--pairs",), ("--raters", ",".join(names[:50])))
    }
    pairs = [sum(row["rater"] != "" for row in x["rows"]) for x in compared.values()]
    assert pairs == [0, 51 * 50, 50 * 49]
    codes = [[w["code"] for w in x["warnings"]] for x in compared.values()]
    assert ["not-compared" in listed for listed in codes] == [True, False, False]
    assert "51 raters are only compared in pairs on request (--pairs)" in run("agreement", path)[1]
    code, _, err = run("agreement", path, "--pairs", "--within-rater")
    assert code == 2 and "leave out --pairs" in err


def test_files_are_written(run, tmp_path):
    folder = tmp_path / "new"
    options = ("--weights", "identity", "--weights", "ratio", "--output", folder)
    code, _, err = run("agreement", "krippendorff", *options)
    figures = ["agreement.pdf", "agreement.png"]
    names = ["agreement.csv", *figures, "agreement.tex", "pairs.tex"]
    assert code == 0
    assert sorted(path.name for path in folder.iterdir()) == names
    assert all(f"wrote {folder / name}" in err for name in names)
    table = pd.read_csv(folder / "agreement.csv")
    alpha = table[(table["quantity"] == "krippendorff_alpha") & (table["weights"] == "ratio")]
    assert alpha["estimate"].item() == pytest.approx(0.797, abs=6e-4)
    assert table["rater"].notna().sum() == 2 * 12
    in_latex = (folder / "agreement.tex").read_text()
    assert r"Brennan and Prediger’s $\kappa$" in in_latex and "\\_kappa" not in in_latex


def test_chosen_coefficients_stand_alone_in_their_order_everywhere(run, tmp_path):
    options = ("agreement", "krippendorff", "--coefficients", "alpha,ac1")
    code, out, _ = run(*options, "--output", tmp_path)
    lines = out.splitlines()
    assert code == 0 and "rater" not in "".join(lines[2:])
    place = next(k for k, line in enumerate(lines) if line.startswith("coefficient"))
    assert [line.split("  ")[0] for line in lines[place + 1 : place + 3]] == [
        "Krippendorff’s α",
        "Gwet’s AC1",
    ]
    result = json.loads(run(*options, "--json")[1])["rows"]
    names = [row["quantity"] for row in result if not row["rater"]]
    assert names[::2] == ["krippendorff_alpha", "gwet_ac1"]
    table = pd.read_csv(tmp_path / "agreement.csv")
    assert list(table["estimate"]) == [row["estimate"] for row in result]


@pytest.fixture
def conditions(tmp_path):
    """Two conditions, in the second of which raters agree less."""
    rng = np.random.default_rng(3)
    rows = ["item,condition,ana,bo,cy"]
    for i in range(140):
        truth, easy = rng.integers(3), i < 90
        said = [truth if rng.random() < (0.9 if easy else 0.6) else rng.integers(3) for _ in "abc"]
        rows.append(",".join([f"i{i}", "easy" if easy else "hard", *map("xyz".__getitem__, said)]))
    file = tmp_path / "conditions.csv"
    file.write_text("\n".join(rows) + "\n")
    return file


def test_conditions_differ_by_the_difference_of_independent_samples(run, conditions, tmp_path):
    asked = ("agreement", conditions, "--group", "condition", "--level", 0.95)
    code, out, err = run(*asked, "--json", "--output", tmp_path / "out")
    assert code == 0 and "wrote" in err
    rows = [row for row in json.loads(out)["rows"] if not row["quantity"].endswith("_chance")]
    differences = [row for row in rows if row["quantity"].endswith("_difference")]
    assert len(differences) == 3 and len(rows) == 9
    coefficients = {(row["quantity"], row["group"]): row for row in rows}
    for difference in differences:
        assert (difference["group"], difference["versus"]) == ("easy", "hard")
        name = difference["quantity"].removesuffix("_difference")
        first, second = coefficients[name, "easy"], coefficients[name, "hard"]
        assert difference["estimate"] == pytest.approx(first["estimate"] - second["estimate"])
        variances = [c["standard_error"] ** 2 for c in (first, second)]
        degrees = sum(variances) ** 2 / (variances[0] ** 2 / 89 + variances[1] ** 2 / 49)
        half = stats.t.ppf(0.975, degrees) * sum(variances) ** 0.5
        assert difference["upper"] - difference["estimate"] == pytest.approx(half)
        assert difference["estimate"] - difference["lower"] == pytest.approx(half)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"agreement.csv", "agreement.pdf"} <= names
    sentences = run(*asked, "--sentence")[1].splitlines()
    assert sentences[1].startswith("Krippendorff’s α, easy − hard: .")
    assert run(*asked, "--cluster", "item")[0] == 0  # no cluster is in both


@pytest.mark.slow
def test_a_difference_covers_what_differences_of_many_samples_are():
    rng, ends, points = np.random.default_rng(1), [], []
    names = np.repeat(["a", "b"], 60)
    for _ in range(300):
        truth = rng.integers(0, 2, 120)
        right = rng.random((120, 3)) < np.where(names == "a", 0.85, 0.7)[:, None]
        ratings = lehner.Ratings(np.where(right, truth[:, None], 1 - truth[:, None]), ["n", "y"])
        groups = group_column("site", names, "")
        compared = compare_conditions(ratings, groups, 0.9, coefficients=["gwet_ac1"])
        row = compared.select(quantity="gwet_ac1_difference").iloc[0]
        ends.append((row.lower, row.upper))
        points.append(row.estimate)
    lower, upper = np.array(ends).T
    covered = np.mean((lower <= np.mean(points)) & (np.mean(points) <= upper))
    # The standard error of a coverage of .9 in 300 samples is .017.
    assert 0.85 < covered < 0.95


def test_a_file_that_is_still_read_is_said(run, monkeypatch, capsys):
    monkeypatch.setattr("lehner.core.resampling.SILENCE", 0.01)
    waited = Event()
    handle = logging.StreamHandler.emit

    def emit(self, record):
        handle(self, record)
        if record.levelno == logging.INFO and record.getMessage().startswith("reading"):
            waited.set()

    def load_when_told(*args, **options):
        assert waited.wait(60) and len(logging.getLogger("lehner").handlers) == 1
        return load(*args, **options)

    monkeypatch.setattr(logging.StreamHandler, "emit", emit)
    monkeypatch.setattr(lehner, "load_dataset", load_when_told)
    code, _, err = run("agreement", "krippendorff")
    assert code == 0 and "reading krippendorff … (" in err


@pytest.mark.parametrize(
    "of", [[], ["--group", "half"], ["--criteria", "first,second"], ["--sets"]]
)
def test_odd_data_are_said_whatever_is_asked(run, tmp_path, of):
    """Two raters who agree by chance, one of whom wrote jes once."""
    answers = np.random.default_rng(1).choice(["no", "yes"], (60, 2)).astype(object)
    answers[7, 0] = "jes"
    wide = pd.DataFrame(answers, columns=["Ann", "Bo"]).rename_axis("item").reset_index()
    wide["half"] = np.repeat(["x", "z"], 30)
    long = wide.melt(["item", "half"], var_name="rater", value_name="first")
    table = long.assign(second=long["first"]) if "--criteria" in of else wide
    names = ["--item", "item", "--rater", "rater"] if "--criteria" in of else ["--raters", "Ann,Bo"]
    table.to_csv(tmp_path / "r.csv", index=False)
    _, out, _ = run("agreement", tmp_path / "r.csv", *names, *of, "--json")
    assert "agreement-at-chance" in out and ("'jes' (1 cell, by Ann)" in out or "--sets" in of)
    if "--criteria" in of:
        assert all(f"{name}: raters do not agree" in out for name in ("first", "second"))


# `lehner check` and `lehner bounds`, as a user types them; the size and power that are kept.


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
