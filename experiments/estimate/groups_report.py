"""Groups of items for people: tables on the terminal and in LaTeX."""

from collections.abc import Sequence

from rich.text import Text

from experiments.estimate.group_column import GroupColumn
from experiments.estimate.groups import Groups
from experiments.reporting.latex import latex_table
from experiments.reporting.method_style import method_label
from experiments.reporting.terminal import line
from experiments.reporting.text_table import bold_blocks
from experiments.reporting.warning_lines import warning_lines
from lehner import GroupDifference, GroupEstimates, RaterGroupDifference, RaterGroupEstimates
from lehner.core.number_format import percent, probability

MOST_DIFFERENCES = 6
MOST_CATEGORIES = 12


def render_groups(column: GroupColumn, groups: Groups, width: int) -> list[Text]:
    """Lay the accuracies in groups, and their differences, out for the terminal.

    Parameters
    ----------
    column : GroupColumn
    groups : sequence of GroupEstimates or None
    width : int
        Into which the tables fit.

    Returns
    -------
    list of rich.text.Text
    """
    known = [one for one in groups if one is not None]
    if not known:
        return [line(f"by {column.column}: no method here has estimates of groups")]
    lines = bold_blocks(_accuracy_rows(column, known), width=width)
    if known[0].differences:
        lines += [line(), *bold_blocks(difference_rows(known, MOST_DIFFERENCES), width=width)]
    notes = [f"by {column.column}: {column.note}"] if column.note else []
    notes += warning_lines(
        (f"{one.method}, by {column.column}", note) for one in known for note in one.notes
    )
    return [*lines, *map(line, notes)]


def render_populations(
    column: GroupColumn, found: Groups, without: list[str], width: int
) -> list[Text]:
    """Lay accuracies, differences and base rates of populations out for the terminal.

    Parameters
    ----------
    column : GroupColumn
    found : sequence of GroupEstimates or None
    without : list of str
        Methods that take the items of all populations together.
    width : int

    Returns
    -------
    list of rich.text.Text
    """
    together = (
        f"by {column.column}: the items of all populations are taken together by "
        f"{', '.join(without)}"
    )
    known = [one for one in found if one is not None]
    if not known:
        return [line(together)]
    rates = bold_blocks(_base_rate_rows(column, known), width=width)
    notes = [line(together)] if without else []
    return [*rates, line(), *render_groups(column, found, width), *notes]


def groups_latex(column: GroupColumn, groups: Groups) -> str:
    """Give the accuracies in groups and their differences in LaTeX, for the booktabs package."""
    known = [one for one in groups if one is not None]
    return latex_with_differences(_accuracy_rows(column, known), known)


def latex_with_differences(
    accuracies: list[list[str]], known: Sequence[GroupEstimates | RaterGroupEstimates]
) -> str:
    """Give rows of accuracies, the first the head, and all differences below them in LaTeX."""
    head, *rows = accuracies
    if known[0].differences:
        rows += [["difference", *("" for _ in known)], *difference_rows(known, None)[1:]]
    return latex_table([head[0], *map(method_label, head[1:])], rows)


def _accuracy_rows(column: GroupColumn, known: list[GroupEstimates]) -> list[list[str]]:
    first, blank = known[0], ["" for _ in known]
    title = f"{first.system} by {column.column} [{percent(first.level)} interval]"
    rows = [[title, *(one.method for one in known)], ["system accuracy", *blank]]
    for g, group in enumerate(first.groups):
        cells = (str(one.groups[g].system_accuracy) for one in known)
        rows.append([f"  {group.group} ({group.n_items})", *cells])
    rows.append(["in this sample", *blank])
    for g, group in enumerate(first.groups):
        cells = (str(one.groups[g].system_accuracy_in_sample) for one in known)
        rows.append([f"  {group.group}", *cells])
    return rows


def _base_rate_rows(column: GroupColumn, known: list[GroupEstimates]) -> list[list[str]]:
    first, blank = known[0], ["" for _ in known]
    title = f"base rates by {column.column} [{percent(first.level)} interval]"
    rows = [[title, *(one.method for one in known)]]
    for g, group in enumerate(first.groups):
        rows.append([f"{group.group} ({group.n_items})", *blank])
        for category in list(group.base_rates)[:MOST_CATEGORIES]:
            cells = (str(one.groups[g].base_rates[category]) for one in known)
            rows.append([f"  {category}", *cells])
        if len(group.base_rates) > MOST_CATEGORIES:
            rows.append([f"  … and {len(group.base_rates) - MOST_CATEGORIES} more", *blank])
    return rows


def difference_rows(
    known: Sequence[GroupEstimates | RaterGroupEstimates], most: int | None
) -> list[list[str]]:
    """Lay out the differences between groups of items, or of raters, and P(higher).

    Parameters
    ----------
    known : sequence of GroupEstimates or RaterGroupEstimates
        One for each method.
    most : int, optional
        How many differences are shown; by default all.

    Returns
    -------
    list of list of str
        The names of the methods, and a row for each difference.
    """
    pairs: Sequence[GroupDifference | RaterGroupDifference] = known[0].differences
    rows = [["difference, P(higher)", *(one.method for one in known)]]
    for p, pair in enumerate(pairs[:most]):
        cells = (_difference(one.differences[p]) for one in known)
        rows.append([f"  {' – '.join(pair.groups)}", *cells])
    if most is not None and len(pairs) > most:
        rows.append([f"  … and {len(pairs) - most} more", *("" for _ in known)])
    return rows


def _difference(difference: GroupDifference | RaterGroupDifference) -> str:
    share = difference.probability_higher
    shown = str(difference.difference)
    return shown if share is None else f"{shown}, {probability(share, 2)}"
