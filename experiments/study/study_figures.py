"""Figures of a study; none computes more than it draws."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from experiments.study.definition import Study
from experiments.study.grid import Cell, shown
from experiments.study.proportions import Z
from lehner.core.wilson import wilson_interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

EXPECTED = "system_accuracy"
MARKERS = "osD^vP*Xh<>p"
MOST_POINTS = 2000
MOST_INTERVALS = 1000
MOST_PAIRED = 6
LETTERS = 9
"""Of the size of a label that fit beside one another beneath a scenario."""


def plot_bias(study: Study, measures: "pd.DataFrame", measure: str = "bias") -> Figure:
    """Draw a measure against what each table of scenarios varies, with 95% Monte Carlo intervals.

    Parameters
    ----------
    study : Study
        As `read_study` gives it.
    measures : pandas.DataFrame
        As `measure` gives it for the results of the study.
    measure : str
        Name of the measure, as in "bias" or "coverage".

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each field that is swept; the scenarios of tables without a sweep or grid are
        its panel "scenarios".

    Examples
    --------
    >>> import pandas as pd
    >>> from experiments.study import measure, read_study
    >>> study = read_study("quick")
    >>> cells = [(cell.name, method.label) for cell in study.cells for method in study.methods]
    >>> results = pd.DataFrame(cells * 2, columns=["scenario", "method"])
    >>> results = results.assign(estimand="system_accuracy", truth=0.7, estimate=0.6)
    >>> drawn = plot_bias(study, measure(results))
    >>> [panel.get_title(loc="left") for panel in drawn.axes]
    ['raters about .6: rater accuracy', 'raters about .6: system accuracy']
    """
    found = measures[(measures["estimand"] == EXPECTED) & (measures["measure"] == measure)]
    panels = _panels(study)
    n_columns = min(3, len(panels))
    n_rows = -(-len(panels) // n_columns)
    figure = Figure(figsize=(3.6 * n_columns + 1, 2.9 * n_rows + 1), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False, sharey=True).ravel()
    for ax, (title, cells, labels) in zip(axes, panels, strict=False):
        _panel(ax, study, found, cells)
        ax.axhline({"coverage": study.level}.get(measure, 0), color="black", lw=0.8)
        ax.set_title(title, fontsize="small", loc="left")
        turned = max(map(len, labels)) > 6
        ax.set_xticks(
            range(len(cells)),
            labels,
            fontsize="x-small",
            rotation=25 if turned else 0,
            ha="right" if turned else "center",
        )
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    for ax in axes[::n_columns]:
        ax.set_ylabel(measure.replace("_", " "))
    _legend(figure, study)
    return figure


def plot_estimates(study: Study, results: "pd.DataFrame") -> Figure:
    """Draw estimates against the true accuracy of the system, a panel for each method.

    Parameters
    ----------
    study : Study
    results : pandas.DataFrame
        As `read_results` gives it.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = _panel_for_each_method(study)
    for ax, method in zip(axes, study.methods, strict=False):
        rows = _of(results, method.label).dropna(subset="estimate")
        rows = rows.iloc[:: max(1, len(rows) // MOST_POINTS)]
        ax.plot(rows["truth"], rows["estimate"], ".", ms=3, alpha=0.4, color="#0b5394")
        ax.axline((0, 0), slope=1, color="black", lw=0.8)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    figure.supxlabel("true accuracy of the system", fontsize="small")
    figure.supylabel("estimate", fontsize="small")
    return figure


def plot_intervals(study: Study, results: "pd.DataFrame") -> Figure:
    """Draw intervals about the truth, ranked by how far the estimate is off in half widths.

    The zip plot of Morris, White & Crowther (2019): intervals above the line of the nominal
    coverage should miss, those below should hold.

    Parameters
    ----------
    study : Study
    results : pandas.DataFrame

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = _panel_for_each_method(study)
    for ax, method in zip(axes, study.methods, strict=False):
        rows = _of(results, method.label).dropna(subset=["lower", "upper"])
        _zip(ax, rows, study.level)
    figure.supxlabel("interval minus true accuracy", fontsize="small")
    figure.supylabel("centile of distance", fontsize="small")
    return figure


def plot_nested_loop(study: Study, measures: "pd.DataFrame", measure: str = "bias") -> Figure:
    """Draw a measure over all scenarios as steps, and what they vary beneath.

    Parameters
    ----------
    study : Study
        As `read_study` gives it.
    measures : pandas.DataFrame
        As `measure` gives it for the results of the study.
    measure : str
        Name of the measure, as in "bias" or "coverage".

    Returns
    -------
    matplotlib.figure.Figure
        A line for each method above, the steps of what scenarios vary below.

    References
    ----------
    Rücker & Schwarzer (2014), https://doi.org/10.1186/1471-2288-14-129

    Examples
    --------
    >>> import pandas as pd
    >>> from experiments.study import measure, read_study
    >>> study = read_study("quick")
    >>> cells = [(cell.name, method.label) for cell in study.cells for method in study.methods]
    >>> results = pd.DataFrame(cells * 2, columns=["scenario", "method"])
    >>> results = results.assign(estimand="system_accuracy", truth=0.7, estimate=0.6)
    >>> top, bottom = plot_nested_loop(study, measure(results)).axes
    >>> [label.get_text() for label in bottom.get_yticklabels()]
    ['rater accuracy', 'system accuracy', 'table']
    """
    found = measures[(measures["estimand"] == EXPECTED) & (measures["measure"] == measure)]
    n = len(study.cells)
    # Names of tables are long: last, where there is room for them beneath.
    fields = [*dict.fromkeys(field for cell in study.cells for field, _ in cell.varied), "table"]
    width = max(6.5, min(0.45 * n, 12) + 2, 0.13 * n + 3)
    figure = Figure(figsize=(width, 4 + 0.45 * len(fields)), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[4, 0.5 * len(fields)])
    edges = np.arange(n + 1) - 0.5
    for i, method in enumerate(study.methods):
        values = _values(found, method.label, study.cells)["value"]
        top.stairs(values, edges, color=_color(i), lw=1.6, baseline=None)
    top.axhline(0, color="black", lw=0.8)
    top.set_ylabel(measure.replace("_", " "))
    for row, field in enumerate(fields):
        _levels(bottom, study.cells, field, -row)
    bottom.set(yticks=-np.arange(len(fields)), xticks=[], ylim=(0.6 - len(fields), 0.6))
    bottom.set_yticklabels([field.replace("_", " ") for field in fields], fontsize="x-small")
    bottom.spines[:].set_visible(False)
    bottom.tick_params(length=0)
    _legend(figure, study, markers=False)
    return figure


def plot_pairs(study: Study, results: "pd.DataFrame") -> Figure:
    """Draw the estimates of methods against one another, replicate by replicate.

    Parameters
    ----------
    study : Study
    results : pandas.DataFrame

    Returns
    -------
    matplotlib.figure.Figure
        Of the last methods of the study, six at most.
    """
    labels = [method.label for method in study.methods][-MOST_PAIRED:]
    wide = results[results["estimand"] == EXPECTED].pivot(
        index=["scenario", "replicate"], columns="method", values="estimate"
    )
    wide = wide.iloc[:: max(1, len(wide) // MOST_POINTS)]
    n = len(labels)
    figure = Figure(figsize=(1.7 * n + 0.6, 1.7 * n + 0.4), layout="constrained")
    axes = figure.subplots(n, n, squeeze=False, sharex=True, sharey=True)
    for i, across in enumerate(labels):
        for j, down in enumerate(labels):
            ax = axes[j, i]
            if i < j:
                ax.plot(wide[across], wide[down], ".", ms=2, alpha=0.3, color="#0b5394")
                ax.axline((0, 0), slope=1, color="black", lw=0.6)
            elif i == j:
                ax.text(0.5, 0.5, across.replace("_", "\n"), ha="center", va="center", size="small")
            else:
                both = wide[[across, down]].dropna()
                r = both.corr().iloc[0, 1] if len(both) > 2 else np.nan
                ax.text(0.5, 0.5, "" if np.isnan(r) else f"r = {r:.2f}", ha="center", va="center")
            ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 1], yticks=[0, 1])
            ax.tick_params(labelsize="x-small")
    return figure


def _panels(study: Study) -> list[tuple[str, list[Cell], list[str]]]:
    """Group scenarios: those of a table that vary the same fields, others together."""
    panels, plain = [], [cell for cell in study.cells if not cell.varied]
    varying = [cell for cell in study.cells if cell.varied]
    for (table, fields), group in groupby(
        varying, key=lambda cell: (cell.table, tuple(field for field, _ in cell.varied))
    ):
        cells = list(group)
        title = f"{table}: {', '.join(fields).replace('_', ' ')}"
        panels.append((title, cells, [_label(c) for c in cells]))
    if plain:
        panels.insert(0, ("scenarios", plain, [cell.name for cell in plain]))
    return panels


def _panel(ax: "Axes", study: Study, found: "pd.DataFrame", cells: Sequence[Cell]) -> None:
    n = len(study.methods)
    for i, method in enumerate(study.methods):
        values = _values(found, method.label, cells)
        below = np.maximum(values["value"] - values["lower"], 0)
        above = np.maximum(values["upper"] - values["value"], 0)
        ax.errorbar(
            np.arange(len(cells)) + 0.5 * (i / max(n - 1, 1) - 0.5),
            values["value"],
            yerr=[below, above],
            color=_color(i),
            marker=MARKERS[i % len(MARKERS)],
            ms=4,
            lw=0,
            elinewidth=1.2,
        )
    ax.grid(axis="y", alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlim(-0.5, len(cells) - 0.5)


def _zip(ax: "Axes", rows: "pd.DataFrame", level: float) -> None:
    if rows.empty:
        ax.text(0.5, 0.5, "no intervals", ha="center", va="center", transform=ax.transAxes)
        return
    lower = (rows["lower"] - rows["truth"]).to_numpy()
    upper = (rows["upper"] - rows["truth"]).to_numpy()
    # How far out the truth lies in its interval: above 1 it lies outside.
    out = np.where(
        upper > lower, np.abs(upper + lower) / np.maximum(upper - lower, 1e-12), np.abs(lower) > 0
    )
    order = np.argsort(out, kind="stable")
    drawn = order[:: max(1, len(order) // MOST_INTERVALS)]
    centile = 100 * (np.arange(len(order)) + 0.5) / len(order)
    height = centile[:: max(1, len(order) // MOST_INTERVALS)]
    holds = (lower[drawn] <= 0) & (upper[drawn] >= 0)
    width = max(0.6, 100 / len(drawn))
    for inside, color in ((True, "#9fc5e8"), (False, "#c0392b")):
        one = holds == inside
        ax.hlines(height[one], lower[drawn][one], upper[drawn][one], color=color, lw=width)
    ax.axhline(100 * level, color="black", lw=0.8, ls="--")
    ax.axvline(0, color="black", lw=0.8)
    coverage = ((lower <= 0) & (upper >= 0)).mean()
    low, high = wilson_interval(coverage, len(lower), z=Z)
    said = f"{coverage:.1%} hold [{low:.1%}, {high:.1%}]"
    ax.text(0.02, 0.02, said, transform=ax.transAxes, fontsize="xx-small")
    ax.set(xlim=(-0.5, 0.5), ylim=(0, 100))


def _levels(ax: "Axes", cells: Sequence[Cell], field: str, height: float) -> None:
    """Write where along the scenarios a field changes, and to what."""
    values = [cell.table if field == "table" else dict(cell.varied).get(field) for cell in cells]
    start = 0
    for value, group in groupby(values):
        length = len(list(group))
        if value is not None:
            ax.plot([start - 0.4, start + length - 0.6], [height - 0.35] * 2, color="0.5", lw=1)
            label, middle = shown(value), start + (length - 1) / 2
            if len(label) <= LETTERS * length:
                ax.text(middle, height - 0.3, label, ha="center", va="bottom", size=6)
            elif field == "table":
                ax.text(middle, height - 0.45, label, rotation=90, ha="center", va="top", size=6)
            else:
                lines = label.replace(" ", "\n")
                ax.text(middle, height - 0.3, lines, ha="center", va="bottom", size=6)
        start += length


def _panel_for_each_method(study: Study) -> tuple[Figure, Any]:
    n = len(study.methods)
    n_columns = min(5, n)
    n_rows = -(-n // n_columns)
    figure = Figure(figsize=(2.3 * n_columns + 0.5, 2.5 * n_rows + 0.4), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True).ravel()
    for ax, method in zip(axes, study.methods, strict=False):
        ax.set_title(method.label.replace("_", " "), fontsize="small")
        ax.tick_params(labelsize="x-small")
    for ax in axes[n:]:
        ax.set_visible(False)
    return figure, axes


def _legend(figure: Figure, study: Study, *, markers: bool = True) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            color=_color(i),
            marker=MARKERS[i % len(MARKERS)] if markers else None,
            lw=0 if markers else 1.6,
            label=method.label.replace("_", " "),
        )
        for i, method in enumerate(study.methods)
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=4, fontsize="small")


def _values(found: "pd.DataFrame", method: str, cells: Sequence[Cell]) -> "pd.DataFrame":
    rows = found[found["method"] == method].set_index("scenario")
    return rows[["value", "lower", "upper"]].reindex([cell.name for cell in cells])


def _of(results: "pd.DataFrame", method: str) -> "pd.DataFrame":
    return results[(results["method"] == method) & (results["estimand"] == EXPECTED)]


def _label(cell: Cell) -> str:
    return ", ".join(shown(value) for _, value in cell.varied)


def _color(i: int) -> Any:
    return colormaps["tab10"](i % 10)
