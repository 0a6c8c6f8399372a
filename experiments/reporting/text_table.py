"""Tables of text for the terminal."""

import textwrap
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from rich.text import Text

GAP = "  "
NARROWEST = 20


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
            shown = [_align(cell, wide, i in {0, *left}) for i, (cell, wide) in enumerate(cells)]
            lines.append(GAP.join(shown).rstrip())
    return lines


def bold_table(
    rows: Sequence[Sequence[str]],
    *,
    left: Collection[int] = (),
    width: int | None = None,
    n_bold: int = 1,
) -> "list[Text]":
    """Give the lines of `text_table` for a rich console, the first ones bold."""
    from rich.text import Text

    lines = text_table(rows, left=left, width=width)
    return [Text(line, style="bold" if i < n_bold else "") for i, line in enumerate(lines)]


def _wrap_last(row: Sequence[str], width: int) -> list[list[str]]:
    first, *more = textwrap.wrap(row[-1], max(width, 1), break_on_hyphens=False) or [""]
    blank = [""] * (len(row) - 1)
    return [[*row[:-1], first], *([*blank, line] for line in more)]


def _align(cell: str, width: int, left: bool) -> str:
    blank = " " * (width - cell_len(cell))
    return cell + blank if left else blank + cell
