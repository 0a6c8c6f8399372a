"""Ratings: what goes in comes out under the same names, or is refused in one line."""

import json
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lehner import InputError, Ratings, read_ratings
from lehner.data.columns import fold
from lehner.data.counts import Counts

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.filterwarnings("ignore::lehner.DataWarning")


LETTERS = "aAbyzßéİкж名字🙂\u0301١7 .,'\"-_%&<\\/#"
"""No delimiters but the comma: in a short table another may divide all rows as evenly."""


def distinct_names(n, end="é"):
    """Texts that stand for themselves: no number, no blank, no name with a role."""
    name = st.text(LETTERS, max_size=4).map(lambda text: f"{text}{end}".strip())
    return st.lists(name, min_size=n, max_size=n, unique_by=fold)


def distinct_whole_numbers(n):
    return st.lists(st.integers(-(10**12), 10**12), min_size=n, max_size=n, unique=True)


@st.composite
def any_ratings(draw, min_items=0, repeated=False, grouped=True):
    n_items = draw(st.integers(min_items, 8))
    n_raters, n_categories = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    code = st.integers(0, n_categories - 1)
    cell = st.lists(code, max_size=2 if repeated else 1).map(sorted)
    row = st.lists(cell, min_size=n_raters, max_size=n_raters)
    cells = draw(st.lists(row, min_size=n_items, max_size=n_items))
    triples = [(i, j, k) for i, row in enumerate(cells) for j, c in enumerate(row) for k in c]
    item, rater, category = np.array(triples, dtype=np.int64).reshape(-1, 3).T
    per_item = st.lists(st.integers(-1, n_categories - 1), min_size=n_items, max_size=n_items)
    optional = st.none() | per_item.map(lambda codes: np.array(codes, dtype=np.int64))
    counts = st.lists(st.integers(0, 9), min_size=n_items, max_size=n_items)
    ratings = Ratings(
        Counts(item, rater, category, (n_items, n_raters, n_categories)),
        draw(distinct_names(n_categories) | distinct_whole_numbers(n_categories)),
        draw(distinct_names(n_raters)),
        np.array(draw(distinct_names(n_items, end="ж")), dtype=object)
        if draw(st.booleans())
        else np.array(draw(distinct_whole_numbers(n_items)), dtype=np.int64),
        draw(optional),
        draw(optional),
        counts=draw(st.none() | counts.map(lambda n: np.array(n, dtype=np.int64)))
        if grouped
        else None,
        ordered=draw(st.booleans()),
    )
    # A system that shares no label with the raters is refused, and so no round trip.
    answers = set() if ratings.system is None else {*ratings.system[ratings.weights > 0]} - {-1}
    assume(answers & {*category} or not answers or not category.size)
    return ratings


def named_ratings(ratings):
    """Count (item, rater, category) by name."""
    votes = ratings.entries
    return Counter(
        (str(ratings.items[i]), str(ratings.raters[j]), ratings.categories[k])
        for i, j, k in zip(votes.item_index, votes.rater_index, votes.category_index, strict=True)
    )


def named_codes(ratings, codes):
    """Map the items with a known code to their category."""
    if codes is None:
        return {}
    pairs = zip(ratings.items, codes, strict=True)
    return {str(item): ratings.categories[code] for item, code in pairs if code >= 0}


def system_in_long(ratings):
    return "system" if named_codes(ratings, ratings.system) else None


def assert_same_by_name(ratings, original):
    """Items without a rating or a system answer have no row in a long table."""
    assert ratings.categories == original.categories
    assert ratings.ordered == original.ordered
    assert named_ratings(ratings) == named_ratings(original)
    assert named_codes(ratings, ratings.system) == named_codes(original, original.system)
    truth = named_codes(original, original.truth)
    listed = {item for item, _, _ in named_ratings(original)}
    listed |= set(named_codes(original, original.system))
    expected = {item: label for item, label in truth.items() if item in listed}
    assert named_codes(ratings, ratings.truth) == expected


def assert_one_line(error):
    assert len(str(error).splitlines()) == 1, str(error)


# Construction


