"""Figures that draw views: a forest, confusion matrices, shared mistakes."""

import math
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from experiments.report.views import (
    ACCURACIES,
    ANY,
    GROUPINGS,
    Record,
    View,
    allows_shared_mistakes,
    number,
    view_systems,
)
from experiments.reporting.figure_style import (
    GRID,
    REFERENCE,
    SMALLEST,
    figure_style,
    limits,
    proportion_ticks,
)
from experiments.reporting.method_style import legend_handles, method_label, method_style
from experiments.reporting.table import MARK, MARKED
from lehner import sensitivity_curve
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import counted, decimal, percent, short
from lehner.estimation.results import Results, value_of

LETTERS = 15
"""Of the smallest letters, on an inch."""
LONGEST_LABEL = 26
LINE = 0.125
"""Inches of a line of text."""
SPREAD = 0.7
"""Part of the room of a row that its methods take."""
BAND = "0.9"
MOST_WITH_TEXT, MOST_WITH_INTERVALS = 8, 4
DARKEST = 0.5
"""Of the blues; black letters have a contrast of 8.6 on it, and of 4.9 on a dark page."""
MARKED_POINTS = 6

type Values = Mapping[str, Sequence[IntervalEstimate]]


def plot_forest(
    labels: Sequence[str],
    panels: Mapping[str, Values],
    *,
    xlabel: str,
    ylabel: str = "",
    title: str = "",
    known: Mapping[str, IntervalEstimate] | None = None,
    legend: bool = True,
) -> Figure:
    """Draw estimates with their intervals, a row for each label.

    Parameters
    ----------
    labels : sequence of str
        One for each row; long ones go over several lines.
    panels : mapping of str to mapping of str to sequence of IntervalEstimate
        By the title of a panel and the name of a method, a value for each row.
    xlabel, ylabel, title : str
    known : mapping of str to IntervalEstimate, optional
        A line with a band in panels, by their title.
    legend : bool
        Whether a legend names the methods.

    Returns
    -------
    matplotlib.figure.Figure
        One journal column wide with one panel, else two.
    """
    shown = [fill(one, LONGEST_LABEL) for one in labels]
    methods = list(dict.fromkeys(name for values in panels.values() for name in values))
    lines = sum(max(one.count("\n") + 1, 1) for one in shown)
    each = max(LINE, 0.09 * len(methods) if legend else 0.2)
    height = 0.8 + max(lines * LINE, len(shown) * (each + 0.1)) + 0.15 * legend * len(methods)
    with figure_style(columns=min(2, len(panels))) as width:
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        drawn: list[float] = []
        for ax, (name, values) in zip(axes, panels.items(), strict=True):
            drawn += _known(ax, (known or {}).get(name))
            drawn += _panel(ax, values)
            ax.set_title(name)
        axes[0].set_yticks(np.arange(len(shown)), shown)
        axes[0].set(ylim=(len(shown) - 0.5, -0.5), xlim=limits(drawn))
        axes[0].set_ylabel(_wrapped(ylabel, height - 0.6))
        proportion_ticks(axes[0].xaxis)
        figure.suptitle(title)
        handles: list[Any] = (
            [*legend_handles(map(method_style, methods), line="")] if legend else []
        )
        if known:
            handles += [
                Line2D([], [], color=REFERENCE, lw=1, ls="--", label="known items alone"),
                Patch(color=BAND, label="their interval"),
            ]
        if any(one.corrected for values in panels.values() for v in values.values() for one in v):
            handles.append(Line2D([], [], ls="", label=MARKED))
        # Below all panels and names: the axis alone may be narrower than its title.
        label = _wrapped(xlabel, 0.9 * width)
        ncols = min(2, len(panels) + 1)
        if handles:
            figure.legend(handles=handles, title=label, loc="outside lower center", ncols=ncols)
        else:
            figure.supxlabel(label)
    figure.set_label(_forest_text(labels, panels, xlabel, title))
    return figure


def _wrapped(text: str, inches: float) -> str:
    """Break an axis title into lines that fit beside its axis."""
    return "\n".join(fill(part, max(int(LETTERS * inches), 12)) for part in text.split("\n"))


def _known(ax: Axes, value: IntervalEstimate | None) -> list[float]:
    if value is None or value.estimate is None:
        return []
    ax.axvline(value.estimate, color=REFERENCE, lw=1, ls="--", zorder=1)
    if value.lower is None or value.upper is None:
        return [value.estimate]
    ax.axvspan(value.lower, value.upper, color=BAND, lw=0, zorder=0)
    return [value.estimate, value.lower, value.upper]


