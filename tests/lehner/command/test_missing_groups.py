"""Missing groups and populations are none, whatever their type, in Python as in the command."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner.data.ratings import number_groups

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


@pytest.mark.parametrize(("value", "n"), [("-inf", 5), ("Infinity", 60)])
def test_an_infinite_value_among_numbers_is_told_in_one_line(ratings, run, tmp_path, value, n):
    table = ratings.with_truth(None).to_wide()
    table["length"] = [value, *(str(i % n) for i in range(119))]
    table.to_csv(tmp_path / "f.csv", index=False)
    options = ("--group", "length", "--method", "algebraic")
    code, out, err = run("estimate", tmp_path / "f.csv", "--system", "system", *options)
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert f"'{value}' stands among numbers" in err and "'length'" in err


def test_a_column_that_is_blank_is_told_before_anything_is_estimated(ratings, run, tmp_path):
    table = ratings.with_truth(None).to_wide().assign(domain="")
    table.to_csv(tmp_path / "f.csv", index=False)
    options = ("--group", "domain", "--method", "algebraic")
    code, _, err = run("estimate", tmp_path / "f.csv", "--system", "system", *options)
    assert code == 2 and err.count("\n") == 1 and "blank for all items" in err
