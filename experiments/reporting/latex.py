"""Tables for LaTeX, as the booktabs package sets them."""

from collections.abc import Sequence

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


def _line(cells: Sequence[str]) -> str:
    return " & ".join(map(_escape, cells)) + r" \\"


def _escape(text: str) -> str:
    return text.translate(ESCAPES).replace("  ", r"\quad ", 1)
