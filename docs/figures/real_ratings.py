"""Draw how often intervals cover the truth on real ratings, how wide they are, and the error.

`python docs/figures/make_gallery.py committed` draws `real_ratings.png`, and for phones
`real_ratings_narrow.png`, from the committed benchmark of real ratings in
`experiments/benchmarks/real`: three ratings per item, no gold labels, in three situations, which
`learned_prior` does not know. It was trained without the family of each crowd, and in the rows of a
domain without the whole domain.
"""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.benchmarks.real.report import FEW, average_over_crowds
from lehner.core.results import REFERENCE, line_style
from lehner.estimation.methods import get_look
from lehner.report.figures import set_proportion_ticks, use_style

RESULTS = Path(__file__).parents[2] / "experiments" / "benchmarks" / "real"
# How each situation is marked, and how far from the middle of its row.
SITUATIONS = {"like": "o", "better": "^", "worse": "v"}
OFFSETS = {"like": -0.26, "better": 0.0, "worse": 0.26}
LEARNED = "learned_prior, unknown"
DOMAINS = ("crowd", "experts", "language models")
METHODS = (LEARNED, "algebraic", "dawid_skene", "relaxed_k", "majority_agreement")
MEASURES = {
    "coverage": "Coverage of 90% intervals\n(means over crowds, 95% CI)",
    "width": "Width of intervals",
    "rmse": "Root mean squared error",
}
# Standard errors on each side of a mean.
Z = 1.96


def read() -> pd.DataFrame:
    """Read means over crowds: a row for each situation, method and, of some rows, domain."""
    measured = pd.read_csv(RESULTS / "real.csv", dtype={"per_item": str})
    measured = measured[(measured["per_item"] == FEW) & (measured["known"] == 0)]
    every = average_over_crowds(measured, ["design", "method"]).assign(domain="")
    domains = pd.read_csv(RESULTS / "domains.csv")
    return pd.concat([every, average_over_crowds(domains, ["domain", "design", "method"])])


def list_rows() -> dict[tuple[str, str], str]:
    """List the rows of the figure by method and domain, each with its label."""
    labels = {"crowd": "crowd workers"}
    of_domain = {
        (LEARNED, domain): f"on {labels.get(domain, domain)},\ntrained without them"
        for domain in DOMAINS
    }
    names = {(name, ""): get_look(name.partition(",")[0]).label for name in METHODS}
    learned = {(LEARNED, ""): f"{names[LEARNED, '']},\nall data sets"}
    return learned | of_domain | names | learned


def draw(*, narrow: bool = False) -> Figure:
    """Draw a panel for each measure, and in it a row for each method."""
    means, rows = read(), list_rows()
    with use_style(columns=1 if narrow else 2) as width:
        size, shape = ((width, 8.4), (3, 1)) if narrow else ((width, 3.5), (1, 3))
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(*shape, sharey=True)
        for ax, measure in zip(panels, MEASURES, strict=True):
            _draw_panel(ax, means, measure)
        panels[0].axvline(0.9, color=REFERENCE, lw=1, ls="--", zorder=1)
        panels[0].set_xlim(0, 1.04)
        panels[0].set_yticks(range(len(rows)), rows.values())
        panels[0].set_ylim(len(rows) - 0.5, -0.5)
        figure.legend(
            handles=[
                panels[0].plot([], [], ls="", marker=marker, color=REFERENCE, label=name)[0]
                for name, marker in SITUATIONS.items()
            ],
            labels=["system like its raters", "better", "worse"],
            loc="outside upper center",
            ncols=3,
        )
    figure.set_label(describe(means))
    return figure


def _draw_panel(ax: Axes, means: pd.DataFrame, measure: str) -> None:
    for height, (method, domain) in enumerate(list_rows()):
        table = means[(means["method"] == method) & (means["domain"] == domain)]
        style = line_style(get_look(method.partition(",")[0]))
        for row in table.to_dict("records"):
            y = height + OFFSETS[row["design"]]
            if pd.notna(row[measure]):
                ax.plot(row[measure], y, ls="", **style | {"marker": SITUATIONS[row["design"]]})
            if measure == "coverage":
                ends = [row[measure] + sign * Z * row[f"{measure}_se"] for sign in (-1, 1)]
                ax.hlines(y, max(ends[0], 0), min(ends[1], 1), color=style["color"], zorder=1.5)
        if measure != "rmse" and table[measure].isna().all():
            ax.text(0.03, height, "no interval", va="center", transform=ax.get_yaxis_transform())
    ax.set_title(MEASURES[measure])
    ax.set_xlim(left=0)
    set_proportion_ticks(ax.xaxis)
    ax.grid(visible=True, axis="x")
    ax.tick_params(axis="y", length=0)


def describe(means: pd.DataFrame) -> str:
    """Say the numbers of the figure for those who do not see it."""
    said = []
    for (method, domain), label in list_rows().items():
        table = means[(means["method"] == method) & (means["domain"] == domain)]
        parts = [
            f"{row['design']} {row['coverage']:.2f}, {row['width']:.2f}, {row['rmse']:.3f}"
            for row in table.to_dict("records")
        ]
        said.append(f"{label.replace('\n', ' ')}: {'; '.join(parts)}.".replace("nan, nan", "none"))
    return f"Coverage, width, root mean squared error. {' '.join(said)}"
