"""Excel files: their first sheet, read like a CSV file."""

import re
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from lehner.core.errors import InputError
from lehner.core.text import first_few
from lehner.data.columns import refuse_repeated_names
from lehner.reading.file_kinds import SAVE_AS_CSV

MOST_SHEETS_SHOWN = 5
NO_VALUE = re.compile(
    rb'<c r="([A-Z]+[0-9]+)"(?![^>]*t="str")[^>]*>\s*'
    rb"<f\b[^>]*(?:/>|>[^<]*</f>)\s*(?:<v ?/>|<v></v>)?\s*</c>"
)
"""A formula without a value in the XML of a sheet; a value that is an empty text has t="str"."""


def read_excel(path: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Read the first sheet of an Excel file, every cell as text.

    Parameters
    ----------
    path : Path
        `.xlsx` or `.xlsm`, read by openpyxl.

    Returns
    -------
    columns : dict of str to list of str
        Columns by their names in the first row; blank cells are empty texts.
    notes : list of str
        Which sheet was read, if there are several.

    Raises
    ------
    InputError
        If openpyxl is not installed, if the file cannot be read or has no header.
    """
    book = _open(path)
    rows = [list(map(_text, row)) for row in book.worksheets[0].iter_rows(values_only=True)]
    _refuse_uncomputed(path, rows)
    while rows and not any(rows[-1]):
        rows.pop()
    if not rows or not any(rows[0]):
        raise InputError(
            "the first row of its first sheet has no column names",
            "start with column names",
            file=path,
            row=1,
        )
    n_columns = max(len(row) for row in rows)
    header, *cells = [row + [""] * (n_columns - len(row)) for row in rows]
    kept = [j for j in range(n_columns) if header[j] or any(row[j] for row in cells)]
    refuse_repeated_names([header[j] for j in kept], file=path, row=1)
    read, *others = book.sheetnames
    note = f"the sheet {read!r} was read; others were not: {first_few(others, MOST_SHEETS_SHOWN)}"
    return {header[j]: [row[j] for row in cells] for j in kept}, [note] if others else []


def _refuse_uncomputed(path: Path, rows: list[list[str]]) -> None:
    """Raise an InputError at a formula whose value the file does not have, as some programs do."""
    from openpyxl.utils.cell import coordinate_to_tuple

    with ZipFile(path) as archive:
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        found = [cell for name in sheets for cell in NO_VALUE.findall(archive.read(name))]
    for cell in found:
        row, column = coordinate_to_tuple(cell.decode())
        if row <= len(rows) and column <= len(rows[row - 1]) and not rows[row - 1][column - 1]:
            raise InputError(
                f"the value of the formula in cell {cell.decode()} is not in the file",
                "open it in Excel and save it, or write text in place of the formula",
                file=path,
                row=row,
            )


def _open(path: Path) -> Any:
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise InputError(
            "reading Excel files needs the package openpyxl, which is not installed",
            f"install it by `pip install openpyxl`, or {SAVE_AS_CSV}",
        ) from None
    try:
        # openpyxl refuses files by their ending, which need not be that of what they hold.
        return openpyxl.load_workbook(BytesIO(path.read_bytes()), read_only=True, data_only=True)
    except Exception as error:  # openpyxl does not catch the errors of its parsers
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise InputError(f"it cannot be read as an Excel file ({reason})", SAVE_AS_CSV) from None


def _text(cell: object) -> str:
    """Text that a cell would have in a CSV file."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, date) else str(cell).strip()