def _panel(ax: Axes, values: Values) -> list[float]:
    offsets = np.linspace(-SPREAD / 2, SPREAD / 2, len(values)) if len(values) > 1 else [0.0]
    n_rows = max(map(len, values.values()))
    if n_rows == len(values) and all(_alone(v, j) for j, v in enumerate(values.values())):
        offsets = np.zeros(n_rows)
    drawn: list[float] = []
    for (method, points), offset in zip(values.items(), offsets, strict=True):
        style = method_style(method)
        for place, one in enumerate(points):
            if one.estimate is None:
                continue
            y = place + float(offset)
            ax.plot(one.estimate, y, ls="", **style.options())
            drawn.append(one.estimate)
            if one.lower is not None and one.upper is not None:
                ax.hlines(y, one.lower, one.upper, color=style.color, lw=1.5, zorder=1.5)
                drawn += [one.lower, one.upper]
            if one.corrected:
                end = one.upper if one.upper is not None else one.estimate
                ax.annotate(MARK, (end, y), (2, -2), textcoords="offset points", fontsize=SMALLEST)
    ax.grid(axis="x")
    places = np.arange(1, n_rows) - 0.5
    ax.hlines(places, 0, 1, transform=ax.get_yaxis_transform(), color=GRID)
    ax.tick_params(axis="y", length=0)
    return drawn


def _alone(values: Sequence[IntervalEstimate], place: int) -> bool:
    """Whether of a method's values only one is there, in its own row."""
    return all(one.estimate is None or j == place for j, one in enumerate(values))


def _forest_text(
    labels: Sequence[str], panels: Mapping[str, Values], xlabel: str, title: str
) -> str:
    parts = [
        f"{label} {value} by {method_label(method)}{f', {name}' if name else ''}"
        for name, values in panels.items()
        for method, points in values.items()
        for label, value in zip(labels, points, strict=True)
        if value.estimate is not None
    ]
    about = " ".join(xlabel.split())
    return f"{title}{': ' if title else ''}{about}: {'; '.join(parts)}."


def _intervals(view: View) -> str:
    return f"{percent(view.level)} intervals"


def plot_methods(found: Any) -> Figure:
    """Draw the accuracy of one system by each method, on these items and on items like these.

    Parameters
    ----------
    found : View or Results
        Of results with several systems the first is drawn.

    Returns
    -------
    matplotlib.figure.Figure
        The dashed line is what the known items alone say, its band their interval.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.load_dataset("lehner_table2")
    >>> figure = plot_methods(lehner.estimate(ratings, "majority_agreement"))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['Majority']
    """
    view = found if isinstance(found, View) else view_systems(found)[0]
    methods = view.methods
    nothing = IntervalEstimate(estimate=None)
    panels: dict[str, Values] = {}
    for quantity, title in ACCURACIES.items():
        found = {one["method"]: value_of(one) for one in view.pick(quantity)}
        panels[title.capitalize()] = {
            name: [found.get(name, nothing) if name == other else nothing for other in methods]
            for name in methods
        }
    alone = view.value("accuracy_on_known_items", method="")
    known = {title: alone for title in panels} if alone.estimate is not None else None
    return plot_forest(
        [method_label(name) for name in methods],
        panels,
        xlabel=f"Accuracy of {view.system}, {_intervals(view)}",
        title=str(getattr(view.results.options, "name", "")),
        known=known,
        legend=False,
    )


def plot_systems(found: Any) -> Figure:
    """Draw the accuracy of each system by each method, the best first.

    Parameters
    ----------
    found : Results or sequence of View
        Views of each system.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.load_dataset("anesthesia", system=["2", "3"])
    >>> figure = plot_systems(lehner.estimate(ratings, ["algebraic"]))
    >>> sorted(label.get_text() for label in figure.axes[0].get_yticklabels())
    ['2', '3']
    """
    views: Sequence[View] = found if isinstance(found, list) else view_systems(found)
    ranks = {
        view.system: number(view.first("system_accuracy_rank", method=_ranking(views)))
        for view in views
    }
    order = sorted(views, key=lambda one: _last(ranks[one.system]))
    values = {
        name: [one.value("system_accuracy", method=name) for one in order]
        for name in views[0].methods
    }
    label = f"Accuracy on items like these, {_intervals(views[0])}"
    title = str(getattr(views[0].results.options, "name", ""))
    return plot_forest([one.system for one in order], {"": values}, xlabel=label, title=title)


