"""The figure of a system's confusion matrix by each method."""

from typing import TYPE_CHECKING

import numpy as np

from experiments.estimate.details import Details
from experiments.reporting.figure_style import figure_style
from experiments.reporting.markdown import DASH, short
from experiments.reporting.method_style import method_label
from lehner import IntervalEstimate, SystemPerformance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_WITH_TEXT = 8
DARK = 0.55


def plot_confusion(found: Details) -> "Figure":
    """Draw each method's confusion matrix, a panel for each, with intervals as text.

    Parameters
    ----------
    found : sequence of SystemPerformance or None

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    known = [one for one in found if one is not None]
    with figure_style() as width:
        n_rows = -(-len(known) // 2)
        size = (width, max(1.5, 0.45 * width) * max(1, n_rows))
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(max(1, n_rows), 2, squeeze=False).ravel()
        for panel in panels[len(known) :]:
            panel.set_axis_off()
        for panel, one in zip(panels, known, strict=False):
            _draw(panel, one)
    return figure


def _draw(ax: "Axes", found: SystemPerformance) -> None:
    matrix = found.arrays["confusion"]
    categories = [str(name) for name in matrix.names["category"]]
    ticks = np.arange(len(categories))
    level = "" if found.level is None else f", {found.level:.0%} intervals"
    ax.imshow(matrix.values[..., 0], cmap="Blues", vmin=0, vmax=1)
    ax.set(
        title=f"{method_label(found.method)}{level}",
        xlabel=f"Answer of {found.system}",
        ylabel="Truth",
        xticks=ticks,
        yticks=ticks,
        xticklabels=categories,
        yticklabels=categories,
    )
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if len(categories) > MOST_WITH_TEXT:
        return
    for row, truth in enumerate(matrix.names["category"]):
        for column, answer in enumerate(matrix.names["response"]):
            value = found.value("confusion", truth, answer)
            color = "white" if (value.estimate or 0) > DARK else "black"
            text = _text(value, many=len(categories) > 4)
            ax.text(column, row, text, ha="center", va="center", color=color, fontsize=7)


def _text(value: IntervalEstimate, *, many: bool) -> str:
    if value.estimate is None:
        return DASH
    if value.lower is None or value.upper is None or many:
        return short(value.estimate, 2)
    return f"{short(value.estimate, 2)}\n[{short(value.lower, 2)}, {short(value.upper, 2)}]"
