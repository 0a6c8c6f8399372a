"""Excel files are read as the CSV file with the same cells, or it is said how to read them."""

import sys
import tracemalloc

import pytest

from lehner import InputError, read_ratings

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
