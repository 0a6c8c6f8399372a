"""A table for the terminal, in Markdown, in LaTeX, in HTML and as CSV."""

import csv
import html
import io
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from experiments.reporting.table import Cell, Line, Table
from experiments.reporting.terminal import NARROWEST, line, one_line, visible
from lehner.core.estimate import IntervalEstimate

if TYPE_CHECKING:
    from rich.text import Text

GAP = "  "
LATEX_WIDTH = 72
"""Characters of a table in small type on a page of an article, whose lines are 345 points wide."""
LONGEST_WHOLE = 22
"""Characters of a cell that is not broken into lines in HTML."""
NEGATIVE = re.compile(r"(?<![-\w.])-(?=[.\d])")
LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": "$<$", ">": "$>$", "|": r"\textbar{}", "–": "--", "−": "$-$", "±": r"$\pm$"}
    | {"∞": r"$\infty$"}
    | {"≈": r"$\approx$", "α": r"$\alpha$", "κ": r"$\kappa$", "π": r"$\pi$", "λ": r"$\lambda$"}
)


def to_terminal(table: Table, width: int) -> "list[Text]":
    r"""Lay a table out in lines for a rich console, its head bold.

    Parameters
    ----------
    table : Table
    width : int
        Of the terminal. The last column is wrapped if it is text. A table that is still too wide
        becomes several below one another, each with the keys.

    Returns
    -------
    list of rich.text.Text
        Without blanks at their ends.

    Examples
    --------
    >>> from experiments.reporting.table import Column
    >>> columns = [Column("", ""), Column("items")]
    >>> table = Table(columns=columns, rows=[("all raters", 200), ("two", 50)])
    >>> print(*to_terminal(table, 80), sep="\n")
                items
    all raters    200
    two            50
    """
    rows, left = [_shown(row) for row in table.lines()], _left(table)
    *widths, last = _widths(rows)
    wrapped = left[-1] and len(widths) >= _n_keys(table)
    widths.append(min(last, NARROWEST) if wrapped else last)
    blocks = _blocks(widths, _n_keys(table), width)
    if wrapped:
        room = width - sum(widths[j] + len(GAP) for j in blocks[-1][:-1])
        widths[-1] = min(last, max(room, NARROWEST))
    lines = [*map(line, textwrap.wrap(table.caption, width))]
    for place, block in enumerate(blocks):
        lines += [line()] if place else []
        for i, row in enumerate(rows):
            if isinstance(row, str):
                shown: Iterable[str] = [row]
            else:
                shown = _aligned([row[j] for j in block], widths, block, left)
            lines += [line(text, style="" if i else "bold") for text in shown]
    return [*lines, *([line()] if table.notes else []), *map(line, table.notes)]


def _aligned(
    cells: list[str], widths: Sequence[int], block: Sequence[int], left: Sequence[bool]
) -> Iterator[str]:
    """Yield the lines of a row, of which the last cell may take several."""
    from rich.cells import cell_len

    first, more, room = cells[-1], [], widths[block[-1]]
    if cell_len(first) > room:
        first, *more = textwrap.wrap(first, room, break_on_hyphens=False)
    for part in [[*cells[:-1], first], *([*[""] * (len(cells) - 1), rest] for rest in more)]:
        padded = []
        for cell, j in zip(part, block, strict=True):
            blank = " " * (widths[j] - cell_len(cell))
            padded.append(cell + blank if left[j] else blank + cell)
        yield GAP.join(padded).rstrip()


def to_markdown(table: Table) -> str:
    r"""Write a table in Markdown, its caption above and its notes below it.

    Examples
    --------
    >>> from experiments.reporting.table import Column
    >>> print(to_markdown(Table(columns=[Column("method"), Column("bias")], rows=[("a|b", 0.1)])))
    | method | bias |
    | --- | ---: |
    | a\|b | 0.100 |
    """
    head, *rows = table.cells()
    rule = ["---" if table.is_text(i) else "---:" for i in range(len(head))]
    shown = [[markdown_text(one_line(cell)).replace("|", r"\|") for cell in row] for row in rows]
    titles = [markdown_text(one_line(cell)).replace("|", r"\|") for cell in head]
    grid = "\n".join(f"| {' | '.join(row)} |" for row in (titles, rule, *shown))
    texts = [markdown_text(text) for text in (table.caption, *table.notes)]
    return "\n\n".join(filter(None, [texts[0], grid, *texts[1:]]))


