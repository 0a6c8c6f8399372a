"""The figure of estimates against the share of items that mislead raters and system alike."""

from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.figure import Figure

from experiments.reporting.figure_style import figure_style, limits, proportion_ticks
from experiments.reporting.method_style import legend_handles, method_style
from experiments.reporting.panels import MOST_TOGETHER, panels
from lehner.core.text import decimal, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKED = 6
SHARE = "Items that mislead raters and system alike (%)"


def plot_sensitivity(curves: pd.DataFrame, title: str = "", *, level: float) -> Figure:
    """Draw each method's estimate, with its interval, against the share of misleading items.

    Parameters
    ----------
    curves : pandas.DataFrame
        As `experiments.estimate.sensitivity.curves` gives it.
    title : str
    level : float
        Probability of the intervals.

    Returns
    -------
    matplotlib.figure.Figure
        Of one column; of more than four methods two columns wide, with a panel for each.
    """
    methods = [str(method) for method in curves["method"].unique()]
    together = len(methods) <= MOST_TOGETHER
    accuracy = f"System accuracy; bands: {percent(level)} intervals"
    styles = [method_style(method) for method in methods]
    with figure_style(columns=1 if together else 2) as width:
        if together:
            figure = Figure(figsize=(width, 2.9), layout="constrained")
            axes = [figure.subplots()] * len(methods)
            axes[0].set(title=title, xlabel=SHARE, ylabel=accuracy)
            handles = legend_handles(styles)
            figure.legend(handles=handles, loc="outside lower center", ncols=2)
        else:
            titles = [style.label for style in styles]
            figure, axes = panels(titles, width, height=1.45, across=4)
            figure.suptitle(title)
            figure.supxlabel(SHARE)
            figure.supylabel(accuracy)
        for ax, method in zip(axes, methods, strict=True):
            _curve(ax, curves[curves["method"] == method], method)
        axes[0].set(
            xlim=(0, 100 * curves["misleading_share"].max()),
            ylim=limits(*(curves[name] for name in ("estimate", "lower", "upper"))),
        )
        proportion_ticks(axes[0].yaxis)
    figure.set_label(_alt_text(curves, methods, title))
    return figure


def _curve(ax: "Axes", curve: pd.DataFrame, method: str) -> None:
    style = method_style(method)
    share = 100 * curve["misleading_share"]
    every = max(1, len(curve) // MARKED)
    ax.plot(share, curve["estimate"], markevery=every, **style.options())
    ax.fill_between(share, curve["lower"], curve["upper"], color=style.color, alpha=0.13, lw=0)
    ax.grid(True)


def _alt_text(curves: pd.DataFrame, methods: list[str], title: str) -> str:
    ends = curves.groupby("method", sort=False)["estimate"].agg(["first", "last"])
    parts = [
        f"{method_style(method).label} from {decimal(ends.loc[method, 'first'])} to "
        f"{decimal(ends.loc[method, 'last'])}"
        for method in methods
    ]
    most = curves["misleading_share"].max()
    return (
        f"Estimated system accuracy{f' on {title}' if title else ''}, with intervals, as the share "
        f"of items that mislead raters and system alike goes from 0 to {percent(most)}: "
        f"{'; '.join(parts)}."
    )
