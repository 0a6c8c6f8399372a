"""A text where names are asked for is one name, and positions are read as NumPy reads them."""

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner import InputError, Ratings

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
