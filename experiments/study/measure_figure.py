"""Figures of a study, a row for each scenario: a measure, or the errors of the single samples."""

import textwrap
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from experiments.reporting.figure_style import REFERENCE, figure_style, limits
from experiments.reporting.method_style import MethodStyle, legend_handles, method_style
from experiments.reporting.panels import MOST_TOGETHER, empty_figure, panels
from experiments.study.definition import Study, shown
from experiments.study.performance import of_main_estimand
from lehner.core.lazy import pd
from lehner.core.text import decimal, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 0.14
"""Inches of a row of one method."""

MOST_ACROSS = 5
LETTERS = 36
"""Of a line of the heading of a table of scenarios."""

NUMBERS = ("value", "lower", "upper")
IN_PERCENT = ("coverage", "failure_rate")
NAMES = {
    "bias": "Bias (estimate minus truth)",
    "rmse": "Root mean squared error",
    "coverage": "{level} intervals that contain the truth (%)",
    "interval_width": "Mean width of {level} intervals",
    "failure_rate": "Samples without an estimate (%)",
}

VARIANTS = "osD^v<>P"


@dataclass(frozen=True)
class Row:
    """A line of the figure: a scenario, or a line of the heading of a table of scenarios."""

    label: str
    is_scenario: bool = False


def plot_measure(study: Study, measures: "pd.DataFrame", measure: str = "bias") -> Figure:
    """Draw a measure of all scenarios with 95% Monte Carlo intervals.

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
        A row for each scenario, below the name of its table where that has a sweep or grid; of a
        grid the heading names the fields and the rows give their values. Of more than four methods
        each has a panel. Methods without values are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> from experiments.study import measure, read_study
    >>> study = read_study("quick")
    >>> cells = [(cell.name, method.label) for cell in study.cells for method in study.methods]
    >>> results = pd.DataFrame(cells * 2, columns=["scenario", "method"])
    >>> results = results.assign(estimand="system_accuracy", truth=0.7, estimate=0.6)
    >>> (panel,) = plot_measure(study, measure(results)).axes
    >>> [label.get_text() for label in panel.get_yticklabels()][:2]
    ['raters about .6', 'initial rater accuracy 0.6 0.6 0.6']
    """
    values = {
        label: rows
        for label, rows in _by_method(study, measures, measure).items()
        if rows["value"].notna().any()
    }
    name = NAMES.get(measure, measure.replace("_", " ")).format(level=percent(study.level))
    if not values:
        with figure_style() as width:
            return empty_figure(width, f"No method of this study has values of {name.lower()}.")
    scale = 100 if measure in IN_PERCENT else 1
    reference = scale * {"coverage": study.level}.get(measure, 0)
    styles, rows = study_styles(study), _rows(study)
    places = np.array([place for place, row in enumerate(rows) if row.is_scenario])
    together = len(values) <= MOST_TOGETHER
    with figure_style() as width:
        if together:
            each = ROW + 0.07 * (len(values) - 1)
            figure = Figure(figsize=(width, 0.9 + each * len(rows)), layout="constrained")
            axes = [figure.subplots()] * len(values)
        else:
            titles = [styles[label].label for label in values]
            height = 0.35 + ROW * len(rows)
            figure, axes = panels(titles, width, height=height, across=MOST_ACROSS, more=0.4)
        for i, (ax, (label, table)) in enumerate(zip(axes, values.items(), strict=True)):
            value, lower, upper = (scale * table[number] for number in NUMBERS)
            ends = [np.maximum(value - lower, 0), np.maximum(upper - value, 0)]
            dodge = 0.6 * ((i + 0.5) / len(values) - 0.5) if together else 0.0
            look = styles[label].options()
            ax.errorbar(value, places + dodge, xerr=ends, ls="", ms=3.5, elinewidth=1.2, **look)
        axes[0].set_yticks(range(len(rows)), [row.label for row in rows])
        axes[0].set_ylim(len(rows) - 0.4, -0.6)
        axes[0].set_xlim(limits(*(scale * one for one in values.values()), reference, within=None))
        for ax in dict.fromkeys(axes):
            ax.axvline(reference, color=REFERENCE, lw=0.8, zorder=1)
            _dress(ax, rows)
        axis = f"{name}; 95% Monte Carlo intervals"
        if together:
            axes[0].set_xlabel(axis)
            handles = legend_handles([styles[label] for label in values], line="")
            figure.legend(handles=handles, loc="outside lower center", ncols=4)
        else:
            figure.supxlabel(axis)
    least_to_most = (
        f"{styles[label].label} {decimal(one.min())} to {decimal(one.max())}"
        for label, one in ((label, table["value"]) for label, table in values.items())
    )
    figure.set_label(
        f"{name.removesuffix(' (%)')} of each method over {len(study.cells)} "
        f"scenarios of the study {study.name}, smallest to largest: {'; '.join(least_to_most)}."
    )
    return figure


def _by_method(study: Study, measures: "pd.DataFrame", measure: str) -> "dict[str, pd.DataFrame]":
    """Value and ends of a measure of the main estimand, a row for each scenario, by method."""
    rows = of_main_estimand(measures)
    rows = rows[rows["measure"] == measure].set_index("scenario")
    scenarios = [cell.name for cell in study.cells]
    return {
        method.label: rows.loc[rows["method"] == method.label, list(NUMBERS)].reindex(scenarios)
        for method in study.methods
    }


def _rows(study: Study) -> list[Row]:
    rows = []
    for table, group in groupby(study.cells, key=lambda cell: cell.table):
        cells = list(group)
        if len(cells) == 1:
            rows.append(Row(cells[0].name, is_scenario=True))
            continue
        varied = {cell.fields for cell in cells}
        names = cells[0].fields if len(varied) == 1 else ()
        heading = f"{table}: {'; '.join(names).replace('_', ' ')}" if names else table
        rows += [Row(line) for line in textwrap.wrap(heading, LETTERS)]
        for cell in cells:
            values = [
                called or (shown(x) if names else f"{name.replace('_', ' ')} {shown(x)}")
                for (name, x), called in zip(cell.varied, cell.value_names, strict=True)
            ]
            rows.append(Row(("; " if names else ", ").join(values), is_scenario=True))
    return rows


def _dress(ax: "Axes", rows: list[Row]) -> None:
    ax.grid(axis="x")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    for place, row in enumerate(rows):
        if row.is_scenario and place % 2:
            ax.axhspan(place - 0.5, place + 0.5, color="0.96", lw=0, zorder=0)
    for row, label in zip(rows, ax.get_yticklabels(), strict=False):
        label.set_fontweight("normal" if row.is_scenario else "bold")


def study_styles(study: Study) -> dict[str, MethodStyle]:
    """Look of each method of a study by its label.

    Parameters
    ----------
    study : Study

    Returns
    -------
    dict of str to MethodStyle
        A method that occurs again with other options keeps its colour, with an open marker of
        another shape.
    """
    styles: dict[str, MethodStyle] = {}
    seen: list[str] = []
    for choice in study.methods:
        style = method_style(choice.method)
        if choice.label != choice.method:
            style = replace(style, label=choice.label.replace("_", " "))
        again = seen.count(choice.method)
        if again:
            others = [marker for marker in VARIANTS if marker != style.marker]
            style = replace(style, marker=others[(again - 1) % len(others)], filled=False)
        seen.append(choice.method)
        styles[choice.label] = style
    return styles
