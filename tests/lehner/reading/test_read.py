"""Files: read as written, or refused in one line that says where and why."""

import csv
import datetime
import io

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lehner import InputError, Ratings, read_ratings
from lehner.data.columns import MISSING, to_label
from tests.old_python import needs_quoted_returns

pytestmark = pytest.mark.filterwarnings("ignore::lehner.DataWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


def write(folder, content, name="ratings.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def assert_one_line(error, path=None):
    text = str(error)
    assert len(text.splitlines()) == 1, text
    assert error.remedy
    if path is not None:
        assert str(path) in text


def refusal(path, **options):
    """Give the error with which a file is refused."""
    with pytest.raises(InputError) as caught:
        read_ratings(path, **options)
    assert_one_line(caught.value, path)
    return caught.value


# Good files


def test_a_wide_file_is_read_by_the_names_of_its_columns(tmp_path):
    text = "Item,Ann,Bo,System,Truth\np,yes,no,yes,\nq,no,,no,no\n"
    ratings = read_ratings(write(tmp_path, text))
    assert ratings.items.tolist() == ["p", "q"]
    assert ratings.raters == ("Ann", "Bo")
    assert ratings.categories == ("no", "yes")
    assert ratings.codes.tolist() == [[1, 0], [0, -1]]
    assert ratings.system.tolist() == [1, 0]
    assert ratings.truth.tolist() == [-1, 0]


@pytest.mark.parametrize("name", ["AI", "system"])
def test_the_system_of_a_long_file_is_the_rater_named(tmp_path, name):
    path = write(tmp_path, f"item,rater,rating\n1,{name},b\n1,x,a\n2,x,b\n")
    ratings = read_ratings(path, system=name)
    assert ratings.raters == ("x",)
    assert ratings.system.tolist() == [1, -1]


def test_a_long_file_with_occasions_holds_repeated_ratings(tmp_path):
    ratings = read_ratings(write(tmp_path, "item,rater,occasion,rating\n1,x,1,a\n1,x,2,b\n"))
    assert ratings.repeated and ratings.entries.category_index.tolist() == [0, 1]


@pytest.mark.parametrize(("name", "options"), [("count", {}), ("n", {"counts": "n"})])
def test_a_grouped_file_is_read_by_its_column_of_counts(tmp_path, name, options):
    ratings = read_ratings(write(tmp_path, f"Ann,Bo,{name}\n0,0,70\n0,1,30\n"), **options)
    assert ratings.counts.tolist() == [70, 30]
    assert ratings.raters == ("Ann", "Bo")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_separators_line_ends_and_byte_order_marks_change_nothing(tmp_path, delimiter, end, mark):
    rows = [["item", "Ann", "Bo"], ["1", "01", "b"], ["2", "", "01"], []]
    text = mark + end.join(delimiter.join(row) for row in rows)
    ratings = read_ratings(write(tmp_path, text))
    assert ratings.raters == ("Ann", "Bo")
    assert ratings.categories == ("01", "b")
    assert ratings.codes.tolist() == [[0, 1], [-1, 0]]


@pytest.mark.parametrize(
    "text",
    [
        "Ann,rater B\na,a b\na b,a",
        "Ann,rater B\n\na,a b\n\n\na b,a\n\n",
        "Ann,rater B,\na,a b,\na b,a,\n",
        " Ann, rater B \n a,a b\na b , a\n",
    ],
)
def test_ends_of_lines_and_spaces_around_cells_change_nothing(tmp_path, text):
    ratings = read_ratings(write(tmp_path, text))
    assert ratings.raters == ("Ann", "rater B") and ratings.items.tolist() == [1, 2]
    assert ratings.categories == ("a", "a b") and ratings.codes.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("name", ['"Ann"', '"An""n"', 'An"n', '"Ann\nLee"', '"Ann" ', "'Ann'"])
def test_labels_stay_text_however_the_names_are_quoted(tmp_path, name):
    path = write(tmp_path, f"item,{name},Bo\n1,01,02\n2,02,01\n")
    try:
        ratings = read_ratings(path)
    except InputError:
        return
    assert ratings.categories == ("01", "02")


@pytest.mark.parametrize("text", [*sorted(MISSING), "None", "-nan", "#NA", "#N/A", "1.#IND", "-"])
def test_files_and_frames_agree_on_what_is_missing(tmp_path, text):
    columns = {"Ann": ["a", text], "Bo": ["b", "a"]}
    path = write(tmp_path, f"Ann,Bo\na,b\n{text},a\n")
    names = ["a", "b", text] if to_label(text) else None
    read, built = read_ratings(path, categories=names), Ratings.from_wide(columns, categories=names)
    assert read.categories == built.categories
    assert read.codes.tolist() == built.codes.tolist()


def test_quoted_line_ends_in_a_file_of_many_blocks_stay_in_their_field(tmp_path):
    labels = [f'"{"x" * 100}\n{i % 3}"' for i in range(40_000)]
    text = "\n".join(["item,Ann", *(f"{i},{label}" for i, label in enumerate(labels))])
    ratings = read_ratings(write(tmp_path, text))
    assert ratings.n_items == 40_000
    assert ratings.categories == tuple(f"{'x' * 100}\n{k}" for k in range(3))
    assert ratings.codes.ravel().tolist() == [i % 3 for i in range(40_000)]


LABEL = st.text(st.sampled_from('ab ,;\t"\n\r0é名'), max_size=5).map(lambda text: f"x{text}y")


@needs_quoted_returns
@given(data=st.data(), delimiter=st.sampled_from(",;\t"), end=st.sampled_from(["\n", "\r\n"]))
def test_what_csv_wrote_is_read_back(folder, data, delimiter, end):
    width = data.draw(st.integers(1, 4))
    row = st.lists(st.just("") | LABEL, min_size=width, max_size=width)
    rows = data.draw(st.lists(row, min_size=1, max_size=4))
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow(["item", *(f"r{j}" for j in range(width))])
    writer.writerows([i, *labels] for i, labels in enumerate(rows))
    labels = sorted({label for row in rows for label in row} - {""})
    ratings = read_ratings(write(folder, text.getvalue()), categories=labels)
    result = [[ratings.categories[k] if k >= 0 else "" for k in codes] for codes in ratings.codes]
    assert result == rows


# Files that are no tables


@pytest.mark.parametrize("name", ["missing.csv", "missing.parquet", "no/such/folder.csv"])
def test_a_missing_file_is_named(tmp_path, name):
    assert "no such file" in str(refusal(tmp_path / name))


@pytest.mark.parametrize("name", ["place", "place.csv", "place.parquet"])
def test_a_folder_is_no_file(tmp_path, name):
    (tmp_path / name).mkdir()
    assert "this is a folder" in str(refusal(tmp_path / name))


def test_a_name_that_no_file_can_have_is_refused(tmp_path):
    refusal(tmp_path / "a\0b.csv")


@pytest.mark.parametrize(
    ("content", "row"),
    [
        ("item,Anné,Bo\n1,a,b\n", 1),
        ("item,Ann,Bo\n1,a,b\n2,é,b\n", 3),
        ("item,Ann,Bo\r\n1,a,b\r\n\r\n2,é,b\r\n", 4),
    ],
)
def test_latin_1_is_refused_where_it_stands(tmp_path, content, row):
    error = refusal(write(tmp_path, content.encode("latin-1")))
    assert error.row == row
    assert "0xe9" in str(error)
    assert "UTF-8" in error.remedy


def test_what_excel_calls_unicode_text_is_read(tmp_path):
    text = "item\tAnné\tBo\n1\ta\tb\n2\tb\tb\n"
    for encoding in ("utf-16-le", "utf-16-be"):
        ratings = read_ratings(write(tmp_path, ("\ufeff" + text).encode(encoding)))
        assert ratings.raters == ("Anné", "Bo") and ratings.codes.tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_unicode_without_a_mark_is_refused_with_its_encoding(tmp_path, encoding):
    path = write(tmp_path, "item,Ann,Bo\n1,a,b\n2,b,b\n".encode(encoding))
    error = refusal(path)
    assert "UTF-8" in error.remedy
    assert error.row == 1
    assert read_ratings(path, **error.change).raters == ("Ann", "Bo")


def test_a_file_of_one_endless_line_is_refused(tmp_path):
    path = tmp_path / "zeros.csv"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    assert refusal(path).row == 1


@pytest.mark.parametrize("fill", [b"\0", b"x"])
def test_an_endless_line_among_good_ones_is_named(tmp_path, fill):
    path = write(tmp_path, b"item,Ann,Bo\n1,a,b\n2,a," + fill * 20_000_000)
    error = refusal(path)
    assert error.row == 3
    assert len(str(error)) < 1000


def test_a_label_as_long_as_a_chapter_does_not_hide_the_row_of_an_error(tmp_path):
    path = write(tmp_path, f"item,Ann,Bo\n1,a,{'x' * 200_000}\n2,a\n3,b,b\n")
    assert refusal(path).row == 3


# Tables that are malformed


LONG = "item,rater,rating\n1,Ann,a\n"
AB = {"categories": ["a", "b"]}
ROLES = ("system", "truth", "item", "counts")


@pytest.mark.parametrize(
    ("content", "options", "row", "column", "said"),
    [
        *((text, {}, None, None, "no column names") for text in ("", "\n", "\r\n", "  \nAnn\na\n")),
        *((f"item,Ann{end}", {}, None, None, "no rows below") for end in ("", "\n", "\r\n\r\n")),
        ("item,A\0nn,Bo\n1,a,b\n", {}, 1, None, ""),
        ("item,Ann,Bo\n1,a,b\n2,a\0,b\n", {}, 3, None, ""),
        ("item,Ann,Bo\n1,a,b\n2,\0,b\n", {}, 3, None, ""),
        ("item,Ann,Bo\n1,a,b\n\0\0\0", {}, 3, None, ""),
        ('item,Ann,Bo\n1,a,b\n2,"a,b\n3,a,b\n4,b,b\n', {}, 3, None, ""),
        *(
            (f'item,Ann,Bo\n1,a,b\n2,a,"b{rest}', {}, 3, None, "")
            for rest in ("", "\n", "\n3,a,b\n")
        ),
        ('item,Ann,Bo\n1,"a,b\n2,"c,b\n', {}, 2, None, ""),
        ('item,Ann,Bo\n1,"a,b\n2,"c,b\n3,a,b\n', {}, 2, None, ""),
        ('item,Ann,Bo\n1,a,"b\n2,a,"b\n3,a,b\n', {}, 2, None, ""),
        ('item,"Ann,Bo\n1,a,b\n2,a,b\n', {}, 1, None, ""),
        *(
            (f"{head}\n1,a,b\n", {}, 1, None, "two columns are named")
            for head in ("item,Ann,Ann", "item,Ann,Ann ", 'item,Ann,"Ann"', "Bo,,")
        ),
        ("item,Ann,Bo\n1,a,b\n2,a,X\n3,a,Y\n", AB, 3, "Bo", "'X' is not one of the categories"),
        ("item,Ann,Bo,system\n1,a,b,a\n2,a,b,X\n", AB, 3, "system", "'X'"),
        ("item,Ann,Bo,truth\n1,a,b,a\n2,a,b,X\n", AB, 3, "truth", "'X'"),
        (f"{LONG}1,Bo,a\n2,Ann,a\n1,Ann,b\n", {}, 5, "rating", "'Ann'"),
        (f"{LONG}1,Bo,a\n2,Ann,a\n1,Ann,b\n", {}, 5, "rating", "(occasion=…)"),
        (
            *("item,rater,occasion,rating\n1,Ann,1,a\n1,Ann,2,a\n1,Ann,1,b\n", {}),
            *(4, "rating", "'Ann'"),
        ),
        ("item,Ann,Bo\np,a,b\nq,a,b\np,b,b\n", {}, 4, "item", "'p'"),
        *((f"{LONG}{name},Bo,a\n", {}, 3, "item", "blank") for name in ("", "  ", '""')),
        *((f"{LONG}1,{name},a\n", {}, 3, "rater", "blank") for name in ("", "  ", '""')),
        *((f"item,Ann\n1,a\n{name},b\n", {}, 3, "item", "blank") for name in ("", "  ", '""')),
        ("item,rater,rating,occasion\n1,Ann,a,1\n1,Bo,a, \n", {}, 3, "occasion", "blank"),
        (f"Ann,Bo,count\na,b,9{18 * '0'}\na,a,9{18 * '0'}\n", {}, None, None, ""),
        *(("case,Ann,Bo\n1,a,b\n", {role: "X"}, None, None, "Ann, Bo") for role in ROLES),
        (f"{LONG}1,Bo,a\n", {"system": "X"}, None, None, "Ann, Bo"),
        (
            *("item,rater,occasion,rating\np,AI,1,a\np,AI,2,a\np,Bo,1,a\n", {"system": "AI"}),
            *(None, None, "'AI' rated item p more than once"),
        ),
        ("item,rater,rating,system\n1,Ann,a,a\n", {}, None, None, "'system'"),
    ],
)
def test_what_is_wrong_is_named_where_it_stands(tmp_path, content, options, row, column, said):
    error = refusal(write(tmp_path, content), **options)
    assert row is None or error.row == row
    assert column is None or error.column == column
    assert said in str(error)


@pytest.mark.parametrize(
    ("line", "n_fields"), [("2,a", 2), ("2,a,b,c", 4), ("2", 1), (" ", 1), ("2,a,b,", 4)]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_row_with_too_few_or_too_many_fields_is_named(tmp_path, line, n_fields, end):
    error = refusal(write(tmp_path, end.join(["item,Ann,Bo", "1,a,b", line, "3,a,b", ""])))
    assert error.row == 3
    assert f"{n_fields} fields where the header has 3" in str(error)


@pytest.mark.parametrize("names", [["Ann", "Ann"], ["Ann", "Ann "]])
def test_two_parquet_columns_of_one_name_are_refused(tmp_path, names):
    pq.write_table(pa.table([["a", "b"], ["b", "a"]], names=names), tmp_path / "r.parquet")
    refusal(tmp_path / "r.parquet")


@pytest.mark.parametrize("column", [[[1], [2]], [{"x": 1}, {"x": 2}]], ids=["lists", "structures"])
@pytest.mark.parametrize("name", ["Ann", "item", "count"])
def test_nested_parquet_columns_are_refused_by_name(tmp_path, column, name):
    pq.write_table(pa.table({"Bo": ["a", "b"], name: column}), tmp_path / "r.parquet")
    assert f"'{name}'" in str(refusal(tmp_path / "r.parquet"))


# Tables that say something impossible


@pytest.mark.parametrize("count", ["x", "-1", "1.5", "", "1e3", "²", "99999999999999999999"])
def test_a_bad_count_is_named(tmp_path, count):
    error = refusal(write(tmp_path, f"Ann,Bo,count\na,b,3\na,a,{count}\n"))
    assert (error.row, error.column) == (3, "count")
    assert repr(count) in str(error)


def stray(name, values):
    lines = [f"{i % 3},{(i + i // 7) % 3},{value}" for i, value in enumerate(values)]
    return "\n".join([f"Ann,Bo,{name}", *lines, ""])


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("notes", [f"seen on day {i}" for i in range(20)]),
        ("notes", ["" if i != 7 else "checked twice" for i in range(20)]),
        ("date", [f"2024-01-{i + 1:02d}" for i in range(20)]),
        ("age", [20 + i % 19 for i in range(20)]),
    ],
    ids=["notes", "one note", "dates", "ages"],
)
def test_a_column_that_is_no_rater_is_refused_by_name(tmp_path, name, values):
    error = refusal(write(tmp_path, stray(name, values)))
    assert error.column == name
    assert "(raters=['Ann', 'Bo'])" in error.remedy and error.change["raters"] == ("Ann", "Bo")
    error = refusal(write(tmp_path, stray("text", range(20))))
    assert "say so (item=['text'])" in error.remedy


def test_naming_the_raters_or_the_items_leaves_out_other_columns(tmp_path):
    path = write(tmp_path, stray("notes", range(1, 21)))
    assert read_ratings(path, raters=["Bo", "Ann"]).raters == ("Bo", "Ann")
    ratings = read_ratings(path, item="notes")
    assert ratings.raters == ("Ann", "Bo") and ratings.items.tolist() == list(range(1, 21))


def test_conflicting_truths_are_refused_where_one_stands(tmp_path):
    text = "item,rater,rating,truth\np,Ann,b,b\nq,Ann,b,\np,Bo,c,c\n"
    error = refusal(write(tmp_path, text))
    assert error.row in (2, 4)
    assert error.column == "truth"


# The row named is the line an editor shows


@given(data=st.data(), end=st.sampled_from(["\n", "\r\n"]), delimiter=st.sampled_from(",;\t"))
def test_errors_name_the_physical_line(folder, data, end, delimiter):
    cell = st.sampled_from(["a", '"a"', '"a,b"', f'"a{end}b"', f'"a{end}{end}b"', "a b", ""])
    good = st.tuples(cell, cell).map(lambda cells: delimiter.join(cells))
    above = data.draw(st.lists(st.just("") | good.filter(lambda line: line != ","), max_size=5))
    above = [line if line != delimiter else "" for line in above]
    head = f"Ann{delimiter}Bo{end}" + "".join(line + end for line in above)
    row = head.count("\n") + 1
    categories = ["a", "a,b", f"a{end}b", f"a{end}{end}b", "a b"]
    wrong_label = write(folder, head + f"a{delimiter}WRONG{end}a{delimiter}a{end}")
    error = refusal(wrong_label, categories=categories)
    assert (error.row, error.column) == (row, "Bo")
    assert "'WRONG'" in str(error)
    too_short = write(folder, head + f"a{end}a{delimiter}a{end}")
    assert refusal(too_short).row == row


# Fuzzing: Ratings or an InputError of one line, nothing else

VALID = [
    b"item,Ann,Bo,system,truth\n1,a,b,a,\n2,b,b,b,b\n3,,a,a,\n",
    b"item,rater,occasion,rating\n1,x,1,a\n1,x,2,b\n2,y,1,a\n",
    b"Ann,Bo,count\n0,0,70\n0,1,30\n1,1,5\n",
    b'\xef\xbb\xbfitem;"Ann";Bo\r\n1;"a;b";c\r\n2;"c";"a\r\nd"\r\n',
    "task\tworker\tlabel\ttruth\n1\té\t名\t\n2\té\tb\tb\n".encode(),
]
SPECIAL = st.sampled_from([b'"', b",", b";", b"\t", b"\n", b"\r", b"\0", b" ", b"\xff", b"\xc3"])
PIECE = SPECIAL | st.sampled_from([b"1", b"9" * 20, b"-1", b"NA", b"system", b"item"])
EDIT = st.tuples(st.sampled_from(["insert", "delete", "replace"]), st.integers(0, 70), PIECE)


def edit(content, edits):
    for kind, place, piece in edits:
        place %= len(content) + 1
        behind = content[place + (kind != "insert") :]
        content = content[:place] + (b"" if kind == "delete" else piece) + behind
    return content


def assert_read_or_refused(path, **options):
    try:
        ratings = read_ratings(path, **options)
    except InputError as error:
        assert_one_line(error, path)
    else:
        assert_consistent(ratings)


def assert_consistent(ratings):
    votes = ratings.votes
    assert ratings.n_ratings >= 0
    assert len(ratings.items) == len(set(ratings.items.tolist()))
    for codes in (votes.category_index, ratings.system, ratings.truth):
        if codes is not None and len(codes):
            assert -1 <= codes.min() and codes.max() < ratings.n_categories
    assert len({str(label) for label in ratings.categories}) == ratings.n_categories
    assert "" not in {str(label).strip() for label in ratings.categories}


@given(content=st.binary(max_size=200))
def test_arbitrary_bytes_are_read_or_refused(folder, content):
    assert_read_or_refused(write(folder, content, "bytes.csv"))
    assert_read_or_refused(write(folder, content, "bytes.parquet"))


@given(valid=st.sampled_from(VALID), edits=st.lists(EDIT, min_size=1, max_size=4))
def test_mutated_csv_files_are_read_or_refused(folder, valid, edits):
    path = write(folder, edit(valid, edits), "mutated.csv")
    assert_read_or_refused(path)
    assert_read_or_refused(path, system="Ann", categories=["a", "b"], ordered=True)


@given(place=st.floats(0, 1), piece=st.binary(min_size=1, max_size=4))
def test_mutated_parquet_files_are_read_or_refused(folder, place, piece):
    table = pa.table({"item": [1, 2], "Ann": ["a", "b"], "Bo": ["b", None]})
    sink = io.BytesIO()
    pq.write_table(table, sink)
    whole = sink.getvalue()
    at = int(place * len(whole))
    content = whole[:at] + piece + whole[at + len(piece) :]
    assert_read_or_refused(write(folder, content, "mutated.parquet"))


CELL = st.one_of(
    st.none(),
    st.sampled_from(["a", "b", "1", "1.0", "", " a ", "NA", "two\nlines", float("nan"), pd.NaT]),
    st.integers(-2, 3),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.binary(max_size=2),
    st.text(max_size=3),
    st.lists(st.integers(0, 1), max_size=2),
    st.tuples(st.integers(0, 1)),
    st.dictionaries(st.text(max_size=1), st.integers(0, 1), max_size=1),
    st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)),
    st.decimals(),
    st.complex_numbers(),
)
NAMES = ["item", "rater", "rating", "system", "truth", "count", "occasion", "Ann", "Bo", 1, ""]


