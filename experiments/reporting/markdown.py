"""Tables in Markdown."""

from collections.abc import Iterable, Sequence

from experiments.reporting.terminal import one_line, visible


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


def markdown_text(text: str) -> str:
    r"""Escape what would be HTML, a link or a control character: names are shown as they are.

    Examples
    --------
    >>> print(markdown_text("<script>, A&B, [here](http://x)"))
    &lt;script>, A&amp;B, [here]\(http://x)
    """
    shown = visible(text).replace("&", "&amp;").replace("<", "&lt;")
    return shown.replace("](", r"]\(")


def _row(cells: Sequence[str]) -> str:
    shown = (markdown_text(one_line(cell)).replace("|", r"\|") for cell in cells)
    return "| " + " | ".join(shown) + " |"
