"""Sizes and fonts of all figures, as journals print them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axis import Axis

WIDTHS = {1: 3.35, 2: 7.0}
"""Inches of one and of two columns of a journal."""

SMALLEST = 7
"""Points of the smallest letters. Figures are drawn in the size in which they are printed."""

PNG_DOTS = 200
SCREEN_DOTS = 140
"""An inch, in notebooks."""

GRID = "0.88"
ROOM = 0.05
"""Beside what is drawn, as a proportion of its range."""
STEPS, MOST_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2), 8
"""Distances between ticks of proportions, and how many of them an axis has at most."""
REFERENCE = "0.35"
"""The grey of lines to compare with: no bias, the nominal level, equal values."""

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "figure.titlesize": 8.5,
    "figure.labelsize": 8,
    "xtick.labelsize": SMALLEST,
    "ytick.labelsize": SMALLEST,
    "legend.fontsize": SMALLEST,
    "legend.title_fontsize": SMALLEST,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.grid": False,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.5,
    "lines.markeredgewidth": 0.9,
    "errorbar.capsize": 0,
    "figure.dpi": SCREEN_DOTS,
    "savefig.dpi": PNG_DOTS,
    "pdf.fonttype": 42,
    "svg.hashsalt": "lehner",  # the same ids each time
    "text.parse_math": False,  # a name may hold dollar signs
}


@contextmanager
def figure_style(*, columns: int = 2) -> Iterator[float]:
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
    >>> with figure_style(columns=1) as width:
    ...     figure = Figure(figsize=(width, 2.4), layout="constrained")
    >>> float(figure.get_figwidth())
    3.35
    """
    from matplotlib import style

    with style.context(["default", STYLE]):
        yield WIDTHS[columns]


def limits(*values: ArrayLike, within: tuple[float, float] | None = (0, 1)) -> tuple[float, float]:
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
    >>> limits([0.6, 0.8], [0.7, float("nan")])
    (0.59, 0.81)
    >>> limits([0.6, 1.0])
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


def proportion_ticks(axis: "Axis") -> None:
    """Put ticks at proportions of at most two decimals, once the axis has its ends.

    Parameters
    ----------
    axis : matplotlib.axis.Axis

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> _ = ax.set_xlim(0.897, 0.955)
    >>> proportion_ticks(ax.xaxis)
    >>> [round(float(tick), 6) for tick in ax.get_xticks() if 0.897 <= tick <= 0.955]
    [0.9, 0.91, 0.92, 0.93, 0.94, 0.95]
    """
    from matplotlib.ticker import MultipleLocator

    low, high = axis.get_view_interval()
    step = next((one for one in STEPS if (high - low) / one <= MOST_STEPS), STEPS[-1])
    axis.set_major_locator(MultipleLocator(step))


def shade(place: int, n: int) -> Any:
    """Colour for one of some ordered things, as strengths or sizes: later ones are darker.

    Parameters
    ----------
    place : int
        From 0.
    n : int
        How many there are.

    Returns
    -------
    tuple of float
        From cividis, which looks alike to people with and without all kinds of cones.
    """
    from matplotlib import colormaps

    return colormaps["cividis_r"](0.25 + 0.75 * place / max(n - 1, 1))
