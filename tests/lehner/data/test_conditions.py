"""Conditions on rows: a small grammar, which finds the right rows and runs nothing."""

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lehner import InputError, read_ratings
from lehner.data.columns import make_table
from lehner.data.reading import GRAMMAR, Reading, join_conditions, parse_condition, write_name
from lehner.reading.rows import match_rows

NAMES = ["a", "b c", "`", "``x", "'", 'a == "x"', "name", "name_0", "and", "ﬁ", "x\ny", "@a", "é"]
LABELS = ["x", "10", "9", "9.5", "-1", "True", "it's", '"', "`a`", "{}", "\\", "\x1b", None]
TABLES = st.lists(st.tuples(*[st.sampled_from(LABELS)] * len(NAMES)), min_size=1, max_size=6)
CONSTANTS = st.one_of(
    st.sampled_from([label for label in LABELS if label]), st.integers(-20, 20), st.booleans()
)
ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def comparisons():
    name = st.sampled_from(NAMES)
    several = st.lists(CONSTANTS, max_size=3)
    return st.one_of(
        st.tuples(name, st.sampled_from(["==", "!="]), CONSTANTS),
        st.tuples(name, st.sampled_from(["in", "not in"]), several),
    )


CONDITIONS = st.recursive(
    comparisons(),
    lambda part: st.one_of(
        st.tuples(st.just("not"), part), st.tuples(st.sampled_from(["and", "or"]), part, part)
    ),
    max_leaves=5,
)


def write(condition):
    first, *rest = condition
    if first == "not":
        return f"not ({write(*rest)})"
    if first in ("and", "or") and isinstance(rest[0], tuple):
        return join_conditions(first, map(write, rest))
    return f"{write_name(first)} {rest[0]} {rest[1]!r}"


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


def holds(condition, row):
    """Decide a condition for one row, by the definition."""
    first, *rest = condition
    if isinstance(rest[0], tuple):
        parts = [holds(part, row) for part in rest]
        return {"not": not parts[0], "and": all(parts), "or": any(parts)}[first]
    operator, value = rest
    equal = any(is_one(row[first], x) for x in (value if isinstance(value, list) else (value,)))
    return equal != (operator in ("!=", "not in"))


@given(CONDITIONS, TABLES)
def test_the_rows_are_those_of_the_definition_and_the_text_says_the_same(condition, rows):
    records = [dict(zip(NAMES, row, strict=True)) for row in rows]
    table = make_table({name: [record[name] for record in records] for name in NAMES})
    text = write(condition)
    expected = [holds(condition, record) for record in records]
    assert match_rows(table, text).tolist() == expected
    again = Reading(where=text).where
    assert match_rows(table, again).tolist() == expected
    assert Reading(where=again).where == again


@given(st.lists(st.integers(-20, 20), min_size=1), st.sampled_from([*ORDERS]), st.integers(-20, 20))
def test_an_order_is_that_of_numbers_where_all_are(values, sign, bound):
    table = make_table({"score": values})
    expected = [ORDERS[sign](value, bound) for value in values]
    assert match_rows(table, f"score {sign} {bound}").tolist() == expected


@pytest.mark.parametrize(
    "text",
    [
        *("a.b == 1", "a.__class__ == 1", "a().b", "f(a) == 1", "a[0] == 1", "@a == 1", "a == b.c"),
        *("a == (lambda: 1)", "a == [x for x in b]", "a == f'{b}'", "(a := 1) == 1", "a == {1: 2}"),
        *("a + 1 == 2", "a == -'x'", "a == 1 + 1", "-a == 1", "a is True", "a == None", "a == b''"),
        *("a == ...", "a == [1]", "a in 1", "a in b", "1 in a", "[1] == a", "1 == 1", "a", "'a'"),
        *(
            "",
            "a ==",
            "a == 1; b == 2",
            "`a == 1",
            "``",
            "a in [b]",
            "a == b",
            "a < []",
            "a in [[1]]",
            "a < True",
        ),
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
        match_rows(table, text)


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
