"""Excel files: one sheet, or each, read like a CSV file."""

import re
from datetime import date
from io import BytesIO
from pathlib import Path
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


def read_excel(path: Path, sheet: str | None, header: str | None) -> dict[str, Table]:
    """Read sheets of an Excel file, every cell as text.

    Parameters
    ----------
    path : Path
        `.xlsx` or `.xlsm`, read by openpyxl.
    sheet : str, optional
        The name of a sheet, by default the first; "each" for all.
    header : str, optional
        The rows of the header.

    Returns
    -------
    dict of str to Table
        By the name of the sheet; blank cells are empty texts.

    Raises
    ------
    InputError
        If openpyxl is not installed, if the file cannot be read or has no header.
    """
    first, _ = rows_of_header(header)
    cells = _read_cells(path, sheet)
    tables = {}
    for name, rows in cells.items():
        if sheet != EACH:
            _refuse_uncomputed(path, rows)
        while rows and not any(rows[-1]):
            rows.pop()
        if len(rows) < first or (first and not any(rows[first - 1])):
            raise InputError(
                f"the row {first} of its sheet {name!r} has no column names",
                "start with column names, or say in which row they are (header=…)",
                file=path,
                row=first,
                change=_likely_header(rows),
            )
        tables[name] = _table(path, rows, header)
    return tables


def _table(path: Path, rows: list[list[str]], header: str | None) -> Table:
    first, last = rows_of_header(header)
    n_columns = max(map(len, rows), default=0)
    rows = [row + [""] * (n_columns - len(row)) for row in rows]
    names = rows[first - 1] if first else [str(j + 1) for j in range(n_columns)]
    below = rows[last:]
    kept = [j for j in range(n_columns) if names[j] or any(row[j] for row in below)]
    try:
        refuse_repeated_names([names[j] for j in kept], file=path, row=max(first, 1))
    except InputError as error:
        error.change = _likely_header(rows)
        raise
    filled = [number for number, row in enumerate(below) if any(row)]

    def place(error: InputError) -> None:
        error.file, error.row = path, filled[error.row or 0] + last + 1

    columns = {names[j]: [below[number][j] for number in filled] for j in kept}
    return Table(columns, place=place)


def _likely_header(rows: list[list[str]]) -> dict[str, str]:
    """Find the first row with the most cells, below titles."""
    filled = [len(set(filter(None, row))) for row in rows[:MOST_TITLES]]
    likely = filled.index(max(filled)) + 1 if filled else 1
    return {"header": str(likely)} if likely > 1 else {}


def _read_cells(path: Path, sheet: str | None) -> dict[str, list[list[str]]]:
    """Read the rows of sheets as text."""
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise InputError(
            "reading Excel files needs the package openpyxl, which is not installed",
            f"install it by `pip install openpyxl`, or {SAVE_AS_CSV}",
        ) from None
    try:
        # openpyxl refuses files by their ending, which need not be that of what they hold.
        book = openpyxl.load_workbook(BytesIO(path.read_bytes()), read_only=True, data_only=True)
        names = book.sheetnames
        if sheet not in (None, EACH, *names):
            remedy = f"choose among {first_few([*names, EACH], MOST_SHEETS_SHOWN)}"
            raise InputError(f"there is no sheet {sheet!r}", remedy)
        read = names if sheet == EACH else [sheet or names[0]]
        return {str(name): _rows(book[name]) for name in read}
    except InputError:
        raise
    except Exception as error:  # openpyxl does not catch the errors of its parsers
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise InputError(f"it cannot be read as an Excel file ({reason})", SAVE_AS_CSV) from None


def _rows(sheet: Any) -> list[list[str]]:
    # The size that a file gives for a sheet may be too small.
    sheet.reset_dimensions()
    return [list(map(_text, row)) for row in sheet.iter_rows(values_only=True)]


def other_sheets(path: Path, read: str, header: str | None) -> str:
    """Say which sheets were not read, if there are any.

    Raises
    ------
    InputError
        If they have the same columns: it is then not clear which is meant.
    """
    first, _ = rows_of_header(header)
    cells = _read_cells(path, EACH)
    others = [name for name in cells if name != read]
    same = [
        name
        for name in others
        if first and len(cells[name]) >= first and cells[name][first - 1] == cells[read][first - 1]
    ]
    if same:
        shown = first_few([read, *same], MOST_SHEETS_SHOWN)
        raise InputError(
            f"the sheets {shown} have the same columns",
            f"say whether each is a rater (sheet='each'), or which is read (sheet={read!r})",
            change={"sheet": EACH},
        )
    shown = first_few(others, MOST_SHEETS_SHOWN)
    return f"the sheet {read!r} was read; others were not: {shown}" if others else ""


def _refuse_uncomputed(path: Path, rows: list[list[str]]) -> None:
    """Raise an InputError at a formula whose value the file does not have, as some programs do."""
    from openpyxl.utils.cell import coordinate_to_tuple

    try:
        with ZipFile(path) as archive:
            sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
            found = [cell for name in sheets for cell in NO_VALUE.findall(archive.read(name))]
    except (BadZipFile, OSError) as error:
        raise InputError(f"it cannot be read ({error})", SAVE_AS_CSV) from None
    for cell in found:
        row, column = coordinate_to_tuple(cell.decode())
        if row <= len(rows) and column <= len(rows[row - 1]) and not rows[row - 1][column - 1]:
            raise InputError(
                f"the value of the formula in cell {cell.decode()} is not in the file",
                "open it in Excel and save it, or write text in place of the formula",
                file=path,
                row=row,
            )


def _text(cell: object) -> str:
    """Text that a cell would have in a CSV file."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, date) else str(cell).strip()
