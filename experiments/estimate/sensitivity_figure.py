"""The figure of estimates against the share of items that mislead raters and system alike."""

from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_sensitivity(curves: pd.DataFrame, title: str = "", ax: "Axes | None" = None) -> "Axes":
    """Draw each method's estimate, with its interval, against the share of misleading items.

    Parameters
    ----------
    curves : pandas.DataFrame
        As `experiments.estimate.sensitivity.curves` gives it.
    title : str
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if ax is None:
        ax = Figure(figsize=(7, 4.2), layout="constrained").subplots()
    for number, (method, curve) in enumerate(curves.groupby("method", sort=False)):
        color = f"C{number}"
        share = curve["misleading_share"]
        ax.plot(share, curve["estimate"], color=color, label=str(method).replace("_", " "))
        ax.fill_between(share, curve["lower"], curve["upper"], color=color, alpha=0.12, lw=0)
    ax.set(
        xlabel="Share of items that mislead raters and system alike",
        ylabel="System accuracy",
        xlim=(0, curves["misleading_share"].max()),
        ylim=(0, 1),
        title=title,
    )
    ax.legend(fontsize="small", frameon=False)
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
