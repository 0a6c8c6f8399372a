"""The heat map of every pair of raters."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

MOST_NUMBERED = 12


def plot_pairs(pairs: "xr.Dataset", *, title: str = "") -> Figure:
    """Draw Cohen's kappa of every pair of raters, a panel for each of the weights.

    Parameters
    ----------
    pairs : xarray.Dataset, dims (weights, rater, other_rater)
        As of `Agreement.pairs`.
    title : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    names = [str(name) for name in pairs["rater"].values]
    side = 1.6 + min(0.55 * len(names), 8)
    n_panels = pairs.sizes["weights"]
    figure = Figure(figsize=(side * n_panels + 1.2, side), layout="constrained")
    panels = figure.subplots(1, n_panels, squeeze=False)[0]
    for i, ax in enumerate(panels):
        one = pairs.isel(weights=i)
        image = _heat_map(ax, one["cohen_kappa"].values, names)
        ax.set_title(f"{one['weights'].item()} weights", fontsize="medium")
    figure.colorbar(image, ax=list(panels), label="Cohen's kappa", shrink=0.9)
    figure.suptitle(title)
    return figure


def _heat_map(ax: "Axes", kappa: np.ndarray, names: list[str]) -> "AxesImage":
    ax.set_facecolor("0.9")  # pairs without items, and the diagonal
    image = ax.imshow(kappa, vmin=-1, vmax=1, cmap="RdBu")
    if len(names) <= MOST_NUMBERED:
        for row, column in zip(*np.nonzero(~np.isnan(kappa)), strict=True):
            value = kappa[row, column]
            color = "white" if abs(value) > 0.6 else "black"
            ax.text(column, row, f"{value:.2f}", ha="center", va="center", color=color, size=8)
    step = -(-len(names) // 40)
    ticks = np.arange(0, len(names), step)
    ax.set_xticks(ticks, names[::step], rotation=90 if len(names) > 4 else 0)
    ax.set_yticks(ticks, names[::step])
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return image
