"""The figure of how often each test of a K-property rejects."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.reporting.figure_style import REFERENCE, figure_style, shade
from experiments.study.proportions import Z
from lehner.core.wilson import wilson_interval
from lehner.k_properties.check import LEVEL

MARKERS = "osD^v"
TITLES = {
    "equal_errors": "Equal\nerrors",
    "error_distance": "Distance\nof errors",
    "equal_accuracy": "Equal\naccuracy",
    "equal_difficulty": "Equal\ndifficulty",
    "independence": "Indepen-\ndence",
    "any, Holm": "Any of\nthese, Holm",
    "plain_chi_square": "Chi-square\nof the paper",
}


def plot_power(table: pd.DataFrame) -> Figure:
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
    with figure_style() as width:
        figure = Figure(figsize=(width, 1.2 + 0.26 * len(cells)), layout="constrained")
        axes = figure.subplots(1, len(tests), sharex=True, sharey=True, squeeze=False)[0]
        for ax, test in zip(axes, tests, strict=True):
            ax.axvline(100 * LEVEL, color=REFERENCE, lw=0.8, ls="--", zorder=1)
            for place, n_items in enumerate(sizes):
                rows = table[(table["test"] == test) & (table["items"] == n_items)]
                step = 0.28 * (place - (len(sizes) - 1) / 2)
                y = [cells.index(cell) + step for cell in rows["cell"]]
                rates = rows["rejected"].to_numpy()
                low, high = wilson_interval(rates, rows["data_sets"], z=Z)
                ax.errorbar(
                    100 * rates,
                    y,
                    xerr=100 * np.maximum([rates - low, high - rates], 0),
                    fmt=MARKERS[place % len(MARKERS)],
                    ms=2.5,
                    elinewidth=1.4,
                    color=shade(place, len(sizes)),
                    label=f"{n_items} items",
                )
            ax.set(title=TITLES.get(test, test), xlim=(-4, 104), xticks=(0, 50, 100))
            ax.grid(axis="x")
            ax.tick_params(axis="y", length=0)
        axes[0].set_yticks(range(len(cells)), cells)
        axes[0].set_ylim(len(cells) - 0.5, -0.5)
        axes[len(tests) // 2].set_xlabel("Data sets in which the test rejects at the 5% level (%)")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(sizes))
    figure.set_label(_alt_text(table, max(sizes)))
    return figure


def _alt_text(table: pd.DataFrame, n_items: int) -> str:
    rows = table[table["items"] == n_items].pivot(index="cell", columns="test", values="rejected")
    most = rows[[test for test in rows if test != "plain_chi_square"]].drop(
        columns="any, Holm", errors="ignore"
    )
    said = [f"{cell}: {most.loc[cell].max():.0%}" for cell in dict.fromkeys(table["cell"])]
    return (
        "How often tests of the K-properties reject at the 5% level. The test that rejects most "
        f"often with {n_items} items: {'; '.join(said)}."
    )
