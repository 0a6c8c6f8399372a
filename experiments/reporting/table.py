"""A table as data: columns, rows of numbers and names, and what is said of them.

A table is made once and written by `experiments.reporting.renderers` for the terminal, Markdown,
LaTeX, HTML and CSV. Numbers become text here only, by the format of their column.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import itemgetter

import numpy as np

from lehner.core.estimate import IntervalEstimate
from lehner.core.text import decimal, percent, with_interval

type Cell = str | float | IntervalEstimate | tuple[Cell, ...] | None
type Line = list[str] | str

MARK = "*"
MARKED = "* with the known truths."


def plain_number(value: float) -> str:
    """Write a count as it is, and any other number with three decimals."""
    return str(value) if isinstance(value, int | np.integer) else decimal(value)


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str
        The machine's, as CSV has it.
    title : str, optional
        What people read above it; by default the name, with blanks for underscores.
    format : callable
        From a number to its text. The estimate and the ends of an `IntervalEstimate` are written
        by it; of a cell with several numbers, a tuple, it takes all.
    unit : str
        Of the numbers, as "%" or "seconds".
    names : callable
        From a text in the column to what people read, as "Dawid–Skene" for `dawid_skene`.
    fields : tuple of str
        The names of the numbers in a tuple, in CSV.

    Examples
    --------
    >>> Column("rmse").heading, Column("cpu", "CPU time", unit="seconds").heading
    ('rmse', 'CPU time (seconds)')
    >>> Column("bias").write(IntervalEstimate(estimate=0.1, lower=-0.2, upper=0.4))
    '0.100 [-0.200, 0.400]'
    """

    name: str
    title: str | None = None
    format: Callable[..., str] = plain_number
    unit: str = field(default="", kw_only=True)
    names: Callable[[str], str] = field(default=str, kw_only=True)
    fields: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def heading(self) -> str:
        """Its title with its unit."""
        title = self.name.replace("_", " ") if self.title is None else self.title
        return f"{title} ({self.unit})" if self.unit else title

    def write(self, cell: Cell) -> str:
        """Write a cell for people; nothing where it is None, a dash for NaN."""
        match cell:
            case None:
                return ""
            case str():
                return self.names(cell)
            case IntervalEstimate():
                mark = MARK if cell.corrected else ""
                return with_interval(cell.estimate, cell.lower, cell.upper, self.format) + mark
            case tuple():
                return self.format(*cell)
            case _:
                return self.format(cell)


@dataclass(frozen=True, kw_only=True)
class Table:
    r"""A table, whatever it is written for. Its head says the probability of its intervals.

    Parameters
    ----------
    columns : sequence of Column
    rows : sequence of sequence of str, number, IntervalEstimate, tuple or None
        A cell for each column. A row whose cells are None but for the keys' last stands across the
        table, as "… and 3 more" does.
    keys : int
        How many columns, the first ones, say what a row is about. They stand in each part of a
        table that is too wide for its medium.
    headings : bool
        Whether the first column is a heading above its rows, on the terminal and in LaTeX, so that
        each of its texts is read once. A row without a second key has its first in its place.
    notes : sequence of str
        Sentences below the table.
    caption, label : str
        Above the table; with either it is a `table` in LaTeX, which `\ref{label}` points to.

    Examples
    --------
    >>> table = Table(
    ...     columns=[Column("truth"), Column("method"), Column("bias")],
    ...     rows=[("expected", "algebraic", 0.1), ("expected", "dawid_skene", -0.1)],
    ...     keys=2,
    ...     headings=True,
    ... )
    >>> for cells in table.lines():
    ...     print(cells)
    ['method', 'bias']
    expected
    ['  algebraic', '0.100']
    ['  dawid_skene', '-0.100']
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    keys: int = 1
    headings: bool = False
    notes: Sequence[str] = ()
    caption: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        marked = any(
            isinstance(cell, IntervalEstimate) and cell.corrected
            for row in self.rows
            for cell in chain.from_iterable(_flat(one) for one in row)
        )
        if marked:
            object.__setattr__(self, "notes", (*self.notes, MARKED))

    def lines(self) -> list[Line]:
        """Head and rows as people read them, and texts that stand across the table."""
        head, *body = self.cells()
        if not self.headings:
            return [head, *map(_across, body)]
        lines: list[Line] = [head[1:]]
        for heading, rows in groupby(body, key=itemgetter(0)):
            below = [row[1:] for row in rows]
            if heading and any(label for label, *_ in below):
                lines.append(heading)
            for label, *cells in below:
                shown = f"  {label}" if heading and label else label or heading
                lines.append(_across([shown, *cells]))
        return lines

    def cells(self) -> list[list[str]]:
        """Head and rows as people read them, a text for each column."""
        written = [
            [column.write(cell) for column, cell in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]
        titles = [column.heading for column in self.columns]
        if self.interval not in "; ".join(titles):
            place = int(self.headings)
            titles[place] = f"{titles[place]} {self.interval}".strip()
        return [titles, *written]

    @property
    def interval(self) -> str:
        """Say the probability of the intervals, as "[90% interval]", if all have the same."""
        parts = (cell if isinstance(cell, tuple) else (cell,) for row in self.rows for cell in row)
        found = [one for cell in parts for one in cell if isinstance(one, IntervalEstimate)]
        levels = {one.level for one in found if one.lower is not None and one.level}
        return f"[{percent(levels.pop())} interval]" if len(levels) == 1 else ""

    def is_text(self, place: int) -> bool:
        """Whether a column has names or sentences, which begin at the left."""
        if place < self.keys:
            return True
        known = [row[place] for row in self.rows if row[place] is not None]
        return bool(known) and all(isinstance(cell, str) for cell in known)


def simple_table(names: Iterable[str], rows: Sequence[Sequence[Cell]], *, keys: int = 1) -> Table:
    """Make a table whose columns have nothing but a name."""
    return Table(columns=[Column(name) for name in names], rows=rows, keys=keys)


def _flat(cell: Cell) -> tuple[Cell, ...]:
    return cell if isinstance(cell, tuple) else (cell,)


def _across(cells: list[str]) -> Line:
    return cells if len(cells) == 1 or any(cells[1:]) else cells[0]
