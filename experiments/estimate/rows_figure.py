"""Figures with a row for each system, or group of items, and in it the accuracy by each method."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from experiments.estimate.groups import Groups, known
from experiments.reporting.figure_style import GRID, figure_style, limits, proportion_ticks
from experiments.reporting.method_style import method_label, method_style
from experiments.reporting.table import MARK, MARKED
from lehner import Comparison, IntervalEstimate, Proportions
from lehner.core.text import percent
from lehner.groups.membership import GroupColumn
from lehner.systems.common_items import answered_the_same

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 0.09
"""Inches of a row, a method of a system."""
LONGEST_LINE = 24
"""Characters of the names of rows."""
SPREAD = 0.7
"""Part of the room of a system or group that its methods take."""


def plot_groups(column: GroupColumn, by_method: Groups) -> Figure:
    """Draw the accuracy in each group, a row for each, by each method with its interval.

    Parameters
    ----------
    column : GroupColumn
        The column that makes the groups.
    by_method : sequence of GroupEstimates or None
        Of which one at least is not None.

    Returns
    -------
    matplotlib.figure.Figure
    """
    found = known(by_method)
    first, intervals = found[0], f"{percent(found[0].level)} intervals"
    rows = [f"{one.group} ({one.n_items})" for one in first.groups]
    drawn = {one.method: [group.system_accuracy for group in one.groups] for one in found}
    about = f"Accuracy of {first.system}"
    ax = _plot_rows(rows, drawn, xlabel=f"{about}, {intervals}", ylabel=column.column)
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    parts = [
        f"{group.group} {group.system_accuracy} by {method_label(one.method)}"
        for one in found
        for group in one.groups
    ]
    groups = f"in groups of items by {column.column}, with {intervals}"
    figure.set_label(f"{about} {groups}: {'; '.join(parts)}.")
    return figure


def plot_systems(comparison: Comparison) -> "Axes":
    """Draw the expected accuracy of each system by each method, the best system first.

    Parameters
    ----------
    comparison : Comparison
        Of several systems.

    Returns
    -------
    matplotlib.axes.Axes
        With the systems as rows, and intervals where a method has them.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.load_dataset("anesthesia", system=["2", "3"])
    >>> ax = plot_systems(lehner.estimate(ratings, ["algebraic"]))
    >>> sorted(label.get_text() for label in ax.get_yticklabels())
    ['2', '3']
    """
    names = _best_first(comparison)
    results = {one.system: one.results for one in comparison.systems}
    accuracies = {
        name: {one.method: one.estimate.system_accuracy for one in results[name]} for name in names
    }
    levels = [one.system_accuracy.level for one in comparison.estimates]
    level = next(filter(None, levels), None)
    label = "System accuracy" if level is None else f"System accuracy ({percent(level)} intervals)"
    if not answered_the_same(comparison.ratings, comparison.ratings.systems):
        label += "\neach on the items that it answered"
    drawn = {one: [accuracies[name][one] for name in names] for one in accuracies[names[0]]}
    ax = _plot_rows(names, drawn, xlabel=label, title=comparison.name)
    shown = [
        f"{name} {value} by {method_label(method)}"
        for name in names
        for method, value in accuracies[name].items()
    ]
    text = f"Accuracy of each system by each method, with intervals: {'; '.join(shown)}."
    ax.get_figure(root=True).set_label(text)  # type: ignore[union-attr]
    return ax


def plot_proportions(found: Proportions) -> Figure:
    """Draw the proportion in each group, the highest first, by each method with its interval.

    Parameters
    ----------
    found : Proportions
        Without good categories, the base rate of each category is drawn.

    Returns
    -------
    matplotlib.figure.Figure
    """
    groups = sorted(found.results[0].groups, key=lambda one: one.rank or 0)
    rows = [(one.group, label) for one in groups for label in one.proportions]
    by_method = {}
    for result in found.results:
        told = {one.group: one.proportions for one in result.groups}
        by_method[result.method] = [told[group][label] for group, label in rows]
    labels = [found.name_of(*row) for row in rows]
    of = f"Proportion of {found.good}" if found.good else "Base rate"
    corrected = "\ncorrected by known truths" if found.results[0].corrected else ""
    xlabel = f"{of}, {percent(found.level)} intervals{corrected}"
    ax = _plot_rows(labels, by_method, xlabel=xlabel, ylabel=found.grouped_by, title=found.name)
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    parts = [
        f"{row} {value} by {method_label(method)}"
        for method, values in by_method.items()
        for row, value in zip(labels, values, strict=True)
    ]
    figure.set_label(f"{xlabel}: {'; '.join(parts)}.")
    return figure


def _plot_rows(
    rows: Sequence[str], by_method: Mapping[str, Sequence[IntervalEstimate]], **labels: str
) -> "Axes":
    n, places = len(by_method), np.arange(len(rows))
    offsets = np.linspace(-SPREAD / 2, SPREAD / 2, n) if n > 1 else [0.0]
    with figure_style(columns=1) as width:
        height = 1.0 + (ROW * n + 0.1) * len(rows) + 0.14 * n
        figure = Figure(figsize=(width, height), layout="constrained")
        ax = figure.subplots()
        drawn: list[float | None] = []
        for (method, values), offset in zip(by_method.items(), offsets, strict=True):
            _draw(ax, values, places + offset, method)
            drawn += [end for one in values for end in (one.lower, one.estimate, one.upper)]
        corrected = np.array([[one.corrected for one in values] for values in by_method.values()])
        marks = np.where(corrected.any(axis=0), MARK, "")
        if corrected.any():
            labels["xlabel"] += f"\n{MARKED}"
        ax.set(
            yticks=places,
            yticklabels=[
                f"{fill(row, LONGEST_LINE)}{m}" for row, m in zip(rows, marks, strict=True)
            ],
            ylim=(len(rows) - 0.5, -0.5),
            xlim=limits([np.nan if end is None else end for end in drawn]),
            **labels,
        )
        proportion_ticks(ax.xaxis)
        ax.grid(axis="x")
        ax.hlines(places[1:] - 0.5, 0, 1, transform=ax.get_yaxis_transform(), color=GRID)
        ax.tick_params(axis="y", length=0)
        figure.legend(loc="outside lower center", ncols=2)
    return ax


def _draw(ax: "Axes", points: Sequence[IntervalEstimate], rows: np.ndarray, method: str) -> None:
    style, mark = method_style(method), MARK * any(one.corrected for one in points)
    x = np.array([np.nan if one.estimate is None else one.estimate for one in points])
    below = [x[i] - one.lower if one.lower is not None else 0.0 for i, one in enumerate(points)]
    above = [one.upper - x[i] if one.upper is not None else 0.0 for i, one in enumerate(points)]
    errors = np.maximum(np.nan_to_num([below, above]), 0.0)
    ax.errorbar(x, rows, xerr=errors, ls="", label=f"{style.label}{mark}", **style.options())


def _best_first(comparison: Comparison) -> list[str]:
    """Order systems by the last method that ranks them."""
    ranked = [rank for rank in comparison.ranks if rank.method == comparison.ranks[-1].method]
    names = [rank.system for rank in sorted(ranked, key=lambda rank: rank.rank)]
    return names + [name for name in comparison.ratings.systems if name not in names]
