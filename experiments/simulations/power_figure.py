"""The figure of how often each test of a K-property rejects."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from experiments.reporting.figure_style import REFERENCE, figure_style, shade
from experiments.reporting.panels import panels
from experiments.study.performance import Z
from lehner.core.resampling import wilson_interval
from lehner.k_properties.check import SIGNIFICANCE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = "osD^v"
TITLES = {
    "equal_errors": "Equal errors",
    "error_distance": "Distance of errors",
    "equal_accuracy": "Equal accuracy",
    "equal_difficulty": "Equal difficulty",
    "independence": "Independence",
    "any, Holm": "Any of these (Holm)",
    "plain_chi_square": "Paper’s chi-square",
}
ACROSS = 4


def plot_power(table: pd.DataFrame) -> "Figure":
    """Draw rates of rejection with Wilson's 95% intervals, a panel per test, a row per scenario.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns `cell`, `items`, `test`, `rejected` and `data_sets`, as in `power.csv`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    cells, sizes = list(dict.fromkeys(table["cell"])), sorted(table["items"].unique())
    tests = list(dict.fromkeys(table["test"]))
    titles = [TITLES.get(test, test) for test in tests]
    with figure_style() as width:
        height = 0.35 + 0.2 * len(cells)
        figure, axes = panels(titles, width, height=height, across=ACROSS, more=0.6)
        for ax, test in zip(axes, tests, strict=True):
            ax.axvline(100 * SIGNIFICANCE, color=REFERENCE, lw=0.8, ls="--", zorder=1)
            for place, n_items in enumerate(sizes):
                rows = table[(table["test"] == test) & (table["items"] == n_items)]
                step = 0.32 * (place - (len(sizes) - 1) / 2)
                y = [cells.index(cell) + step for cell in rows["cell"]]
                rates = rows["rejected"].to_numpy()
                low, high = wilson_interval(rates, rows["data_sets"], z=Z)
                ax.errorbar(
                    100 * rates,
                    y,
                    xerr=100 * np.maximum([rates - low, high - rates], 0),
                    fmt=MARKERS[place % len(MARKERS)],
                    ms=2.5,
                    elinewidth=1.2,
                    color=shade(place, len(sizes)),
                    label=f"{n_items} items",
                )
            ax.grid(axis="x")
            ax.tick_params(axis="y", length=0)
        axes[0].set(xlim=(-3, 103), ylim=(len(cells) - 0.5, -0.5))
        axes[0].set_yticks(range(len(cells)), cells)
        figure.supxlabel(
            "Data sets in which the test rejects at the 5% level (%), with Wilson’s 95% intervals"
        )
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(sizes))
    figure.set_label(_alt_text(table, max(sizes)))
    return figure


def _alt_text(table: pd.DataFrame, n_items: int) -> str:
    rows = table[table["items"] == n_items].pivot(index="cell", columns="test", values="rejected")
    most = rows[[test for test in rows if test != "plain_chi_square"]].drop(
        columns="any, Holm", errors="ignore"
    )
    parts = [f"{cell}: {most.loc[cell].max():.0%}" for cell in dict.fromkeys(table["cell"])]
    return (
        "How often tests of the K-properties reject at the 5% level. The test that rejects most "
        f"often with {n_items} items: {'; '.join(parts)}."
    )
