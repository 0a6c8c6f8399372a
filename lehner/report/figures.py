"""Figures: a forest, confusion matrices, correlated errors, bounds, and calibration."""

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lehner.core.estimate import IntervalEstimate
from lehner.core.lazy import pd
from lehner.core.results import Results, plot_forest, read_value
from lehner.core.text import list_few, pluralise, to_decimal, to_percent, to_short
from lehner.dependence import bounds
from lehner.estimation.methods import get_method
from lehner.report import style, views
from lehner.report.style import GRID, REFERENCE, name_method, span, use_style
from lehner.report.table import CORRECTED_NOTE
from lehner.report.terminal import escape
from lehner.report.views import ANY, REPORT, Record, View
from lehner.scores.performance import read_curve

if TYPE_CHECKING:
    from lehner import Ratings

# Of the smallest letters, on an inch.
LETTERS = 15
LONGEST_LABEL = 26
# Inches of a line of text, between rows, and of what is below the rows.
LINE, ROW, HEAD = 0.125, 0.1, 0.75
BAND = "0.9"
MOST_WITH_TEXT, MOST_WITH_INTERVALS = 8, 4
# Of the blues; black letters have a contrast of 8.6 on it, and of 4.9 on a dark page.
DARKEST = 0.5
MOST_NAMED = 4
# Part of the map of bounds from which impossible correlations are named.
RARELY = 0.01
CORRELATIONS = np.linspace(0, 0.8, 81)
ACCURACIES = np.arange(11) / 10
NUMBERS = {"quantity": "", "method": "", "lower": np.nan, "upper": np.nan, "corrected": False}


def wrap_title(text: str, inches: float) -> str:
    """Break an axis title into lines that fit beside its axis."""
    width = max(int(LETTERS * inches), 12)
    return "\n".join(fill(part, width) for part in escape(text).split("\n"))


def draw_forest(
    rows: Sequence[Record],
    labels: Sequence[str],
    *,
    xlabel: str,
    ylabel: str = "",
    alone: IntervalEstimate | None = None,
    legend: bool = True,
) -> Figure:
    """Draw estimates with their intervals, a row for each label.

    Parameters
    ----------
    rows : sequence of dict
        Rows of the table of results, of which `estimate` is needed.
    labels : sequence of str
        One for each; long ones go over several lines. Rows with one label stand together.
    xlabel, ylabel : str
    alone : IntervalEstimate, optional
        What the gold labels alone say: a dashed line with a band.
    legend : bool
        Whether a legend names the methods.

    Returns
    -------
    matplotlib.figure.Figure
        One column of a journal wide, which a phone shows in full.
    """
    table = pd.DataFrame([NUMBERS | row for row in rows])
    shown = [fill(escape(label), LONGEST_LABEL) for label in labels]
    methods = list(dict.fromkeys(table["method"])) if legend else []
    tallest = max(LINE * (label.count("\n") + 1) for label in shown)
    height = HEAD + 2 * LINE * (xlabel.count("\n") + (alone is not None)) + 0.15 * len(methods)
    height += len(set(shown)) * (max(tallest, 0.1 * len(methods)) + ROW)
    with use_style(columns=1) as width:
        figure = Figure(figsize=(width, height), layout="constrained")
        ax = plot_forest(table, figure.subplots(), shown, looks=get_method)
        points, names = ax.get_legend_handles_labels()
        handles: list[Any] = list(dict(zip(names, points, strict=True)).values()) if legend else []
        ends = table[["estimate", "lower", "upper"]].to_numpy(dtype=float)
        if alone is not None and alone.estimate is not None:
            ax.axvline(alone.estimate, color=REFERENCE, lw=1, ls="--", zorder=1)
            line: dict[str, Any] = {"color": REFERENCE, "lw": 1, "ls": "--"}
            handles.append(Line2D([], [], label="gold labels alone", **line))
            ends = np.append(ends, alone.estimate)
            if alone.lower is not None and alone.upper is not None:
                ax.axvspan(alone.lower, alone.upper, color=BAND, lw=0, zorder=0)
                handles.append(Patch(color=BAND, label="their interval"))
                ends = np.append(ends, [alone.lower, alone.upper])
        if table["corrected"].any():
            handles.append(Line2D([], [], ls="", label=CORRECTED_NOTE))
        ax.set(xlim=span(ends), xlabel="")
        ax.set_ylabel(wrap_title(ylabel, height - 0.6))
        ax.grid(axis="x")
        separators = np.arange(1, len(set(shown))) - 0.5
        ax.hlines(separators, 0, 1, transform=ax.get_yaxis_transform(), color=GRID)
        ax.tick_params(axis="y", length=0)
        style.set_proportion_ticks(ax.xaxis)
        # Below the names too: the axis alone may be narrower than its title.
        title = wrap_title(xlabel, 0.9 * width)
        if handles:
            key = figure.legend(handles=handles, title=title, loc="outside lower center", ncols=2)
            key.get_title().set_multialignment("center")
        else:
            figure.supxlabel(title)
    figure.set_label(f"{xlabel.replace('\n', ', ')}: {'; '.join(_name_points(rows, labels))}.")
    return figure


