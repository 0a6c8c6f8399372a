"""Groups of items and populations, and groups of raters: tables of accuracies and differences."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments.estimate.layout import (
    MOST_SHOWN,
    Names,
    Row,
    difference,
    method_columns,
    rows_under,
    side_by_side,
)
from experiments.reporting.method_style import method_label
from experiments.reporting.renderers import to_terminal
from experiments.reporting.table import Cell, Column, Table
from experiments.reporting.terminal import line
from experiments.reporting.warning_lines import warning_lines
from lehner.core.text import counted, first_few
from lehner.estimation.result import MethodResult, SystemResult
from lehner.groups.membership import GroupColumn
from lehner.groups.result import GroupEstimates

if TYPE_CHECKING:
    import pandas as pd
    from rich.text import Text

MOST_DIFFERENCES = 6
MOST_NAMED = 8
PAIRS = "difference, P(higher)"
IN_SAMPLE = "system_accuracy_in_sample"

type Groups = Sequence[GroupEstimates | None]


def groups_frame(found: "Groups") -> "pd.DataFrame":
    """Make a table with a row for each method, group and number, and each difference."""
    import pandas as pd

    return pd.concat([one.to_frame() for one in known(found)], ignore_index=True)


def known(found: Groups) -> list[GroupEstimates]:
    """Leave out methods that say nothing."""
    return [one for one in found if one is not None]


def render_groups(column: GroupColumn, found: Groups, width: int) -> "list[Text]":
    """Lay the accuracies in groups of items, and their differences, out for the terminal."""
    own = known(found)
    if not own:
        return [line(f"by {column.column}: no method here has estimates of groups")]
    notes = [f"by {column.column}: {column.note}"] if column.note else []
    notes += warning_lines(
        (f"{one.method}, by {column.column}", note) for one in own for note in one.notes
    )
    return [*_two_tables(accuracy_table(own, column), own, width), *map(line, notes)]


def render_populations(
    column: GroupColumn, results: Sequence[MethodResult], width: int
) -> "list[Text]":
    """Lay accuracies, differences and base rates of populations out for the terminal."""
    found = [one.populations for one in results]
    without = [
        one.method
        for one in results
        if one.populations is None and one.estimate.system_accuracy.estimate is not None
    ]
    together = (
        f"by {column.column}: the items of all populations are taken together by "
        f"{', '.join(without)}"
    )
    if not known(found):
        return [line(together)]
    rates = to_terminal(base_rate_table(known(found), column), width)
    notes = [line(together)] if without else []
    return [*rates, line(), *render_groups(column, found, width), *notes]


def render_rater_groups(system: SystemResult, width: int) -> "list[Text]":
    """Lay the accuracies of groups of raters, and their differences, out for the terminal."""
    found = known([one.rater_groups for one in system.results])
    if not found:
        return [line("groups of raters: no method here tells how accurate each rater is")]
    notes = warning_lines((one.method, note) for one in found for note in one.notes)
    without = [one.method for one in system.results if one.rater_groups is None]
    if without:
        notes.append(f"groups of raters: {', '.join(without)} cannot tell raters apart")
    named = {rater for group in found[0].groups for rater in group.raters}
    left = [rater for rater in system.ratings.raters if rater not in named]
    if left:
        names = first_few(left, MOST_NAMED)
        verb = "belongs" if len(left) == 1 else "belong"
        notes.append(f"groups of raters: {counted(len(left), 'rater')} ({names}) {verb} to none")
    return [*_two_tables(accuracy_table(found), found, width), *map(line, notes)]


def _two_tables(accuracies: Table, found: Sequence[GroupEstimates], width: int) -> "list[Text]":
    lines = to_terminal(accuracies, width)
    if found[0].differences:
        rows = rows_under("", _by_pair(found), MOST_DIFFERENCES)
        lines += [line(), *to_terminal(_table(PAIRS, found, rows), width)]
    return lines


def accuracy_table(
    found: Sequence[GroupEstimates],
    column: GroupColumn | None = None,
    names: Names = str,
    *,
    differences: bool = False,
) -> Table:
    """Accuracies in groups of items, or of raters if there is no column, by each method.

    Parameters
    ----------
    found : sequence of GroupEstimates
        By each method.
    column : GroupColumn, optional
        By which items are grouped.
    names : callable
        From the name of a method to what people read.
    differences : bool
        Whether all differences stand below.
    """
    first = found[0]
    if column is None:
        title = "accuracy of raters"
        sizes = [f"{one.group} ({counted(len(one.raters), 'rater')})" for one in first.groups]
        rows = rows_under("", _by_group(found, "accuracy", sizes))
    else:
        title = f"{first.system} by {column.column}"
        sizes = [f"{one.group} ({one.n_items})" for one in first.groups]
        names_alone = [one.group for one in first.groups]
        rows = [
            *rows_under("system accuracy", _by_group(found, "system_accuracy", sizes)),
            *rows_under("in this sample", _by_group(found, IN_SAMPLE, names_alone)),
        ]
    if differences:
        rows += rows_under("difference", _by_pair(found))
    return _table(title, found, rows, names)


def base_rate_table(found: Sequence[GroupEstimates], column: GroupColumn) -> Table:
    """Rates of the categories in each population by each method."""
    rows: list[Row] = []
    for g, group in enumerate(found[0].groups):
        rates = side_by_side([one.groups[g].base_rates for one in found])
        rows += rows_under(f"{group.group} ({group.n_items})", rates, MOST_SHOWN)
    return _table(f"base rates by {column.column}", found, rows)


def groups_table(column: GroupColumn | None, found: Groups) -> Table:
    """Accuracies of groups and all differences, with printed names of methods."""
    return accuracy_table(known(found), column, method_label, differences=True)


def _by_group(
    found: Sequence[GroupEstimates], quantity: str, labels: Sequence[str]
) -> dict[str, list[Cell]]:
    return {
        label: [getattr(one.groups[g], quantity) for one in found] for g, label in enumerate(labels)
    }


def _by_pair(found: Sequence[GroupEstimates]) -> dict[str, list[Cell]]:
    """List each difference, and the probability that the first group's accuracy is higher."""
    rows: dict[str, list[Cell]] = {}
    for p, pair in enumerate(found[0].differences):
        each = (one.differences[p] for one in found)
        cells: list[Cell] = [(one.difference, one.probability_higher) for one in each]
        rows[" – ".join(pair.groups)] = cells
    return rows


def _table(
    title: str, found: Sequence[GroupEstimates], rows: Sequence[Row], names: Names = str
) -> Table:
    columns = [Column("quantity", ""), Column("group", title)]
    columns += method_columns([one.method for one in found], names, difference)
    return Table(columns=columns, rows=rows, keys=2, headings=True)
