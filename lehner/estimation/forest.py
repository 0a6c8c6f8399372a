"""A forest plot: estimates as points with their intervals, a colour for each method."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lehner.core.estimate import KEYS
from lehner.core.lazy import plt
from lehner.estimation.methods import get_method

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

HEIGHT = 0.35
"""Of a row, in inches."""
SPREAD = 0.7
"""Part of the room of a row that its methods take."""


def plot_forest(
    rows: "pd.DataFrame", ax: "Axes | None" = None, labels: Sequence[str] = ()
) -> "Axes":
    """Draw numbers of the table of results, the first at the top.

    Parameters
    ----------
    rows : pandas.DataFrame
        With the columns of the table of results.
    ax : matplotlib.axes.Axes, optional
        By default those of a new figure.
    labels : sequence of str, optional
        What stands beside each number; numbers with one label share a row. By default what tells
        the numbers apart.

    Returns
    -------
    matplotlib.axes.Axes
        A star marks what gold labels correct.
    """
    labels = labels or _name_rows(rows)
    names = list(dict.fromkeys(labels))
    if ax is None:
        size = (6.5, 1 + HEIGHT * max(len(names), 1))
        _, ax = plt.subplots(figsize=size, layout="constrained")
    rows = rows.assign(label=labels)
    rows = rows[rows["estimate"].notna()]
    beside = rows.groupby("label")
    places = SPREAD * (beside.cumcount() - (beside["label"].transform("size") - 1) / 2)
    places = rows["label"].map(names.index) + places / beside["label"].transform("size")
    for one, place in zip(rows.to_dict("records"), places, strict=True):
        method = get_method(one["method"])
        color, marker = (method.color, method.marker) if method else ("black", ".")
        face = color if method is None or method.filled else "white"
        ax.hlines(place, one["lower"], one["upper"], color=color, zorder=1.5)
        ax.plot(one["estimate"], place, marker, color=color, markerfacecolor=face)
        if one["corrected"]:
            end = max(one["estimate"], one["upper"])
            ax.annotate("*", (end, place), (2, -2), textcoords="offset points")
    quantity = rows["quantity"].iloc[0] if len(rows) else ""
    ax.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    ax.set_xlabel(quantity.replace("_", " "))
    return ax


def _name_rows(rows: "pd.DataFrame") -> list[str]:
    """Name what tells numbers apart, the method by its label."""
    varying = [name for name in KEYS if name != "method" and rows[name].nunique() > 1]
    several = not varying or rows["method"].nunique() > 1
    names = []
    for one in rows.to_dict("records"):
        method = get_method(one["method"])
        by = [method.label if method else one["method"]] if several else []
        names.append(", ".join([*(one[key] for key in varying), *by]))
    return names
