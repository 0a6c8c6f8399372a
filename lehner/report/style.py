"""The look of all figures: sizes, fonts, axes, and how each method is called."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.lazy import load, plt
from lehner.core.text import to_short
from lehner.estimation.methods import get_look

# Loaded late: the names of methods are wanted without Matplotlib, too.
looks, ticker = load("matplotlib.style"), load("matplotlib.ticker")

# The width of one and of two columns of a journal, in inches.
WIDTHS = {1: 3.35, 2: 7.0}

# The smallest letters have so many points: figures are drawn in the size in which they are printed.
SMALLEST = 8

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

    They are written as papers write them, without the zero before the point.

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
    >>> ax.xaxis.get_major_formatter()(0.9)
    '.90'
    """
    low, high = axis.get_view_interval()
    step = next((size for size in STEPS if (high - low) / size <= MOST_STEPS), STEPS[-1])
    axis.set_major_locator(ticker.MultipleLocator(step))
    axis.set_major_formatter(partial(_write_tick, 1 if step >= 0.1 else 2))


def _write_tick(digits: int, value: float, _: int = 0) -> str:
    return to_short(value, digits) if round(value, digits) else "0"


def name_method(name: str) -> str:
    """Name of a method as people write it."""
    return get_look(name).label


def list_handles(ax: "plt.Axes") -> dict[str, Any]:
    """List what is drawn in a panel by its label; there is no key for a single thing."""
    points, names = ax.get_legend_handles_labels()
    handles = dict(zip(names, points, strict=True))
    return handles if len(handles) > 1 else {}


def add_legend(figure: "plt.Figure", handles: Mapping[str, Any], title: str) -> None:
    """Put the title of all axes below a figure, and under it the legend if there is one."""
    if not handles:
        figure.supxlabel(title)
        return
    key = figure.legend(
        handles=list(handles.values()),
        labels=list(handles),
        title=title,
        loc="outside lower center",
        ncols=2 if figure.get_figwidth() < WIDTHS[2] else 4,
    )
    key.get_title().set_multialignment("center")
