"""Groups of items on the command line: `--by`."""

import json

import numpy as np
import pandas as pd
import pytest

import lehner
from experiments.cli.group_column import read_groups
from lehner.estimation.groups import in_groups
from lehner.estimation.question import Options
from lehner.groups.membership import GroupColumn

ALGEBRA = ("--method", "algebraic", "--raters", "Ann,Bo,Cy")


@pytest.fixture
def table():
    """Two domains; in law the system is right in .6 and in sport in .95."""
    rng = np.random.default_rng(1)
    domain = np.repeat(["law", "sport"], [150, 250])
    truth = rng.integers(3, size=400)

    def answers(accuracy):
        right = rng.random(400) < accuracy
        return np.array(list("abc"))[np.where(right, truth, (truth + rng.integers(1, 3, 400)) % 3)]

    return pd.DataFrame(
        {
            "item": [f"case {i}" for i in range(400)],
            **{name: answers(0.8) for name in ("Ann", "Bo", "Cy")},
            "gpt": answers(np.where(domain == "law", 0.6, 0.95)),
            "domain": domain,
            "length": rng.permutation(400),
        }
    )


def test_json_has_groups_and_differences(run, file):
    code, out, _ = run("estimate", file, "--system", "gpt", "--by", "domain", *ALGEBRA, "--json")
    estimate, law, sport = json.loads(out)["estimates"]
    assert code == 0
    assert estimate["group"] is None
    assert {(one["method"], one["system"]) for one in (estimate, law, sport)} == {
        ("algebraic", "gpt")
    }
    assert (law["group"], law["n_items"]) == ("law", 150)
    assert sport["group"] == "sport" and sport["n_items"] == 250
    assert law["system_accuracy"]["estimate"] == pytest.approx(0.6, abs=0.1)
    assert set(law["base_rate_intervals"]) == set("abc")
    assert set(law["rater_accuracy_intervals"]) == {"Ann", "Bo", "Cy"}
    (difference,) = estimate["group_differences"]
    assert difference["groups"] == ["law", "sport"]
    assert difference["difference"]["upper"] < 0 and difference["probability_higher"] == 0


def test_without_groups_there_is_null(run):
    _, out, _ = run("estimate", "lehner_table2", "--method", "algebraic", "--json")
    (estimate,) = json.loads(out)["estimates"]
    assert estimate["group"] is None and estimate["group_differences"] is None


def test_numbers_are_cut_into_bins_and_the_table_says_so(run, file, tmp_path):
    folder = tmp_path / "out"
    options = ("--system", "gpt", "--by", "length", "--output", folder)
    code, out, _ = run("estimate", "--full", file, *options, *ALGEBRA)
    assert code == 0
    assert "gpt by length [90% interval]" in out
    assert "\n  1: 0 to 99 (100) " in out and "\n  4: 300 to 399 (100) " in out
    assert "length was cut at its quantiles into 4 groups" in out
    written = pd.read_csv(folder / "groups.csv")
    assert len(written.query("quantity == 'system_accuracy' and minus_group.notna()")) == 6
    assert "1: 0 to 99 -- 2: 100 to 199" in (folder / "groups.tex").read_text()
    assert (folder / "groups.png").stat().st_size > 5_000


def test_numbers_are_cut_where_the_user_says(run, file):
    options = ("--system", "gpt", "--raters", "Ann,Bo,Cy", "--method", "algebraic", "--json")
    _, out, _ = run("estimate", "--full", file, "--by", "length:100,65.5", *options)
    groups = [one for one in json.loads(out)["estimates"] if one["group"]]
    assert {one["group"]: one["n_items"] for one in groups} == {
        "1: below 65.5": 66,
        "2: 65.5 to below 100": 34,
        "3: 100 or more": 300,
    }
    _, out, _ = run("estimate", "--full", file, "--by", "length:200", *options[:-1])
    assert "length was cut at 200" in out and "1: below 200 (200)" in out


def test_several_systems_have_groups_each(run, table, tmp_path):
    table["old"] = table["Ann"]
    table.to_csv(tmp_path / "two.csv", index=False)
    options = ("--system", "gpt,old", "--by", "domain", *ALGEBRA)
    _, out, _ = run("estimate", "--full", tmp_path / "two.csv", *options)
    assert "gpt by domain" in out and "old by domain" in out


def test_methods_without_groups_say_so(run, file):
    options = ("--system", "gpt", "--by", "domain", "--raters", "Ann,Bo,Cy")
    _, out, _ = run("estimate", "--full", file, *options, "--method", "majority_agreement")
    assert "by domain: no method here has estimates of groups" in out


def test_maximum_likelihood_has_groups_with_the_same_matrices(table):
    ratings = lehner.read_ratings(table.drop(columns=["domain", "length"]), system="gpt")
    estimate = lehner.estimate_latent_class(ratings, "one_coin", interval=None, restarts=0)
    groups = GroupColumn(column="domain", names=table["domain"].to_numpy(), note="")
    found = in_groups(ratings, estimate, Options(groups=groups))
    assert found.method == "one_coin_ml" and [one.group for one in found.groups] == ["law", "sport"]
    assert found.differences[0].difference.estimate is None


def test_long_tables_have_a_group_for_each_item(table, tmp_path):
    long = table.melt(["item", "domain", "length"], var_name="rater", value_name="rating")
    path = tmp_path / "long.csv"
    long.sample(frac=1, random_state=1).to_csv(path, index=False)
    ratings = lehner.read_ratings(path, system="gpt", leave_out=["domain"])
    found = read_groups(path, "domain", ratings, None)
    domain = table.set_index("item")["domain"]
    assert found.names.tolist() == [domain[str(name)] for name in ratings.items]
    long.loc[5, "domain"] = "other"
    long.to_csv(path, index=False)
    with pytest.raises(lehner.InputError, match="give each item one value") as error:
        read_groups(path, "domain", ratings, None)
    assert "column 'domain'" in str(error.value) and "case 5" in str(error.value)


@pytest.mark.parametrize(
    ("by", "problem"),
    [
        ("domian", "domian"),
        ("item", "it has 400 different values"),
        ("domain:3", "'law' is no number to cut at 3"),
        ("length:0", "no item is below 0"),
        ("length:7,7000", "no item is 7000 or more"),
        ("length:x", "there is no column 'length:x'; did you mean 'length'?"),
        ("lenght:3", "there is no column 'lenght'; did you mean 'length'?"),
    ],
)
def test_bad_columns_end_in_one_line(run, file, by, problem):
    code, _, err = run("estimate", file, "--system", "gpt", "--by", by, *ALGEBRA)
    assert code == 2 and err.count("\n") == 1 and problem in err


def test_items_without_a_group_are_told_of(table, tmp_path):
    table.loc[:4, "domain"] = None
    path = tmp_path / "some.csv"
    table.to_csv(path, index=False)
    raters = ["Ann", "Bo", "Cy"]
    ratings = lehner.read_ratings(path, system="gpt", raters=raters, leave_out=["domain"])
    found = read_groups(path, "domain", ratings, None)
    assert found.note == "5 rows without domain belong to no group"


def test_a_bundled_data_set_takes_no_column(run):
    code, _, err = run("estimate", "lehner_table2", "--by", "domain")
    assert code == 2 and "takes no --by" in err
