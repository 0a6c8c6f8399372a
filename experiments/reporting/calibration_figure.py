"""The calibration curve of scores: how probable the category is at each score."""

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from experiments.reporting.figure_style import figure_style
from lehner.core.text import percent

if TYPE_CHECKING:
    from lehner.scores.performance import ScorePerformance


def plot_calibration(found: "ScorePerformance") -> Figure:
    """Draw the calibration curve with its band, and where calibrated scores would lie.

    Parameters
    ----------
    found : ScorePerformance

    Returns
    -------
    matplotlib.figure.Figure
        Of one column.
    """
    with figure_style(columns=1) as width:
        figure = Figure(figsize=(width, width), layout="constrained")
        ax = figure.subplots()
        ax.plot([0, 1], [0, 1], "--", color="0.4", label="calibrated")
        ax.fill_between(
            found.score,
            found.lower,
            found.upper,
            step="mid",
            alpha=0.25,
            linewidth=0,
            label=f"{percent(found.level)} intervals",
        )
        ax.step(found.score, found.calibrated, where="mid", label="estimate")
        ax.axvline(found.threshold, color="0.4", linewidth=0.8, linestyle=":", label="threshold")
        ax.set(
            xlabel="Score",
            ylabel=f"Probability of {found.positive}",
            xlim=(0, 1),
            ylim=(0, 1),
            aspect="equal",
        )
        figure.legend(loc="outside lower center", ncols=2)
    figure.set_label(f"How probable {found.positive} is at each score, with intervals.")
    return figure