@pytest.mark.parametrize(
    "column",
    [
        [1, 2, 1],
        ["1", "2", "1"],
        ["1", "2", "1.0"],
        [1.0, 2.0, 1.0],
        np.array([1, 2, 1], dtype=np.uint8),
        pd.Series([1, 2, 1], dtype="Int64"),
        pd.Series(["1", "2", "1"], dtype="string"),
        pd.Series([1, "2", 1.0], dtype=object),
        pd.Categorical(["1", "2", "1"]),
        pa.chunked_array([[1, 2], [1]]),
        pa.chunked_array([["1"], ["2", "1"]]).dictionary_encode(),
    ],
    ids=str,
)
def test_whole_numbers_are_one_category_however_they_are_stored(column):
    ratings = Ratings.from_wide({"Ann": column})
    assert ratings.categories == (1, 2)
    assert ratings.codes.ravel().tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "labels", [["01", "1"], ["1", "B"], ["1.5", "1"], ["+1", "1"], ["1_0", "10"], ["1١", "11"]]
)
def test_labels_that_are_not_plain_whole_numbers_stay_text(labels):
    ratings = Ratings.from_wide({"Ann": labels}, categories=labels)
    assert set(ratings.categories) == set(labels)


def test_booleans_and_numbers_in_one_column_are_not_merged():
    try:
        ratings = Ratings.from_wide({"Ann": [True, 1, False, 0]})
    except InputError:
        return
    assert {str(label) for label in ratings.categories} == {"True", "1", "False", "0"}


def test_categories_are_kept_in_the_given_order_used_or_not():
    data = {"Ann": ["low", "high"]}
    ratings = Ratings.from_wide(data, categories=["low", "mid", "high"], ordered=True)
    assert ratings.categories == ("low", "mid", "high")
    assert ratings.codes.ravel().tolist() == [0, 2]
    assert ratings.ordered


def test_pandas_categoricals_bring_their_order_and_unused_categories():
    kind = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"Ann": ["low", "high"], "Bo": ["high", "high"]}, dtype=kind)
    ratings = Ratings.from_wide(frame)
    assert ratings.categories == ("low", "mid", "high")
    assert ratings.ordered


def test_categories_that_occur_are_sorted_as_numbers_if_they_are_numbers():
    assert Ratings.from_wide({"Ann": ["10", "9", "-3", "-2"]}).categories == (-3, -2, 9, 10)


def test_ratings_of_files_are_small_and_products_with_items_are_not():
    table = pa.table({"item": [*"aabb"], "rater": [*"xyxy"], "rating": [*"nyyn"]})
    for rows in ([0, 1, 2, 3], [3, 1, 0, 2]):
        ratings = Ratings.from_long(table.take(rows))
        indices = (ratings.entries.item_index, ratings.entries.rater_index)
        assert [index.dtype for index in indices] == [np.int64, np.int32]
        seen = ratings.to_patterns().votes
        assert seen.rater_index.dtype == seen.category_index.dtype == np.int64


def test_from_wide_and_from_long_read_arrow_tables():
    wide = Ratings.from_wide(pa.table({"i": [7, 8], "Ann": ["a", None]}), item="i")
    assert wide.items.tolist() == [7, 8]
    assert wide.codes.tolist() == [[0], [-1]]
    table = pa.table({"item": ["p", "q"], "rater": ["x", "x"], "rating": [1, 2]})
    assert Ratings.from_long(table).codes.tolist() == [[0], [1]]


@pytest.mark.parametrize(
    "names",
    [
        [10, 2],
        ["10", "2"],
        [10.0, 2.0],
        pd.Series([10, 2], dtype="Int64"),
        pd.Series([10, 2], dtype=object),
        pd.Series(["10", "2"], dtype=object),
        pd.Categorical(["10", "2"]),
        pa.chunked_array([["10", "2"]]).dictionary_encode(),
    ],
    ids=lambda names: f"{type(names).__name__} of {getattr(names, 'dtype', '')}",
)
def test_items_named_by_whole_numbers_are_numbers_in_the_order_given(names):
    ratings = Ratings.from_wide({"i": names, "Ann": ["a", "b"]}, item="i")
    assert ratings.items.dtype == np.int64
    assert ratings.items.tolist() == [10, 2]


def test_item_names_with_leading_noughts_stay_text():
    ratings = Ratings.from_wide({"i": ["01", "1"], "Ann": ["a", "b"]}, item="i")
    assert ratings.items.tolist() == ["01", "1"]


