"""Groups of raters on the command line: `--rater-group`."""

import json
from pathlib import Path

import pandas as pd
import pytest

import lehner

TICKETS = str(Path(__file__).parents[3] / "docs/data/tickets.csv")
OPTIONS = ("--system", "gpt", "--raters", "ana,ben,cai,dee")
GROUPS = "rater,group\nana,expert\nben,crowd\ncai,expert\n"


@pytest.fixture
def groups(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text(GROUPS)
    return path


def test_json_has_groups_and_differences(run, groups):
    methods = ("--method", "algebraic,dawid_skene_ml,majority_agreement", "--json")
    code, out, _ = run("estimate", TICKETS, *OPTIONS, *methods, "--rater-group", groups)
    assert code == 0
    algebra, by_likelihood, majority = json.loads(out)["estimates"]
    assert majority["rater_groups"] is None and majority["rater_group_differences"] is None
    ratings = lehner.read_ratings(TICKETS, system="gpt", raters=["ana", "ben", "cai", "dee"])
    pair = lehner.read_ratings(TICKETS, system="gpt", raters=["ana", "cai"])
    expected = float(lehner.estimate_algebraic(pair, interval=None).rater_accuracy[0])
    crowd, expert = algebra["rater_groups"]
    assert expert["raters"] == ["ana", "cai"] and expert["n_ratings"] == 500
    assert expert["accuracy"]["estimate"] == pytest.approx(expected)
    assert crowd["accuracy"]["estimate"] is None
    estimate = lehner.estimate_latent_class(ratings, interval=None)
    mean = float(estimate.rater_accuracy.sel(rater=["ana", "cai"]).mean())
    found = by_likelihood["rater_groups"][1]["accuracy"]
    assert found["estimate"] == pytest.approx(mean)
    assert found["lower"] < mean < found["upper"]
    (difference,) = by_likelihood["rater_group_differences"]
    assert difference["groups"] == ["crowd", "expert"]
    assert 0 <= difference["probability_higher"] < 0.1


def test_table_and_files(run, groups, tmp_path):
    folder = tmp_path / "out"
    method = ("--method", "majority_agreement,dawid_skene_ml")
    options = ("--rater-group", groups, "--output", folder)
    code, out, _ = run("estimate", TICKETS, *OPTIONS, *method, *options)
    assert code == 0
    assert "accuracy of raters [90% interval]" in out and "\n  expert (2 raters)" in out
    assert "groups of raters: 1 rater (dee) belongs to none" in out
    assert "groups of raters: majority_agreement cannot tell raters apart" in out
    written = pd.read_csv(folder / "rater_groups.csv")
    assert written["group"].tolist() == ["crowd", "expert", "crowd"]
    assert "crowd -- expert" in (folder / "rater_groups.tex").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "rater,group\nana,expert\nbne,crowd\n",
            "row 3, column 'rater': there is no rater 'bne'; did",
        ),
        ("rater,group\ngpt,model\n", "row 2, column 'rater': 'gpt' is a system"),
        (
            "rater,group\nana,x\nana,y\n",
            "row 3, column 'group': rater 'ana' is in group 'y' here and",
        ),
        ("rater,group\nana,\n", "column 'group': no rater has a group"),
        ("rater,group\n,x\n", "row 2, column 'rater': the name is missing"),
        ("rater,kind\nana,x\n", "there is no column 'group'"),
    ],
)
def test_bad_files_are_refused(run, tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    options = ("--method", "algebraic", "--rater-group", path)
    code, out, err = run("estimate", TICKETS, *OPTIONS, *options)
    assert code == 2 and not out
    assert "bad.csv" in err and message in err