def markdown_text(text: str) -> str:
    r"""Escape what would be HTML, a link or a control character: names are shown as they are.

    Examples
    --------
    >>> print(markdown_text("<script>, A&B, [here](http://x)"))
    &lt;script>, A&amp;B, [here]\(http://x)
    """
    shown = visible(text).replace("&", "&amp;").replace("<", "&lt;")
    return shown.replace("](", r"]\(")


def to_html(table: Table) -> str:
    """Write a table in HTML, its caption in it and its notes below it.

    A number stands in full in the `data-number` of its cell, by which a page's script sorts.
    """
    # Columns that have no head on the terminal stand below a heading there, if there is any.
    start = int(table.headings and not any(row[0] for row in table.rows))
    columns, rows = table.columns[start:], [row[start:] for row in table.cells()[1:]]
    head = [column.heading or column.name.replace("_", " ") for column in columns]
    caption = f"<caption>{html_text(table.caption)}</caption>" if table.caption else ""
    top = "".join(f'<th scope="col">{html_text(cell)}</th>' for cell in head)
    values = (row[start:] for row in table.rows)
    filled = (map(_html_cell, *pair) for pair in zip(rows, values, strict=True))
    body = "\n".join(f"<tr>{''.join(cells)}</tr>" for cells in filled)
    notes = "".join(f"\n<p>{html_text(note)}</p>" for note in table.notes)
    return (
        f"<table>{caption}<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody></table>{notes}"
    )


def html_text(text: str) -> str:
    """Escape what would be a tag or a control character."""
    return html.escape(visible(text))


def _html_cell(text: str, cell: Cell) -> str:
    whole = ' class="whole"' if len(text) <= LONGEST_WHOLE else ""
    (value, *_) = _parts(cell, 1)
    number = "" if isinstance(value, str) else _in_full(value)
    sorts_by = f' data-number="{number}"' if number else ""
    return f"<td{whole}{sorts_by}>{html_text(text)}</td>"


def to_latex(*tables: Table) -> str:
    r"""Write tables below one another in LaTeX, for the booktabs package.

    Parameters
    ----------
    *tables : Table

    Returns
    -------
    str
        In small type. A table that is wider than a page becomes several below one another, each
        with the keys.

    Examples
    --------
    >>> from experiments.reporting.table import Column
    >>> columns = [Column("", ""), Column("dawid_skene", "Dawid–Skene")]
    >>> print(to_latex(Table(columns=columns, rows=[("bias", -0.1)])))
    {\small
    \noindent
    \begin{tabular}{lr}
    \toprule
     & Dawid--Skene \\
    \midrule
    bias & $-$0.100 \\
    \bottomrule
    \end{tabular}
    \par}
    <BLANKLINE>
    """
    return "\\bigskip\n".join(map(_latex, tables))


def _latex(table: Table) -> str:
    rows, left = table.lines(), _left(table)
    blocks = _blocks(_widths(map(_shown, rows)), _n_keys(table), LATEX_WIDTH)
    parts = [_tabular(rows, block, left) for block in blocks]
    parts += [f"\\noindent {latex_text(note)}\n" for note in table.notes]
    small = "{\\small\n" + "\\par\\medskip\n".join(parts) + "\\par}\n"
    if not (table.caption or table.label):
        return small
    label = f"\\label{{{re.sub(r'[^A-Za-z0-9:._-]', '-', table.label)}}}" if table.label else ""
    caption = f"\\caption{{{latex_text(table.caption)}}}"
    return f"\\begin{{table}}\n{caption}{label}\n{small}\\end{{table}}\n"


