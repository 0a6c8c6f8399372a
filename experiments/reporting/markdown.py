"""Tables and their numbers in Markdown."""

from collections.abc import Iterable, Sequence
from math import isnan

DASH = "–"


def markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = False
) -> str:
    r"""Give a table in Markdown.

    Parameters
    ----------
    head : sequence of str
    rows : iterable of sequence of str
    numbers : bool
        Whether all columns but the first stand to the right.

    Returns
    -------
    str

    Examples
    --------
    >>> print(markdown_table(["method", "bias"], [["a|b", "0.1"]]))
    | method | bias |
    | --- | --- |
    | a\|b | 0.1 |
    """
    others = "---:" if numbers else "---"
    rule = ["---", *[others] * (len(head) - 1)]
    return "\n".join(map(_row, [head, rule, *rows]))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def short(value: float, digits: int = 3) -> str:
    """Write a number as the tables of the field do, without the zero before the point.

    Examples
    --------
    >>> short(0.25, 2), short(-0.0304), short(float("nan"))
    ('.25', '−.030', '–')
    """
    if isnan(value):
        return DASH
    return f"{value:.{digits}f}".replace("0.", ".", 1).replace("-", "−")
