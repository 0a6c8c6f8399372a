"""Draw the README's figure: who is biased when which K-property fails, and when errors correlate.

`python docs/figures/make_gallery.py committed` draws `k_violations.png`, and for phones
`k_violations_narrow.png`, from the committed results of the study `k_violations`: the good system,
of accuracy .9, whose expected accuracy is estimated.
"""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lehner.core.results import REFERENCE, line_style
from lehner.estimation.methods import get_look
from lehner.report.figures import use_style

RESULTS = Path(__file__).parents[2] / "experiments/studies/k_violations/performance.csv"
METHODS = (
    *("algebraic_paper", "algebraic", "dawid_skene", "relaxed_k"),
    *("majority_agreement", "learned_prior"),
)
HOLDS = "K-properties hold, good system"
ONE, ALL, CORRELATED = "one fails", "all fail", "correlated errors"
# A panel: its title, its scenarios after the one in which all is well, and their ticks.
PANELS = {
    "Raters are\nnot equally good": (
        [
            f"{ONE}, good system, initial_rater_accuracy 0.5 0.6 0.7",
            f"{ONE}, good system, initial_rater_accuracy 0.4 0.6 0.8",
        ],
        ["all .6", ".5 to .7", ".4 to .8"],
    ),
    "Items are\nnot equally difficult": (
        [f"{ONE}, good system, easiness -0.1 0 0.1", f"{ONE}, good system, easiness -0.2 0 0.2"],
        ["equal", "±.1", "±.2"],
    ),
    "Near errors\nare more frequent": (
        [
            f"{ONE}, good system, asymmetric_dispersion 1.5",
            f"{ONE}, good system, asymmetric_dispersion 2.0",
        ],
        ["equal", "× 1.5", "× 2"],
    ),
    "Errors have\nrandom probabilities": (
        [
            f"{ONE}, good system, proportional_error_range 0.5",
            f"{ONE}, good system, proportional_error_range 1.0",
        ],
        ["equal", "±50%", "±100%"],
    ),
    "All four properties\nfail": ([f"{ALL}, good system"], ["hold", "fail"]),
    "Some items mislead\nraters and system alike": (
        [
            f"{CORRELATED}, good system, misleading 0.1",
            f"{CORRELATED}, good system, misleading 0.2",
        ],
        ["none", "10%", "20%"],
    ),
    "Two raters copy\nanother rater": (
        [f"{CORRELATED}, good system, copying 0 0.3 0.3"],
        ["never", "on 30%"],
    ),
}


def read() -> pd.DataFrame:
    """Read the bias of each method, a row for each scenario."""
    rows = pd.read_csv(RESULTS)
    rows = rows[(rows["measure"] == "bias") & (rows["estimand"] == "system_accuracy")]
    return rows.pivot_table("value", "scenario", "method")


def draw(*, narrow: bool = False) -> Figure:
    """Draw a panel for each property, and in it a line for each method."""
    bias = read()
    with use_style(columns=1 if narrow else 2) as width:
        size, shape = ((width, 6.2), (4, 2)) if narrow else ((width, 3.9), (2, 4))
        figure = Figure(figsize=size, layout="constrained")
        *panels, last = figure.subplots(*shape, sharey=True).ravel()
        for ax, title in zip(panels, PANELS, strict=True):
            _draw_panel(ax, bias, title)
        panels[0].set(ylim=(-0.33, 0.2))
        panels[0].set_yticks([-0.3, -0.2, -0.1, 0, 0.1], ["−.3", "−.2", "−.1", "0", ".1"])
        last.axis("off")
        last.legend(*panels[0].get_legend_handles_labels(), loc="center left", borderaxespad=0)
        figure.supylabel("Bias: mean of estimate − true accuracy of .9")
    figure.set_label(" ".join(_describe_panel(bias, title) for title in PANELS))
    return figure


def _draw_panel(ax: Axes, bias: pd.DataFrame, title: str) -> None:
    scenarios, ticks = PANELS[title]
    ax.axhline(0, color=REFERENCE, lw=1, ls="--", zorder=1)
    for name in METHODS:
        look = get_look(name)
        ax.plot(bias.loc[[HOLDS, *scenarios], name], label=look.label, **line_style(look))
    ax.set_xticks(range(len(ticks)), ticks)
    ax.set(title=title, xlim=(-0.25, len(ticks) - 0.75))
    ax.tick_params(labelleft=ax.get_subplotspec().is_first_col())


def _describe_panel(bias: pd.DataFrame, title: str) -> str:
    scenarios, ticks = PANELS[title]
    values = [f"{get_look(name).label} {bias.loc[scenarios[-1], name]:.3f}" for name in METHODS]
    return f"Bias, {title.replace('\n', ' ')}, {ticks[-1]}: {', '.join(values)}."
