"""A table as data, in LaTeX, in Markdown and as data frames: one pivot.

`lehner/report/answer.py` lays it out for the terminal.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from operator import itemgetter

from lehner.core.estimate import IntervalEstimate
from lehner.core.lazy import load, pd
from lehner.core.text import DASH, escape, escape_line, format_number, to_percent, with_interval

rich_cells = load("rich.cells")

type TableCell = str | float | IntervalEstimate | tuple[TableCell, ...] | None

CORRECTED = "*"
CORRECTED_NOTE = "* with the gold labels."
# Columns of a terminal: between two columns, of a column of texts, and of a word in it.
GAP, NARROWEST, LONGEST_WORD = 2, 18, 30
# Characters of a table in small type on a page of an article, whose lines are 345 points wide.
LATEX_WIDTH = 76
NEGATIVE = re.compile(r"(?<![-\w.])-(?=[.\d])")
LEADING_ZERO = re.compile(r"(?<![\d.,])0(?=\.\d)")
# `Styler` of pandas would leave the signs of the last lines as they are.
LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": "$<$", ">": "$>$", "|": r"\textbar{}", "–": "--", "−": "$-$", "±": r"$\pm$"}
    | {"∞": r"$\infty$", "≈": r"$\approx$"}
    | {"α": r"$\alpha$", "κ": r"$\kappa$", "π": r"$\pi$", "λ": r"$\lambda$"}
)


@dataclass(frozen=True)
class TableColumn:
    """A column of a table.

    Parameters
    ----------
    name : str
        The machine's, as CSV has it.
    title : str, optional
        What people read above it; by default the name, with blanks for underscores.
    format : callable
        From a number to its text. The estimate and the ends of an `IntervalEstimate` are written
        by it; of a cell with several numbers, a tuple, it takes all. A tuple of one text is a
        number that is already written.
    names : callable
        From a text in the column to what people read, as "Dawid–Skene" for `dawid_skene`.

    Examples
    --------
    >>> TableColumn("rmse").heading, TableColumn("cpu", "CPU time").heading
    ('rmse', 'CPU time')
    >>> TableColumn("bias").write(IntervalEstimate(estimate=0.1, lower=-0.2, upper=0.4))
    '0.100 [-0.200, 0.400]'
    """

    name: str
    title: str | None = None
    format: Callable[..., str] = format_number
    names: Callable[[str], str] = field(default=str, kw_only=True)

    @property
    def heading(self) -> str:
        """Its title, or its name as words."""
        return self.name.replace("_", " ") if self.title is None else self.title

    def write(self, cell: TableCell) -> str:
        """Write a cell for people; nothing where it is None, a dash for NaN."""
        match cell:
            case None:
                return ""
            case str():
                return self.names(cell)
            case IntervalEstimate():
                mark = CORRECTED if cell.corrected else ""
                return with_interval(cell.estimate, cell.lower, cell.upper, self.format) + mark
            case (str() as written,):
                return written
            case tuple():
                return self.format(*cell)
            case _:
                return self.format(cell)


@dataclass(frozen=True, kw_only=True)
class PrintedTable:
    r"""A table, whatever it is written for. Its head says the probability of its intervals.

    Parameters
    ----------
    columns : sequence of TableColumn
    rows : sequence of sequence of str, number, IntervalEstimate, tuple or None
        A cell for each column.
    keys : int
        How many columns, the first ones, say what a row is about. They stand in each part of a
        table that is too wide for its medium.
    notes : sequence of str
        Sentences below the table.

    Examples
    --------
    >>> columns = [TableColumn("truth"), TableColumn("method"), TableColumn("bias")]
    >>> rows = [("expected", "algebraic", 0.1), ("expected", "dawid_skene", -0.1)]
    >>> PrintedTable(columns=columns, rows=rows, keys=2).write_cells()[1]
    ['expected', 'algebraic', '0.100']
    """

    columns: Sequence[TableColumn]
    rows: Sequence[Sequence[TableCell]]
    keys: int = 1
    notes: Sequence[str] = ()

    def write_cells(self) -> list[list[str]]:
        """Head and rows as people read them, a text for each column."""
        titles, interval = [column.heading for column in self.columns], self.interval
        if interval not in "; ".join(titles):
            titles[0] = f"{titles[0]} {interval}".strip()
        written = [[c.write(x) for c, x in zip(self.columns, r, strict=True)] for r in self.rows]
        return [[escape_line(text) for text in row] for row in (titles, *written)]

    @property
    def estimates(self) -> list[IntervalEstimate]:
        """The cells that are estimates."""
        parts = chain.from_iterable(
            cell if isinstance(cell, tuple) else (cell,) for row in self.rows for cell in row
        )
        return [part for part in parts if isinstance(part, IntervalEstimate)]

    @property
    def interval(self) -> str:
        """Say the probability of the intervals, as "[90% interval]", if all have the same."""
        levels = {
            estimate.level
            for estimate in self.estimates
            if estimate.lower is not None and estimate.level
        }
        return f"[{to_percent(levels.pop())} interval]" if len(levels) == 1 else ""

    @property
    def all_notes(self) -> list[str]:
        """Its notes, and what the mark of a corrected estimate means."""
        marked = any(estimate.corrected for estimate in self.estimates)
        return [*self.notes, *([CORRECTED_NOTE] if marked else [])]

    def is_text(self, index: int) -> bool:
        """Tell whether a column has names or sentences, which begin at the left."""
        cells = [row[index] for row in self.rows if row[index] is not None]
        return index < self.keys or (bool(cells) and all(isinstance(cell, str) for cell in cells))


def list_table(
    names: Iterable[str], rows: Sequence[Sequence[TableCell]], *, keys: int = 1
) -> PrintedTable:
    """Make a table whose columns have nothing but a name."""
    return PrintedTable(columns=[TableColumn(name) for name in names], rows=rows, keys=keys)


def pivot(rows: "pd.DataFrame", index: Sequence[str], columns: str) -> "pd.DataFrame":
    """Put the column `cell` of rows side by side.

    Parameters
    ----------
    rows : pandas.DataFrame
    index : sequence of str
        The columns of which each combination becomes a row.
    columns : str
        The column of which each value becomes a column.

    Returns
    -------
    pandas.DataFrame
        Rows and columns stand in the order in which they first come, and None where there is no
        cell.

    Examples
    --------
    >>> rows = [("y", "a", 1), ("x", "a", 2), ("x", "b", 3)]
    >>> pivot(pd.DataFrame(rows, columns=["item", "rater", "cell"]), ["item"], "rater").to_dict()
    {'a': {'y': 1, 'x': 2}, 'b': {'y': None, 'x': 3}}
    """
    rows = rows.astype({"cell": object})
    wide = rows.pivot_table("cell", list(index), columns, aggfunc="first", sort=False)
    return wide.astype(object).where(wide.notna(), None)


def to_table(wide: "pd.DataFrame") -> PrintedTable:
    """Make a table of what `pivot` returns."""
    columns = [TableColumn(str(name)) for name in (*wide.index.names, *wide.columns)]
    rows = list(wide.reset_index().itertuples(index=False, name=None))
    return PrintedTable(columns=columns, rows=rows, keys=wide.index.nlevels)


def to_text(table: PrintedTable) -> "pd.DataFrame":
    """Write the cells of a table as texts into a data frame, with its keys as index."""
    head, *body = table.write_cells()
    names = [title or column.name for title, column in zip(head, table.columns, strict=True)]
    return pd.DataFrame(body, columns=names).set_index(names[: table.keys])


def measure_column(
    table: PrintedTable, cells: Sequence[Sequence[str]], index: int
) -> tuple[int, int]:
    """Find how wide a column is, and how narrow it may be: texts are wrapped between words."""
    column = [row[index] for row in cells]
    widest = max(map(rich_cells.cell_len, column))
    if not table.is_text(index):
        return widest, widest
    lengths = (rich_cells.cell_len(word) for text in column for word in text.split())
    longest = min(max(lengths, default=0), LONGEST_WORD)
    return widest, min(widest, max(NARROWEST, longest))


def part_columns(
    table: PrintedTable, cells: Sequence[Sequence[str]], width: int
) -> Iterator[list[int]]:
    """Part columns into blocks that fit a width, each with the keys; a wide one stands alone."""
    least = [measure_column(table, cells, index)[1] for index in range(len(table.columns))]
    keys = list(range(table.keys))
    block: list[int] = []
    for index in range(table.keys, len(least)):
        if block and sum(least[j] + GAP for j in (*keys, *block, index)) - GAP > width:
            yield keys + block
            block = []
        block.append(index)
    yield keys + block


def blank_repeated(table: PrintedTable, rows: Sequence[list[str]]) -> list[list[str]]:
    """Write the first key once above equal ones."""
    shown = [list(row) for row in rows]
    for above, row, written in zip(rows, rows[1:], shown[1:], strict=False):
        if table.keys > 1 and above[0] == row[0]:
            written[0] = ""
    return shown


def to_latex(*tables: PrintedTable, caption: str = "", label: str = "", note: str = "") -> str:
    r"""Write tables below one another in LaTeX, for the booktabs package.

    Parameters
    ----------
    *tables : PrintedTable
    caption : str
        With a caption they are a float of the environment `table`.
    label : str
        Of the float, without "tab:".
    note : str
        A sentence below the tables.

    Returns
    -------
    str
        In small type. A table that is wider than a page becomes several below one another, each
        with the keys. Where a table has several keys, the first one stands in a line above its
        rows. A dash stands where there is no number.

    Examples
    --------
    >>> columns = [TableColumn("", ""), TableColumn("dawid_skene", "Dawid–Skene")]
    >>> table = PrintedTable(columns=columns, rows=[("bias", -0.1)])
    >>> print(to_latex(table, caption="Bias", label="bias"))
    \begin{table}
    \centering
    \caption{Bias}
    \label{tab:bias}
    {\footnotesize\setlength{\tabcolsep}{4pt}
    \begin{tabular}{@{}lr@{}}
    \toprule
     & Dawid--Skene \\
    \midrule
    bias & $-$.100 \\
    \bottomrule
    \end{tabular}
    \par}
    \end{table}
    <BLANKLINE>
    """
    intervals = [f"In brackets: {table.interval[1:-1]}s." for table in tables if table.interval]
    notes = [*intervals, *(text for table in tables for text in table.all_notes)]
    parts = [part for table in tables for part in _write_tabulars(table)]
    notes = list(map(escape_line, filter(None, dict.fromkeys([*notes, note]))))
    below = " ".join(f"{text.rstrip('.')}." for text in notes)
    parts += [f"{below.translate(LATEX)}\n"] if below else []
    size = "\\footnotesize\\setlength{\\tabcolsep}{4pt}"
    written = f"{{{size}\n{'\\par\\medskip\n'.join(parts)}\\par}}\n"
    if not caption:
        return written
    title = escape_line(caption).translate(LATEX)
    head = f"\\centering\n\\caption{{{title}}}\n\\label{{tab:{label}}}"
    return f"\\begin{{table}}\n{head}\n{written}\\end{{table}}\n"


def _write_tabulars(table: PrintedTable) -> Iterator[str]:
    head, *body = table.write_cells()
    # A note says what stands in brackets.
    head[0] = escape_line(table.columns[0].heading)
    groups = [row[0] for row in body] if table.keys > 1 else [""] * len(body)
    if table.keys > 1:
        head = [", ".join(filter(None, head[:2])), *head[2:]]
        body, rows = [row[1:] for row in body], [row[1:] for row in table.rows]
        table = replace(table, columns=table.columns[1:], rows=rows, keys=table.keys - 1)
    text = [table.is_text(index) for index in range(len(head))]
    body = [
        [(cell if text[j] else _write_number(cell)) or DASH for j, cell in enumerate(row)]
        for row in body
    ]
    for block in part_columns(table, [head, *body], LATEX_WIDTH):
        letters = "".join("l" if text[j] else "r" for j in block)
        lines = [f"\\begin{{tabular}}{{@{{}}{letters}@{{}}}}", "\\toprule"]
        lines += [_join_latex([head[j] for j in block]), "\\midrule"]
        for group, members in groupby(zip(groups, body, strict=True), itemgetter(0)):
            spanning = f"\\multicolumn{{{len(block)}}}{{@{{}}l@{{}}}}{{{group.translate(LATEX)}}}"
            lines += [f"{spanning} \\\\"] if group else []
            lines += [_join_latex([row[j] for j in block]) for _, row in members]
        yield "\n".join([*lines, "\\bottomrule", "\\end{tabular}\n"])


def _write_number(cell: str) -> str:
    """Write numbers as papers do: a minus for a hyphen, and no zero before the point."""
    return LEADING_ZERO.sub("", NEGATIVE.sub("−", cell))


def _join_latex(cells: Sequence[str]) -> str:
    """Join the cells of a row. A bracket or a star would be read as an option of the line above."""
    row = " & ".join(cell.translate(LATEX) for cell in cells)
    return f"{'{}' if row[:1] in ('[', '*') else ''}{row} \\\\"


def to_markdown(table: PrintedTable) -> str:
    r"""Write a table in Markdown, its notes below it.

    Examples
    --------
    >>> columns = [TableColumn("method"), TableColumn("bias")]
    >>> print(to_markdown(PrintedTable(columns=columns, rows=[("a|b", 0.1)])))
    | method | bias |
    | --- | ---: |
    | a\|b | 0.100 |
    """
    head, *body = (
        [escape_markdown(cell).replace("|", r"\|") for cell in row] for row in table.write_cells()
    )
    rule = ["---" if table.is_text(index) else "---:" for index in range(len(head))]
    grid = "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))
    return "\n\n".join([grid, *map(escape_markdown, table.all_notes)])


def escape_markdown(text: str) -> str:
    r"""Escape what would be HTML, a link or a control character: names are shown as they are.

    Examples
    --------
    >>> print(escape_markdown("<script>, A&B, [here](http://x)"))
    &lt;script>, A&amp;B, [here]\(http://x)
    """
    return escape(text).replace("&", "&amp;").replace("<", "&lt;").replace("](", r"]\(")
