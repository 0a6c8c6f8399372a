"""Figures of a measure: a row for each scenario, or the nested loop plot, steps side by side."""

import textwrap
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from experiments.reporting.figure_style import REFERENCE, figure_style, limits
from experiments.reporting.method_style import MethodStyle, legend_handles, method_style
from experiments.reporting.panels import MOST_TOGETHER, empty_figure, panels
from experiments.study.definition import Study, StudyCell, shown
from experiments.study.performance import of_main_estimand
from lehner.core.number_format import decimal

if TYPE_CHECKING:
    import pandas as pd
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
    "coverage": "Intervals that contain the truth (%)",
    "interval_width": "Mean width of intervals",
    "failure_rate": "Samples without an estimate (%)",
}


VARIANTS = "osD^v<>P"
BEHIND = "0.87"
LINE = 0.145
"""Inches of a line of letters."""

LETTERS_BENEATH = 118
STEPS = 0.2
"""Inches of the steps of a field."""


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
    known = study_styles(study)
    styles = {label: known[label] for label in values}
    rows = _rows(study)
    together = len(styles) <= MOST_TOGETHER
    scale = 100 if measure in IN_PERCENT else 1
    reference = scale * {"coverage": study.level}.get(measure, 0)
    name = _measure_name(measure)
    with figure_style() as width:
        if not styles:
            return empty_figure(width, f"No method of this study has values of {name.lower()}.")
        if together:
            each = ROW + 0.07 * (len(styles) - 1)
            figure = Figure(figsize=(width, 0.9 + each * len(rows)), layout="constrained")
            axes = [figure.subplots()] * len(styles)
        else:
            titles = [style.label for style in styles.values()]
            height = 0.35 + ROW * len(rows)
            figure, axes = panels(titles, width, height=height, across=MOST_ACROSS, more=0.4)
        places = np.array([place for place, row in enumerate(rows) if row.is_scenario])
        for i, (ax, (label, style)) in enumerate(zip(axes, styles.items(), strict=True)):
            dodge = 0.6 * ((i + 0.5) / len(styles) - 0.5) if together else 0.0
            value, lower, upper = (scale * values[label][name] for name in NUMBERS)
            ends = [np.maximum(value - lower, 0), np.maximum(upper - value, 0)]
            look = {"ls": "", "ms": 3.5, "elinewidth": 1.2, **style.options()}
            ax.errorbar(value, places + dodge, xerr=ends, **look)
        axes[0].set_yticks(range(len(rows)), [row.label for row in rows])
        axes[0].set_ylim(len(rows) - 0.4, -0.6)
        axes[0].set_xlim(limits(*(scale * one for one in values.values()), reference, within=None))
        for ax in dict.fromkeys(axes):
            ax.axvline(reference, color=REFERENCE, lw=0.8, zorder=1)
            _dress(ax, rows)
        name += "; 95% Monte Carlo intervals"
        if together:
            axes[0].set_xlabel(name)
            handles = legend_handles(styles.values(), line="")
            figure.legend(handles=handles, loc="outside lower center", ncols=4)
        else:
            figure.supxlabel(name)
    least_to_most = (
        f"{styles[label].label} {decimal(one.min())} to {decimal(one.max())}"
        for label, one in ((label, rows["value"]) for label, rows in values.items())
    )
    figure.set_label(
        f"{_measure_name(measure).removesuffix(' (%)')} of each method over {len(study.cells)} "
        f"scenarios of the study {study.name}, smallest to largest: {'; '.join(least_to_most)}."
    )
    return figure


