"""The kind of a file is known by its content, under every ending; Excel is read as CSV."""

import gzip
import io
import json
import sys
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest

from lehner import InputError, read_ratings

LONG = pd.DataFrame(
    [
        (f"i{i}", r, "yes" if (i * 7 + j) % 3 else "no")
        for i in range(9)
        for j, r in enumerate("abc")
    ],
    columns=["item", "rater", "rating"],
)
EXPECTED = "Ratings: 9 items, 3 raters, 27 ratings, 2 categories (no, yes)"


def parquet():
    buffer = io.BytesIO()
    LONG.to_parquet(buffer)
    return buffer.getvalue()


def excel():
    buffer = io.BytesIO()
    LONG.to_excel(buffer, index=False)
    return buffer.getvalue()


LINES = LONG.to_json(orient="records", lines=True).encode()
CONTENTS = {
    "CSV": LONG.to_csv(index=False).encode(),
    "JSON": LONG.to_json(orient="records", indent=1).encode(),
    "JSON with a mark": b"\xef\xbb\xbf" + LONG.to_json(orient="records").encode(),
    "JSON lines": LINES,
    "JSON lines of Windows": b"\r\n" + LINES.replace(b"\n", b"\r\n\r\n"),
    "Parquet": parquet(),
    "Excel": excel(),
}
CASES = [
    (kind, ending)
    for kind in CONTENTS
    for ending in ("csv", "txt", "tsv", "json", "jsonl", "ndjson", "parquet", "xlsx", "XLSX", "dat")
    if kind != "CSV" or ending in ("csv", "txt", "tsv", "dat")
    if not (kind.startswith("JSON") and "lines" not in kind and ending in ("jsonl", "ndjson"))
]


@pytest.mark.parametrize(("kind", "ending"), CASES)
def test_a_table_is_read_as_what_it_is(tmp_path, kind, ending):
    for name in (f"r.{ending}", f"R.{ending.upper()}"):
        path = tmp_path / name
        path.write_bytes(CONTENTS[kind])
        assert repr(read_ratings(path)) == EXPECTED


@pytest.mark.parametrize("kind", CONTENTS)
def test_compressed_files_are_read(tmp_path, kind):
    path = tmp_path / "ratings.gz"
    path.write_bytes(gzip.compress(CONTENTS[kind]))
    assert repr(read_ratings(path)) == EXPECTED
    path.write_bytes(gzip.compress(CONTENTS[kind])[:-9])
    with pytest.raises(InputError) as error:
        read_ratings(path)
    assert error.value.file == path


def test_errors_name_the_compressed_file(tmp_path):
    bad = b"item,Ann,Bo\n1,yes,no\n2,Yes,no\n"
    (tmp_path / "r.csv.gz").write_bytes(gzip.compress(bad, mtime=0))
    with pytest.raises(InputError, match="'Yes'/'yes'") as error:
        read_ratings(tmp_path / "r.csv.gz")
    assert (error.value.file, error.value.row) == (tmp_path / "r.csv.gz", 3)


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("r.csv", CONTENTS["CSV"])
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("r.zip", zipped(), "unpack it"),
        ("r.csv", zipped(), "cannot be read as Excel"),
        ("r.tar.gz", gzip.compress(b"x", mtime=0), "unpack it"),
        ("r.xls", b"\xd0\xcf\x11\xe0 old", "Excel file of 2003"),
        ("r.csv", b"\xd0\xcf\x11\xe0 old", "Excel file of 2003"),
        ("r.feather", b"ARROW1\0\0", "Arrow"),
        ("r.csv.zst", b"\x28\xb5\x2f\xfdx", "zstd"),
        ("r.ods", excel(), r"files that end in .ods cannot be read"),
        ("r.csv", b"PAR1 no", "cannot be read as Parquet"),
        ("r.csv.gz", b"\x1f\x8b no", "it cannot be read"),
    ],
    # The bytes hold the time, and workers must agree on the names of tests.
    ids=lambda value: value if isinstance(value, str) else "bytes",
)
def test_what_cannot_be_read_is_named(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said) as error:
        read_ratings(tmp_path / name)
    assert error.value.file == tmp_path / name


