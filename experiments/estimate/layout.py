"""What the tables of all questions share: a column for each method, and rows under headings."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from experiments.reporting.renderers import to_terminal
from experiments.reporting.table import Cell, Column, Table, plain_number
from experiments.reporting.terminal import line
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import probability

if TYPE_CHECKING:
    from rich.text import Text

MOST_SHOWN = 12

type Names = Callable[[str], str]
"""From the name of a method to what people read: itself on the terminal, its label in LaTeX."""
type Row = tuple[Cell, ...]


def method_columns(
    methods: Sequence[str], names: Names = str, write: Callable[..., str] = plain_number
) -> list[Column]:
    """Make a column for each method."""
    return [Column(method, names(method), write) for method in methods]


def rows_under(
    heading: str, rows: Mapping[str, Sequence[Cell]], most: int | None = None
) -> list[Row]:
    """List rows with their labels, indented if no heading does it, and how many are not shown."""
    indent = "" if heading else "  "
    shown: list[Row] = [(heading, indent + label, *cells) for label, cells in rows.items()]
    if most is None or len(shown) <= most:
        return shown
    rest = f"{indent}… and {len(shown) - most} more"
    return [*shown[:most], (heading, rest, *[None] * (len(shown[0]) - 2))]


def side_by_side(columns: Sequence[Mapping[str, Cell]]) -> dict[str, list[Cell]]:
    """Put cells with one label into a row, None where a column has none."""
    labels = dict.fromkeys(label for one in columns for label in one)
    return {label: [one.get(label) for one in columns] for label in labels}


def difference(value: float | IntervalEstimate, probability_higher: float | None = None) -> str:
    """Write a number, or a difference and the probability that the first is higher."""
    if not isinstance(value, IntervalEstimate):
        return plain_number(value)
    shown = Column("").write(value)
    if probability_higher is None:
        return shown
    return f"{shown}, {probability(probability_higher, 2)}"


def titled(title: str, tables: Sequence[Table], width: int) -> "list[Text]":
    """Lay out a blank line, a title and tables; nothing if there are none."""
    from textwrap import wrap

    if not tables:
        return []
    lines = [line(), *map(line, wrap(title, width))]
    for place, table in enumerate(tables):
        lines += [line()] if place else []
        lines += to_terminal(table, width)
    return lines