def _name_points(rows: Sequence[Record], labels: Sequence[str]) -> list[str]:
    """Name each number of a forest, for those who do not see it."""
    names = [name_method(row["method"]) if row.get("method") else "" for row in rows]
    return [
        f"{label} {read_value(row)}{f' by {name}' if name not in ('', label) else ''}"
        for row, label, name in zip(rows, labels, names, strict=True)
        if row["estimate"] == row["estimate"]
    ]


def draw(view: View, name: str, rows: Sequence[Record] | None = None, **of: Any) -> Figure | None:
    """Draw a figure by its name, of `report.toml`, or the confusion matrix.

    Parameters
    ----------
    view : View
        Of the system whose numbers are drawn.
    name : str
        A key of `forest` in `report.toml`, or "confusion".
    rows : sequence of dict, optional
        By default those of the view.
    **of
        Values of columns, as for `View.pick`.

    Returns
    -------
    matplotlib.figure.Figure
        None of a forest without rows, or with too many.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.load_dataset("lehner_table2")
    >>> (view,) = views.view_systems(lehner.estimate(ratings, "majority_agreement"))
    >>> [label.get_text() for label in draw(view, "methods").axes[0].get_yticklabels()]
    ['Majority']
    """
    if name == "confusion":
        return plot_confusion(view)
    forest, column = REPORT["forest"][name], view.find_column(of.get("grouping", ""))
    of |= dict.fromkeys(forest.get("any", ()), ANY)
    picked = view.pick(forest["quantity"], of=rows, **of)
    template = forest.get("label")
    labels = [name_method(row["method"]) for row in picked]
    if template:
        labels = list(views.name_rows(template, picked))
    if not 0 < len(set(labels)) <= forest.get("most", np.inf):
        return None
    title = forest["title"].format(
        system=view.system,
        n_items=pluralise(view.results.ratings.n_items, "item"),
        categories=list_few(dict.fromkeys(row["category"] for row in picked), MOST_NAMED),
    )
    return draw_forest(
        picked,
        labels,
        xlabel=_with_intervals(title, view),
        ylabel="" if column is None else column.column,
        alone=read_value(view.gold) if forest.get("gold") and view.gold else None,
        legend=template is not None,
    )


def _with_intervals(title: str, view: View) -> str:
    return f"{title}\n{to_percent(view.level)} intervals"


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
    methods = list(dict.fromkeys(row["method"] for row in view.pick("confusion")))
    names = [str(name) for name in view.results.ratings.categories]
    longest = min(max(map(len, names)), 18) * 0.06
    with use_style(columns=1 if len(names) <= MOST_WITH_INTERVALS else 2) as width:
        side = min(width - longest - 0.8, 0.5 + 0.55 * len(names))
        size = (width, len(methods) * (side + longest + 0.8) + 0.1)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(len(methods), squeeze=False).ravel()
        for ax, method in zip(panels, methods, strict=True):
            image = _draw_matrix(ax, view, method, names)
        if len(names) > MOST_WITH_TEXT:
            label = "Probability of the answer"
            figure.colorbar(image, ax=list(panels), label=label, shrink=0.7, aspect=30)
    figure.set_label(
        f"Confusion matrix of {view.system} by {', '.join(map(name_method, methods))}: the "
        "probability of each answer, in columns, to items of each true category, in rows."
    )
    return figure