@st.composite
def any_frame(draw):
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6))
    n_rows = draw(st.integers(0, 4))
    plain = st.sampled_from(["a", "b", 1, None])
    columns = [
        draw(st.lists(draw(st.sampled_from([CELL, plain])), min_size=n_rows, max_size=n_rows))
        for _ in names
    ]
    frame = pd.DataFrame(dict(enumerate(columns)), dtype=draw(st.sampled_from([None, object])))
    frame.columns = names
    return frame


def is_missing(value):
    if isinstance(value, str):
        return value.strip() in MISSING
    return bool(value is None or value is pd.NaT or value is pd.NA or value != value)


def assert_frame_read_or_refused(read, frame, **options):
    try:
        ratings = read(frame, **options)
    except InputError as error:
        assert_one_line(error)
        return None
    assert_consistent(ratings)
    return ratings


@given(frame=any_frame(), data=st.data())
def test_arbitrary_frames_are_wide_tables_or_refused(frame, data):
    some = st.none() | st.sampled_from([str(name) for name in frame.columns])
    roles = {role: data.draw(some) for role in ("item", "system", "truth", "counts")}
    ratings = assert_frame_read_or_refused(Ratings.from_wide, frame, **roles)
    if ratings is not None and not ratings.grouped:
        raters = [name for name in frame.columns if str(name) in ratings.raters]
        n_present = sum(not is_missing(value) for name in raters for value in frame[name])
        assert ratings.n_ratings == n_present


@given(frame=any_frame(), data=st.data())
def test_arbitrary_frames_are_long_tables_or_refused(frame, data):
    some = st.none() | st.sampled_from([str(name) for name in frame.columns])
    column = st.sampled_from([str(name) for name in frame.columns])
    roles = {role: data.draw(column) for role in ("item", "rater", "rating")}
    roles |= {role: data.draw(some) for role in ("truth", "occasion")}
    ratings = assert_frame_read_or_refused(Ratings.from_long, frame, **roles)
    if ratings is not None:
        names = {str(name): name for name in frame.columns}
        values = frame[names[roles["rating"]]]
        assert ratings.n_ratings == sum(not is_missing(value) for value in values)