def test_repeated_ratings_need_an_occasion():
    data = {"item": [1, 1], "rater": ["x", "x"], "rating": ["b", "a"], "visit": [2, 1]}
    ratings = Ratings.from_long(data, occasion="visit")
    assert ratings.repeated
    assert ratings.count_votes().tolist() == [[0, 0]]
    assert ratings.with_independent_repeats().count_votes().tolist() == [[1, 1]]
    with pytest.raises(InputError, match="occasion") as caught:
        Ratings.from_long(data)
    assert (caught.value.row, caught.value.column) == (1, "rating")


def test_repeated_ratings_are_accepted_on_request_and_counted():
    data = {"item": [1, 1, 1, 2], "rater": ["x", "x", "y", "y"], "rating": ["b", "a", "a", "a"]}
    ratings = Ratings.from_long(data, repeated=True)
    assert ratings.equals(Ratings.from_long(data | {"visit": [1, 2, 1, 1]}, occasion="visit"))
    assert any(note.startswith("1 of 4 ratings is of an item that") for note in ratings.notes)
    once = {name: values[1:] for name, values in data.items()}
    assert Ratings.from_long(once, repeated=True).notes == Ratings.from_long(once).notes
    with pytest.raises(InputError, match="second time"):
        # Occasions that are there are believed.
        Ratings.from_long(data | {"visit": [1, 1, 1, 1]}, occasion="visit", repeated=True)


def test_codes_are_refused_when_ratings_are_repeated():
    data = {"item": [1, 1], "rater": ["x", "x"], "rating": ["b", "a"], "visit": [2, 1]}
    ratings = Ratings.from_long(data, occasion="visit")
    for give_dense in (lambda: ratings.codes, ratings.to_wide):
        with pytest.raises(InputError, match="more than once"):
            give_dense()


@given(st.data())
def test_from_counts_gives_each_item_its_votes(data):
    n_items, n_categories = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 4), min_size=n_categories, max_size=n_categories)
    table = data.draw(st.lists(row, min_size=n_items, max_size=n_items))
    ratings = Ratings.from_counts(table, [f"c{k}" for k in range(n_categories)])
    assert ratings.count_votes().tolist() == table
    assert ratings.anonymous
    assert not ratings.repeated
    assert ratings.n_raters == max(map(sum, table))


# Round trips


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("round_trips")


def write(frame, path):
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@given(ratings=any_ratings(min_items=1))
def test_wide_files_round_trip(folder, ending, ratings):
    path = write(ratings.to_wide(), folder / f"wide.{ending}")
    raters, categories = list(ratings.raters), ratings.categories
    result = read_ratings(path, raters=raters, categories=categories, ordered=ratings.ordered)
    assert result.equals(ratings)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@given(ratings=any_ratings(min_items=1, repeated=True, grouped=False))
def test_long_files_round_trip(folder, ending, ratings):
    frame = ratings.to_long()
    if frame.empty:
        return
    result = read_ratings(
        write(frame, folder / f"long.{ending}"),
        system=system_in_long(ratings),
        categories=ratings.categories,
        ordered=ratings.ordered,
    )
    assert_same_by_name(result, ratings)


def test_parquet_keeps_the_order_and_the_unused_categories_pandas_wrote(tmp_path):
    ratings = Ratings([[0, 2]], ["low", "mid", "high"], ["Ann", "Bo"], [1], ordered=True)
    assert read_ratings(write(ratings.to_wide(), tmp_path / "wide.parquet")).equals(ratings)


@pytest.mark.parametrize(
    "categories", [["NA", "b"], ["", "b"], [" a", "a"], [1, "1"], [None, "b"], ["1.0", "1"]]
)
def test_categories_that_a_table_cannot_hold_are_refused_or_survive(categories):
    try:
        ratings = Ratings([[0, 1]], categories)
        result = Ratings.from_wide(ratings.to_wide(), item="item")
    except InputError:
        return
    assert result.n_ratings == 2
    assert result.n_categories == 2


@pytest.mark.parametrize("name", ["item", "truth", "count"])
def test_a_rater_named_like_a_column_is_refused_or_survives_to_wide(name):
    try:
        ratings = Ratings([[0, 1]], ["a", "b"], [name, "Bo"], ["p"], truth=[1], counts=[3])
        frame = ratings.to_wide()
    except InputError:
        return
    assert frame.shape[1] == 5


def test_grouped_ratings_have_no_long_table():
    with pytest.raises(InputError, match="to_wide"):
        Ratings([[0, 1]], ["a", "b"], counts=[3]).to_long()


# Patterns


