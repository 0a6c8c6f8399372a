"""Figures: each takes a result and draws it; none computes."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from experiments.estimate.comparison import Comparison, KnownTruth
from lehner import IntervalEstimate
from lehner.core.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXPECTED, IN_SAMPLE, NAIVE = "#0b5394", "#e07b00", "#666666"


def plot_intervals(comparison: Comparison, ax: "Axes | None" = None) -> "Axes":
    """Draw each method's estimates of system accuracy with their intervals.

    Parameters
    ----------
    comparison : Comparison
        As `compare` gives it.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With a row for each method.

    Examples
    --------
    >>> import lehner
    >>> from experiments.estimate.comparison import compare
    >>> ratings = lehner.load_dataset("lehner_table2")
    >>> compared = compare("table 2", ratings, [lehner.majority_agreement(ratings)])
    >>> [label.get_text() for label in plot_intervals(compared).get_yticklabels()]
    ['majority agreement']
    """
    n = len(comparison.estimates)
    if ax is None:
        ax = Figure(figsize=(7, 1.7 + 0.55 * n), layout="constrained").subplots()
    for row, estimate in enumerate(comparison.estimates):
        expected, in_sample = estimate.system_accuracy, estimate.system_accuracy_in_sample
        if expected.estimate is None:
            ax.text(0.5, row, "no estimate", ha="center", va="center", color=NAIVE)
        elif expected.lower is None:
            ax.plot(expected.estimate, row, marker="X", color=NAIVE, ms=8, ls="")
        else:
            _interval(ax, expected, row - 0.13, EXPECTED, "o")
            _interval(ax, in_sample, row + 0.13, IN_SAMPLE, "s")
    if comparison.known_truth is not None:
        _known_truth(ax, comparison.known_truth)
    _legend(ax, comparison)
    ax.set(
        yticks=np.arange(n),
        yticklabels=[e.method.replace("_", " ") for e in comparison.estimates],
        ylim=(n + 0.4, -0.5),  # the last row is the legend's
        xlim=(-0.02, 1.02),
        xlabel="System accuracy",
        title=comparison.name,
    )
    ax.grid(axis="x", alpha=0.3)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def _known_truth(ax: "Axes", truth: KnownTruth) -> None:
    if truth.lower is not None and truth.upper is not None:
        ax.axvspan(truth.lower, truth.upper, color="black", alpha=0.08, lw=0)
    ax.axvline(truth.system_accuracy, color="black", lw=1, ls="--")


def _interval(ax: "Axes", value: IntervalEstimate, y: float, color: str, marker: str) -> None:
    if value.estimate is None or value.lower is None or value.upper is None:
        return
    ax.plot([value.lower, value.upper], [y, y], color=color, lw=2, solid_capstyle="butt")
    ax.plot(value.estimate, y, marker=marker, color=color, ms=6, ls="")


def _legend(ax: "Axes", comparison: Comparison) -> None:
    levels = [e.system_accuracy.level for e in comparison.estimates if e.system_accuracy.level]
    interval = f", {levels[0]:.0%} interval" if levels else ""
    handles = []
    if levels:
        handles += ax.plot([], [], "o-", color=EXPECTED, label=f"expected accuracy{interval}")
        handles += ax.plot(
            [], [], "s-", color=IN_SAMPLE, label=f"accuracy in this sample{interval}"
        )
    if len(levels) < len(comparison.estimates):
        handles += ax.plot([], [], "X", color=NAIVE, label="point without interval")
    if comparison.known_truth is not None:
        handles += ax.plot(
            [], [], "--", color="black", label=_of_known_truth(comparison.known_truth)
        )
    box = {"facecolor": "white", "edgecolor": "none", "framealpha": 1}
    ax.legend(handles=handles, ncols=2, fontsize="small", loc="lower center", **box)


def _of_known_truth(truth: KnownTruth) -> str:
    of = f"on {counted(truth.n_items, 'item')} of known truth"
    return f"{of}: exact" if truth.level is None else f"{of}, {truth.level:.0%} interval"
