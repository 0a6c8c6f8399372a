"""Cost matrices as files and arrays."""

import pandas as pd
import pytest

from lehner import InputError
from lehner.performance.costs import check_costs, read_costs

NAMES = ["no", "yes"]


def test_costs_are_read_by_name_in_any_order(tmp_path):
    file = tmp_path / "costs.csv"
    file.write_text("truth,yes,no\nyes,0,5\nno,1,-0.5\n")
    assert read_costs(file, NAMES).tolist() == [[-0.5, 1], [5, 0]]
    assert check_costs(pd.read_csv(file, index_col=0), NAMES).tolist() == [[-0.5, 1], [5, 0]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("truth,yes,no\nyes,0,five\nno,1,0\n", "row 2, column 'no': 'five' is no cost"),
        ("truth,yes,no\nyes,0,\nno,1,0\n", "row 2, column 'no': '' is no cost"),
        ("truth,yes\nyes,0\nno,1\n", "category 'no' has no column"),
        ("truth,yes,no\nyes,0,5\n", "category 'no' has no row"),
        ("truth,yes,no\nyes,0,5\nyes,1,0\nno,1,0\n", "category 'yes' has more than one row"),
        ("truth,yes,no,else\nyes,0,5,1\nno,1,0,1\n", "a column is called 'else'"),
    ],
)
def test_bad_files_are_refused_where_they_are_bad(tmp_path, text, problem):
    file = tmp_path / "costs.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=r"costs\.csv") as error:
        read_costs(file, NAMES)
    assert problem in str(error.value)


@pytest.mark.parametrize(
    "costs",
    [[[0, 1]], [[0, float("nan")], [1, 0]], "costs", pd.DataFrame([[0, 1], [1, 0]])],
)
def test_bad_arrays_are_refused(costs):
    with pytest.raises(InputError, match="costs"):
        check_costs(costs, NAMES)
