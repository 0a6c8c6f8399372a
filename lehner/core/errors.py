"""The one exception that bad input raises, and the one warning of data that look odd."""

from pathlib import Path


class InputError(ValueError):
    """Bad input, described in one line: where it is, what is wrong, and what to do about it.

    Functions raise this error for data or arguments that they cannot use. It is a `ValueError`.

    Parameters
    ----------
    problem : str
        What is wrong, with the offending value.
    remedy : str
        What the user can do about it.
    file : str or Path, optional
        File the input came from.
    row : int, optional
        Line of the file (the header is row 1), or position for data in memory.
    column : str, optional
        Name of the column.

    Examples
    --------
    >>> print(InputError("'X' is not a category", "add it", file="r.csv", row=3, column="Ann"))
    r.csv, row 3, column 'Ann': 'X' is not a category; add it
    """

    def __init__(
        self,
        problem: str,
        remedy: str,
        *,
        file: str | Path | None = None,
        row: int | None = None,
        column: str | None = None,
    ) -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy
        self.file = file
        self.row = row
        self.column = column

    def __str__(self) -> str:
        parts = [
            None if self.file is None else str(self.file),
            None if self.row is None else f"row {self.row}",
            None if self.column is None else f"column {self.column!r}",
        ]
        where = ", ".join(part for part in parts if part)
        text = f"{self.problem}; {self.remedy}"
        return " ".join((f"{where}: {text}" if where else text).split())


class DataWarning(UserWarning):
    """Data were read, but look as if something else was meant."""
