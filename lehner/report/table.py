"""A table for the terminal and in Markdown."""

from rich.table import Table as Grid
from rich.text import Text

from lehner.core.table import GAP, Table, blank_repeated, measure_column, part_columns
from lehner.core.text import escape
from lehner.report.terminal import make_line, render_lines


def to_terminal(table: Table, width: int, *, noted: bool = True) -> list[Text]:
    r"""Lay a table out in lines for a rich console, its head bold.

    Parameters
    ----------
    table : Table
    width : int
        Of the terminal. Texts that are too long are wrapped. A table that is still too wide becomes
        several below one another, each with the keys.
    noted : bool
        Whether its notes follow. They do not where several tables share them.

    Returns
    -------
    list of rich.text.Text
        Without blanks at their ends.

    Examples
    --------
    >>> from lehner.core.table import Column
    >>> table = Table(columns=[Column("", ""), Column("items")], rows=[("all", 200), ("two", 50)])
    >>> print(*to_terminal(table, 80), sep="\n")
         items
    all    200
    two     50
    """
    head, *body = cells = table.write_cells()
    lines: list[Text] = []
    blocks = list(part_columns(table, cells, width))
    for block in blocks:
        # A part of a table has no rows without a number.
        rows = [row for row in body if len(blocks) == 1 or any(row[j] for j in block[table.keys :])]
        grid = Grid(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
        for index in block:
            title = Text(head[index], style="bold")
            widest, least = measure_column(table, cells, index)
            grid.add_column(title, justify="left" if table.is_text(index) else "right")
            grid.columns[-1].no_wrap = widest == least
        for row in blank_repeated(table, rows):
            grid.add_row(*(Text(row[index]) for index in block))
        lines += [*([make_line()] if lines else []), *render_lines(grid, width)]
    return [*lines, *map(make_line, table.all_notes if noted else ())]


def to_markdown(table: Table) -> str:
    r"""Write a table in Markdown, its notes below it.

    Examples
    --------
    >>> from lehner.core.table import Column
    >>> print(to_markdown(Table(columns=[Column("method"), Column("bias")], rows=[("a|b", 0.1)])))
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
