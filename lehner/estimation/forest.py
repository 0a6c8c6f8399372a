"""A forest plot: estimates as points with their intervals, a colour for each method."""

from typing import TYPE_CHECKING

from lehner.core.lazy import plt
from lehner.core.rows import KEYS
from lehner.estimation.methods import get_method

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

HEIGHT = 0.35
"""Of a line, in inches."""


def plot_forest(rows: "pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw numbers of the table of results, the first at the top.

    Parameters
    ----------
    rows : pandas.DataFrame
        With the columns of the table of results.
    ax : matplotlib.axes.Axes, optional
        By default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
    """
    varying = [name for name in KEYS if name != "method" and rows[name].nunique() > 1]
    labels = []
    if ax is None:
        size = (6.5, 1 + HEIGHT * max(len(rows), 1))
        _, ax = plt.subplots(figsize=size, layout="constrained")
    for place, one in enumerate(rows.to_dict("records")):
        method = get_method(one["method"])
        name, color, marker = one["method"], "black", "o"
        if method is not None:
            name, color, marker = method.label, method.color, method.marker
        ax.plot([one["lower"], one["upper"]], [place, place], color=color)
        ax.plot(one["estimate"], place, marker=marker, color=color)
        labels.append(", ".join([one[key] for key in varying] or [name]))
        if varying and rows["method"].nunique() > 1:
            labels[-1] += f" ({name})"
    quantity = rows["quantity"].iloc[0] if len(rows) else ""
    ax.set(yticks=range(len(labels)), yticklabels=labels, xlabel=quantity.replace("_", " "))
    ax.invert_yaxis()
    return ax
