"""Draw the trade-off between raters and items."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from experiments.planning.plan import Question

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = ("#0b5394", "#b45f06", "#38761d", "#666666")
MARKERS = "osD^"


def plot_trade_off(table: pd.DataFrame, question: Question) -> Figure:
    """Draw the items that are needed, and the ratings these cost, over the number of raters.

    Parameters
    ----------
    table : pandas.DataFrame
        As `trade_off` gives it.
    question : Question

    Returns
    -------
    matplotlib.figure.Figure
    """
    drawn = Figure(figsize=(9, 4.4), layout="constrained")
    axes = drawn.subplots(1, 2)
    for i, (violation, rows) in enumerate(table.groupby("violation")):
        style = {"color": COLORS[i % 4], "marker": MARKERS[i % 4], "label": _label(rows, violation)}
        found = rows.dropna(subset="n_items")
        for ax, each in zip(axes, (np.ones(len(found)), found.n_raters), strict=True):
            items, low, high = (found[name].astype(float) for name in ("n_items", "lower", "upper"))
            bars = [(items - low) * each, (high - items) * each]
            ax.errorbar(found.n_raters, items * each, yerr=bars, capsize=2, ms=5, lw=1.3, **style)
    for ax, title in zip(axes, ("Items needed", "Ratings needed (raters × items)"), strict=True):
        _dress(ax, title)
    truth = "expected accuracy" if question.estimand == "system_accuracy" else "share right"
    accuracies = ", ".join(f"{x:g}" for x in question.system_accuracies)
    averaged = " on average" if len(question.system_accuracies) > 1 else ""
    drawn.suptitle(
        f"{question.method} within {question.within:g} of the {truth} with probability "
        f"{question.confidence:g}\n{question.n_categories} categories, raters of kappa "
        f"{question.kappa:g}, system right in {accuracies}"
        f"{averaged}; bars: 95% Monte Carlo intervals",
        fontsize="medium",
    )
    handles, labels = axes[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=2, fontsize="small")
    return drawn


def _label(rows: pd.DataFrame, violation: float) -> str:
    state = {0.0: ": K-properties hold", 1.0: ": as in the paper"}.get(violation, "")
    never = ", ".join(str(n) for n in rows.n_raters[rows.n_items.isna()])
    missing = f" (none found with {never} raters)" if never else ""
    return f"violation {violation:g}{state}{missing}"


def _dress(ax: "Axes", title: str) -> None:
    ax.set(xlabel="Raters", title=title, yscale="log")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    for axis_format in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
        axis_format(ScalarFormatter())
    ax.tick_params(axis="y", which="both", labelsize="x-small")
    ax.grid(alpha=0.25, which="both")
    ax.spines[["top", "right"]].set_visible(False)
