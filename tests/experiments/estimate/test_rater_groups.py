"""Groups of raters on the command line: `--rater-group`."""

import json
from pathlib import Path

import numpy as np
import pytest

import bayes_models
import lehner

TICKETS = str(Path(__file__).parents[3] / "docs/data/tickets.csv")
OPTIONS = ("--system", "gpt", "--raters", "ana,ben,cai,dee")
GROUPS = "rater,group\nana,expert\nben,crowd\ncai,expert\n"


@pytest.fixture
def groups(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text(GROUPS)
    return path


def test_models_pool_raters_within_groups_and_say_so(run, groups):
    methods = ("--method", "one_coin_by_rater,dawid_skene_ml")
    code, out, _ = run("estimate", "--full", TICKETS, *OPTIONS, *methods, "--rater-group", groups)
    assert code == 0
    lines = out.splitlines()
    (pooled,) = [line for line in lines if "draws each rater toward the raters of the same" in line]
    assert pooled.startswith("one_coin_by_rater: the accuracy of a group of raters is the mean")
    (alone,) = [line for line in lines if "the model itself ignores the groups" in line]
    assert alone.startswith("dawid_skene_ml: ")


FEW = {"draws": 100, "tune": 100, "chains": 2, "tries": 1, "checks": False, "progressbar": False}


@pytest.mark.filterwarnings("ignore::bayes_models.ConvergenceWarning")
def test_a_fit_has_parameters_of_groups(groups):
    """The groups are data of a compiled model: the second fit uses the first one's code."""
    ratings = lehner.read_ratings(TICKETS, system="gpt", raters=["ana", "ben", "cai", "dee"])
    first = {"ana": "expert", "ben": "crowd", "cai": "expert"}
    second = {"ana": "a", "ben": "b", "cai": "c", "dee": "b"}
    for mapping, names in ((first, ["crowd", "expert", "no group"]), (second, ["a", "b", "c"])):
        data = ratings.with_rater_groups(mapping)
        tree = bayes_models.fit("one_coin_by_rater", data, **FEW)
        posterior = tree["posterior"].to_dataset()
        assert list(posterior["rater_group"].values) == names
        assert posterior["mean_log_odds"].dims == ("chain", "draw", "rater_group")
        assert posterior["rater_spread"].dims == ("chain", "draw", "rater_group")
        own = [mapping.get(rater, "no group") for rater in ratings.raters]
        assert list(json.loads(tree.attrs["rater_groups"]).values()) == own
        raters = posterior["accuracy"].isel(rater=slice(4))
        raters = (
            raters.assign_coords(group_of_rater=("rater", own)).groupby("group_of_rater").mean()
        )
        np.testing.assert_allclose(posterior["rater_group_accuracy"].values, raters.values)
        assert {"mean_log_odds", "rater_spread"} <= set(tree["log_prior"])
        estimate = bayes_models.estimate_from_draws(tree)
        found = lehner.estimate(data, estimate)
        for name in data.rater_groups:
            mean = float(posterior["rater_group_accuracy"].sel(rater_group=name).mean())
            assert found.value("rater_accuracy", group=name).estimate == pytest.approx(mean)
        codes = {one.code for one in found.warnings}
        assert "groups-pooled" in codes and "rater-group-accuracy" not in codes
        others = lehner.estimate(data.with_rater_groups({"ana": "x", "ben": "y"}), estimate)
        codes = {one.code for one in others.warnings}
        assert "rater-group-accuracy" in codes and "groups-pooled" not in codes


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