@pytest.mark.parametrize("name", ["x" * 300, "x" * 300 + ".csv", "r/" * 3000 + "r.csv"])
def test_a_name_that_is_too_long_is_refused(name):
    with pytest.raises(InputError, match="File name too long") as error:
        read_ratings(name)
    assert str(error.value.file) == name


def test_a_formula_without_its_value_is_no_missing_rating(tmp_path):
    pd.DataFrame({"item": [1, 2], "Ann": ["a", "b"], "Bo": ["a", "=1+1"]}).to_excel(
        tmp_path / "r.xlsx", index=False
    )
    with pytest.raises(InputError, match="the formula in cell C3 is not in the file") as e:
        read_ratings(tmp_path / "r.xlsx")
    assert e.value.row == 3


def test_an_xlsx_that_is_called_xls_is_read(tmp_path):
    (tmp_path / "r.xls").write_bytes(excel())
    assert repr(read_ratings(tmp_path / "r.xls")) == EXPECTED


@pytest.mark.parametrize("name", ["/dev/null", "/dev/zero"])
def test_devices_are_no_files(name):
    with pytest.raises(InputError, match="this is a device"):
        read_ratings(name)


RECORD = '{"item": 1, "rater": "a", "rating": "x"}'


@pytest.mark.parametrize(
    ("name", "text", "said", "row"),
    [
        ("r.jsonl", f"{RECORD}\n\n{{", "it is not JSON", 3),
        ("r.txt", f'{RECORD}\n{{"item": 1, "item": 2}}', "'item' occurs twice", 2),
        ("r.jsonl", "[1]\n[2]", "not a list of records", None),
        ("r.jsonl", "item,a\n1,x\n", "it is not JSON", 1),
        ("r.jsonl", "", "not a list of records", None),
        ("r.json", '{"a": {"x": ' + "[" * 200_000, "nested too deeply", None),
        ("r.json", '{"a": ' * 50_000 + "1" + "}" * 50_000, "nested too deeply", None),
        ("r.json", '{"a": {"x": ' + "[" * 500 + "]" * 500 + ', "y": 1}}', "is [[[[", None),
        ("r.json", '{"a": {"x": ' + "9" * 5000 + "}}", "it is not JSON", None),
        ("r.json", '{"a": {"x": "\\ud800"}}', "it is not JSON", None),
        ("r.json", "{NaN: 1}", "it is not JSON", 1),
        ("r.json", '{"a": {"x": 1}, "a": {"x": 2}}', "'a' occurs twice", None),
    ],
)
def test_bad_json_is_told_in_one_line(tmp_path, name, text, said, row):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as error:
        read_ratings(tmp_path / name)
    assert said in str(error.value) and len(str(error.value)) < 400
    assert (error.value.file, error.value.row) == (tmp_path / name, row)


def test_missing_values_of_json_are_missing(tmp_path):
    records = json.loads(LONG.to_json(orient="records"))
    records[0]["rating"], records[1]["rating"] = None, float("nan")
    del records[2]["rating"]
    (tmp_path / "r.json").write_text(json.dumps(records))
    assert read_ratings(tmp_path / "r.json").n_ratings == 24
    records[3]["rater"] = float("nan")
    (tmp_path / "r.json").write_text(json.dumps(records))
    with pytest.raises(InputError, match="the rater is blank"):
        read_ratings(tmp_path / "r.json")


def damaged(content, rng):
    """Cut a file, or write over some bytes of it."""
    at = int(rng.integers(len(content)))
    if rng.random() < 0.3:
        return content[:at]
    piece = rng.bytes(int(rng.integers(1, 5)))
    return content[:at] + piece + content[at + len(piece) :]


@pytest.mark.parametrize("kind", CONTENTS)
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.filterwarnings("ignore")
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path, kind, compress):
    rng = np.random.default_rng(1)
    for _ in range(40):
        path = tmp_path / "r.dat"
        path.write_bytes(damaged(compress(CONTENTS[kind]), rng))
        try:
            assert read_ratings(path).n_items <= 12
        except InputError as error:
            assert error.file == path and "\n" not in str(error)


