"""The command's JSON is the table of results: its rows are the numbers of the library."""

import json

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner.core.estimate import MEANINGS
from lehner.estimation.summary import write_apa

TICKETS = "docs/data/tickets.csv"
RATERS = ("--raters", "ana,ben,cai,dee")
QUICK = ("--method", "majority_agreement,algebraic")


@pytest.fixture
def rows(run):
    """Run a command with --json; give its rows, and a function that chooses some."""

    def call(*arguments):
        code, out, err = run(*arguments, "--json")
        assert code == 0, err
        table = pd.DataFrame(json.loads(out)["rows"])

        def pick(quantity, **columns):
            wanted = {"grouping": "", "rater": "", "versus": "", "corrected": False} | columns
            result = table[table["quantity"] == quantity]
            for name, value in wanted.items():
                if value is not ...:
                    result = result[result[name] == value]
            return result

        return pick

    return call


def test_groups_of_items_and_their_difference(rows):
    options = (*RATERS, "--system", "gpt", "--group", "domain", "--method", "algebraic")
    pick = rows("estimate", TICKETS, *options)
    table = pd.read_csv(TICKETS)
    of = {"grouping": "group"}
    groups = pick("system_accuracy", **of).set_index("group")
    assert groups["n_items"].to_dict() == table["domain"].value_counts().to_dict()
    difference = pick("system_accuracy_difference", **of, versus="web")
    expected = groups.loc["app", "estimate"] - groups.loc["web", "estimate"]
    assert difference["estimate"].item() == pytest.approx(expected)
    assert 0 < difference["probability"].item() < 1


def test_numbers_are_cut_where_the_user_says(rows, run, tmp_path):
    table = pd.read_csv(TICKETS).assign(length=np.arange(250))
    table.to_csv(tmp_path / "long.csv", index=False)
    options = (tmp_path / "long.csv", *RATERS, "--system", "gpt", "--method", "algebraic")
    pick = rows("estimate", *options, "--group", "length:100,65.5")
    sizes = pick("system_accuracy", grouping="group").set_index("group")["n_items"].to_dict()
    assert sizes == {"1: below 65.5": 66, "2: 65.5 to below 100": 34, "3: 100 or more": 150}
    _, out, _ = run("estimate", *options, "--group", "length", "--full")
    assert "length was cut at its quantiles into 4 groups" in out
    _, out, _ = run("estimate", *options[:-1], "majority_agreement", "--group", "length", "--full")
    assert "Groups of items" not in out


def test_populations_have_the_base_rates_of_the_fit(rows):
    options = (*RATERS, "--system", "gpt", "--method", "algebraic,dawid_skene_ml")
    pick = rows("estimate", TICKETS, *options, "--population", "domain")
    table = pd.read_csv(TICKETS)
    ratings = lehner.read_ratings(
        table[["item", "ana", "ben", "cai", "dee", "gpt"]], system="gpt"
    ).with_populations(table["domain"])
    fit = lehner.fit_latent_class(ratings)
    result = pick("base_rates", grouping="population", method="dawid_skene_ml")
    for row in result.to_dict("records"):
        expected = float(fit.base_rates.sel(group=row["group"], category=row["category"]))
        assert row["estimate"] == pytest.approx(expected, abs=1e-4)
        assert row["lower"] < row["estimate"] < row["upper"]
    assert not len(pick("base_rates", grouping="population", method="algebraic"))


@pytest.mark.parametrize("system_is", ["like", "better", "unknown"])
def test_learned_prior_is_that_of_the_library_and_the_sentence_says_it(run, rows, system_is):
    options = (TICKETS, *RATERS, "--system", "gpt", "--system-is", system_is, "--level", "0.8")
    ratings = lehner.read_ratings(TICKETS, system="gpt", raters=RATERS[1].split(","))
    value = lehner.estimate_learned_prior(ratings, system_is=system_is, level=0.8)
    expected = value.system_accuracy_in_sample
    row = rows("estimate", *options, "--method", "learned_prior")("system_accuracy_in_sample")
    numbers = row[["estimate", "lower", "upper"]].to_numpy()[0]
    assert numbers == pytest.approx([expected.estimate, expected.lower, expected.upper])
    _, out, _ = run("estimate", *options, "--method", "algebraic,learned_prior", "--sentence")
    assert write_apa(expected) in out and "80% CI" in out and out.count("\n") == 1


def test_compare_gives_what_the_library_gives(rows):
    options = ("--group", "model", "--good", "good", *RATERS, "--method", "dawid_skene_ml")
    pick = rows("compare", "docs/data/answers.csv", *options)
    table = pd.read_csv("docs/data/answers.csv")
    names = ["ana", "ben", "cai", "dee"]
    ratings = lehner.read_ratings(table[["item", *names]])
    fit = lehner.fit_latent_class(ratings.with_populations(table["model"]))
    for row in pick("base_rates", grouping="group").to_dict("records"):
        expected = float(fit.base_rates.sel(group=row["group"], category="good"))
        assert row["estimate"] == pytest.approx(expected, abs=1e-4)
    ranks = pick("base_rates_rank", grouping="group").set_index("group")["estimate"]
    rates = pick("base_rates", grouping="group").set_index("group")["estimate"]
    assert rates[ranks.sort_values().index].is_monotonic_decreasing


def test_the_columns_of_json_are_those_of_its_page_with_their_types(run):
    _, out, _ = run("estimate", TICKETS, "--system", "gpt", *RATERS, *QUICK, "--json")
    kinds = {"text": str, "number or null": (int, float, type(None)), "true or false": bool}
    for row in json.loads(out)["rows"]:
        assert list(row) == list(MEANINGS)
        for name, (kind, meaning) in MEANINGS.items():
            assert isinstance(row[name], kinds[kind]), name
            assert meaning.endswith(".")