def row_keys(ratings, truth=True):
    """Give each row as the pattern it is, by the definition."""
    votes = [Counter() for _ in ratings.items]
    flat = ratings.votes
    for i, j, k in zip(flat.item_index, flat.rater_index, flat.category_index, strict=True):
        votes[i][int(j), int(k)] += 1
    nothing = [None] * len(votes)
    system = nothing if ratings.system is None else ratings.system.tolist()
    truths = nothing if ratings.truth is None or not truth else ratings.truth.tolist()
    return [(frozenset(v.items()), s, t) for v, s, t in zip(votes, system, truths, strict=True)]


@given(ratings=any_ratings(repeated=True), truth=st.booleans(), copies=st.integers(1, 3))
def test_patterns_are_the_distinct_rows_with_their_counts(ratings, truth, copies):
    ratings = ratings.take(np.tile(np.arange(len(ratings.items)), copies))
    patterns = ratings.to_patterns(truth=truth)
    rows, unique = row_keys(ratings, truth), row_keys(ratings.to_grouped(truth=truth))
    expected = Counter()
    for row, weight in zip(rows, ratings.weights.tolist(), strict=True):
        expected[row] += weight
    assert list(expected) == unique  # in order of first occurrence
    assert patterns.counts.tolist() == list(expected.values())
    assert [unique[p] for p in patterns.inverse] == rows
    assert patterns.counts.sum() == ratings.n_items


# take, with_system, votes, codes, equals


@given(st.data())
def test_take_gives_the_rows_asked_for_in_that_order(data):
    ratings = data.draw(any_ratings(min_items=1, repeated=True))
    rows = data.draw(st.lists(st.integers(0, len(ratings.items) - 1), max_size=12))
    taken, keys = ratings.take(rows), row_keys(ratings)
    assert row_keys(taken) == [keys[i] for i in rows]
    assert taken.items.tolist() == [ratings.items[i] for i in rows]
    assert taken.weights.tolist() == [ratings.weights[i] for i in rows]
    assert taken.grouped == ratings.grouped
    assert taken.ordered == ratings.ordered
    votes = taken.votes
    key = np.stack([votes.item_index, votes.rater_index, votes.category_index], axis=1).tolist()
    assert key == sorted(key)


def test_take_with_counts_groups():
    taken = Ratings([[0], [1]], ["a", "b"]).take([1, 0], counts=[5, 2])
    assert taken.counts.tolist() == [5, 2]
    assert taken.codes.tolist() == [[1], [0]]


@given(ratings=any_ratings(min_items=1), data=st.data())
def test_with_system_moves_a_rater_to_the_system(ratings, data):
    ratings = ratings.without_system()
    name = data.draw(st.sampled_from(ratings.raters))
    j = ratings.raters.index(name)
    try:
        with_system = ratings.with_system(name)
    except InputError as error:
        assert "label in common" in str(error)
        return
    assert with_system.raters == ratings.raters[:j] + ratings.raters[j + 1 :]
    assert with_system.system.tolist() == ratings.codes[:, j].tolist()
    assert with_system.codes.tolist() == np.delete(ratings.codes, j, axis=1).tolist()
    assert with_system.categories == ratings.categories
    assert with_system.n_items == ratings.n_items
    assert named_codes(with_system, with_system.truth) == named_codes(ratings, ratings.truth)


def test_with_system_finds_numbered_raters_by_text():
    ratings = Ratings([[0, 1]], ["a", "b"])
    assert ratings.with_system("2").equals(ratings.with_system(2))


def test_with_system_refuses_unknown_anonymous_and_repeating_raters():
    ratings = Ratings([[0, 1]], ["a", "b"], ["Ann", "Bo"])
    with pytest.raises(InputError, match=r"'Cy'.*Ann, Bo"):
        ratings.with_system("Cy")
    with pytest.raises(InputError, match="unknown who gave which rating"):
        Ratings.from_counts([[1, 1]], ["a", "b"]).with_system("rating 1")
    data = {"item": ["p", "p", "p"], "rater": list("xxy"), "rating": list("aba"), "o": [1, 2, 1]}
    with pytest.raises(InputError, match="'x' rated item p more than once"):
        Ratings.from_long(data, occasion="o").with_system("x")


