"""Conditions on rows: a small grammar, which finds the right rows and runs nothing."""

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lehner import InputError, read_ratings
from lehner.data.columns import make_table
from lehner.data.reading import GRAMMAR, Comparison, Joined, Name, Reading, parse_condition
from lehner.reading.rows import match_rows

NAMES = ["a", "b c", "`", "``x", "'", 'a == "x"', "name", "name_0", "and", "ﬁ", "x\ny", "@a", "é"]
LABELS = ["x", "10", "9", "9.5", "-1", "True", "it's", '"', "`a`", "{}", "\\", "\x1b", None]
TABLES = st.lists(st.tuples(*[st.sampled_from(LABELS)] * len(NAMES)), min_size=1, max_size=6)
CONSTANTS = st.one_of(
    st.sampled_from([label for label in LABELS if label]), st.integers(-20, 20), st.booleans()
)
ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def comparisons():
    name = st.sampled_from(NAMES).map(Name)
    equal = st.sampled_from(["==", "!="])
    several = st.lists(CONSTANTS, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Comparison, name, equal, st.one_of(CONSTANTS, name)),
        st.builds(Comparison, name, st.sampled_from(["in", "not in"]), several),
    )


CONDITIONS = st.recursive(
    comparisons(),
    lambda part: st.one_of(
        st.builds(Joined, st.just("not"), st.tuples(part)),
        st.builds(Joined, st.sampled_from(["and", "or"]), st.tuples(part, part)),
    ),
    max_leaves=5,
)


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def is_one(label, constant):
    if label is None:
        return False
    if isinstance(constant, bool) and label.lower() == str(constant).lower():
        return True
    return label == constant if isinstance(constant, str) else number(label) == constant


def holds(condition, row, all_rows):
    """Decide a condition for one row, by the definition."""
    if isinstance(condition, Joined):
        parts = [holds(part, row, all_rows) for part in condition.parts]
        return {"not": not parts[0], "and": all(parts), "or": any(parts)}[condition.word]
    label, value = row[condition.column.name], condition.value
    if isinstance(value, Name):
        both = (label, row[value.name])
        filled = [
            (x[condition.column.name], x[value.name])
            for x in all_rows
            if None not in (x[condition.column.name], x[value.name])
        ]
        if all(number(text) is not None for pair in filled for text in pair) and None not in both:
            both = tuple(map(number, both))
        equal = None not in both and both[0] == both[1]
    else:
        equal = any(is_one(label, x) for x in (value if isinstance(value, tuple) else (value,)))
    return equal != (condition.operator in ("!=", "not in"))


@given(CONDITIONS, TABLES)
def test_the_rows_are_those_of_the_definition_and_the_text_says_the_same(condition, rows):
    records = [dict(zip(NAMES, row, strict=True)) for row in rows]
    table = make_table({name: [record[name] for record in records] for name in NAMES})
    expected = [holds(condition, record, records) for record in records]
    assert match_rows(table, condition).tolist() == expected
    assert parse_condition(str(condition)) == condition
    assert Reading(where=str(condition)) == Reading(where=condition)


@given(st.lists(st.integers(-20, 20), min_size=1), st.sampled_from([*ORDERS]), st.integers(-20, 20))
def test_an_order_is_that_of_numbers_where_all_are(values, sign, bound):
    table = make_table({"score": values})
    expected = [ORDERS[sign](value, bound) for value in values]
    assert match_rows(table, parse_condition(f"score {sign} {bound}")).tolist() == expected


@pytest.mark.parametrize(
    "text",
    [
        *("a.b == 1", "a.__class__ == 1", "a().b", "f(a) == 1", "a[0] == 1", "@a == 1", "a == b.c"),
        *("a == (lambda: 1)", "a == [x for x in b]", "a == f'{b}'", "(a := 1) == 1", "a == {1: 2}"),
        *("a + 1 == 2", "a == -'x'", "a == 1 + 1", "-a == 1", "a is True", "a == None", "a == b''"),
        *("a == ...", "a == [1]", "a in 1", "a in b", "1 in a", "[1] == a", "1 == 1", "a", "'a'"),
        *("", "a ==", "a == 1; b == 2", "`a == 1", "``", "a in [b]", "a in [[1]]", "a < True"),
        *(
            "1 < a",
            "1 < a < 2",
            "a == 1e999",
            "a == 1\x00",
            "(" * 500 + "a == 1" + ")" * 500,
            "not " * 5000 + "a == 1",
        ),
        *(
            "__import__('os').system('touch ran') == 0",
            "a == (1, 2)",
            "a & b",
            "a == 1 if b else 2",
        ),
    ],
)
def test_what_is_not_in_the_grammar_is_refused_in_one_line_that_shows_the_grammar(text):
    with pytest.raises(InputError) as caught:
        parse_condition(text)
    assert GRAMMAR in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(InputError, match="the condition"):
        read_ratings({"a": [1, 2], "b": [1, 2]}, where=text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("score < '5'", "write the number without quotation marks"),
        ("site < 5", "'north' is compared with the number 5"),
        ("scroe == 5", "did you mean 'score'"),
    ],
)
def test_texts_and_numbers_have_no_common_order(text, said):
    table = make_table({"score": [1, 5, 10], "site": ["north", "south", "7"]})
    with pytest.raises(InputError, match=said):
        match_rows(table, parse_condition(text))


EVIL = "__import__('pathlib').Path('ran').touch()"
CALL = "x.__init__.__func__.__globals__.get('sys').modules.get('os').system('touch ran')"


@pytest.mark.parametrize(
    "name", [EVIL, CALL, f"a` == a or {EVIL} or `a", f"x` == x or {CALL} or `x"]
)
def test_a_name_of_a_column_runs_nothing(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    table = {
        name: ["i1", "i2", "i3", "Total"],
        "R1": ["x", "y", "x", "x"],
        "R2": ["x", "y", "y", "x"],
    }
    with pytest.raises(InputError, match="sums up") as caught:
        read_ratings(table, item=name)
    assert read_ratings(table, item=name, **caught.value.change).n_items == 3
    text = str(caught.value.change["where"])
    assert read_ratings(table, item=name, where=text).n_items == 3
    assert not (tmp_path / "ran").exists()
