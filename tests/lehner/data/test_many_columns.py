"""Tables of very many columns: read in linear time."""

import sys

import numpy as np
import pandas as pd
import pytest

from lehner import InputError, Ratings, read_ratings


def count_steps(function):
    """Count the lines of the library that run."""
    counted = 0

    def trace(frame, event, arg):
        nonlocal counted
        if "/lehner/" not in frame.f_code.co_filename:
            return None
        counted += event == "line"
        return trace

    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(None)
    return counted


def wide(n_columns, name="r"):
    labels = np.random.default_rng(1).choice(list("abc"), (90, n_columns))
    table = pd.DataFrame(labels, columns=[f"{name}{j}" for j in range(n_columns)])
    return table.assign(item=range(90))


@pytest.mark.parametrize("name", ["r", "model ", "label "])
@pytest.mark.filterwarnings("ignore::lehner.DataWarning")
def test_a_wide_table_is_read_in_time_linear_in_its_columns(name):
    few, many = (
        count_steps(lambda n=n: Ratings.from_wide(wide(n, name), item="item")) for n in (200, 800)
    )
    assert many < 5 * few


def test_twenty_thousand_columns_are_items_unless_they_are_named(tmp_path):
    names = [f"r{j}" for j in range(20_000)]
    rows = [names, *(["a", "b"] * 10_000 for _ in range(5))]
    (tmp_path / "wide.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    with pytest.raises(
        InputError, match="each of 5 rows is probably a rater, and each of 20000 columns an item"
    ):
        read_ratings(tmp_path / "wide.csv")
    ratings = read_ratings(tmp_path / "wide.csv", raters="r*")
    assert (ratings.n_raters, ratings.n_items) == (20_000, 5)


def test_a_name_that_occurs_twice_among_many_is_found(tmp_path):
    names = [f"r{j}" for j in range(20_000)]
    (tmp_path / "wide.csv").write_text(",".join([*names, "r7"]) + "\n")
    with pytest.raises(InputError, match="two columns are named 'r7'"):
        read_ratings(tmp_path / "wide.csv")
