"""Tables of very many columns."""

import pytest

from lehner import InputError, read_ratings


def test_many_columns_are_items_unless_they_are_named(tmp_path):
    names = [f"r{j}" for j in range(2000)]
    rows = [names, *(["a", "b"] * 1000 for _ in range(5))]
    (tmp_path / "wide.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    with pytest.raises(
        InputError, match="each of 5 rows is probably a rater, and each of 2000 columns an item"
    ):
        read_ratings(tmp_path / "wide.csv")
    ratings = read_ratings(tmp_path / "wide.csv", raters="r*")
    assert (ratings.n_raters, ratings.n_items) == (2000, 5)


def test_a_name_that_occurs_twice_among_many_is_found(tmp_path):
    names = [f"r{j}" for j in range(4000)]
    (tmp_path / "wide.csv").write_text(",".join([*names, "r7"]) + "\n")
    with pytest.raises(InputError, match="two columns are named 'r7'"):
        read_ratings(tmp_path / "wide.csv")
