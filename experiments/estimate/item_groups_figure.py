"""The figure of the system's accuracy in groups of items."""

from typing import TYPE_CHECKING

import numpy as np

from experiments.estimate.groups import Groups
from experiments.reporting.figure_style import figure_style, limits
from experiments.reporting.method_style import legend_handles, method_style
from lehner import GroupEstimates
from lehner.core.number_format import percent
from lehner.groups.membership import GroupColumn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOM = 0.7
"""Of the height of a row, what the methods share."""


def plot_groups(column: GroupColumn, by_method: Groups) -> "Figure":
    """Draw the accuracy in each group, a row for each, by each method with its interval.

    Parameters
    ----------
    column : GroupColumn
    by_method : sequence of GroupEstimates or None
        Of which one at least is not None.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    known = [one for one in by_method if one is not None]
    drawn: list[float] = []
    groups = [f"{one.group} ({one.n_items})" for one in known[0].groups]
    styles = [method_style(one.method) for one in known]
    with figure_style() as width:
        figure = Figure(figsize=(width, 1.2 + 0.35 * len(groups)), layout="constrained")
        ax = figure.subplots()
        for m, (estimates, style) in enumerate(zip(known, styles, strict=True)):
            shift = ROOM * ((m + 0.5) / len(known) - 0.5)
            for row, group in enumerate(estimates.groups):
                value = group.system_accuracy
                if value.estimate is None or value.lower is None or value.upper is None:
                    continue
                ends = [value.lower, value.upper]
                ax.plot(ends, [row + shift] * 2, color=style.color)
                ax.plot(value.estimate, row + shift, ls="", **style.options())
                drawn += [value.estimate, *ends]
        ax.set(
            yticks=np.arange(len(groups)),
            yticklabels=groups,
            ylim=(len(groups) - 0.5, -0.5),
            xlim=limits(drawn),
            xlabel=f"Accuracy of {known[0].system}, {percent(known[0].level)} intervals",
            ylabel=column.column,
        )
        ax.grid(axis="x")
        ax.tick_params(axis="y", length=0)
        figure.legend(handles=legend_handles(styles), loc="outside lower center", ncols=4)
    figure.set_label(_alt_text(column, known))
    return figure


def _alt_text(column: GroupColumn, known: list[GroupEstimates]) -> str:
    parts = [
        f"{group.group} {group.system_accuracy} by {method_style(one.method).label}"
        for one in known
        for group in one.groups
    ]
    return (
        f"Accuracy of {known[0].system} in groups of items by {column.column}, with "
        f"{percent(known[0].level)} intervals: {'; '.join(parts)}."
    )
