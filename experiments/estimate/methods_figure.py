"""The figure of each method's estimates of system accuracy, with their intervals."""

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from experiments.reporting.figure_style import REFERENCE, figure_style, limits, proportion_ticks
from experiments.reporting.method_style import method_label, method_style
from experiments.reporting.table import MARK, MARKED
from lehner import Estimate, IntervalEstimate
from lehner.core.resampling import wilson_interval
from lehner.core.text import counted, decimal, percent
from lehner.estimation.result import Comparison, SystemResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = {
    "system_accuracy": "Expected accuracy",
    "system_accuracy_in_sample": "Accuracy in this sample",
}
BAND = "0.9"

type Ends = tuple[float, float]


def plot_intervals(comparison: Comparison | SystemResult, name: str = "") -> Figure:
    """Draw each method's estimates of system accuracy with their intervals.

    Parameters
    ----------
    comparison : Comparison or SystemResult
        Of one system.
    name : str
        Above the figure, by default that of the data.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for the expected accuracy and one for the accuracy in this sample, a row for each
        method. The dashed line is what known truths say, its band their interval, in a panel
        where they are not exact. Methods whose estimate they correct have an asterisk.

    Examples
    --------
    >>> import lehner
    >>> from lehner.estimation.estimate import compare
    >>> ratings = lehner.load_dataset("lehner_table2")
    >>> compared = compare("table 2", ratings, [lehner.majority_agreement(ratings)])
    >>> [label.get_text() for label in plot_intervals(compared).axes[0].get_yticklabels()]
    ['Majority']
    """
    if isinstance(comparison, Comparison):
        name = name or comparison.name
        (comparison,) = comparison.systems
    estimates = comparison.estimates
    n = len(estimates)
    drawn: list[float] = []
    with figure_style() as width:
        figure = Figure(figsize=(width, 1.25 + 0.24 * n), layout="constrained")
        axes = figure.subplots(1, 2, sharex=True, sharey=True)
        for ax, (estimand, title) in zip(axes, PANELS.items(), strict=True):
            ends = _truth_interval(comparison, estimand)
            if comparison.known_truth is not None:
                drawn += _known_truth(ax, comparison.known_truth.system_accuracy, ends)
            for row, estimate in enumerate(estimates):
                drawn += _estimate(ax, estimate.method, getattr(estimate, estimand), row)
            ax.set(title=title, xlabel=f"Proportion of items right; {_level(comparison)}")
            ax.grid(axis="x")
            ax.spines["left"].set_visible(False)
            ax.tick_params(axis="y", length=0)
        axes[0].set_yticks(np.arange(n), list(map(_label, estimates)))
        axes[0].set(ylim=(n - 0.5, -0.5), xlim=limits(drawn))
        proportion_ticks(axes[0].xaxis)
        figure.suptitle(name)
        handles = _handles(comparison)
        if handles:
            ncols = 3 if len(handles) <= 3 else 2
            figure.legend(handles=handles, loc="outside lower center", ncols=ncols)
    figure.set_label(_alt_text(comparison, name))
    return figure


def _label(estimate: Estimate) -> str:
    return method_label(estimate.method) + MARK * estimate.system_accuracy.corrected


def _estimate(ax: "Axes", method: str, value: IntervalEstimate, row: float) -> list[float]:
    """Draw an estimate, with its interval if it has one; give what is drawn."""
    style = method_style(method)
    if value.estimate is None:
        across = ax.get_yaxis_transform()
        ax.text(0.5, row, "no estimate", ha="center", va="center", transform=across)
        return []
    ax.plot(value.estimate, row, ls="", ms=5.5, **style.options())
    if value.lower is None or value.upper is None:
        return [value.estimate]
    ax.hlines(row, value.lower, value.upper, color=style.color, lw=1.8, zorder=1.5)
    return [value.estimate, value.lower, value.upper]


def _truth_interval(comparison: SystemResult, estimand: str) -> Ends | None:
    """Give the interval of known truths; of all items they give the proportion exactly."""
    truth = comparison.known_truth
    if truth is None:
        return None
    if estimand == "system_accuracy":
        return _wilson(truth.system_accuracy, truth.n_items, comparison.level)
    if truth.lower is None or truth.upper is None:
        return None
    return truth.lower, truth.upper


def _wilson(proportion: float, n: int, probability: float) -> Ends:
    low, high = wilson_interval(proportion, n, z=NormalDist().inv_cdf((1 + probability) / 2))
    return float(low), float(high)


def _known_truth(ax: "Axes", right: float, ends: Ends | None) -> list[float]:
    ax.axvline(right, color=REFERENCE, lw=1, ls="--", zorder=1)
    if ends is None:
        return [right]
    ax.axvspan(*ends, color=BAND, lw=0, zorder=0)
    return [right, *ends]


def _level(comparison: SystemResult) -> str:
    return f"{percent(comparison.level)} intervals"


def _handles(comparison: SystemResult) -> "list[Line2D | Patch]":
    handles: list[Line2D | Patch] = []
    truth = comparison.known_truth
    if truth is not None:
        of = f"proportion right of {counted(truth.n_items, 'item')} with known truth"
        exact = "; exact for this sample" if truth.level is None else ""
        handles += [
            Line2D([], [], color=REFERENCE, lw=1, ls="--", label=of),
            Patch(color=BAND, label=f"its {_level(comparison)[:-1]}{exact}"),
        ]
    if any(one.system_accuracy.corrected for one in comparison.estimates):
        handles.append(Line2D([], [], ls="", label=MARKED))
    return handles


def _alt_text(comparison: SystemResult, name: str) -> str:
    parts = [
        f"{_label(one)} {one.system_accuracy}, in this sample {one.system_accuracy_in_sample}"
        for one in comparison.estimates
    ]
    text = f"System accuracy on {name} by method, with {_level(comparison)}: {'; '.join(parts)}."
    truth = comparison.known_truth
    if truth is None:
        return text
    of = counted(truth.n_items, "item")
    right = decimal(truth.system_accuracy)
    return f"{text} Proportion right of {of} with known truth: {right}."