def test_value_labels_of_stata_are_categories(tmp_path):
    frame = pd.DataFrame({"id": [1, 2, 3], "Ann": [1, 2, 1], "Bo": [1, 2, 2]})
    labels = {name: {1: "benign", 2: "malignant"} for name in ("Ann", "Bo")}
    frame.to_stata(tmp_path / "r.dta", write_index=False, value_labels=labels)
    ratings = read_ratings(tmp_path / "r.dta")
    assert ratings.categories == ("benign", "malignant") and not ratings.ordered


# Excel files are read as the CSV file with the same cells, or it is said how to read them.


openpyxl = pytest.importorskip("openpyxl")
ROWS = [
    ["item", "Ann", "Bo", "gpt", "truth"],
    [1, "yes", "no", "yes", None],
    [2, "no", None, "no", "no"],
    [3, "yes", "yes", "no", "yes"],
]


def book(path, *sheets):
    """Write a workbook with these sheets."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for number, rows in enumerate(sheets, start=1):
        sheet = workbook.create_sheet(f"sheet {number}")
        for row in rows:
            sheet.append(row)
    workbook.save(path)
    return path


def csv(path, rows):
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    path.write_text("\n".join(map(",".join, texts)) + "\n")
    return path


def test_excel_and_csv_give_the_same_ratings(tmp_path):
    blank = [None] * 7
    result = read_ratings(book(tmp_path / "r.xlsx", [*ROWS, blank, blank]), system="gpt")
    expected = read_ratings(csv(tmp_path / "r.csv", ROWS), system="gpt")
    assert result.equals(expected)
    assert result.notes == expected.notes


@pytest.mark.parametrize(("first", "other"), [(1, 2), (0.5, 1.0), (True, False)])
def test_numbers_are_labels_as_in_a_csv_file(tmp_path, first, other):
    rows = [["a", "b"], [first, other], [other, first], [first, first], [None, first]]
    result = read_ratings(book(tmp_path / "r.xlsx", rows))
    texts = [["1" if cell == 1.0 and cell is not True else cell for cell in row] for row in rows]
    texts = [[str(c).upper() if isinstance(c, bool) else c for c in row] for row in texts]
    assert result.equals(read_ratings(csv(tmp_path / "r.csv", texts)))


@pytest.mark.parametrize("n_cells", [1, 300])
def test_cells_far_away_need_memory_only_for_what_is_in_them(tmp_path, n_cells):
    path = book(tmp_path / "r.xlsx", ROWS)
    workbook = openpyxl.load_workbook(path)
    for n in range(n_cells):
        workbook.active.cell(2**13 + n, 2**14, "x")
    workbook.save(path)
    tracemalloc.start()
    with pytest.raises(InputError, match="the item is blank") as caught:
        read_ratings(path, system="gpt", header="1")
    assert caught.value.row == 2**13
    assert tracemalloc.get_traced_memory()[1] < 2e7
    tracemalloc.stop()


def test_the_first_sheet_is_read_and_the_others_are_named(tmp_path):
    ratings = read_ratings(book(tmp_path / "r.xlsx", ROWS, [["code", "meaning"]]), system="gpt")
    assert ratings.notes[1] == "the sheet 'sheet 1' was read; others were not: sheet 2"


def test_an_error_names_the_row_as_excel_does(tmp_path):
    path = book(tmp_path / "r.xlsx", ROWS)
    with pytest.raises(InputError, match=r"r.xlsx, row 3, column 'Ann': 'no' is not one of"):
        read_ratings(path, system="gpt", categories=["yes", "maybe"])


@pytest.mark.parametrize(
    ("rows", "said"),
    [([], "has no column names"), (ROWS[:1], "no rows below"), ([["a", "a"], [1, 2]], "row 1")],
)
def test_a_sheet_without_a_table_is_refused(tmp_path, rows, said):
    with pytest.raises(InputError, match=said):
        read_ratings(book(tmp_path / "r.xlsx", rows))


def test_without_openpyxl_it_is_said_how_to_read_the_file(tmp_path, monkeypatch):
    path = book(tmp_path / "r.xlsx", ROWS)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"pip install openpyxl.*save the table with the ratings"):
        read_ratings(path)