def _tabular(rows: list[Line], block: Sequence[int], left: Sequence[bool]) -> str:
    def written(row: Line, *, head: bool = False) -> str:
        if isinstance(row, str):
            return rf"\multicolumn{{{len(block)}}}{{l}}{{{latex_text(row)}}} \\"
        cells = [latex_text(row[j], number=not (head or left[j])) for j in block]
        text = " & ".join(cells) + r" \\"
        # After \toprule and \\ a bracket would begin an option, and a star be one.
        return "{}" + text if text.startswith(("[", "*")) else text

    letters = "".join("l" if left[j] else "r" for j in block)
    head, body = written(rows[0], head=True), map(written, rows[1:])
    lines = [r"\noindent", rf"\begin{{tabular}}{{{letters}}}", r"\toprule", head, r"\midrule"]
    return "\n".join([*lines, *body, r"\bottomrule", r"\end{tabular}"]) + "\n"


def latex_text(text: str, *, number: bool = False) -> str:
    """Escape text for LaTeX; a number's hyphen becomes a minus."""
    escaped = one_line(text).translate(LATEX)
    return (NEGATIVE.sub("$-$", escaped) if number else escaped).replace("  ", r"\quad ", 1)


def to_csv(table: Table) -> str:
    r"""Write a table's numbers in full, under the names that machines use.

    An estimate has its ends in two more columns, and a cell with several numbers a column each.

    Examples
    --------
    >>> from experiments.reporting.table import Column
    >>> columns = [Column("method"), Column("accuracy", "in this sample")]
    >>> value = IntervalEstimate(estimate=0.1 + 0.2, lower=0.2, upper=1)
    >>> print(to_csv(Table(columns=columns, rows=[("algebraic", value)])), end="")
    method,accuracy,accuracy_lower,accuracy_upper
    algebraic,0.30000000000000004,0.2,1
    """
    fields = [_fields(table, place) for place in range(len(table.columns))]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(chain.from_iterable(fields))
    for row in table.rows:
        parts = (_parts(cell, len(names)) for cell, names in zip(row, fields, strict=True))
        writer.writerow(map(_in_full, chain.from_iterable(parts)))
    return text.getvalue()


def _fields(table: Table, place: int) -> Sequence[str]:
    column = table.columns[place]
    if any(isinstance(row[place], IntervalEstimate) for row in table.rows):
        return [column.name, f"{column.name}_lower", f"{column.name}_upper"]
    return column.fields or [column.name]


def _parts(cell: Cell, n: int) -> Sequence[Cell]:
    match cell:
        case IntervalEstimate():
            return cell.estimate, cell.lower, cell.upper
        case tuple():
            return [part for one in cell for part in _parts(one, 1)]
        case _:
            return [cell, *[None] * (n - 1)]


def _in_full(value: Cell) -> str:
    if value is None or value != value:
        return ""
    return repr(float(value)) if isinstance(value, float | np.floating) else str(value)


def _n_keys(table: Table) -> int:
    return max(table.keys - table.headings, 1)


def _left(table: Table) -> list[bool]:
    """Whether each column that is printed begins at the left."""
    return [table.is_text(place) for place in range(len(table.columns))][table.headings :]


def _shown(row: Line) -> Line:
    return one_line(row) if isinstance(row, str) else [one_line(cell) for cell in row]


def _widths(rows: Iterable[Line]) -> list[int]:
    """Count the widest cell of each column, without what stands across the table."""
    from rich.cells import cell_len

    columns = zip(*(row for row in rows if not isinstance(row, str)), strict=True)
    return [max(map(cell_len, column)) for column in columns]


def _blocks(widths: Sequence[int], n_keys: int, width: int) -> list[list[int]]:
    """Part columns into blocks that fit a width, each with the keys; a wide one stands alone."""
    keys = list(range(n_keys))
    blocks: list[list[int]] = [[]]
    for j in range(n_keys, len(widths)):
        wide = sum(widths[i] + len(GAP) for i in (*keys, *blocks[-1], j)) - len(GAP)
        if blocks[-1] and wide > width:
            blocks.append([])
        blocks[-1].append(j)
    return [keys + block for block in blocks]
