"""Draw the paper's figures: estimated against true system accuracy."""

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from experiments.paper.figure_scenarios import PAPER_RUNS, PRESETS, PaperFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAPER, MANY = "#0b5394", "#b4b4b4"
PANELS = {
    "system_accuracy": "Expected accuracy of the system",
    "system_accuracy_in_sample": "Proportion the system got right in the sample",
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
        Estimates against the expected accuracy, and against the accuracy in the sample.

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
    drawn = Figure(figsize=(7.8, 4.5), layout="constrained")
    axes = drawn.subplots(1, 2, sharey=True)
    like_the_paper = _first_runs(runs)
    for ax, (estimand, label) in zip(axes, PANELS.items(), strict=True):
        _scatter(ax, runs, like_the_paper, estimand)
        ax.set_xlabel(label)
    axes[0].set_ylabel("Estimated accuracy")
    raters = ", ".join(f"{x:g}" for x in figure.rater_accuracy)
    state = "violated" if figure.violated else "satisfied"
    drawn.suptitle(
        f"Figure {figure.number}: raters {raters}; {figure.n_items:,} items; K-properties {state}\n"
        f"mean kappa {figure.kappa:.3f} in the paper, {float(runs.kappa.mean()):.3f} here",
        fontsize="medium",
    )
    handles, labels = axes[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="small")
    return drawn


def _first_runs(runs: xr.Dataset) -> xr.Dataset:
    """Give the first runs of each preset, as many as the paper has."""
    each = PAPER_RUNS // len(PRESETS)
    first = np.concatenate([np.flatnonzero(runs.preset.values == p)[:each] for p in PRESETS])
    return runs.isel(run=first)


def _scatter(ax: "Axes", runs: xr.Dataset, few: xr.Dataset, estimand: str) -> None:
    ax.plot([0, 1], [0, 1], color="black", lw=0.8, zorder=1)
    n = int(runs.sizes["run"])
    if n > few.sizes["run"]:
        ax.plot(
            runs[estimand],
            runs.algebraic_paper,
            ".",
            ms=4,
            color=MANY,
            mew=0,
            zorder=0,
            label=f"{n:,} runs",
            rasterized=True,
        )
    ax.plot(
        few[estimand],
        few.algebraic_paper,
        "o",
        ms=4.5,
        mfc="none",
        color=PAPER,
        zorder=2,
        label=f"{few.sizes['run']} runs, as in the paper",
    )
    undefined = int(np.isnan(runs.algebraic_paper).sum())
    if undefined:
        ax.text(
            0.98,
            0.02,
            f"{undefined} runs without estimate",
            ha="right",
            va="bottom",
            transform=ax.transAxes,
            fontsize="small",
        )
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