def _draw_matrix(ax: Axes, view: View, method: str, names: Sequence[str]) -> Any:
    rows = view.pick("confusion", method=method)
    table = pd.DataFrame(rows).pivot(index="category", columns="response", values="estimate")
    with_intervals = len(names) <= MOST_WITH_INTERVALS and rows[0]["level"] > 0
    level = f", {to_percent(view.level)} intervals" if with_intervals else ""
    corrected = "\nwith the gold labels" if rows[0]["corrected"] else ""
    blues = ListedColormap(colormaps["Blues"](np.linspace(0, DARKEST, 256)))
    image = ax.imshow(table.loc[names, names], cmap=blues, vmin=0, vmax=1)
    ax.set(title=f"{name_method(method)}{level}{corrected}", ylabel="Truth")
    ax.set_xlabel(wrap_title(f"Answer of {view.system}", 2.2))
    upright = max(map(len, names)) > 8 or len(names) > MOST_WITH_INTERVALS
    ticks, labels = np.arange(len(names)), [fill(escape(name), 18) for name in names]
    ax.set_xticks(ticks, labels, rotation=90 if upright else 0)
    ax.set_yticks(ticks, labels)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    for row in rows if len(names) <= MOST_WITH_TEXT else ():
        text = to_short(row["estimate"], 2)
        if with_intervals and row["lower"] == row["lower"]:
            text += f"\n[{to_short(row['lower'], 2)}, {to_short(row['upper'], 2)}]"
        place = names.index(row["response"]), names.index(row["category"])
        ax.text(*place, text, ha="center", va="center", fontsize=style.SMALLEST)
    return image


def plot_bounds(ratings: "Ratings", needed: bounds.TippingPoint) -> Figure:
    """Draw the least accuracy over the two caps on correlated errors, and where real crowds lie.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    needed : TippingPoint
        Its correlation is marked.

    Returns
    -------
    matplotlib.figure.Figure
        Of one column.
    """
    least = bounds.find_least_accuracy(
        bounds.tabulate_mistakes(ratings), CORRELATIONS, CORRELATIONS[:, None]
    )
    with use_style(columns=1) as width:
        figure = Figure(figsize=(width, 4), layout="constrained")
        ax = figure.subplots()
        area = (CORRELATIONS, CORRELATIONS, least, ACCURACIES)
        colors = colormaps["YlGnBu"](np.linspace(0, 0.7, len(ACCURACIES) - 1))
        image = ax.contourf(*area, colors=colors)
        ax.contour(*area, colors="white", linewidths=0.6)
        figure.colorbar(image, ax=ax, label="System accuracy is at least", shrink=0.8)
        for domain, (marker, label) in REPORT["domains"].items():
            crowds = bounds.read_real_crowds()
            crowds = crowds[crowds["domain"] == domain]
            places = (crowds[whose].clip(0) for whose in ("raters", "system"))
            look: dict[str, Any] = {"color": "black", "markeredgecolor": "white", "clip_on": False}
            ax.plot(*places, marker, label=f"{len(crowds)} {label}", **look)
        if needed.correlation:
            corner = [0, needed.correlation, needed.correlation]
            label = f"accuracy above {to_decimal(needed.above, 2)}"
            ax.plot(corner, corner[::-1], "--", color="black", label=label)
        handles = ax.get_legend_handles_labels()[0]
        if np.isnan(least).mean() > RARELY:
            ax.patch.set(facecolor="white", hatch="///", edgecolor=GRID)
            handles.append(Patch(fc="white", hatch="///", ec=GRID, label="impossible"))
        ax.set(
            xlabel="Correlation of two raters’ errors",
            ylabel="Correlation of system’s and rater’s errors",
            xlim=CORRELATIONS[[0, -1]],
            ylim=CORRELATIONS[[0, -1]],
            aspect="equal",
        )
        title = "Real crowds with gold labels, and a bound"
        figure.legend(handles=handles, loc="outside lower center", ncols=2, title=title)
    figure.set_label(f"The least accuracy of the system by correlations of errors; {needed}.")
    return figure


def plot_calibration(results: Results, threshold: float) -> Figure:
    """Draw the calibration curve of scores with its band, and where calibrated scores would lie.

    Parameters
    ----------
    results : Results
        As `lehner.score_performance` gives it.
    threshold : float
        Scores of at least this are answers that an item is of the category.

    Returns
    -------
    matplotlib.figure.Figure
        Of one column.
    """
    rows, curve = results.select(quantity="calibration"), read_curve(results)
    name = rows["category"].iloc[0]
    with use_style(columns=1) as width:
        figure = Figure(figsize=(width, width), layout="constrained")
        ax = figure.subplots()
        ax.plot([0, 1], [0, 1], "--", color=REFERENCE, label="perfectly calibrated")
        band = f"{to_percent(rows['level'].iloc[0])} intervals"
        ends = (curve["lower"], curve["upper"])
        ax.fill_between(curve["score"], *ends, step="mid", alpha=0.25, lw=0, label=band)
        ax.step(curve["score"], curve["probability"], where="mid", label="these scores")
        ax.axvline(threshold, color=REFERENCE, lw=0.8, ls=":", label="threshold")
        ax.set(xlabel="Score", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.set_ylabel(wrap_title(f"Probability of {name}", 2.2))
        figure.legend(loc="outside lower center", ncols=2)
    figure.set_label(f"How probable {name} is at each score, with intervals.")
    return figure
