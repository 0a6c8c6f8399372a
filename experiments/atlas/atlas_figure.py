"""The atlas as figures: bias against the strength of a violation; and as files."""

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.figure import Figure

from experiments.atlas.grid import (
    NUMBERS_OF_CATEGORIES,
    NUMBERS_OF_RATERS,
    RATER_ACCURACIES,
    SIDE,
    SYSTEM_ACCURACIES,
    VIOLATIONS,
    Violation,
    atlas_slice,
    compute_atlas,
)
from experiments.reporting.figure_style import REFERENCE, figure_style, shade
from experiments.reporting.files import write_csv, write_figure
from experiments.reporting.method_style import legend_handles, method_label, method_style
from experiments.study.performance import Z
from lehner.core.errors import find

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDEST_LABEL = 36
METHODS = (
    "algebraic",
    "algebraic_likelihood",
    "algebraic_paper",
    "one_coin_by_rater_ml",
    "dawid_skene_ml",
    "majority_agreement",
    "mean_posterior",
)
SIDES: dict[str, tuple[str, dict[float, str]]] = {
    "skew": ("base rates", {1.0: "equal", 0.7: "each 0.7 of the last", 0.5: "each half the last"}),
    "n_raters": ("number of raters", {n: f"{n} raters" for n in NUMBERS_OF_RATERS}),
    "n_categories": ("categories", {k: f"{k} categories" for k in NUMBERS_OF_CATEGORIES}),
}


def write_atlas(names: Sequence[str] | None, folder: Path, seed: int) -> Iterator[Path]:
    """Write the tables and figures of some violations, or of all; yield each file."""
    chosen = [find("violation", name, VIOLATIONS) for name in names or VIOLATIONS]
    folder.mkdir(parents=True, exist_ok=True)
    for violation in chosen:
        table = compute_atlas(violation, seed)
        drawn = plot_violation(table, violation)
        name = f"bias_{violation.name}"
        yield write_csv(table, folder / f"{name}.csv")
        yield from write_figure(drawn, folder, name)


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
        categories; with 95% Monte Carlo intervals where the violation is drawn at random.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from experiments.atlas import VIOLATIONS, compute_atlas
    >>> copying = replace(VIOLATIONS["copying"], strengths=(0.0, 0.3))
    >>> drawn = plot_violation(compute_atlas(copying, only_drawn=True), copying)
    >>> drawn.axes[0].get_title()
    'system 0.9, raters 0.4'
    """
    with figure_style() as width:
        drawn = Figure(figsize=(width, 8.6), layout="constrained")
        axes = drawn.subplots(4, 3, sharex=True)
        for row, system in enumerate(sorted(SYSTEM_ACCURACIES, reverse=True)):
            for column, rater in enumerate(RATER_ACCURACIES):
                ax = axes[row, column]
                main = atlas_slice(atlas, system_accuracy=system, rater_accuracy=rater)
                for i, method in enumerate(METHODS):
                    # Where methods coincide, those beneath are seen around those above.
                    look = {"ms": 6 - 0.5 * i, "lw": 2.5 - 0.25 * i}
                    style = method_style(method).options()
                    _line(ax, main[main.method == method], **style, **look)
                ax.set_title(f"system {system:g}, raters {rater:g}")
                ax.sharey(axes[row, 0])
                ax.tick_params(labelleft=column == 0)
        for ax, name in zip(axes[3], SIDES, strict=True):
            _side(ax, atlas, name)
        for ax in axes.flat:
            ax.axhline(0, color=REFERENCE, lw=0.8, zorder=1)
            ax.grid(True)
        for ax in axes[:, 0]:
            ax.set_ylabel("Bias")
        for ax in axes[3]:
            ax.set_xlabel(textwrap.fill(violation.label, WIDEST_LABEL))
        handles = legend_handles(map(method_style, METHODS))
        drawn_at_random = (atlas["standard_error"] > 0).any()
        title = "Bars: 95% Monte Carlo intervals" if drawn_at_random else None
        drawn.legend(handles=handles, loc="outside upper center", ncols=4, title=title)
    drawn.set_label(_alt_text(atlas, violation))
    return drawn


def _side(ax: "Axes", atlas: pd.DataFrame, name: str) -> None:
    title, values = SIDES[name]
    for i, (value, label) in enumerate(values.items()):
        cells = atlas_slice(atlas, **SIDE, **{name: value})
        options = {"color": shade(i, len(values)), "marker": "osD"[i], "label": label, "ms": 3.5}
        _line(ax, cells[cells.method == "algebraic"], **options)
    ax.legend(handlelength=1.2, borderaxespad=0.1, labelspacing=0.3)
    ax.set_title(f"{method_label('algebraic')} by {title}\n(system 0.9, raters 0.6)")


def _line(ax: "Axes", cells: pd.DataFrame, **options: Any) -> None:
    """Draw a line with 95% Monte Carlo intervals."""
    cells = cells.sort_values("strength")
    errors = Z * cells.standard_error
    ax.errorbar(cells.strength, cells.bias, yerr=errors, elinewidth=0.8, **options)


def _alt_text(atlas: pd.DataFrame, violation: Violation) -> str:
    centre = atlas_slice(atlas, **SIDE)
    parts = []
    for method in METHODS:
        rows = centre[centre.method == method].sort_values("strength").dropna(subset="bias")
        if len(rows):
            first, last = rows.bias.iloc[0], rows.bias.iloc[-1]
            parts.append(f"{method_label(method)} from {first:.3f} to {last:.3f}")
    weakest, strongest = min(violation.strengths), max(violation.strengths)
    return (
        f"Bias of each method as a violation grows: {violation.label}, from {weakest:g} to "
        f"{strongest:g}; panels by the accuracy of the system and the raters. With a system of "
        f"accuracy 0.9 and raters of 0.6: {'; '.join(parts)}."
    )
