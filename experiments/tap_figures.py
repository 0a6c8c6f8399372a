"""Figures of how a t-a-p model, or another with classes, fits: none computes."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

MARKERS = "osD^vP*Xh<>p"
MOST_WRITTEN = 12


def plot_calibration(table: "xr.Dataset", ax: "Axes | None" = None) -> "Axes":
    """Draw how often ratings came against how probable they were.

    Parameters
    ----------
    table : xarray.Dataset
        As `lehner.rating_calibration` gives it.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With a marker for each category and bin, its area by the number of ratings, and bars of
        two standard errors, within 0 and 1.
    """
    if ax is None:
        ax = Figure(figsize=(5, 5), layout="constrained").subplots()
    ax.plot([0, 1], [0, 1], color="black", lw=0.8)
    most = float(table["n_ratings"].max())
    for number, category in enumerate(table["category"].values):
        one = table.sel(category=category)
        one = one.isel(bin=np.flatnonzero(one["n_ratings"].values > 0))
        color = f"C{number % 10}"
        half = 2 * one["standard_error"]
        below, above = ((one["observed"] + end).clip(0, 1) for end in (-half, half))
        ax.vlines(one["predicted"], below, above, lw=1, color=color)
        ax.scatter(
            one["predicted"],
            one["observed"],
            s=15 + 60 * one["n_ratings"] / most,
            color=color,
            marker=MARKERS[number % len(MARKERS)],
            label=str(category),
        )
    ax.set(
        xlim=(-0.03, 1.03),
        ylim=(-0.03, 1.03),
        aspect="equal",
        xlabel="Probability of the rating given the other ratings of the item",
        ylabel="Share of ratings (bars: 2 standard errors)",
    )
    ax.legend(title="rating", fontsize="small", loc="lower right")
    ax.grid(alpha=0.3)
    return ax


def plot_residual_correlation(table: "xr.Dataset", ax: "Axes | None" = None) -> "Axes":
    """Draw the correlations between raters that the classes of a model leave.

    Parameters
    ----------
    table : xarray.Dataset
        As `lehner.residual_correlation` gives it.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With a square for each pair of raters, its number bold if it is more than two standard
        errors from 0. Numbers are left out for more than 12 raters.
    """
    values = table["correlation"].values
    names = [str(name) for name in table["rater"].values]
    n = len(names)
    if ax is None:
        size = 1.8 + 0.6 * min(n, 20)
        ax = Figure(figsize=(size + 1, size), layout="constrained").subplots()
    limit = max(float(np.nanmax(np.abs(values), initial=0.0)), 0.1)
    image = ax.imshow(values, cmap="RdBu_r", vmin=-limit, vmax=limit)
    figure = ax.figure
    figure.colorbar(image, ax=ax, label="residual correlation", shrink=0.8)
    marked = np.abs(values) > 2 * table["standard_error"].values
    if n <= MOST_WRITTEN:
        for j, m in np.argwhere(np.isfinite(values)):
            ax.text(
                m,
                j,
                f"{values[j, m]:.2f}",
                ha="center",
                va="center",
                fontsize="small",
                weight="bold" if marked[j, m] else "normal",
                color="white" if abs(values[j, m]) > 0.6 * limit else "black",
            )
    turned = max(map(len, names)) > 3
    ax.set_xticks(range(n), names, rotation=30 if turned else 0, ha="right" if turned else "center")
    ax.set_yticks(range(n), names)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax
