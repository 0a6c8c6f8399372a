"""Figures of the single samples of a study: estimates, intervals, and methods in pairs."""

import textwrap
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.reporting.figure_style import REFERENCE, figure_style, limits
from experiments.reporting.method_style import MethodStyle
from experiments.reporting.panels import empty_figure, panels
from experiments.study.definition import Study
from experiments.study.measure_figure import study_styles
from experiments.study.performance import describe_main_estimand, of_main_estimand
from experiments.study.proportions import Z
from lehner.core.number_format import decimal, percent
from lehner.core.wilson import wilson_interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MOST_POINTS = 2000
MOST_INTERVALS = 1000
MOST_PAIRED = 6
MOST_ACROSS = 4
POINTS, CONTAINS, MISSES = "0.6", "#9fc5e8", "#d55e00"


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
        Samples in grey, and the mean of each scenario with its 95% Monte Carlo interval.
    """
    styles = study_styles(study)
    main = of_main_estimand(results)
    estimated = main.dropna(subset="estimate")
    rows = {label: estimated[estimated["method"] == label] for label in styles}
    with figure_style() as width:
        figure, axes = _panel_for_each(styles, width)
        figure.set_layout_engine("compressed")
        for ax, (label, style) in zip(axes, styles.items(), strict=True):
            _estimates(ax, rows[label], style)
        ends = limits(*(rows[label][["truth", "estimate"]] for label in styles))
        axes[0].set(xlim=ends, ylim=ends)
        figure.supxlabel("True accuracy of the system")
        figure.supylabel("Estimate")
    errors = {
        style.label: (rows[label]["estimate"] - rows[label]["truth"]).mean()
        for label, style in styles.items()
        if len(rows[label])
    }
    told = "; ".join(f"{label} {decimal(error)}" for label, error in errors.items())
    figure.set_label(
        f"Estimates of the {describe_main_estimand(main)} against the truth over "
        f"{len(study.cells)} scenarios of the study {study.name}. Mean error: {told}."
    )
    return figure


def _estimates(ax: "Axes", rows: "pd.DataFrame", style: MethodStyle) -> None:
    few = rows.iloc[:: max(1, len(rows) // MOST_POINTS)]
    ax.plot(few["truth"], few["estimate"], ".", ms=1.5, color=POINTS, mew=0, rasterized=True)
    by_scenario = rows.groupby("scenario")[["truth", "estimate"]]
    mean, error = by_scenario.mean(), by_scenario.sem()["estimate"]
    errors = Z * error.fillna(0)
    truth, estimate = mean["truth"], mean["estimate"]
    ax.errorbar(truth, estimate, yerr=errors, ls="", ms=3.5, elinewidth=1, **style.options())
    ax.axline((0, 0), slope=1, color=REFERENCE, lw=0.8, zorder=1)
    ax.set_aspect("equal")
    ax.grid(True)


def plot_intervals(study: Study, results: "pd.DataFrame") -> Figure:
    """Draw intervals about the truth, ranked by how far the estimate is off in half widths.

    The zip plot of Morris, White & Crowther (2019): intervals above the line of the nominal
    coverage should miss the truth, those below should contain it.

    Parameters
    ----------
    study : Study
    results : pandas.DataFrame

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each method with intervals; its title says which proportion contains the truth,
        with Wilson's 95% interval.
    """
    with_interval = of_main_estimand(results).dropna(subset=["lower", "upper"])
    rows = dict(iter(with_interval.groupby("method")))
    styles = {label: style for label, style in study_styles(study).items() if label in rows}
    with figure_style() as width:
        if not styles:
            return empty_figure(width, "No method of this study gives intervals.")
        figure, axes = _panel_for_each(styles, width)
        parts = []
        for ax, (label, style) in zip(axes, styles.items(), strict=True):
            covered = _zip(ax, rows[label], study.level)
            ax.set_title(f"{ax.get_title()}\n{covered}")
            parts.append(f"{style.label} {covered}")
        ends = [one[end] - one["truth"] for one in rows.values() for end in ("lower", "upper")]
        axes[0].set(xlim=limits(*ends, within=None), ylim=(0, 100))
        figure.supxlabel("Interval minus true accuracy")
        figure.supylabel("Samples, farthest off on top (%)")
        figure.legend(handles=_zip_handles(study.level), loc="outside upper center", ncols=3)
    figure.set_label(
        f"Intervals of {percent(study.level)} about the truth in the study {study.name}, those "
        "farthest off on top. Proportion that contains the truth, with Wilson’s interval: "
        f"{'; '.join(parts)}."
    )
    return figure


def _zip(ax: "Axes", rows: "pd.DataFrame", level: float) -> str:
    """Draw intervals, and give the proportion that contains the truth."""
    lower, upper = ((rows[end] - rows["truth"]).to_numpy() for end in ("lower", "upper"))
    # How far out the truth lies in its interval: above 1 it lies outside.
    out = np.where(
        upper > lower, np.abs(upper + lower) / np.maximum(upper - lower, 1e-12), np.abs(lower) > 0
    )
    order = np.argsort(out, kind="stable")
    contains = (lower <= 0) & (upper >= 0)
    places = np.arange(len(order))[:: max(1, len(order) // MOST_INTERVALS)]
    height, drawn = 100 * (places + 0.5) / len(order), order[places]
    width = max(0.6, 80 / len(drawn))
    for inside, color in ((True, CONTAINS), (False, MISSES)):
        one = contains[drawn] == inside
        ax.hlines(height[one], lower[drawn][one], upper[drawn][one], color=color, lw=width)
    ax.axhline(100 * level, color=REFERENCE, lw=0.8, ls="--")
    ax.axvline(0, color=REFERENCE, lw=0.8)
    coverage = contains.mean()
    low, high = wilson_interval(coverage, len(rows), z=Z)
    return f"{coverage:.1%} [{low:.1%}, {high:.1%}]"


def _zip_handles(level: float) -> list[Line2D]:
    return [
        Line2D([], [], color=CONTAINS, lw=2, label="contains the truth"),
        Line2D([], [], color=MISSES, lw=2, label="misses it"),
        Line2D([], [], color=REFERENCE, lw=0.8, ls="--", label=f"nominal level, {percent(level)}"),
    ]


def plot_pairs(study: Study, results: "pd.DataFrame") -> Figure:
    """Draw the estimates of methods against one another, replicate by replicate.

    Parameters
    ----------
    study : Study
    results : pandas.DataFrame

    Returns
    -------
    matplotlib.figure.Figure
        Of the last methods of the study, six at most: estimates below, correlations above.
    """
    labels = [method.label for method in study.methods][-MOST_PAIRED:]
    styles = study_styles(study)
    by_method = of_main_estimand(results).set_index(["scenario", "replicate", "method"])["estimate"]
    wide = by_method.unstack("method").reindex(columns=labels)
    correlation = wide.corr(min_periods=3)
    few = wide.iloc[:: max(1, len(wide) // MOST_POINTS)]
    n, points = len(labels), {"ms": 1.5, "color": "0.4", "mew": 0, "rasterized": True}
    with figure_style() as width:
        side = min(width, 1.3 * n + 0.4)
        figure = Figure(figsize=(side, side), layout="constrained")
        axes = figure.subplots(n, n, squeeze=False, sharex=True, sharey=True)
        for i, across in enumerate(labels):
            for j, down in enumerate(labels):
                ax = axes[j, i]
                if i > j:
                    _say(ax, _correlation(correlation.loc[down, across]))
                elif i == j:
                    _say(ax, textwrap.fill(styles[across].label, 13), styles[across].color)
                else:
                    ax.plot(few[across], few[down], ".", **points)
                    ax.axline((0, 0), slope=1, color=REFERENCE, lw=0.6)
        ends = limits(wide)
        axes[0, 0].set(xlim=ends, ylim=ends)
        figure.supxlabel("Estimate")
        figure.supylabel("Estimate")
    pairs = [
        f"{styles[one].label} and {styles[other].label} "
        f"{_correlation(correlation.loc[one, other]) or 'none'}"
        for one, other in combinations(labels, 2)
    ]
    figure.set_label(
        f"Estimates of methods against one another, sample by sample, in the study {study.name}; "
        f"correlations: {'; '.join(pairs)}."
    )
    return figure


def _say(ax: "Axes", text: str, color: str = "black") -> None:
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0, labelleft=False, labelbottom=False)
    ax.text(0.5, 0.5, text, ha="center", va="center", transform=ax.transAxes, color=color)


def _correlation(r: float) -> str:
    return "" if np.isnan(r) else f"r = {decimal(r, 2)}"


def _panel_for_each(styles: dict[str, MethodStyle], width: float) -> "tuple[Figure, list[Axes]]":
    titles = [style.label for style in styles.values()]
    return panels(titles, width, height=1.85, across=MOST_ACROSS)
