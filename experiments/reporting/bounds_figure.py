"""The map of shared mistakes: the least accuracy by how much mistakes correlate, and real crowds."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from experiments.reporting.figure_style import REFERENCE, figure_style
from lehner.core.number_format import decimal
from lehner.dependence.mistakes import tabulate_mistakes
from lehner.dependence.mistakes_needed import least_accuracy, real_crowds

if TYPE_CHECKING:
    from lehner import MistakesNeeded, Ratings

AXIS = np.linspace(0, 0.8, 81)
LEVELS = np.arange(11) / 10
KINDS = {"crowd": ("o", "crowds"), "experts": ("s", "experts"), "language models": ("^", "models")}


def plot_bounds(ratings: "Ratings", needed: "MistakesNeeded") -> Figure:
    """Draw the least accuracy over the two caps, and where real crowds lie.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    needed : MistakesNeeded
        Its correlation is marked.

    Returns
    -------
    matplotlib.figure.Figure
        Of one column.
    """
    least = least_accuracy(tabulate_mistakes(ratings), AXIS, AXIS[:, None])
    with figure_style(columns=1) as width:
        figure = Figure(figsize=(width, 3.6), layout="constrained")
        ax = figure.subplots()
        ax.set_facecolor("0.9")  # caps that no true categories keep
        image = ax.contourf(AXIS, AXIS, least, LEVELS, cmap="cividis", alpha=0.75)
        lines = ax.contour(AXIS, AXIS, least, LEVELS, colors="white", linewidths=0.7)
        ax.clabel(lines, fmt=lambda level: decimal(level, 1), fontsize=7)
        figure.colorbar(image, ax=ax, label="System accuracy is at least", shrink=0.85)
        for kind, (marker, label) in KINDS.items():
            crowds = [crowd for crowd in real_crowds() if crowd.kind == kind]
            ax.plot(
                [max(crowd.raters, 0) for crowd in crowds],
                [max(crowd.system, 0) for crowd in crowds],
                marker,
                color="black",
                markeredgecolor="white",
                label=f"{len(crowds)} {label}",
                clip_on=False,
            )
        if needed.correlation:
            corner = [0, needed.correlation, needed.correlation]
            ax.plot(corner, corner[::-1], "--", color="white", label=_label(needed))
        ax.set(
            xlabel="Correlation of two raters’ mistakes, at most",
            ylabel="of the system’s mistakes with a rater’s, at most",
            xlim=AXIS[[0, -1]],
            ylim=AXIS[[0, -1]],
            aspect="equal",
        )
        figure.legend(loc="outside lower center", ncols=2)
    figure.set_label(f"The least accuracy of the system by correlations of mistakes; {needed}.")
    return figure


def _label(needed: "MistakesNeeded") -> str:
    return f"inside: above {decimal(needed.above, 2)}"
