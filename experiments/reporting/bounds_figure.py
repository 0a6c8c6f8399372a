"""The map of shared mistakes: the least accuracy by correlations of mistakes, and real crowds."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from experiments.reporting.figure_style import SMALLEST, figure_style
from lehner.core.text import decimal
from lehner.dependence.bounds import least_accuracy, real_crowds, tabulate_mistakes

if TYPE_CHECKING:
    from lehner import Ratings
    from lehner.dependence.bounds import MistakesNeeded

AXIS = np.linspace(0, 0.8, 81)
LEVELS = np.arange(11) / 10
DOMAINS = {
    "crowd": ("o", "crowds"),
    "experts": ("s", "panels of experts"),
    "language models": ("^", "of language models"),
}


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
        ax.set_facecolor("0.85")  # caps that no true categories keep
        image = ax.contourf(AXIS, AXIS, least, LEVELS, cmap="cividis", alpha=0.6)
        lines = ax.contour(AXIS, AXIS, least, LEVELS, colors="black", linewidths=0.6)
        ax.clabel(lines, fmt=lambda level: decimal(level, 1), fontsize=SMALLEST)
        figure.colorbar(image, ax=ax, label="System accuracy is at least", shrink=0.8)
        for domain, (marker, label) in DOMAINS.items():
            crowds = real_crowds()[real_crowds()["domain"] == domain]
            ax.plot(
                *(crowds[whose].clip(0) for whose in ("raters", "system")),
                marker,
                color="black",
                markeredgecolor="white",
                label=f"{len(crowds)} {label}",
                clip_on=False,
            )
        if needed.correlation:
            corner = [0, needed.correlation, needed.correlation]
            label = f"within: above {decimal(needed.above, 2)}"
            ax.plot(corner, corner[::-1], "--", color="black", label=label)
        ax.set(
            xlabel="Correlation of two raters’ mistakes",
            ylabel="Correlation of system’s and rater’s",
            xlim=AXIS[[0, -1]],
            ylim=AXIS[[0, -1]],
            aspect="equal",
        )
        figure.legend(loc="outside lower center", ncols=2, title="Real crowds, by their truths")
    figure.set_label(f"The least accuracy of the system by correlations of mistakes; {needed}.")
    return figure
