"""The look of all figures: sizes, fonts, panels, and how each method is drawn and called."""

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.lazy import load, plt
from lehner.estimation.methods import get_look

# Loaded late: the names of methods are wanted without Matplotlib, too.
looks, ticker = load("matplotlib.style"), load("matplotlib.ticker")
figures = load("matplotlib.figure")

# The width of one and of two columns of a journal, in inches.
WIDTHS = {1: 3.35, 2: 7.0}

# The smallest letters have so many points: figures are drawn in the size in which they are printed.
SMALLEST = 7

GRID = "0.88"
# The room that an axis has beside what is drawn, as a proportion of its range.
ROOM = 0.05
# The distances between ticks of proportions, and how many of them an axis has at most.
STEPS, MOST_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2), 8

STYLE = Path(__file__).with_name("lehner.mplstyle")


@contextmanager
def use_style(*, columns: int = 2) -> Iterator[float]:
    """Draw what is drawn in this context in the style of all figures, whatever else is set.

    Parameters
    ----------
    columns : {1, 2}
        Of a journal, over which the figure goes.

    Yields
    ------
    float
        Width of the figure in inches: 3.35 or 7.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> with use_style(columns=1) as width:
    ...     figure = Figure(figsize=(width, 2.4), layout="constrained")
    >>> float(figure.get_figwidth())
    3.35
    """
    with looks.context(["default", STYLE]):
        yield WIDTHS[columns]


def span(*values: ArrayLike, within: tuple[float, float] | None = (0, 1)) -> tuple[float, float]:
    """Ends of an axis that leaves no part of its range unused.

    Parameters
    ----------
    *values : array_like of float
        What is drawn; NaN and infinite values are passed over.
    within : tuple of float, optional
        Ends of the possible values; beyond them only points are given room.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> span([0.6, 0.8], [0.7, float("nan")])
    (0.59, 0.81)
    >>> span([0.6, 1.0])
    (0.58, 1.01)
    """
    drawn = np.concatenate([np.ravel(np.asarray(value, dtype=float)) for value in values])
    drawn = drawn[np.isfinite(drawn)]
    if not drawn.size:
        return within or (0, 1)
    low, high = float(drawn.min()), float(drawn.max())
    room = ROOM * ((high - low) or 0.2)
    low, high = low - room, high + room
    if within is not None:
        edge = 0.01 * (within[1] - within[0])
        low, high = max(low, within[0] - edge), min(high, within[1] + edge)
    return round(low, 6), round(high, 6)


def set_proportion_ticks(axis: Any) -> None:
    """Put ticks at proportions of at most two decimals, once the axis has its ends.

    Parameters
    ----------
    axis : matplotlib.axis.Axis

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> _ = ax.set_xlim(0.897, 0.955)
    >>> set_proportion_ticks(ax.xaxis)
    >>> [round(float(tick), 6) for tick in ax.get_xticks() if 0.897 <= tick <= 0.955]
    [0.9, 0.91, 0.92, 0.93, 0.94, 0.95]
    """
    low, high = axis.get_view_interval()
    step = next((size for size in STEPS if (high - low) / size <= MOST_STEPS), STEPS[-1])
    axis.set_major_locator(ticker.MultipleLocator(step))


def name_method(name: str) -> str:
    """Name of a method as people write it."""
    return get_look(name).label


LETTERS_AN_INCH = 12


def make_panels(
    titles: Sequence[str], width: float, *, height: float, across: int, more: float = 0.5
) -> "tuple[plt.Figure, list[plt.Axes]]":
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
    figure = figures.Figure(figsize=(width, height * n_rows + more), layout="constrained")
    grid = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True).ravel()
    letters = int(LETTERS_AN_INCH * width / n_columns)
    for ax, title in zip(grid, titles, strict=False):
        ax.set_title(textwrap.fill(title, letters, break_on_hyphens=False))
    for unused in grid[len(titles) :]:
        unused.remove()
    for ax in grid[len(titles) - n_columns : len(titles)]:
        ax.tick_params(labelbottom=True)
    return figure, list(grid[: len(titles)])
