"""`--seed` reaches everything that is drawn: each part has other numbers with another seed."""

import json
import sys

import numpy as np
import pytest

from lehner import Scenario, simulate

SEED = 90_210
PACKAGES = ("lehner", "bayes_models", "experiments")
QUICK = "algebraic_paper,algebraic,dawid_skene_ml"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Ratings of unequal raters with groups, populations and some truths; groups of raters.

    Errors near the truth and a rater who copies: `lehner check` rejects, and computes a bias.
    """
    folder = tmp_path_factory.mktemp("seed")
    scenario = Scenario(
        n_categories=3,
        n_items=80,
        initial_rater_accuracy=(0.5, 0.7, 0.7, 0.9),
        proportional_error_range=1,
        asymmetric_dispersion=4,
        copying=(0, 0, 0.5, 0),
    )
    table = simulate(scenario, 3).to_wide()
    table["second"] = simulate(scenario, 4).to_wide()["system"]
    table["domain"] = np.resize(["law", "web", "web"], len(table))
    table.loc[:20, ["item", "truth"]].to_csv(folder / "truths.csv", index=False)
    table.drop(columns="truth").to_csv(folder / "ratings.csv", index=False)
    raters = [name for name in table if name.startswith("Rater")]
    args = ["estimate", folder / "ratings.csv", "--system", "system", "--raters", ",".join(raters)]
    two = ["estimate", folder / "ratings.csv", "--system", "system,second", *args[4:]]
    return {
        "--full": [*args, "--method", QUICK, "--full"],
        "--group": [*args, "--method", "algebraic,dawid_skene_ml", "--group", "domain"],
        "--population": [*args, "--method", "dawid_skene_ml", "--population", "domain"],
        "--truth": [
            *args,
            "--method",
            QUICK,
            "--truth",
            folder / "truths.csv",
            "--group",
            "domain",
        ],
        "systems": [*two, "--method", QUICK, "--full"],
        "check": ["check", *args[1:]],
        "check, unequal errors": ["check", "lehner_table2", "--system", "System"],
        "label": ["label", *args[1:]],
        "ask": ["ask", *args[1:], "--output", folder / "ask.csv"],
    }


COMMANDS = [
    *"--full --group --population --truth".split(),
    *"systems check label ask".split(),
    "check, unequal errors",
]


def intervals(out):
    """Give the ends of intervals by their place, but not of what need not differ.

    Shares of the items and ranks are discrete, bounds are exact for an estimate, Student's
    intervals of the advantage over each rater (Calderon et al. 2025) are computed by a formula,
    and what public crowds say is the same for all.
    """
    return {
        tuple(value for value in row.values() if isinstance(value, str | bool)): (
            row["lower"],
            row["upper"],
        )
        for row in json.loads(out)["rows"]
        if row["lower"] is not None
        and row["kind"] not in ("Student", "public crowds")
        and not any(part in row["quantity"] for part in ("in_sample", "rank", "bounds"))
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_all_random_streams_come_from_the_seed(run, files, monkeypatch, name):
    make, sources = np.random.default_rng, {}

    def recorded(seed=None):
        caller = sys._getframe(1).f_globals["__name__"]
        if caller.split(".")[0] in PACKAGES and not isinstance(seed, np.random.Generator):
            entropy = getattr(seed, "entropy", seed)
            sources.setdefault(entropy, set()).add(caller)
        return make(seed)

    monkeypatch.setattr(np.random, "default_rng", recorded)
    code, out, err = run(*files[name], "--seed", SEED, "--json")
    assert code in (0, 1), err
    # The default of `lehner label`, variational Bayes, draws nothing.
    assert set(sources) == (set() if name == "label" else {SEED}), sources
    if name in ("--full", "--group", "--population", "systems"):
        first, other = map(intervals, (out, run(*files[name], "--seed", 6, "--json")[1]))
        same = {place for place, ends in first.items() if ends == other[place]}
        assert len(first) > 20
        assert not any(first[place][0] < first[place][1] for place in same)
