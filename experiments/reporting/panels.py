"""Panels for figures of many methods: one each, rather than many lines in one."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LETTERS_AN_INCH = 12
MOST_TOGETHER = 4
"""Methods that are drawn in one panel; of more, each has its own."""


def panels(
    titles: Sequence[str],
    width: float,
    *,
    height: float,
    across: int,
    more: float = 0.5,
) -> "tuple[Figure, list[Axes]]":
    """Make a figure with a panel for each title, on common axes.

    Parameters
    ----------
    titles : sequence of str
        One or more.
    width : float
        Of the figure, in inches.
    height : float
        Of a panel with its title.
    across : int
        Panels beside one another, at most; fewer if that leaves less of the last row empty.
    more : float
        Height of what all panels have in common, such as the label below.

    Returns
    -------
    figure : matplotlib.figure.Figure
    panels : list of matplotlib.axes.Axes
        As many as titles; what is left of the last row is taken away, and the panels above it
        have their own tick labels.
    """
    n_columns = min(across, len(titles))
    n_rows = -(-len(titles) // n_columns)
    n_columns = -(-len(titles) // n_rows)
    figure = Figure(figsize=(width, height * n_rows + more), layout="constrained")
    grid = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True).ravel()
    letters = int(LETTERS_AN_INCH * width / n_columns)
    for ax, title in zip(grid, titles, strict=False):
        ax.set_title(textwrap.fill(title, letters, break_on_hyphens=False))
    for unused in grid[len(titles) :]:
        unused.remove()
    for ax in grid[len(titles) - n_columns : len(titles)]:
        ax.tick_params(labelbottom=True)
    return figure, list(grid[: len(titles)])


def empty_figure(width: float, reason: str) -> Figure:
    """Make a figure that says why there is nothing to draw."""
    figure = Figure(figsize=(width, 1), layout="constrained")
    figure.text(0.5, 0.5, reason, ha="center", va="center")
    figure.set_label(reason)
    return figure
