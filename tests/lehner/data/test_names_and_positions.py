"""Names and positions of what is selected, very many columns, and patterns."""

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner import InputError, Ratings, read_ratings

TABLE = {"Ann": ["a", "b", "a"], "Bo": ["a", "b", "b"], "gpt": ["a", "-", "b"], "day": [1, 2, 3]}
RATINGS = Ratings([[0, 0], [0, 1], [1, 1], [1, 0]], ["no", "yes"], system=[0, 1, 1, 0])


@pytest.mark.parametrize("method", ["algebraic", ("algebraic",), np.array(["algebraic"])])
def test_one_method_needs_no_list(method):
    result = lehner.estimate(RATINGS, method)
    assert [method for _, method in result.fits] == ["algebraic"]
    scenario = lehner.Scenario(initial_rater_accuracy=(0.8, 0.8), n_items=20)
    drawn = lehner.simulate_estimates(scenario, 2, methods=method)
    assert drawn.equals(lehner.simulate_estimates(scenario, 2, methods=["algebraic"]))


@pytest.mark.parametrize("method", ["algebraci", 3, [["algebraic"]], None.__class__])
def test_what_is_no_method_is_told_in_one_line(method):
    with pytest.raises(InputError, match="there is no method"):
        lehner.estimate(RATINGS, method)


def test_a_text_is_one_name_wherever_names_are_asked_for():
    options = {"system": "gpt", "missing": "-", "leave_out": "day"}
    read = lehner.read_ratings(TABLE, **options)
    assert (read.raters, read.systems) == (("Ann", "Bo"), ("gpt",))
    lists = {name: [value] for name, value in options.items()}
    assert read.equals(lehner.read_ratings(TABLE, **lists))
    ratings = lehner.read_ratings(TABLE, raters="Ann", system="gpt", missing="-")
    assert ratings.raters == ("Ann",)


def test_a_number_names_a_column():
    frame = pd.DataFrame({0: [1, 2, 1], 1: [1, 2, 2], 2: [1, 99, 2]})
    read = lehner.read_ratings(frame, system=2, raters=[0, 1], missing=99)
    assert (read.raters, read.systems) == (("0", "1"), ("2",))
    assert read.answers[:, 0].tolist() == [0, -1, 1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"categories": "ab"}, "categories is 'ab'; give a list of names"),
        ({"truth": ["gold"]}, r"there is no column \['gold'\]"),
        ({"truth": 3}, "there is no column 3"),
        ({"raters": "An"}, "there is no column 'An'; did you mean 'Ann'"),
    ],
)
def test_what_is_no_name_or_list_is_told_in_one_line(options, said):
    with pytest.raises(InputError, match=said):
        lehner.read_ratings({"Ann": ["a", "b"], "Bo": ["a", "b"]}, **options)


def test_categories_may_be_an_array():
    table = {"Ann": ["a", "b"], "Bo": ["a", "b"]}
    read = lehner.read_ratings(table, categories=np.array(["b", "a"]))
    assert read.categories == ("b", "a")


@pytest.mark.parametrize(
    "rows",
    [
        [0, 2],
        [-1, -4, -1],
        [],
        np.array([], dtype=int),
        [True, False, False, True],
        np.int8([1]),
        pd.Series([3, 0]),
        pd.array([1, 2], dtype="Int64"),
        pd.Series([True, False, True, False]),
    ],
    ids=repr,
)
def test_rows_are_taken_as_numpy_takes_them(rows):
    array = np.asarray(rows) if len(rows) else np.array([], dtype=int)
    taken = RATINGS.take(rows)
    assert taken.items.tolist() == RATINGS.items[array].tolist()
    assert taken.codes.tolist() == RATINGS.codes[array].tolist()
    assert taken.system.tolist() == RATINGS.system[array].tolist()


@pytest.mark.parametrize(
    "rows",
    [
        [0.9],
        2,
        [4],
        [-5],
        [True] * 5,
        [[0, 1]],
        [np.nan],
        "01",
        slice(2),
        [2**70],
        [0, [1]],
        pd.array([1, None], dtype="Int64"),
    ],
    ids=repr,
)
def test_rows_that_are_not_there_are_refused(rows):
    with pytest.raises(InputError, match="give"):
        RATINGS.take(rows)


def test_one_numeric_category_has_agreement():
    """Raters who all say 2 agree as raters do who all say x."""
    result = [
        lehner.agreement(Ratings.from_wide({"Ann": [label] * 3, "Bo": [label] * 3}))
        for label in ("x", 2, "2.5")
    ]
    assert len({answers.table.to_csv() for answers in result}) == 1
    assert result[1].table["estimate"][0] == 1


# Tables of very many columns.


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


# Sums over the ratings of patterns; different rows as NumPy finds them, and in its order.


@pytest.fixture
def patterns():
    """Ratings of which some are missing, and some repeated."""
    rng = np.random.default_rng(1)
    item, rater = rng.integers(0, 29, 150), rng.integers(0, 4, 150)
    table = {"item": item, "rater": rater, "rating": rng.integers(0, 3, 150)}
    ratings = Ratings.from_long(pd.DataFrame(table), repeated=True)
    return ratings.with_independent_repeats().to_patterns()


def test_sums_are_those_of_the_ratings_one_by_one(patterns):
    votes, k = patterns.votes, patterns.n_categories
    cells = votes.rater_index * k + votes.category_index
    rng = np.random.default_rng(2)
    of_cells, of_patterns = rng.normal(size=(12, 5)), rng.normal(size=(len(patterns.counts), 5))
    by_pattern, by_cell = np.zeros((len(of_patterns), 5)), np.zeros((12, 5))
    for pattern, cell in zip(votes.item_index, cells, strict=True):
        by_pattern[pattern] += of_cells[cell]
        by_cell[cell] += of_patterns[pattern]
    np.testing.assert_array_equal(patterns.sum_cells(of_cells), by_pattern)
    np.testing.assert_array_equal(patterns.sum_patterns(of_patterns), by_cell)
