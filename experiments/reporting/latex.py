"""Tables for LaTeX, as the booktabs package sets them."""

import re
from collections.abc import Iterable, Sequence

from experiments.reporting.terminal import one_line
from experiments.reporting.text_table import blocks_of_columns

CHARACTERS = 72
"""Of a table in small type on a page of an article, whose lines are 345 points wide."""

ESCAPES = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": "$<$", ">": "$>$", "|": r"\textbar{}", "–": "--", "−": "$-$", "±": r"$\pm$"}
)
NEGATIVE = re.compile(r"(?<![-\w.])-(?=[.\d])")


def latex_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Give a table in LaTeX, its first column to the left and the others to the right.

    Parameters
    ----------
    head : sequence of str
    rows : sequence of sequence of str

    Returns
    -------
    str
        In small type. A row whose other cells are blank is a heading across the table. A table
        that is wider than a page becomes several below one another, each with the first column.

    Examples
    --------
    >>> print(latex_table(["", "dawid_skene"], [["bias", "-0.1"]]))
    {\small
    \noindent
    \begin{tabular}{lr}
    \toprule
     & dawid\_skene \\
    \midrule
    bias & $-$0.1 \\
    \bottomrule
    \end{tabular}
    \par}
    <BLANKLINE>
    """
    head = list(map(one_line, head))
    rows = [list(map(one_line, row)) for row in rows]
    without_headings = [["", *row[1:]] if _is_heading(row) else row for row in rows]
    blocks = blocks_of_columns([head, *without_headings], CHARACTERS)
    for block in blocks:
        for row, cells in zip(rows, block[1:], strict=True):
            cells[0] = row[0]
    tables = (_tabular(block[0], block[1:]) for block in blocks)
    return "{\\small\n" + "\\par\\medskip\n".join(tables) + "\\par}\n"


def latex_tables(tables: Iterable[tuple[Sequence[str], Sequence[Sequence[str]]]]) -> str:
    """Give several tables, each a head and its rows, below one another."""
    return "\\bigskip\n".join(latex_table(head, rows) for head, rows in tables)


def _tabular(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [
        r"\noindent",
        r"\begin{tabular}{l" + "r" * (len(head) - 1) + "}",
        r"\toprule",
        _line(head),
        r"\midrule",
        *map(_line, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _is_heading(row: Sequence[str]) -> bool:
    return not any(row[1:])


def _line(cells: Sequence[str]) -> str:
    if cells[0] and _is_heading(cells):
        return rf"\multicolumn{{{len(cells)}}}{{l}}{{{_escape(cells[0])}}} \\"
    line = " & ".join(map(_escape, cells)) + r" \\"
    # After \toprule and \\ a bracket would begin an option, and a star be one.
    return "{}" + line if line.startswith(("[", "*")) else line


def _escape(text: str) -> str:
    return NEGATIVE.sub("$-$", text.translate(ESCAPES)).replace("  ", r"\quad ", 1)
