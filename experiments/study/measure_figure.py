"""Figures of a study, a row for each scenario: a measure with its Monte Carlo intervals."""

import textwrap
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from experiments.report.style import (
    REFERENCE,
    MethodStyle,
    empty_figure,
    figure_style,
    limits,
    method_style,
    panels,
)
from experiments.study.definition import Study
from experiments.study.performance import of_main_estimand
from lehner.core.lazy import pd
from lehner.core.text import decimal, percent

ROW = 0.14
"""Inches of a line of a label."""
MOST_ACROSS = 5
LETTERS = 44
"""Of a line of a label."""
IN_PERCENT = ("coverage", "failure_rate")
NAMES = {
    "bias": "Bias (estimate minus truth)",
    "rmse": "Root mean squared error",
    "coverage": "{level} intervals that contain the truth (%)",
    "interval_width": "Mean width of {level} intervals",
    "failure_rate": "Samples without an estimate (%)",
}
VARIANTS = "osD^v<>P"


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
        A panel for each method, and in it a row for each scenario. Methods without values are left
        out.

    Examples
    --------
    >>> import pandas as pd
    >>> from experiments.study import measure, read_study
    >>> study = read_study("quick")
    >>> cells = [(cell.name, method.label) for cell in study.cells for method in study.methods]
    >>> results = pd.DataFrame(cells * 2, columns=["scenario", "method"])
    >>> results = results.assign(estimand="system_accuracy", truth=0.7, estimate=0.6)
    >>> [panel.get_title() for panel in plot_measure(study, measure(results)).axes][0]
    'Majority'
    """
    rows = of_main_estimand(measures)
    rows = rows[(rows["measure"] == measure) & rows["value"].notna()]
    labels = [method.label for method in study.methods if method.label in set(rows["method"])]
    name = NAMES.get(measure, measure.replace("_", " ")).format(level=percent(study.level))
    scale = 100 if measure in IN_PERCENT else 1
    reference = scale * {"coverage": study.level}.get(measure, 0)
    places = {cell.name: place for place, cell in enumerate(study.cells)}
    ticks = [textwrap.fill(scenario.replace("_", " "), LETTERS) for scenario in places]
    styles = study_styles(study)
    with figure_style() as width:
        if not labels:
            return empty_figure(width, f"No method of this study has values of {name.lower()}.")
        titles = [styles[label].label for label in labels]
        height = 0.35 + ROW * sum(1 + tick.count("\n") for tick in ticks)
        figure, axes = panels(titles, width, height=height, across=MOST_ACROSS, more=0.4)
        for ax, label in zip(axes, labels, strict=True):
            table = rows[rows["method"] == label]
            value, lower, upper = (scale * table[end] for end in ("value", "lower", "upper"))
            ends = [np.maximum(value - lower, 0), np.maximum(upper - value, 0)]
            y, look = table["scenario"].map(places), styles[label].options()
            ax.errorbar(value, y, xerr=ends, ls="", ms=3.5, elinewidth=1.2, **look)
            ax.axvline(reference, color=REFERENCE, lw=0.8, zorder=1)
            ax.grid(axis="x")
            ax.tick_params(axis="y", length=0)
            for place in range(1, len(ticks), 2):
                ax.axhspan(place - 0.5, place + 0.5, color="0.96", lw=0, zorder=0)
        axes[0].set_yticks(range(len(ticks)), ticks)
        ends_of_all = (scale * rows[end] for end in ("value", "lower", "upper"))
        shown = limits(*ends_of_all, reference, within=None)
        axes[0].set(ylim=(len(ticks) - 0.4, -0.6), xlim=shown)
        figure.supxlabel(f"{name}; 95% Monte Carlo intervals")
    spans = rows.groupby("method")["value"].agg(["min", "max"]).loc[labels]
    least_to_most = (
        f"{styles[label].label} {decimal(least)} to {decimal(most)}"
        for label, least, most in spans.itertuples(name=None)
    )
    figure.set_label(
        f"{name.removesuffix(' (%)')} of each method over {len(study.cells)} "
        f"scenarios of the study {study.name}, smallest to largest: {'; '.join(least_to_most)}."
    )
    return figure


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
    names = [choice.method for choice in study.methods]
    for place, choice in enumerate(study.methods):
        style = method_style(choice.method)
        if choice.label != choice.method:
            style = replace(style, label=choice.label.replace("_", " "))
        earlier = names[:place].count(choice.method)
        if earlier:
            others = [marker for marker in VARIANTS if marker != style.marker]
            style = replace(style, marker=others[(earlier - 1) % len(others)], filled=False)
        styles[choice.label] = style
    return styles
