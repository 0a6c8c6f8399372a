"""The figure of several systems: the accuracy of each by each method."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from experiments.reporting.figure_style import GRID, figure_style, limits
from experiments.reporting.method_style import method_style
from lehner import Comparison, IntervalEstimate
from lehner.core.number_format import percent
from lehner.systems.common_items import answered_the_same

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 0.09
"""Inches of a row, a method of a system."""

SPREAD = 0.7
"""Part of the room of a system that its methods take."""


def plot_systems(comparison: Comparison) -> "Axes":
    """Draw the expected accuracy of each system by each method, the best system first.

    Parameters
    ----------
    comparison : Comparison
        Of several systems.

    Returns
    -------
    matplotlib.axes.Axes
        With the systems as rows, and intervals where a method has them.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.load_dataset("anesthesia", system=["2", "3"])
    >>> ax = plot_systems(lehner.estimate(ratings, ["algebraic"]))
    >>> sorted(label.get_text() for label in ax.get_yticklabels())
    ['2', '3']
    """
    systems = _best_first(comparison)
    methods = [one.method for one in comparison.systems[0].results]
    offsets = np.linspace(-SPREAD / 2, SPREAD / 2, len(methods)) if len(methods) > 1 else [0.0]
    with figure_style(columns=1) as width:
        height = 1.0 + (ROW * len(methods) + 0.1) * len(systems) + 0.14 * len(methods)
        figure = Figure(figsize=(width, height), layout="constrained")
        ax = figure.subplots()
        drawn: list[float | None] = []
        for method, offset in zip(methods, offsets, strict=True):
            points = [_accuracy(comparison, system, method) for system in systems]
            _draw(ax, points, np.arange(len(systems)) + offset, method)
            drawn += [end for one in points for end in (one.lower, one.estimate, one.upper)]
        ax.set(
            yticks=np.arange(len(systems)),
            yticklabels=systems,
            ylim=(len(systems) - 0.5, -0.5),
            xlim=limits([np.nan if end is None else end for end in drawn]),
            xlabel=f"System accuracy{_interval(comparison)}{_items(comparison)}",
            title=comparison.name,
        )
        ax.grid(axis="x")
        ax.hlines(
            np.arange(1, len(systems)) - 0.5, 0, 1, transform=ax.get_yaxis_transform(), color=GRID
        )
        figure.set_label(_describe(comparison, systems))
        ax.tick_params(axis="y", length=0)
        figure.legend(loc="outside lower center", ncols=2)
    return ax


def _draw(ax: "Axes", points: list[IntervalEstimate], rows: np.ndarray, method: str) -> None:
    style = method_style(method)
    x = np.array([np.nan if one.estimate is None else one.estimate for one in points])
    below = [x[i] - one.lower if one.lower is not None else 0.0 for i, one in enumerate(points)]
    above = [one.upper - x[i] if one.upper is not None else 0.0 for i, one in enumerate(points)]
    errors = np.maximum(np.nan_to_num([below, above]), 0.0)
    ax.errorbar(x, rows, xerr=errors, ls="", label=style.label, **style.options())


def _accuracy(comparison: Comparison, system: str, method: str) -> IntervalEstimate:
    return next(
        one.system_accuracy
        for one in comparison.estimates
        if (one.system, one.method) == (system, method)
    )


def _best_first(comparison: Comparison) -> list[str]:
    """Order systems by the last method that ranks them."""
    ranked = [rank for rank in comparison.ranks if rank.method == comparison.ranks[-1].method]
    names = [rank.system for rank in sorted(ranked, key=lambda rank: rank.rank)]
    return names + [name for name in comparison.ratings.systems if name not in names]


def _describe(comparison: Comparison, systems: list[str]) -> str:
    """Say what the figure shows to those who do not see it."""
    shown = [
        f"{one.system} {one.system_accuracy} by {method_style(one.method).label}"
        for system in systems
        for one in comparison.estimates
        if one.system == system
    ]
    return f"Accuracy of each system by each method, with intervals: {'; '.join(shown)}."


def _interval(comparison: Comparison) -> str:
    levels = [one.system_accuracy.level for one in comparison.estimates]
    known = [level for level in levels if level is not None]
    return f" ({percent(known[0])} intervals)" if known else ""


def _items(comparison: Comparison) -> str:
    ratings = comparison.ratings
    same = answered_the_same(ratings, ratings.systems)
    return "" if same else "\neach on the items that it answered"
