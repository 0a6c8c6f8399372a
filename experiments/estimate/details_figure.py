"""The figure of a system's confusion matrix by each method."""

from typing import TYPE_CHECKING

import numpy as np

from experiments.estimate.details import Details
from experiments.reporting.figure_style import SMALLEST, figure_style
from experiments.reporting.method_style import method_label
from lehner import IntervalEstimate, SystemPerformance
from lehner.core.text import percent, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

MOST_WITH_TEXT = 8
MOST_WITH_INTERVALS = 4
DARKEST = 0.5
"""Of the blues; black letters have a contrast of 8.6 on it, and of 4.9 on a dark page."""


def plot_confusion(details: Details) -> "Figure":
    """Draw each method's confusion matrix, a panel for each, with intervals as text.

    Parameters
    ----------
    details : sequence of SystemPerformance or None
        One for each method; those without are left out.

    Returns
    -------
    matplotlib.figure.Figure
        One journal column wide if there is one method, else two.
    """
    from matplotlib.figure import Figure

    known = [one for one in details if one is not None]
    across = 2 if len(known) > 1 else 1
    n_rows = max(1, -(-len(known) // across))
    with figure_style(columns=across) as width:
        size = (width, (0.45 * width if across == 2 else 0.85 * width) * n_rows)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(n_rows, across, squeeze=False).ravel()
        images = [_draw(panel, one) for panel, one in zip(panels, known, strict=False)]
        label = "Probability of the answer"
        for panel in panels[len(known) :]:
            panel.set_axis_off()
            if images:
                room = panel.inset_axes((0.1, 0.5, 0.8, 0.06))
                figure.colorbar(images[0], cax=room, label=label, orientation="horizontal")
        if len(known) == len(panels):
            figure.colorbar(images[0], ax=list(panels), label=label, shrink=0.8, aspect=30)
    figure.set_label(_alt_text(known))
    return figure


def _alt_text(known: list[SystemPerformance]) -> str:
    if not known:
        return "No method gives a confusion matrix of the system."
    parts = [f"{method_label(one.method)} {_range_of_recall(one)}" for one in known]
    return (
        f"Confusion matrix of {known[0].system}: the probability of each answer to items of each "
        f"true category. Right answers by category, smallest and largest: {'; '.join(parts)}."
    )


def _range_of_recall(details: SystemPerformance) -> str:
    matrix = details.arrays["confusion"]
    right = np.diagonal(matrix.values[..., 0])
    if np.isnan(right).all():
        return short(None)
    return f"{short(np.nanmin(right), 2)} and {short(np.nanmax(right), 2)}"


def _draw(ax: "Axes", details: SystemPerformance) -> "AxesImage":
    matrix = details.arrays["confusion"]
    categories = [str(name) for name in matrix.names["category"]]
    ticks = np.arange(len(categories))
    many = len(categories) > MOST_WITH_INTERVALS
    level = "" if details.level is None or many else f", {percent(details.level)} intervals"
    truths = "\nwith the known truths" if details.corrected else ""
    image = ax.imshow(matrix.values[..., 0], cmap=_pale_blues(), vmin=0, vmax=1)
    ax.set(
        title=f"{method_label(details.method)}{level}{truths}",
        xlabel=f"Answer of {details.system}",
        ylabel="Truth",
        xticks=ticks,
        yticks=ticks,
        xticklabels=categories,
        yticklabels=categories,
    )
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if len(categories) > MOST_WITH_TEXT:
        return image
    for row, truth in enumerate(matrix.names["category"]):
        for column, answer in enumerate(matrix.names["response"]):
            value = details.value("confusion", truth, answer)
            text = _text(value, many=many)
            ax.text(column, row, text, ha="center", va="center", fontsize=SMALLEST)
    return image


def _pale_blues() -> "Colormap":
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["Blues"](np.linspace(0, DARKEST, 256)))


def _text(value: IntervalEstimate, *, many: bool) -> str:
    if value.lower is None or value.upper is None or many:
        return short(value.estimate, 2)
    return f"{short(value.estimate, 2)}\n[{short(value.lower, 2)}, {short(value.upper, 2)}]"
