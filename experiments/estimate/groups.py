"""Groups of items and populations, and groups of raters: tables of accuracies and differences."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from experiments.estimate.layout import (
    MOST_SHOWN,
    Names,
    Row,
    difference,
    method_columns,
    rows_under,
)
from experiments.reporting.method_style import method_label
from experiments.reporting.renderers import to_terminal
from experiments.reporting.table import Column, Table
from experiments.reporting.terminal import line
from experiments.reporting.warning_lines import warning_lines
from lehner.core.number_format import percent
from lehner.core.wording import counted, first_few
from lehner.estimation.result import MethodResult, SystemResult
from lehner.groups.membership import GroupColumn
from lehner.groups.result import GroupEstimates

if TYPE_CHECKING:
    import pandas as pd
    from rich.text import Text

MOST_DIFFERENCES = 6
MOST_NAMED = 8
PAIRS = "difference, P(higher)"

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
        lines += [line(), *to_terminal(_difference_table(found), width)]
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
    level = f"[{percent(first.level)} interval]"
    if column is None:
        title = f"accuracy of raters {level}"
        sizes = {one.group: counted(len(one.raters), "rater") for one in first.groups}
        rows = list(_rows("", found, "accuracy", lambda group: f"  {group} ({sizes[group]})"))
    else:
        title = f"{first.system} by {column.column} {level}"
        items = {one.group: one.n_items for one in first.groups}
        rows = [
            *_rows(
                "system accuracy",
                found,
                "system_accuracy",
                lambda group: f"{group} ({items[group]})",
            ),
            *_rows("in this sample", found, "system_accuracy_in_sample"),
        ]
    if differences:
        rows += _differences("difference", found, None)
    return _table(title, found, rows, names)


def base_rate_table(found: Sequence[GroupEstimates], column: GroupColumn) -> Table:
    """Rates of the categories in each population by each method."""
    rows: list[Row] = []
    for g, group in enumerate(found[0].groups):

        def cells(category: str, g: int = g) -> list[Any]:
            return [one.groups[g].base_rates[category] for one in found]

        heading = f"{group.group} ({group.n_items})"
        rows += rows_under(heading, list(group.base_rates), cells, MOST_SHOWN)
    title = f"base rates by {column.column} [{percent(found[0].level)} interval]"
    return _table(title, found, rows)


def groups_table(column: GroupColumn | None, found: Groups) -> Table:
    """Accuracies of groups and all differences, with printed names of methods."""
    return accuracy_table(known(found), column, method_label, differences=True)


def _difference_table(found: Sequence[GroupEstimates]) -> Table:
    rows = list(_differences("", found, MOST_DIFFERENCES))
    return _table(PAIRS, found, rows)


def _rows(
    heading: str,
    found: Sequence[GroupEstimates],
    quantity: str,
    label: Callable[[str], str] = str,
) -> Iterator[Row]:
    for g, group in enumerate(found[0].groups):
        yield heading, label(group.group), *(getattr(one.groups[g], quantity) for one in found)


def _differences(heading: str, found: Sequence[GroupEstimates], most: int | None) -> Iterator[Row]:
    pairs = [" – ".join(pair.groups) for pair in found[0].differences]
    # Without a heading, names are indented all the same.
    indent = "" if heading else "  "
    for p, pair in enumerate(pairs[:most]):
        each = (one.differences[p] for one in found)
        yield heading, indent + pair, *((d.difference, d.probability_higher) for d in each)
    if most is not None and len(pairs) > most:
        yield heading, f"{indent}… and {len(pairs) - most} more", *(None for _ in found)


def _table(
    title: str, found: Sequence[GroupEstimates], rows: Sequence[Row], names: Names = str
) -> Table:
    columns = [Column("quantity", ""), Column("group", title)]
    columns += method_columns([one.method for one in found], names, difference)
    return Table(columns=columns, rows=rows, keys=2, headings=True)