def _ranking(views: Sequence[View]) -> str:
    ranked = [one["method"] for one in views[0].pick("system_accuracy_rank")]
    return views[0].reported if views[0].reported in ranked else (ranked or [""])[-1]


def _last(rank: float) -> float:
    return math.inf if math.isnan(rank) else rank


def plot_groups(view: View, grouping: str) -> Figure:
    """Draw the accuracy in each group by each method.

    Parameters
    ----------
    view : View
    grouping : {"group", "population", "rater_group"}

    Returns
    -------
    matplotlib.figure.Figure
    """
    of_raters = grouping == "rater_group"
    quantity = "rater_accuracy" if of_raters else "system_accuracy"
    found = view.pick(quantity, grouping=grouping, group=ANY, rater="")
    column = None if of_raters else getattr(view.results.options, f"{grouping}s")
    who = "the raters" if of_raters else view.system
    return _plot_records(
        found,
        lambda one: one["group"],
        xlabel=f"Accuracy of {who}, {_intervals(view)}",
        ylabel=GROUPINGS[grouping] if column is None else column.column,
    )


def plot_base_rates(results: Results) -> Figure:
    """Draw the proportion in each group, the highest first, by each method.

    Parameters
    ----------
    results : Results
        As `lehner.compare` returns them.

    Returns
    -------
    matplotlib.figure.Figure
    """
    view = View(results=results)
    ranks = {
        one["group"]: one["estimate"]
        for one in reversed(view.pick("base_rates_rank", grouping="group", group=ANY))
    }
    found = view.pick("base_rates", grouping="group", group=ANY)
    found.sort(key=lambda one: ranks.get(one["group"], 0))
    names = list(dict.fromkeys(one["category"] for one in found))
    of = f"Proportion of {names[0]}" if len(names) == 1 else "Base rate"
    column = results.options.groups

    def label(one: Record) -> str:
        parts = [one["group"]] if column is not None else []
        return ": ".join([*parts, *([one["category"]] if len(names) > 1 or not parts else [])])

    xlabel = f"{of}, {_intervals(view)}"
    return _plot_records(
        found, label, xlabel=xlabel, ylabel="" if column is None else column.column
    )


def _plot_records(found: Sequence[Record], label: Any, **options: Any) -> Figure:
    rows = list(dict.fromkeys(map(label, found)))
    nothing = IntervalEstimate(estimate=None)
    values = {
        method: {label(one): value_of(one) for one in found if one["method"] == method}
        for method in dict.fromkeys(one["method"] for one in found)
    }
    panel = {name: [own.get(row, nothing) for row in rows] for name, own in values.items()}
    return plot_forest(rows, {"": panel}, **options)


