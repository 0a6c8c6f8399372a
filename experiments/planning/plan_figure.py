"""Draw the trade-off between raters and items."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

from experiments.planning.plan import Question
from experiments.reporting.figure_style import figure_style, shade
from experiments.reporting.method_style import method_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vPX"


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
        With 95% Monte Carlo intervals.
    """
    with figure_style() as width:
        drawn = Figure(figsize=(width, 3.5), layout="constrained")
        axes = drawn.subplots(1, 2)
        groups = list(table.groupby("violation"))
        for i, (violation, rows) in enumerate(groups):
            style = {"color": shade(i, len(groups)), "marker": MARKERS[i % len(MARKERS)]}
            known = rows.dropna(subset="n_items")
            items, low, high = (known[name].astype(float) for name in ("n_items", "lower", "upper"))
            for ax, each in zip(axes, (np.ones(len(known)), known.n_raters), strict=True):
                bars = [(items - low) * each, (high - items) * each]
                label = _label(rows, violation)
                ax.errorbar(
                    known.n_raters, items * each, yerr=bars, elinewidth=1, label=label, **style
                )
        for ax, name in zip(axes, ("Items needed", "Ratings needed (raters × items)"), strict=True):
            _dress(ax, name)
        drawn.suptitle(_title(question))
        handles, labels = axes[0].get_legend_handles_labels()
        title = "Bars: 95% Monte Carlo intervals"
        drawn.legend(handles, labels, loc="outside lower center", ncols=2, title=title)
    drawn.set_label(_alt_text(table, question))
    return drawn


def _title(question: Question) -> str:
    truth = "expected accuracy" if question.estimand == "system_accuracy" else "proportion right"
    accuracies = ", ".join(f"{x:g}" for x in question.system_accuracies)
    several = len(question.system_accuracies) > 1
    systems = "mean over systems of accuracy" if several else "a system of accuracy"
    return (
        f"{method_label(question.method)} within {question.within:g} of the {truth} with "
        f"probability {question.confidence:g}\n{question.n_categories} categories, raters of "
        f"kappa {question.kappa:g}, {systems} {accuracies}"
    )


def _label(rows: pd.DataFrame, violation: float) -> str:
    state = {0.0: ": K-properties hold", 1.0: ": as in the paper"}.get(violation, "")
    never = ", ".join(str(n) for n in rows.n_raters[rows.n_items.isna()])
    missing = f" (none found with {never} raters)" if never else ""
    return f"violation {violation:g}{state}{missing}"


def _dress(ax: "Axes", name: str) -> None:
    ax.set(xlabel="Raters", ylabel=name, yscale="log")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.tick_params(axis="y", which="minor", length=0)
    ax.grid(True)


def _alt_text(table: pd.DataFrame, question: Question) -> str:
    parts = [
        f"violation {row.violation:g}, {row.n_raters} raters: {row.n_items:,.0f} items"
        for row in table.dropna(subset="n_items").itertuples()
    ]
    title = _title(question).replace("\n", "; ")
    return f"Items and ratings needed by the number of raters. {title}: {'; '.join(parts)}."
