"""Draw the README's figure: how far methods are from the truth on real ratings.

`python docs/figures/make_gallery.py committed` draws `real_ratings.png`, and for phones
`real_ratings_narrow.png`, from the committed benchmark of real ratings,
`experiments/benchmarks/real/real.csv`: three ratings per item, no gold labels, in three situations,
which `learned_prior` does not know.
"""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lehner.core.forest import REFERENCE
from lehner.estimation.methods import get_method
from lehner.report.style import name_method, use_style

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "experiments" / "benchmarks" / "real" / "real.csv"
TITLES = {
    "like": "System like its raters",
    "better": "System better than them",
    "worse": "System worse than them",
}
METHODS = ("learned_prior", "algebraic", "dawid_skene", "relaxed_k", "majority_agreement")


def read(design: str) -> pd.DataFrame:
    """Read bias, RMSE and coverage of each method on each crowd."""
    measured = pd.read_csv(RESULTS, dtype={"per_item": str})
    measured["method"] = measured["method"].replace("learned_prior, unknown", "learned_prior")
    rows = (measured["design"] == design) & (measured["per_item"] == "3") & (measured["known"] == 0)
    return measured[rows & measured["method"].isin(METHODS)]


def draw(*, narrow: bool = False) -> Figure:
    """Draw a panel for each situation, and in it a row for each method and a dot for each crowd."""
    with use_style() as width:
        size = (width * 0.48, 5.4) if narrow else (width, 2.3)
        rows_and_columns = (3, 1) if narrow else (1, 3)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(*rows_and_columns, sharey=True, sharex=True)
        said = [
            _draw_panel(ax, design, read(design)) for ax, design in zip(panels, TITLES, strict=True)
        ]
        panels[0].set_yticks(range(len(METHODS)), [name_method(name) for name in METHODS])
        panels[0].set(ylim=(len(METHODS) - 0.5, -0.8), xlim=(-0.62, 0.95))
        panels[0].set_xticks([-0.4, -0.2, 0, 0.2, 0.4], ["−.4", "−.2", "0", ".2", ".4"])
        between = "\n" if narrow else " "
        figure.supxlabel(
            f"Mean of estimate − truth over the systems of a{between}crowd: a dot for each crowd"
        )
    figure.set_label(" ".join(said))
    return figure


def _draw_panel(ax: Axes, design: str, measured: pd.DataFrame) -> str:
    ax.axvline(0, color=REFERENCE, lw=1, ls="--", zorder=1)
    ax.set_title(TITLES[design], loc="left")
    ax.text(0.94, -0.55, "coverage, RMSE", ha="right", va="center", size="small")
    said = []
    for row, name in enumerate(METHODS):
        crowds = measured[measured["method"] == name]
        color = get_method(name).look.color
        ax.plot(
            crowds["bias"],
            [row] * len(crowds),
            ls="",
            marker="o",
            ms=3.5,
            mew=0,
            alpha=0.45,
            color=color,
        )
        ax.plot(crowds["bias"].mean(), row, ls="", marker="|", ms=13, mew=2.2, color=color)
        covered = crowds["coverage"].mean()
        numbers = "no interval, " if pd.isna(covered) else f"{100 * covered:.0f}%, "
        numbers += f"{crowds['rmse'].mean():.3f}"
        ax.text(
            0.94,
            row,
            numbers.replace(" 0.", " .").removeprefix("no interval, "),
            ha="right",
            va="center",
            size="small",
        )
        said.append(f"{name_method(name)} {numbers}")
    ax.grid(visible=False)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    n_crowds = measured["crowd"].nunique()
    return (
        f"{TITLES[design]}, {n_crowds} crowds; coverage of 90% intervals and root mean squared "
        f"error: {'; '.join(said)}."
    )
