"""Draw the paper's figures: estimated against true system accuracy."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.paper.figure_scenarios import METHOD, PAPER_RUNS, PRESETS, PaperFigure
from experiments.report.style import REFERENCE, figure_style, limits, method_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY = "0.72"
PANELS = {
    "system_accuracy": "Expected accuracy of the system",
    "system_accuracy_in_sample": "Proportion right in the sample",
}


def plot_figure(figure: PaperFigure, runs: xr.Dataset) -> Figure:
    """Draw the runs of a figure: as many as the paper's, over all there are.

    Parameters
    ----------
    figure : PaperFigure
        One of `FIGURES`, for the title.
    runs : xarray.Dataset
        As `simulate_figure` gives them.

    Returns
    -------
    matplotlib.figure.Figure
        Estimates against the expected accuracy, and against the accuracy in the sample. A point is
        a sample: their spread is that of the estimates.

    References
    ----------
    Lehner (2015), Figures 1 to 14.

    Examples
    --------
    >>> from experiments.paper import FIGURES, simulate_figure
    >>> drawn = plot_figure(FIGURES[8], simulate_figure(FIGURES[8]))
    >>> drawn.get_suptitle().splitlines()[1]
    'mean kappa 0.305 in the paper, 0.303 here'
    """
    # The first runs of each preset, as many as the paper has.
    each = PAPER_RUNS // len(PRESETS)
    first = [np.flatnonzero(runs.preset.values == preset)[:each] for preset in PRESETS]
    few = runs.isel(run=np.concatenate(first))
    with figure_style() as width:
        drawn = Figure(figsize=(width, 3.95), layout="constrained")
        axes = drawn.subplots(1, 2, sharex=True, sharey=True)
        for ax, (estimand, label) in zip(axes, PANELS.items(), strict=True):
            _scatter(ax, runs, few, estimand)
            ax.set_xlabel(label)
        # All of the paper's figures have the same axes.
        axes[0].set(xlim=limits([0, 1]), ylim=limits([0, 1]), ylabel="Estimated accuracy")
        drawn.suptitle(_title(figure, runs))
        handles, labels = axes[0].get_legend_handles_labels()
        handles.append(Line2D([], [], color=REFERENCE, lw=0.8))
        labels.append("estimate equals truth")
        drawn.legend(handles, labels, loc="outside lower center", ncols=3)
    drawn.set_label(_alt_text(figure, runs))
    return drawn


def _title(figure: PaperFigure, runs: xr.Dataset) -> str:
    raters = ", ".join(f"{x:g}" for x in figure.initial_rater_accuracy)
    state = "violated" if figure.violated else "satisfied"
    return (
        f"Figure {figure.number}: raters {raters}; {figure.n_items:,} items; K-properties {state}\n"
        f"mean kappa {figure.kappa:.3f} in the paper, {float(runs.kappa.mean()):.3f} here"
    )


def _scatter(ax: "Axes", runs: xr.Dataset, few: xr.Dataset, estimand: str) -> None:
    ax.axline((0, 0), slope=1, color=REFERENCE, lw=0.8, zorder=1)
    n = int(runs.sizes["run"])
    if n > few.sizes["run"]:
        look: dict[str, Any] = {"ms": 3, "color": MANY, "mew": 0, "zorder": 0, "rasterized": True}
        ax.plot(runs[estimand], runs[METHOD], ".", label=f"{n:,} runs", **look)
    style = method_style(METHOD)
    look = {"mfc": "none", "color": style.color, "zorder": 2}
    label = f"{few.sizes['run']} runs, as in the paper"
    ax.plot(few[estimand], few[METHOD], style.marker, label=label, **look)
    undefined = int(np.isnan(runs[METHOD]).sum())
    if undefined:
        text = f"{undefined} runs without estimate"
        ax.text(0.98, 0.02, text, ha="right", va="bottom", transform=ax.transAxes)
    ax.set_aspect("equal")
    ax.grid(True)


def _alt_text(figure: PaperFigure, runs: xr.Dataset) -> str:
    bias = float((runs[METHOD] - runs["system_accuracy"]).mean())
    title = _title(figure, runs).replace("\n", "; ")
    return (
        "Accuracy of the system as the algebra of the paper estimates it, against its true "
        f"accuracy, over {int(runs.sizes['run']):,} runs. {title}; mean bias {bias:.3f}."
    )
