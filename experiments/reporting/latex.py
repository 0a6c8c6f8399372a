"""Tables for LaTeX, as the booktabs package sets them."""

from collections.abc import Sequence

from experiments.reporting.text_table import blocks_of_columns

CHARACTERS = 80
"""Of a table in small type on a page of an article, whose lines are 345 points wide."""

ESCAPES = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": "$<$", ">": "$>$", "|": r"\textbar{}", "–": "--", "−": "$-$", "±": r"$\pm$"}
)


def latex_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Give a table in LaTeX, its first column to the left and the others to the right.

    Parameters
    ----------
    head : sequence of str
    rows : sequence of sequence of str

    Returns
    -------
    str

    Examples
    --------
    >>> print(latex_table(["", "dawid_skene"], [["bias", "0.1"]]))
    \begin{tabular}{lr}
    \toprule
     & dawid\_skene \\
    \midrule
    bias & 0.1 \\
    \bottomrule
    \end{tabular}
    <BLANKLINE>
    """
    lines = [
        r"\begin{tabular}{l" + "r" * (len(head) - 1) + "}",
        r"\toprule",
        _line(head),
        r"\midrule",
        *map(_line, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def latex_tables(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Give a table in LaTeX, as several below one another where it is wider than a page.

    Parameters
    ----------
    head : sequence of str
    rows : sequence of sequence of str

    Returns
    -------
    str
        In small type; each table has the first column.
    """
    blocks = blocks_of_columns([head, *rows], CHARACTERS)
    tables = (latex_table(block[0], block[1:]) for block in blocks)
    return "{\\small\n" + "\\par\\medskip\n".join(tables) + "}\n"


def _line(cells: Sequence[str]) -> str:
    line = " & ".join(map(_escape, cells)) + r" \\"
    # After \toprule and \\ a bracket would begin an option.
    return "{}" + line if line.startswith("[") else line


def _escape(text: str) -> str:
    return text.translate(ESCAPES).replace("  ", r"\quad ", 1)
