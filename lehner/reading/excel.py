"""Excel files: one sheet, or each, read like a CSV file."""

import re
from datetime import date
from io import BytesIO
from typing import Any
from zipfile import BadZipFile, ZipFile

from lehner.core.errors import InputError
from lehner.core.text import first_few
from lehner.data.columns import Table, refuse_repeated_names
from lehner.reading.csv_files import rows_of_header
from lehner.reading.kinds import SAVE_AS_CSV

MOST_SHEETS_SHOWN = 5
EACH = "each"
MOST_TITLES = 20
NO_VALUE = re.compile(
    rb'<c r="([A-Z]+[0-9]+)"(?![^>]*t="str")[^>]*>\s*'
    rb"<f\b[^>]*(?:/>|>[^<]*</f>)\s*(?:<v ?/>|<v></v>)?\s*</c>"
)
"""A formula without a value in the XML of a sheet; a value that is an empty text has t="str"."""

type Rows = list[list[str]]


def read_excel(data: bytes, sheet: str | None, header: str | None) -> tuple[dict[str, Table], str]:
    """Read sheets of an Excel file, every cell as text.

    Parameters
    ----------
    data : bytes
        `.xlsx` or `.xlsm`, read by openpyxl.
    sheet : str, optional
        The name of a sheet, by default the first; "each" for all.
    header : str, optional
        The rows of the header.

    Returns
    -------
    tables : dict of str to Table
        By the name of the sheet; blank cells are empty texts.
    note : str
        Which sheets were not read, if none was named.

    Raises
    ------
    InputError
        If openpyxl is not installed, if the file cannot be read or has no header, or if no sheet is
        named and several have the same columns.
    """
    sheets = _read_sheets(data)
    first, _ = rows_of_header(header)
    shown = first_few([*sheets, EACH], MOST_SHEETS_SHOWN)
    if sheet not in (None, EACH, *sheets):
        raise InputError(f"there is no sheet {sheet!r}", f"choose among {shown}")
    if sheet == EACH:
        return {name: _table_of_rows(name, rows, header) for name, rows in sheets.items()}, ""
    name, *others = sheets
    rows = sheets[sheet or name]
    _refuse_uncomputed(data, rows)
    table = {sheet or name: _table_of_rows(sheet or name, rows, header)}
    if sheet is not None or not others:
        return table, ""
    same = [x for x in others if first and sheets[x][first - 1 : first] == rows[first - 1 : first]]
    if same:
        raise InputError(
            f"the sheets {first_few([name, *same], MOST_SHEETS_SHOWN)} have the same columns",
            f"say whether each is a rater (sheet='each'), or which is read (sheet={name!r})",
            change={"sheet": EACH},
        )
    left = first_few(others, MOST_SHEETS_SHOWN)
    return table, f"the sheet {name!r} was read; others were not: {left}"


def _read_sheets(data: bytes) -> dict[str, Rows]:
    """Read the rows of all sheets as text, without blank rows at their end."""
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise InputError(
            "reading Excel files needs the package openpyxl, which is not installed",
            f"install it by `pip install openpyxl`, or {SAVE_AS_CSV}",
        ) from None
    sheets = {}
    try:
        book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True)
        for name in book.sheetnames:
            # The size that a file gives for a sheet may be too small.
            book[name].reset_dimensions()
            rows = [list(map(_text, row)) for row in book[name].iter_rows(values_only=True)]
            while rows and not any(rows[-1]):
                rows.pop()
            sheets[str(name)] = rows
    except Exception as error:  # openpyxl does not catch the errors of its parsers
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise InputError(f"it cannot be read as an Excel file ({reason})", SAVE_AS_CSV) from None
    return sheets


def _text(cell: Any) -> str:
    """Text that a cell would have in a CSV file."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, date):
        return cell.isoformat()
    return "" if cell is None else str(cell).strip()


def _table_of_rows(name: str, rows: Rows, header: str | None) -> Table:
    """Make a table of the rows of a sheet, which may have titles above the header."""
    first, last = rows_of_header(header)
    filled = [len(set(filter(None, row))) for row in rows[:MOST_TITLES]]
    likely = filled.index(max(filled)) + 1 if filled else 1
    change = {"header": str(likely)} if likely > 1 else {}
    if len(rows) < first or (first and not any(rows[first - 1])):
        raise InputError(
            f"the row {first} of its sheet {name!r} has no column names",
            "start with column names, or say in which row they are (header=…)",
            row=first,
            change=change,
        )
    n_columns = max(map(len, rows), default=0)
    rows = [row + [""] * (n_columns - len(row)) for row in rows]
    names = rows[first - 1] if first else [str(j + 1) for j in range(n_columns)]
    below = {number: row for number, row in enumerate(rows, 1) if number > last and any(row)}
    kept = [j for j in range(n_columns) if names[j] or any(row[j] for row in below.values())]
    try:
        refuse_repeated_names([names[j] for j in kept], row=max(first, 1))
    except InputError as error:
        error.change = change
        raise
    numbers = list(below)

    def place(error: InputError) -> None:
        error.row = numbers[error.row or 0]

    return Table({names[j]: [row[j] for row in below.values()] for j in kept}, place=place)


def _refuse_uncomputed(data: bytes, rows: Rows) -> None:
    """Raise an InputError at a formula whose value the file does not have, as some programs do."""
    from openpyxl.utils.cell import coordinate_to_tuple

    try:
        with ZipFile(BytesIO(data)) as archive:
            sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
            cells = [cell.decode() for x in sheets for cell in NO_VALUE.findall(archive.read(x))]
    except (BadZipFile, OSError) as error:
        raise InputError(f"it cannot be read ({error})", SAVE_AS_CSV) from None
    for cell in cells:
        row, column = coordinate_to_tuple(cell)
        if row <= len(rows) and column <= len(rows[row - 1]) and not rows[row - 1][column - 1]:
            problem = f"the value of the formula in cell {cell} is not in the file"
            remedy = "open it in Excel and save it, or write text in place of the formula"
            raise InputError(problem, remedy, row=row)
