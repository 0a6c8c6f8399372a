"""Populations of items on the command line: `--population`."""

import json

import numpy as np
import pandas as pd
import pytest

import lehner

RATERS = ("--raters", "Ann,Bo", "--system", "gpt")
BY_LIKELIHOOD = ("--method", "algebraic,dawid_skene_ml")


@pytest.fixture
def table():
    """Two sites with base rates .8 and .3 of "no", and the same confusion matrices."""
    rng = np.random.default_rng(1)
    site = np.repeat(["north", "south"], [200, 100])
    truth = (rng.random(300) > np.where(site == "north", 0.8, 0.3)).astype(int)

    def answers(accuracy):
        return np.array(["no", "yes"])[np.where(rng.random(300) < accuracy, truth, 1 - truth)]

    return pd.DataFrame(
        {
            "item": [f"case {i}" for i in range(300)],
            **{name: answers(0.85) for name in ("Ann", "Bo")},
            "gpt": answers(0.9),
            "site": site,
            "old": answers(0.8),
        }
    )


def ratings_of(table):
    read = lehner.read_ratings(table.drop(columns=["site", "old"]), system="gpt")
    return read.with_populations(table["site"])


def test_json_has_base_rates_of_each_population(run, file, table):
    code, out, _ = run("estimate", file, *RATERS, *BY_LIKELIHOOD, "--population", "site", "--json")
    assert code == 0
    algebra, found = json.loads(out)["estimates"]
    assert algebra["populations"] is None and algebra["population_differences"] is None
    north, south = found["populations"]
    fit = lehner.fit_latent_class(ratings_of(table))
    for one, n_items in ((north, 200), (south, 100)):
        assert one["n_items"] == n_items
        expected = float(fit.base_rates.sel(group=one["population"], category="no"))
        rate = one["base_rate_intervals"]["no"]
        assert rate["estimate"] == pytest.approx(expected, abs=1e-4)
        assert rate["lower"] < rate["estimate"] < rate["upper"]
    whole = (
        200 * north["system_accuracy"]["estimate"] + 100 * south["system_accuracy"]["estimate"]
    ) / 300
    assert found["system_accuracy"]["estimate"] == pytest.approx(whole, abs=1e-4)
    assert found["system_accuracy"]["estimate"] == pytest.approx(float(fit.accuracy[-1]), abs=1e-4)
    (difference,) = found["population_differences"]
    assert difference["populations"] == ["north", "south"]


@pytest.mark.slow
def test_the_models_have_them_too(run, file, table):
    """By the draws of the fit, also after a fit to several systems."""
    options = ("--method", "one_coin", "--population", "site", "--json")
    code, out, _ = run("estimate", file, "--raters", "Ann,Bo", "--system", "gpt,old", *options)
    assert code == 0
    for found in json.loads(out)["estimates"]:
        ratings = lehner.read_ratings(table.drop(columns="site"), system=["gpt", "old"])
        by_site = ratings.for_system(found["system"]).with_populations(table["site"])
        fit = lehner.fit_latent_class(by_site, "one_coin")
        for one in found["populations"]:
            expected = float(fit.base_rates.sel(group=one["population"], category="no"))
            assert one["base_rate_intervals"]["no"]["estimate"] == pytest.approx(expected, abs=0.03)


def test_the_table_says_who_knows_of_populations(run, file, tmp_path):
    folder = tmp_path / "out"
    options = ("--population", "site", "--output", folder)
    code, out, _ = run("estimate", "--full", file, *RATERS, *BY_LIKELIHOOD, *options)
    assert code == 0
    assert "base rates by site [90% interval]" in out and "\nsouth (100)" in out
    assert "by site: the items of all populations are taken together by algebraic" in out
    written = pd.read_csv(folder / "populations.csv")
    assert len(written.query("quantity == 'base_rates'")) == 4
    assert (folder / "populations.png").stat().st_size > 5_000
    assert not (folder / "groups.csv").exists()


def test_groups_and_populations_may_both_be_asked_for(run, file):
    options = ("--population", "site", "--by", "site", "--method", "dawid_skene_ml", "--json")
    code, out, _ = run("estimate", file, *RATERS, *options)
    found, other, _ = json.loads(out)["estimates"]
    assert code == 0
    one = found["populations"][0]
    assert one["system_accuracy"] == other["system_accuracy"]


def test_in_python_ratings_carry_them(table):
    compared = lehner.estimate(ratings_of(table), ["dawid_skene_ml"])
    (found,) = (one.populations for one in compared.results)
    assert [one.group for one in found.groups] == ["north", "south"]
    names = table["site"].to_numpy()
    again = lehner.estimate(
        ratings_of(table).with_populations(None), ["dawid_skene_ml"], populations=names
    )
    assert again.results[0].populations.to_dict() == found.to_dict()


def test_bad_populations_are_refused(run, table, tmp_path):
    path = tmp_path / "gaps.csv"
    table.loc[4, "site"] = None
    table.to_csv(path, index=False)
    code, _, err = run("estimate", path, *RATERS, *BY_LIKELIHOOD, "--population", "site")
    assert code == 2
    assert "gaps.csv, column 'site': item 'case 4' has no population; name the" in err
    code, _, err = run("estimate", path, *RATERS, *BY_LIKELIHOOD, "--population", "sight")
    assert code == 2 and "did you mean 'site'?" in err
    table["site"], table.loc[200:, "gpt"] = np.repeat(["north", "south"], [200, 100]), None
    table.to_csv(path, index=False)
    code, _, err = run("estimate", path, *RATERS, *BY_LIKELIHOOD, "--population", "site")
    assert code == 2 and "the system answered no item of the group 'south'" in err
