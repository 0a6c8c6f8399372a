"""The heat map of every pair of raters."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import Normalize

from experiments.reporting.figure_style import SMALLEST, figure_style
from experiments.reporting.panels import panels
from lehner.coefficients.coefficient import printed_name
from lehner.core.number_format import decimal

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

MOST_NUMBERED = 12
MOST_WITH_ERRORS = 6
MOST_NAMED = 30
IN_ONE_COLUMN = 6


def plot_pairs(pairs: "xr.Dataset", *, title: str = "") -> "Figure":
    """Draw Cohen's κ of every pair of raters, a panel for each of the weights.

    Parameters
    ----------
    pairs : xarray.Dataset, dims (weights, rater, other_rater)
        As of `Agreement.pairs`.
    title : str

    Returns
    -------
    matplotlib.figure.Figure
        With the standard error of each κ, where there are no more than six raters.
    """
    names = [str(name) for name in pairs["rater"].values]
    titles = [f"{name} weights" for name in pairs["weights"].values]
    columns = 1 if len(titles) == 1 and len(names) <= IN_ONE_COLUMN else 2
    most = np.nanmax(np.abs(pairs["cohen_kappa"].values), initial=0.1)
    with figure_style(columns=columns) as width:
        across = min(len(titles), 2)
        side = (width - 0.6) / across
        figure, axes = panels(titles, width, height=side, across=across, more=0.3)
        for i, ax in enumerate(axes):
            image = _heat_map(ax, pairs.isel(weights=i), names, Normalize(-most, most))
        low, high = (float(end) for end in (pairs["cohen_kappa"].min(), pairs["cohen_kappa"].max()))
        label = printed_name("cohen_kappa") + (" ± SE" if len(names) <= MOST_WITH_ERRORS else "")
        bar = figure.colorbar(image, ax=axes, label=label, shrink=0.8, aspect=30)
        if low < high:
            bar.ax.set_ylim(low, high)
        figure.suptitle(title)
    figure.set_label(_alt_text(pairs, names, title))
    return figure


def _heat_map(ax: "Axes", pairs: "xr.Dataset", names: list[str], norm: Normalize) -> "AxesImage":
    kappa, error = pairs["cohen_kappa"].values, pairs["standard_error"].values
    ax.set_facecolor("0.9")  # pairs without items, and the diagonal
    image = ax.imshow(kappa, norm=norm, cmap="RdBu", aspect="equal")
    if len(names) <= MOST_NUMBERED:
        for row, column in zip(*np.nonzero(~np.isnan(kappa)), strict=True):
            text = decimal(kappa[row, column], 2)
            if len(names) <= MOST_WITH_ERRORS and not np.isnan(error[row, column]):
                text += f"\n± {decimal(error[row, column], 2)}"
            dark = abs(kappa[row, column]) > 0.6 * float(norm.vmax or 1)
            color = "white" if dark else "black"
            ax.text(column, row, text, ha="center", va="center", color=color, size=SMALLEST)
    step = -(-len(names) // MOST_NAMED)
    ticks = np.arange(0, len(names), step)
    turned = len(names) > 3 and max(map(len, names)) > 3
    ax.set_xticks(ticks, names[::step], rotation=90 if turned else 0)
    ax.set_yticks(ticks, names[::step])
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return image


def _alt_text(pairs: "xr.Dataset", names: list[str], title: str) -> str:
    kappa = pairs["cohen_kappa"].values
    of = f" of {title}" if title else ""
    text = f"{printed_name('cohen_kappa')} of every two of {len(names)} raters{of}"
    if np.isnan(kappa).all():
        return f"{text}; none is defined."
    quantiles = np.nanquantile(kappa, [0, 0.5, 1])
    low, middle, high = (decimal(one, 2) for one in quantiles)
    return f"{text}, from {low} to {high}, the middle one {middle}."
