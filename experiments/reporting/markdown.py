"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


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
