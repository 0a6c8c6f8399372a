"""Read square tables of two classifications from a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.coefficients.contingency import as_table
from lehner.core.errors import InputError
from lehner.core.wording import first_few
from lehner.data.categories import Label, check_categories, encode, plain_label, unify
from lehner.reading.read import read_columns

if TYPE_CHECKING:
    import xarray as xr

SIDES = ("estimated", "actual")


def read_table(path: str | Path, *, categories: Sequence[Label] | None = None) -> "xr.DataArray":
    r"""Read a square table of counts or probabilities from a CSV or Parquet file.

    The table is either square, with a row per estimated class, which begins with its name, and a
    column per actual class; or long, with a row per cell and three columns: estimated class, actual
    class and number. Cells that a long table leaves out are 0.

    Parameters
    ----------
    path : str or Path
        The file; `.parquet` is read as Parquet, anything else as UTF-8 CSV.
    categories : sequence of str or int, optional
        All categories in order; by default as in the header of a square table, or in order of
        appearance in a long one.

    Returns
    -------
    xarray.DataArray, dims (estimated, actual)
        The numbers, ready for `agreement_of_table`.

    Raises
    ------
    InputError
        If there is no such file, if the table is not square, or if a cell is not a number of 0 or
        more. The error names file, row, column, value and remedy.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "table.csv"
    >>> _ = file.write_text("estimated,no,yes\nno,40,5\nyes,10,45\n")
    >>> read_table(file).sel(estimated="no", actual="yes").item()
    5.0
    """
    with read_columns(Path(path)) as columns:
        return _arrange(_square(columns) or _long(columns), categories)


type Cells = list[tuple[Any, Any, float]]
"""The row, the column and the number of each cell."""


def _square(columns: dict[str, Any]) -> Cells | None:
    first, *header = columns
    rows, classes = _labels(columns[first], first), [plain_label(name) for name in header]
    names = unify([*classes, *rows])
    if len(rows) != len(header) or set(map(names.get, rows)) != set(map(names.get, classes)):
        return None
    numbers = zip(*(_numbers(columns[name], name) for name in header), strict=True)
    return [
        (row, actual, value)
        for row, values in zip(rows, numbers, strict=True)
        for actual, value in zip(classes, values, strict=True)
    ]


def _long(columns: dict[str, Any]) -> Cells:
    if len(columns) == 3:
        named = set(SIDES) <= set(columns)
        sides = list(SIDES) if named else list(columns)[:2]
        (number,) = (name for name in columns if name not in sides)
        one, two = (_labels(columns[side], side) for side in sides)
        # If no class is on both sides, it is a square table whose rows and columns differ.
        if named or set(one) & set(two):
            return list(zip(one, two, _numbers(columns[number], number), strict=True))
    first, *header = columns
    rows = first_few(encode(columns[first], first).labels, 4) or "none"
    raise InputError(
        f"it is not a square table: its rows are {rows} and its columns "
        f"{first_few(header, 4) or 'none'}",
        "give a row per estimated class, its name first, and a column per actual class; "
        "or a row per cell with columns estimated, actual, count",
    )


def _arrange(cells: Cells, categories: Sequence[Label] | None) -> "xr.DataArray":
    given = () if categories is None else check_categories(categories)
    names = unify([*given, *(label for row, column, _ in cells for label in (row, column))])
    table: dict[tuple[Label, Label], float] = {}
    for i, (row, column, value) in enumerate(cells):
        cell = names[row], names[column]
        if cell in table:
            raise InputError(f"the cell {cell} occurs a second time", "give each once", row=i)
        table[cell] = value
    order = list(dict.fromkeys(name for cell in table for name in cell))
    if categories is not None:
        chosen = [names[name] for name in given]
        missing = [name for name in order if name not in chosen]
        if missing:
            raise InputError(
                f"{missing[0]!r} is not one of the categories {', '.join(map(str, given))}",
                "correct it, or add it to the categories",
            )
        order = chosen
    return as_table([[table.get((row, column), 0.0) for column in order] for row in order], order)


def _labels(column: Any, name: str, what: str = "class") -> list[Any]:
    encoded = encode(column, name)
    blank = np.flatnonzero(encoded.codes < 0)
    if blank.size:
        raise InputError(f"the {what} is blank", "fill it in", row=int(blank[0]), column=name)
    return [encoded.labels[code] for code in encoded.codes]


def _numbers(column: Any, name: str) -> list[float]:
    values = []
    for row, label in enumerate(_labels(column, name, "count")):
        try:
            value = float(label)
        except ValueError:
            value = -1.0
        if not 0 <= value < np.inf:
            raise InputError(
                f"{str(label)!r} is not a count", "give a number, 0 or more", row=row, column=name
            )
        values.append(value)
    return values
