"""Draw the atlas: bias against the strength of a violation."""

from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.figure import Figure

from experiments.atlas.grid import (
    NUMBERS_OF_CATEGORIES,
    NUMBERS_OF_RATERS,
    RATER_ACCURACIES,
    SIDE,
    SYSTEM_ACCURACIES,
    Violation,
    atlas_slice,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = {
    "algebraic": ("#0b5394", "-", "o"),
    "algebraic_likelihood": ("#3d85c6", "--", "o"),
    "algebraic_paper": ("#6fa8dc", ":", "o"),
    "one_coin_by_rater_ml": ("#b45f06", "-", "s"),
    "dawid_skene_ml": ("#38761d", "-", "^"),
    "majority_agreement": ("#999999", "-", "x"),
    "mean_posterior": ("#bbbbbb", "--", "x"),
}
SIDES: dict[str, tuple[str, dict[float, str]]] = {
    "skew": ("base rates", {1.0: "equal", 0.7: "each .7 of the last", 0.5: "each half the last"}),
    "n_raters": ("raters", {n: str(n) for n in NUMBERS_OF_RATERS}),
    "n_categories": ("categories", {k: str(k) for k in NUMBERS_OF_CATEGORIES}),
}


def plot_violation(atlas: pd.DataFrame, violation: Violation) -> Figure:
    """Draw one violation: all methods at the centre of the grid, then the algebra around it.

    Parameters
    ----------
    atlas : pandas.DataFrame
        As `compute_atlas` gives it.
    violation : Violation
        The violation it is of.

    Returns
    -------
    matplotlib.figure.Figure
        Three rows of panels by system and rater accuracy, and a row by base rates, raters and
        categories.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from experiments.atlas import VIOLATIONS, compute_atlas
    >>> copying = replace(VIOLATIONS["copying"], strengths=(0.0, 0.3))
    >>> drawn = plot_violation(compute_atlas(copying, only_drawn=True), copying)
    >>> drawn.axes[0].get_title()
    'system 0.9, raters 0.4'
    """
    drawn = Figure(figsize=(9.5, 10.5), layout="constrained")
    axes = drawn.subplots(4, 3, sharex=True)
    for row, system in enumerate(sorted(SYSTEM_ACCURACIES, reverse=True)):
        for column, rater in enumerate(RATER_ACCURACIES):
            ax = axes[row, column]
            found = atlas_slice(atlas, system_accuracy=system, rater_accuracy=rater)
            for method, (color, line, marker) in STYLES.items():
                _line(ax, found[found.method == method], method, color, line, marker)
            ax.set_title(f"system {system:g}, raters {rater:g}", fontsize="small")
            ax.sharey(axes[row, 0])
    for ax, name in zip(axes[3], SIDES, strict=True):
        _side(ax, atlas, name)
    for ax in axes.flat:
        ax.axhline(0, color="black", lw=0.8)
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[:, 0]:
        ax.set_ylabel("bias")
    for ax in axes[3]:
        ax.set_xlabel(violation.label, fontsize="small")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside upper center", ncols=4, fontsize="small")
    return drawn


def _side(ax: "Axes", atlas: pd.DataFrame, name: str) -> None:
    title, values = SIDES[name]
    for i, (value, label) in enumerate(values.items()):
        found = atlas_slice(atlas, **SIDE, **{name: value})
        shade = ("#9fc5e8", "#3d85c6", "#073763")[i]
        _line(ax, found[found.method == "algebraic"], label, shade, "-", "o")
    ax.legend(title=title, fontsize="x-small", title_fontsize="x-small", frameon=False)
    ax.set_title("algebraic; system 0.9, raters 0.6", fontsize="small")


def _line(ax: "Axes", found: pd.DataFrame, label: str, color: str, line: str, marker: str) -> None:
    found = found.sort_values("strength")
    ax.errorbar(
        found.strength,
        found.bias,
        yerr=found.standard_error,
        label=label,
        color=color,
        ls=line,
        marker=marker,
        ms=4,
        lw=1.3,
    )
