"""Populations of items on the command line: `--population`."""

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


def test_in_python_ratings_carry_them(table):
    results = lehner.estimate(ratings_of(table), ["dawid_skene_ml"])
    result = results.select(grouping="population")
    assert result["group"].unique().tolist() == ["north", "south"]
    names = table["site"].to_numpy()
    again = lehner.estimate(
        ratings_of(table).with_populations(None), ["dawid_skene_ml"], populations=names
    )
    assert again.table.equals(results.table)


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
