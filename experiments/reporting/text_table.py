"""Tables of text for the terminal."""

import textwrap
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from experiments.reporting.terminal import NARROWEST, line, one_line

if TYPE_CHECKING:
    from rich.text import Text

GAP = "  "


def text_table(
    rows: Sequence[Sequence[str]], *, left: Collection[int] = (), width: int | None = None
) -> list[str]:
    r"""Align the cells of a table, the first column to the left and the others to the right.

    Parameters
    ----------
    rows : sequence of sequence of str
        The head first. A row of one cell is a line that takes no part in the columns.
    left : collection of int
        Columns of text besides the first.
    width : int, optional
        To which the last column is wrapped; where it would be narrow, lines are longer.

    Returns
    -------
    list of str
        Lines without blanks at their ends.

    Examples
    --------
    >>> print(*text_table([["", "items"], ["all raters", "200"], ["two", "50"]]), sep="\n")
                items
    all raters    200
    two            50
    """
    rows = _shown(rows)
    n_columns = len(rows[0])
    full = [row for row in rows if len(row) == n_columns]
    widths = [max(cell_len(row[i]) for row in full) for i in range(n_columns)]
    if width is not None:
        room = width - sum(widths[:-1]) - len(GAP) * (n_columns - 1)
        widths[-1] = min(widths[-1], max(room, NARROWEST))
    lines: list[str] = []
    for row in rows:
        if len(row) < n_columns:
            lines += row
            continue
        for part in _wrap_last(row, widths[-1]):
            cells = zip(part, widths, strict=True)
            shown = [
                _align(cell, wide, left=i in {0, *left}) for i, (cell, wide) in enumerate(cells)
            ]
            lines.append(GAP.join(shown).rstrip())
    return lines


def bold_table(
    rows: Sequence[Sequence[str]],
    *,
    left: Collection[int] = (),
    width: int | None = None,
) -> "list[Text]":
    """Give the lines of `text_table` for a rich console, the first one bold."""
    lines = text_table(rows, left=left, width=width)
    return [line(text, style="" if i else "bold") for i, text in enumerate(lines)]


def blocks_of_columns(rows: Sequence[Sequence[str]], width: int) -> list[list[list[str]]]:
    """Split a table into tables that fit a width, each with the first column.

    Parameters
    ----------
    rows : sequence of sequence of str
        Each with as many cells.
    width : int
        Of a line.

    Returns
    -------
    list of tables
        One if the table fits; a column that is too wide for a line stands alone.

    Examples
    --------
    >>> blocks_of_columns([["", "one", "two"], ["a", "1", "2"]], 8)
    [[['', 'one'], ['a', '1']], [['', 'two'], ['a', '2']]]
    """
    first, *widths = [max(cell_len(row[i]) for row in rows) for i in range(len(rows[0]))]
    blocks: list[list[int]] = [[]]
    room = width - first
    for column, wide in enumerate(widths, start=1):
        if blocks[-1] and room < wide + len(GAP):
            blocks.append([])
            room = width - first
        blocks[-1].append(column)
        room -= wide + len(GAP)
    return [[[row[i] for i in (0, *block)] for row in rows] for block in blocks]


def bold_blocks(
    rows: Sequence[Sequence[str]], *, width: int, left: Collection[int] = ()
) -> "list[Text]":
    """Give a table for a rich console, in blocks of columns that fit a width, the heads bold."""
    lines: list[Text] = []
    for block in blocks_of_columns(_shown(rows), width):
        lines += [line(), *bold_table(block, left=left)]
    return lines[1:]


def _shown(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Write control characters visibly, before columns are measured."""
    return [[one_line(cell) for cell in row] for row in rows]


def _wrap_last(row: Sequence[str], width: int) -> list[list[str]]:
    first, *more = textwrap.wrap(row[-1], max(width, 1), break_on_hyphens=False) or [""]
    blank = [""] * (len(row) - 1)
    return [[*row[:-1], first], *([*blank, line] for line in more)]


def _align(cell: str, width: int, *, left: bool) -> str:
    blank = " " * (width - cell_len(cell))
    return cell + blank if left else blank + cell