def _measure_name(measure: str) -> str:
    """Name of a measure on an axis."""
    return NAMES.get(measure, measure.replace("_", " "))


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
            values = [f"{name.replace('_', ' ')} {shown(x)}" for name, x in cell.varied]
            if names:
                values = [shown(value) for _, value in cell.varied]
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
        A line for each method above; of more than four methods each has a panel, with the others
        behind in grey. Below, what differs between scenarios: steps up through the values of each
        field, which are listed from the lowest step up, base values as well as those varied.

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
    >>> top, *fields = plot_nested_loop(study, measure(results)).axes
    >>> for panel in fields:
    ...     print(panel.get_title(loc="left"))
    initial system accuracy: 0.5, 0.7, 0.9
    initial rater accuracy: 0.6 0.6 0.6, 0.5 0.6 0.7, 0.4 0.6 0.8
    """
    styles = study_styles(study)
    scale = 100 if measure in IN_PERCENT else 1
    values = _by_method(study, measures, measure)
    lines = {label: scale * values[label]["value"].to_numpy(dtype=float) for label in styles}
    together = len(styles) <= MOST_TOGETHER
    groups = [list(styles)] if together else [[label] for label in styles]
    titles = {name: _title(name, study.cells) for name in _differing(study.cells)}
    heights = [2.6 if together else 0.62] * len(groups)
    heights += [STEPS + LINE * (1 + title.count("\n")) for title in titles.values()]
    with figure_style() as width:
        figure = Figure(figsize=(width, sum(heights) + 0.5), layout="constrained")
        axes = figure.subplots(
            len(heights), 1, sharex=True, squeeze=False, height_ratios=heights
        ).ravel()
        ends = limits(*lines.values(), 0, within=None)
        for ax, group in zip(axes, groups, strict=False):
            for label in styles if not together else ():
                _line(ax, lines[label], BEHIND)
            for label in group:
                _line(ax, lines[label], styles[label].color, styles[label])
            if not together:
                ax.set_title(styles[group[0]].label, loc="left", pad=1)
            ax.axhline(0, color=REFERENCE, lw=0.8, zorder=1)
            ax.grid(axis="y")
            ax.set_ylim(ends)
            ax.tick_params(axis="x", length=0, labelbottom=False)
        for ax, (name, title) in zip(axes[len(groups) :], titles.items(), strict=True):
            _field(ax, _levels(name, study.cells), title)
        axes[0].set_xlim(-0.5, len(study.cells) - 0.5)
        figure.supxlabel("Scenarios, side by side; values are listed from the lowest step up")
        name = _measure_name(measure)
        if together:
            axes[0].set_ylabel(name)
            handles = legend_handles(styles.values())
            figure.legend(handles=handles, loc="outside upper center", ncols=4)
        else:
            figure.suptitle(name)
    figure.set_label(
        f"{name} of {', '.join(style.label for style in styles.values())} over "
        f"{len(study.cells)} scenarios of the study {study.name}, as steps; beneath, "
        f"{'; '.join(title.replace(chr(10), ' ') for title in titles.values())}."
    )
    return figure


def _line(ax: "Axes", values: np.ndarray, color: Any, style: MethodStyle | None = None) -> None:
    edges = np.arange(len(values) + 1) - 0.5
    ax.stairs(values, edges, color=color, lw=1.4 if style else 0.7, baseline=None)
    if style is not None:
        ax.plot(np.arange(len(values)), values, ls="", ms=3, **style.options())


def _differing(cells: tuple[StudyCell, ...]) -> list[str]:
    """Name the fields in which scenarios differ, those that change least often first."""
    names = dict.fromkeys(name for cell in cells for name in cell.settings)
    changes = {name: int(np.count_nonzero(np.diff(_levels(name, cells)))) for name in names}
    return sorted((name for name in names if changes[name]), key=changes.__getitem__)


def _values(name: str, cells: tuple[StudyCell, ...]) -> list[Any]:
    """Values that a field has, from the lowest step up."""
    values = list(dict.fromkeys(cell.settings.get(name) for cell in cells))
    numbers = all(isinstance(value, int | float) for value in values)
    return sorted(values) if numbers else values


def _levels(name: str, cells: tuple[StudyCell, ...]) -> np.ndarray:
    values = _values(name, cells)
    return np.array([values.index(cell.settings.get(name)) for cell in cells])


def _title(name: str, cells: tuple[StudyCell, ...]) -> str:
    values = ", ".join(map(shown, _values(name, cells)))
    return textwrap.fill(f"{name.replace('_', ' ')}: {values}", LETTERS_BENEATH)


def _field(ax: "Axes", levels: np.ndarray, title: str) -> None:
    ax.stairs(levels, np.arange(len(levels) + 1) - 0.5, color="0.3", lw=1, baseline=None)
    ax.set(yticks=[], ylim=(-0.4, levels.max() + 0.4))
    ax.set_title(title, loc="left", size=7, pad=1)
    ax.spines[:].set_visible(False)
    ax.tick_params(axis="x", length=0, labelbottom=False)


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