def plot_confusion(view: View) -> Figure:
    """Draw each method's confusion matrix, a panel for each, with numbers as text.

    Parameters
    ----------
    view : View

    Returns
    -------
    matplotlib.figure.Figure
        Names of categories go over several lines, for which the figure grows.
    """
    methods = list(dict.fromkeys(one["method"] for one in view.pick("confusion")))
    names = [str(name) for name in view.results.ratings.categories]
    across = 2 if len(methods) > 1 and len(names) <= MOST_WITH_INTERVALS else 1
    n_rows = -(-len(methods) // across)
    columns = 1 if len(methods) == 1 and len(names) <= MOST_WITH_INTERVALS else 2
    labels = [fill(name, 18) for name in names]
    longest = min(max(map(len, names)), 18) * 0.06
    with figure_style(columns=columns) as width:
        side = min(width / across - longest - 0.8 / across, 0.5 + 0.55 * len(names))
        size = (width, n_rows * (side + longest + 0.8) + 0.1)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(n_rows, across, squeeze=False).ravel()
        image = None
        for ax, method in zip(panels, methods, strict=False):
            image = _matrix(ax, view, method, names, labels)
        for unused in panels[len(methods) :]:
            unused.set_axis_off()
        if image is not None:
            shown = list(panels[: len(methods)])
            label = "Probability of the answer"
            figure.colorbar(image, ax=shown, label=label, shrink=0.7, aspect=30)
    figure.set_label(_confusion_text(view, methods))
    return figure


def _matrix(ax: Axes, view: View, method: str, names: list[str], labels: list[str]) -> Any:
    found = {
        (one["category"], one["response"]): value_of(one)
        for one in view.pick("confusion", method=method)
    }
    values = [[found[row, column].estimate for column in names] for row in names]
    many = len(names) > MOST_WITH_INTERVALS
    any_value = next(iter(found.values()))
    level = "" if any_value.level is None or many else f", {percent(any_value.level)} intervals"
    truths = "\nwith the known truths" if any_value.corrected else ""
    image = ax.imshow(np.array(values, dtype=float), cmap=_pale_blues(), vmin=0, vmax=1)
    ticks = np.arange(len(names))
    ax.set(
        title=f"{method_label(method)}{level}{truths}",
        xlabel=_wrapped(f"Answer of {view.system}", 2.2),
        ylabel="Truth",
        xticks=ticks,
        yticks=ticks,
    )
    upright = max(map(len, names)) > 8 or len(names) > MOST_WITH_INTERVALS
    ax.set_xticklabels(labels, rotation=90 if upright else 0)
    ax.set_yticklabels(labels)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if len(names) <= MOST_WITH_TEXT:
        for (row, column), value in found.items():
            place = names.index(column), names.index(row)
            ax.text(*place, _in_cell(value, many), ha="center", va="center", fontsize=SMALLEST)
    return image


def _in_cell(value: IntervalEstimate, many: bool) -> str:
    if value.lower is None or value.upper is None or many:
        return short(value.estimate, 2)
    return f"{short(value.estimate, 2)}\n[{short(value.lower, 2)}, {short(value.upper, 2)}]"


def _pale_blues() -> Any:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["Blues"](np.linspace(0, DARKEST, 256)))


def _confusion_text(view: View, methods: Sequence[str]) -> str:
    parts = []
    for method in methods:
        right = [number(one) for one in view.pick("recall", method=method)]
        known = [one for one in right if not math.isnan(one)]
        ends = f"{short(min(known), 2)} and {short(max(known), 2)}" if known else short(None)
        parts.append(f"{method_label(method)} {ends}")
    return (
        f"Confusion matrix of {view.system}: the probability of each answer to items of each true "
        f"category. Right answers by category, smallest and largest: {'; '.join(parts)}."
    )


def plot_shared_mistakes(view: View) -> Figure:
    """Draw each method's estimate against the share of items that mislead raters and system alike.

    Parameters
    ----------
    view : View

    Returns
    -------
    matplotlib.figure.Figure
        Of the estimates without the known truths, as shared mistakes move these.
    """
    n = view.results.ratings.n_categories
    with figure_style(columns=1) as width:
        figure = Figure(figsize=(width, 3.1), layout="constrained")
        ax = figure.subplots()
        drawn, styles, parts = list[float](), [], []
        for method in view.methods:
            estimate = view.results.fits[view.system, method]
            if allows_shared_mistakes(method) or estimate.system_accuracy.estimate is None:
                continue
            curve = sensitivity_curve(estimate, n)
            share = 100 * curve["misleading_share"].values
            style = method_style(method)
            every = max(1, len(share) // MARKED_POINTS)
            ax.plot(share, curve["estimate"], markevery=every, **style.options())
            ax.fill_between(
                share, curve["lower"], curve["upper"], color=style.color, alpha=0.13, lw=0
            )
            drawn += [*curve["estimate"].values, *curve["lower"].values, *curve["upper"].values]
            styles.append(style)
            first, last = (decimal(float(curve["estimate"][place])) for place in (0, -1))
            parts.append(f"{style.label} from {first} to {last}")
        ax.set(xlim=(0, float(share.max())), ylim=limits(drawn))
        ax.set_xlabel(_wrapped("Items that mislead raters and system alike (%)", 2.6))
        truths = ", without the known truths" if view.is_corrected else ""
        ax.set_ylabel(
            _wrapped(f"Accuracy of {view.system}{truths}; bands: {_intervals(view)}", 2.2)
        )
        proportion_ticks(ax.yaxis)
        ax.grid(True)
        figure.legend(handles=legend_handles(styles), loc="outside lower center", ncols=2)
    most = counted(float(share.max()), "percent", "percent")
    figure.set_label(
        f"Accuracy of {view.system} as items that mislead raters and system alike go from 0 to "
        f"{most}: {'; '.join(parts)}."
    )
    return figure