@given(any_ratings(repeated=True))
def test_votes_count_the_ratings_of_a_row_per_category(ratings):
    expected = [[0] * ratings.n_categories for _ in ratings.items]
    for i, k in zip(ratings.entries.item_index, ratings.entries.category_index, strict=True):
        expected[i][k] += 1
    assert ratings.with_independent_repeats().count_votes().tolist() == expected
    assert ratings.n_ratings == sum(
        sum(row) * weight for row, weight in zip(expected, ratings.weights.tolist(), strict=True)
    )


def test_no_flat_ratings_are_no_items():
    nothing = np.empty(0, dtype=np.int64)
    ratings = Ratings(Counts(nothing, nothing, nothing, (0, 0, 2)), "ab")
    assert (ratings.n_items, ratings.n_raters) == (0, 0)
    votes = Counts(nothing, nothing, nothing, (2, 1, 2))
    assert Ratings(votes, "ab", ["x"], ["p", "q"]).count_votes().tolist() == [[0, 0], [0, 0]]


SAMPLE = {
    "codes": [[0, 1], [1, -1]],
    "categories": ["a", "b"],
    "raters": ["Ann", "Bo"],
    "items": ["p", "q"],
    "system": [0, 1],
    "truth": [0, -1],
    "counts": [2, 3],
    "ordered": False,
    "anonymous": False,
}


OTHER = {
    "codes": [[[0, 1], [1, 1]], [[1, 0], [1, -1]], [[0, 1], [-1, 1]]],
    "categories": [["a", "c"], ["a", "b", "c"]],
    "raters": [["Ann", "Cy"]],
    "items": [["p", "r"]],
    "system": [[0, -1], None],
    "truth": [[0, 1], None],
    "counts": [[2, 4], None],
    "ordered": [True],
    "anonymous": [True],
}


def each(values):
    """List each value of each argument, as arguments of a test."""
    changes = [{name: value} for name, several in values.items() for value in several]
    return pytest.mark.parametrize("change", changes, ids=str)


@each(OTHER)
def test_equals_sees_every_difference(change):
    ratings = Ratings(**SAMPLE)
    other = Ratings(**(SAMPLE | change))
    assert ratings.equals(Ratings(**SAMPLE))
    assert not ratings.equals(other)
    assert not other.equals(ratings)


# Bad input


SAMPLED = Ratings(**SAMPLE)
WRONG = {
    "codes": [
        *(
            [[0, 1], [1, 2]],
            [[0, 1], [1, -2]],
            [[0.0, 1.0], [1.0, np.nan]],
            [["a", "b"], ["b", "a"]],
        ),
        *([[0, 1], [1]], [[True, False], [True, True]], [0, 1]),
        np.array([[0, 1], [1, 2**64 - 1]], dtype=np.uint64),
    ],
    "categories": [["a", "a"], ["a"], [["a"], ["b"]]],
    "raters": [["Ann"], ["Ann", "Ann"], [1, "1"], ["Ann", "system"]],
    "items": [["p"]],
    "system": [[0], [0, 2], [0.0, np.nan], [[0], [0, 1]]],
    "truth": [[0, -2], ["a", "b"]],
    "counts": [
        *([1], [1, -1], [1, 1.5], [1, np.nan], ["1", "2"]),
        np.array([1, 2**63], dtype=np.uint64),
    ],
}


@each(WRONG)
def test_the_constructor_and_replace_refuse(change):
    names = {"codes": "entries", "system": "answers"}
    change_of_copy = {names.get(name, name): value for name, value in change.items()}
    for make in (lambda: Ratings(**(SAMPLE | change)), partial(SAMPLED.replace, **change_of_copy)):
        with pytest.raises(InputError) as caught:
            make()
        assert_one_line(caught.value)


def test_ratings_do_not_change():
    with pytest.raises(AttributeError, match="replace"):
        SAMPLED.truth = None
    with pytest.raises(InputError, match="did you mean 'truth'"):
        SAMPLED.replace(truht=None)


