"""Groups of items on the command line: `--by`."""

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner.command.load import read_groups

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
