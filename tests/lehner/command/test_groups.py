"""Groups and populations of items on the command line, and `lehner compare`."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner.command.load import read_groups
from lehner.data.ratings import number_groups
from tests.rows import one_row

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


def test_long_tables_have_a_group_for_each_item(table, tmp_path):
    long = table.melt(["item", "domain", "length"], var_name="rater", value_name="rating")
    path = tmp_path / "long.csv"
    long.sample(frac=1, random_state=1).to_csv(path, index=False)
    ratings = lehner.read_ratings(path, system="gpt", leave_out=["domain"])
    result = read_groups(path, ["domain"], ratings)
    domain = table.set_index("item")["domain"]
    assert result.names.tolist() == [domain[str(name)] for name in ratings.items]
    long.loc[5, "domain"] = "other"
    long.to_csv(path, index=False)
    ratings = lehner.read_ratings(path, system="gpt", leave_out=["domain"])
    with pytest.raises(lehner.InputError, match="give each item one domain") as error:
        read_groups(path, ["domain"], ratings)
    assert "row 407, column 'domain'" in str(error.value)


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
    code, _, err = run("estimate", file, "--system", "gpt", "--group", by, *ALGEBRA)
    assert code == 2 and err.count("\n") == 1 and problem in err


def test_a_bundled_data_set_takes_no_column(run):
    code, _, err = run("estimate", "lehner_table2", "--group", "domain")
    assert code == 2 and "takes no --group" in err


MISSING = [
    None,
    float("nan"),
    np.float32("nan"),
    pd.NA,
    pd.NaT,
    "",
    "  ",
    np.datetime64("NaT", "s"),
]
CONTAINERS = {
    "list": list,
    "object array": lambda values: np.array(values, dtype=object),
    "Series": pd.Series,
    "categorical": pd.Categorical,
    "string": lambda values: pd.array(values, dtype="string"),
    "pyarrow": lambda values: pd.Series(values, dtype="string[pyarrow]"),
}


@pytest.fixture
def ratings():
    scenario = lehner.Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3, n_items=120)
    return lehner.simulate(scenario, 1)


@pytest.mark.parametrize("missing", MISSING, ids=repr)
def test_every_missing_value_is_no_group(ratings, missing):
    values = ["law"] * 50 + ["sport"] * 60 + [missing] * 10
    groups = np.empty(120, dtype=object)
    groups[:] = values
    expected = [0] * 50 + [1] * 60 + [-1] * 10
    assert number_groups(groups, 120)[1] == ("law", "sport")
    assert number_groups(values, 120)[0].tolist() == expected
    with pytest.raises(lehner.InputError, match="has no population"):
        ratings.with_populations(groups)
    with pytest.raises(lehner.InputError, match="no item belongs to a group"):
        lehner.estimate(ratings, ["algebraic"], groups=[missing] * 120)


@pytest.mark.parametrize("container", CONTAINERS)
def test_containers_of_groups_are_read_alike(container):
    values = [*["law"] * 50, *["sport"] * 60, *[None] * 10]
    index, names = number_groups(CONTAINERS[container](values), 120)
    assert names == ("law", "sport")
    assert index.tolist() == [0] * 50 + [1] * 60 + [-1] * 10


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "int64[pyarrow]", "float64", "object"])
def test_numbers_name_groups_however_they_are_stored(dtype):
    values = pd.Series([10] * 50 + [9] * 60 + [None] * 10, dtype=dtype)
    assert number_groups(values, 120)[1] == ("9", "10")


def test_the_command_has_the_groups_that_python_has(ratings, run, tmp_path):
    groups = ["law"] * 50 + ["sport"] * 60 + [None] * 10
    path = tmp_path / "f.csv"
    ratings.with_truth(None).to_wide().assign(domain=groups).to_csv(path, index=False)
    options = ("--group", "domain", "--method", "algebraic", "--json")
    _, out, err = run("estimate", path, "--system", "system", *options)
    read = lehner.read_ratings(path, leave_out=["domain"])
    result = lehner.estimate(read, ["algebraic"], groups=groups)
    result = replace(result, name=str(path))
    assert json.loads(out) == json.loads(json.dumps(result.to_dict())), err


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["-inf", *(str(i % 5) for i in range(119))], "'-inf' stands among numbers"),
        (["Infinity", *(str(i % 60) for i in range(119))], "'Infinity' stands among numbers"),
        ("", "blank for all items"),
    ],
)
def test_a_bad_column_is_told_in_one_line_before_anything_is_estimated(
    ratings, run, tmp_path, values, said
):
    table = ratings.with_truth(None).to_wide().assign(length=values)
    table.to_csv(tmp_path / "f.csv", index=False)
    options = ("--group", "length", "--method", "algebraic")
    code, out, err = run("estimate", tmp_path / "f.csv", "--system", "system", *options)
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert said in err and "'length'" in err


RATERS = ("--raters", "Ann,Bo", "--system", "gpt")
BY_LIKELIHOOD = ("--method", "algebraic,dawid_skene_ml")


@pytest.fixture
def sites():
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


def ratings_of(sites):
    read = lehner.read_ratings(sites.drop(columns=["site", "old"]), system="gpt")
    return read.with_populations(sites["site"])


def test_in_python_ratings_carry_them(sites):
    results = lehner.estimate(ratings_of(sites), ["dawid_skene_ml"])
    result = results.select(grouping="population")
    assert result["group"].unique().tolist() == ["north", "south"]
    names = sites["site"].to_numpy()
    again = lehner.estimate(
        ratings_of(sites).with_populations(None),
        ["dawid_skene_ml"],
        given=lehner.Given(populations=names),
    )
    assert again.table.equals(results.table)


def test_bad_populations_are_refused(run, sites, tmp_path):
    path = tmp_path / "gaps.csv"
    sites.loc[4, "site"] = None
    sites.to_csv(path, index=False)
    code, _, err = run("estimate", path, *RATERS, *BY_LIKELIHOOD, "--population", "site")
    assert code == 2
    assert "gaps.csv, column 'site': item 'case 4' has no population; name the" in err
    code, _, err = run("estimate", path, *RATERS, *BY_LIKELIHOOD, "--population", "sight")
    assert code == 2 and "did you mean 'site'?" in err
    sites["site"], sites.loc[200:, "gpt"] = np.repeat(["north", "south"], [200, 100]), None
    sites.to_csv(path, index=False)
    code, _, err = run("estimate", path, *RATERS, *BY_LIKELIHOOD, "--population", "site")
    assert code == 2 and "the system answered no item of the group 'south'" in err


# `lehner compare`, as a user types it: the screen, its files, and what is wrong.


RATED = [f"rater{j}" for j in range(4)]


def write_answers(path):
    """Write answers of models, each good more often than the next, judged by raters."""
    rng = np.random.default_rng(1)
    model = np.repeat([0, 1, 2], 60)
    truth = rng.random(180) < np.array([0.8, 0.6, 0.4])[model]
    right = rng.random((180, 4)) < 0.8
    said = np.where(right == truth[:, None], "good", "bad")
    table = pd.DataFrame(said, columns=RATED).assign(item=np.arange(180))
    table["model"] = np.array(["a_b & c", "../x", "100%"])[model]
    table.to_csv(path, index=False)
    return path


def test_every_rater_is_a_test_with_sensitivity_and_specificity(run, tmp_path):
    file, raters = write_answers(tmp_path / "my answers.csv"), ",".join(RATED)
    command = ("compare", file, "--item", "item", "--group", "model", "--good", "good")
    command += ("--raters", raters, "--method", "dawid_skene_ml", "--level", 0.95)
    _, out, _ = run(*command, "--full")
    _, text, _ = run(*command, "--json")
    shown = " ".join(out.split())
    for rater in RATED:
        for category in ("good", "bad"):
            row = one_row(text, "recall", rater=rater, category=category)
            assert row["level"] == 0.95 and row["lower"] < row["estimate"] <= row["upper"]
            value = f"{row['estimate']:.2f} [{row['lower']:.2f}, {row['upper']:.2f}]"
            assert value.replace("0.", ".") in shown
    assert "sensitivity specificity" in shown and "sensitivity" not in run(*command)[1]


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        (
            "answers.csv",
            "--raters ana,ben,cai,dee --group model --good good --method dawid_skene_ml",
            "atlas has the highest proportion of good: .69, 90% CI [.60, .77], by the method",
        ),
        (
            "judged.csv",
            "--raters judge --truth human --group prompt_version --good pass",
            "Which group has the highest proportion of pass is open: v3, v4. That of v3 is",
        ),
    ],
)
def test_it_says_which_group_is_ahead_or_that_it_is_open(run, data, options, sentence):
    data = Path(__file__).parents[3] / "docs/data" / data
    assert run("compare", data, *options.split(), "--sentence")[1].startswith(sentence)