TABLES = [[1, 2], [[1, 2, 3]], [[1]], [[1, -1]], [[1, 2.7]], [[1, np.nan]], [["x", "y"]]]
NO_TABLES = [
    *(None, 7, [[1, 2], [3, 4]], {}, {"a": 1}, {"a": [1, 2], "b": [1]}, {"a": np.zeros((2, 2))}),
    *({1: ["x"], "1": ["y"]}, pd.DataFrame(), pd.DataFrame([[1, 2]], columns=["a", "a"])),
    *(pa.table([["x"], ["y"]], names=["a", "a"]), np.zeros(3), {"a": [[1], [2]]}),
]
ITEMS = [[[1], [2]], [{}, {}], [1, 1], [1, "1"]]
CATEGORIES = [["a", "a"], ["a", ""], ["a", None], ["a", pd.NA]]
COUNTS = [10**20, -1, 1.5, None, "x", True, 2**63 - 1]
REFUSED = [
    *((Ratings.from_counts, table, {"categories": ["no", "yes"]}) for table in TABLES),
    (Ratings.from_counts, [[1], [1, 2]], {"categories": ["no", "yes"]}),
    (Ratings.from_counts, [[2**31, 1]], {"categories": ["no", "yes"]}),
    *((Ratings.from_wide, data, {}) for data in NO_TABLES),
    *((Ratings.from_wide, {"i": item, "Ann": ["a", "b"]}, {"item": "i"}) for item in ITEMS),
    *((Ratings.from_wide, {"Ann": ["a"]}, {"categories": x}) for x in CATEGORIES),
    *(
        (
            Ratings.from_wide,
            {"Ann": ["a", "b"], "n": pd.Series([2, n], dtype=object)},
            {"counts": "n"},
        )
        for n in COUNTS
    ),
    (Ratings.from_wide, {"Ann": ["a"], "AI": ["b"]}, {"system": "AI", "truth": "AI"}),
    (Ratings.from_wide, {"A\nB": ["x\r\ny\u2028z"]}, {"categories": ["a"]}),
]


@pytest.mark.parametrize(("make", "data", "options"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_table_of_labels_is_refused_in_one_line(make, data, options):
    with pytest.raises(InputError) as caught:
        make(data, **options)
    assert_one_line(caught.value)


@pytest.mark.parametrize("label", ["\ud800", (1, 2), b"\xff", float("inf"), 10**40], ids=repr)
@pytest.mark.parametrize("role", ["item", "system"])
def test_odd_labels_are_read_under_distinct_names_or_refused(label, role):
    data = {"x": pd.Series([label, "b"], dtype=object), "Ann": ["a", "b"]}
    try:
        ratings = Ratings.from_wide(data, **{role: "x"})
    except InputError as error:
        assert_one_line(error)
        return
    assert len({str(name) for name in ratings.items}) == 2
    assert role == "item" or len(set(ratings.system.tolist())) == 2


def test_an_unknown_label_is_named_with_its_position_and_column():
    with pytest.raises(InputError, match="'X' is not one of the categories a, b") as caught:
        Ratings.from_wide({"Ann": ["a", "b"], "Bo": ["b", "X"]}, categories=["a", "b"])
    assert (caught.value.row, caught.value.column) == (1, "Bo")


# Size

MEASURE = """
import json, resource
import numpy as np, pandas as pd
from lehner import Ratings

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

n_items, n_raters = 2_000_000, 5
rng = np.random.default_rng(1)
baseline = peak()
columns = {
    "item": np.repeat(np.arange(n_items), n_raters),
    "rater": np.tile(np.arange(n_raters), n_items),
    "rating": rng.integers(0, 4, n_items * n_raters),
}
n_bytes = sum(column.nbytes for column in columns.values())
ratings = Ratings.from_long(columns)
loaded = peak()
patterns = ratings.to_patterns()
collapsed = peak()
codes = columns["rating"].reshape(n_items, n_raters)
distinct, counts = np.unique(codes @ 4 ** np.arange(n_raters), return_counts=True)
print(json.dumps({
    "n_ratings": ratings.n_ratings,
    "same": bool((ratings.codes == codes).all()),
    "reconstructed": bool((ratings.to_grouped().codes[patterns.inverse] == codes).all()),
    "counts": sorted(patterns.counts.tolist()) == sorted(counts.tolist()),
    "n_patterns": len(patterns.counts) - len(distinct),
    "load": (loaded - baseline) / n_bytes,
    "collapse": (collapsed - baseline) / n_bytes,
}))
"""


@pytest.mark.slow
def test_ten_million_ratings_load_and_collapse_in_six_times_their_memory():
    command = [sys.executable, "-c", MEASURE]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    result = json.loads(run.stdout)
    assert result["n_ratings"] == 10_000_000
    assert result["same"] and result["reconstructed"] and result["counts"]
    assert result["n_patterns"] == 0
    assert result["load"] < 6, result
    assert result["collapse"] < 6, result
