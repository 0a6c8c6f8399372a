"""Earlier studies on the command line: screen, files, page and JSON say one thing."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import lehner
from experiments.estimate.earlier_studies import study_lines, study_tables
from lehner.core.text import decimal

METHOD = ("--method", "dawid_skene")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    truth = rng.random(150) < 0.4

    def rated(accuracy):
        return np.where(truth ^ (rng.random(150) > accuracy), "sick", "well")

    raters = {name: rated(0.8) for name in ("a=b & c", "../x", "ana")}
    systems = {"gpt": rated(0.9), "claude": rated(0.85)}
    return pd.DataFrame({"item": range(150)} | raters | systems)


@pytest.fixture
def earlier(tmp_path):
    path = tmp_path / "earlier.csv"
    path.write_text("truth,sick,well\nsick,80,20\nwell,40,160\n")
    return path


def with_interval(value):
    return f"{decimal(value['estimate'])} [{decimal(value['lower'])}, {decimal(value['upper'])}]"


def test_screen_files_and_json_have_the_same_numbers(run, file, earlier, tmp_path):
    text = f"a=b & c={earlier},gpt=sensitivity .9 (.85 to .94)"
    argv = ["estimate", file, "--system", "gpt", "--raters", "a=b & c,../x,ana", *METHOD]
    argv += ["--earlier-studies", text, "--study-weight", "0.25"]
    code, out, _ = run(*argv, "--json")
    (found,) = json.loads(out)["estimates"]
    told = found["diagnostics"]["earlier_studies"]
    assert code == 0 and told["weight"] == 0.25
    assert [row["weight"] for row in told["by_weight"]] == [0, 0.25, 0.5, 1]
    assert told["by_weight"][1]["system_accuracy"] == found["system_accuracy"]
    (sick, well, *_) = told["raters"]
    assert (sick["rater"], sick["right"], sick["items"]) == ("a=b & c", 80, 100)
    assert (well["category"], well["right"], well["items"]) == ("well", 160, 200)
    _, full, _ = run(*argv, "--full", "--output", tmp_path / "out", "--report", tmp_path / "x.html")
    tex = (tmp_path / "out" / "earlier_studies.tex").read_text()
    page = (tmp_path / "x.html").read_text()
    for row in told["raters"]:
        for name in ("prior", "posterior"):
            shown = with_interval(row[name])
            assert shown in full and shown in page and shown in tex
    for row in told["by_weight"]:
        shown = with_interval(row["system_accuracy_in_sample"])
        assert shown in full and shown in page and shown in tex
    assert "earlier.csv" in page and r"a=b \& c" in tex
    _, screen, _ = run(*argv)
    (line,) = [one for one in screen.splitlines() if "of earlier studies" in one]
    assert re.findall(r"(\S+) at ([\d.]+)", line) == [
        (decimal(row["system_accuracy_in_sample"]["estimate"]), f"{row['weight']:g}")
        for row in told["by_weight"]
    ]


@pytest.mark.parametrize("n_known", [0, 20])
def test_of_several_systems_each_has_its_own_study(n_known):
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 80)
    given = [np.where(rng.random(80) < 0.8, truth, 1 - truth) for _ in range(5)]
    ratings = lehner.Ratings(
        np.column_stack(given[:3]),
        ["no", "yes"],
        system=np.column_stack(given[3:]),
        truth=np.where(np.arange(80) < n_known, truth, -1),
        systems=["gpt", "claude"],
    )
    studies = {"gpt": [[90, 10], [5, 95]]}
    found = lehner.estimate(ratings, ["dawid_skene"], earlier_studies=studies)
    gpt, claude = found.systems
    (line,) = study_lines(gpt)
    assert list(study_lines(claude)) == []
    # What known truths correct is not what the weights give.
    assert ("without the known truths" in line) == (n_known > 0)
    heads = [table.columns[1].heading for table in study_tables(gpt)]
    assert ("without the known truths" in heads[1]) == (n_known > 0)
    assert "earlier_studies" not in claude.estimates[0].diagnostics


@pytest.mark.parametrize(
    ("study", "said"),
    [
        ("anna=x.csv", "did you mean 'ana'"),
        ("ana", "as a=b & c=earlier.csv"),
        ("ana=", "as a=b & c=earlier.csv"),
        ("ana=x.csv,ana=y.csv", "as a=b & c=earlier.csv"),
        ("ana=x.csv", "no such file"),
        ("ana=sensitivity 85%", "sensitivity .85 (.80 to .90)"),
    ],
)
def test_what_is_no_study_is_told_in_one_line(run, file, study, said):
    argv = ["estimate", file, "--system", "gpt", "--earlier-studies", study, *METHOD]
    code, out, err = run(*argv)
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1


def test_a_count_that_is_no_number_is_named_by_its_place(run, file, earlier):
    earlier.write_text("truth,sick,well\nsick,80,-1\nwell,40,160\n")
    code, _, err = run("estimate", file, "--system", "gpt", "--earlier-studies", f"ana={earlier}")
    assert code == 2 and "earlier.csv: the counts" in err
    earlier.write_text("truth,sick,well\nsick,80,many\nwell,40,160\n")
    code, _, err = run("estimate", file, "--system", "gpt", "--earlier-studies", f"ana={earlier}")
    assert code == 2
    assert all(part in err for part in ("earlier.csv", "'many' is no count", "column 'well'"))
