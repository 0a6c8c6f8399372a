"""The bias atlas: large-sample bias of each method where an assumption fails.

`lehner study run atlas` computes it over a grid of each violation, exactly where nothing is drawn.
"""

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.report.style import (
    REFERENCE,
    figure_style,
    legend_handles,
    method_label,
    method_style,
    shade,
)
from experiments.study.performance import Z
from lehner import Scenario, population_values
from lehner.algebra.algebraic import VOTE_METHODS
from lehner.core.seeds import Seed

WIDEST_LABEL = 36
DRAWN = (
    "algebraic",
    "algebraic_likelihood",
    "algebraic_paper",
    "one_coin_by_rater_ml",
    "dawid_skene_ml",
    "majority_agreement",
    "mean_posterior",
)
LIKELIHOOD_METHODS = ("one_coin_by_rater_ml", "dawid_skene_ml")
SYSTEM_ACCURACIES = (0.1, 0.5, 0.9)
RATER_ACCURACIES = (0.4, 0.6, 0.8)
SKEWS = (1.0, 0.7, 0.5)
"""Each base rate over the one before it."""
NUMBERS_OF_RATERS = (2, 3, 5)
NUMBERS_OF_CATEGORIES = (2, 3, 5)
REPLICATES = 200
LIKELIHOOD_REPLICATES = 10
SIDES: dict[str, tuple[str, dict[float, str]]] = {
    "skew": ("base rates", {1.0: "equal", 0.7: "each 0.7 of the last", 0.5: "each half the last"}),
    "n_raters": ("number of raters", {n: f"{n} raters" for n in NUMBERS_OF_RATERS}),
    "n_categories": ("categories", {k: f"{k} categories" for k in NUMBERS_OF_CATEGORIES}),
}
CENTRE = {"n_raters": 3, "n_categories": 5, "skew": 0.7}
"""Where the likelihood models are fitted too, over all strengths and accuracies."""

SIDE = {"rater_accuracy": 0.6, "system_accuracy": 0.9}
"""Where the figure shows other base rates and numbers of raters and categories."""


@dataclass(frozen=True)
class Violation:
    """A way to break an assumption, with its strengths from none on.

    Parameters
    ----------
    name : str
    label : str
        Of the axis.
    strengths : tuple of float
    apply : callable
        From a scenario in which the K-properties hold, and a strength, to one in which they fail.
    """

    name: str
    label: str
    strengths: tuple[float, ...]
    apply: Callable[[Scenario, float], Scenario]


def _unequal_raters(scenario: Scenario, strength: float) -> Scenario:
    mean, n = scenario.initial_rater_accuracy[0], scenario.n_raters
    return replace(
        scenario, initial_rater_accuracy=tuple(mean + np.linspace(-strength, strength, n))
    )


def _copying(scenario: Scenario, strength: float) -> Scenario:
    return replace(scenario, copying=(0.0, *[strength] * (scenario.n_raters - 1)))


SPREADS = (0.0, 0.05, 0.1, 0.15, 0.2)
VIOLATIONS = {
    violation.name: violation
    for violation in (
        Violation("rater_accuracy", "Rater accuracies spread by ±", SPREADS, _unequal_raters),
        Violation(
            "difficulty",
            "A third of items harder, a third easier, by",
            SPREADS,
            lambda scenario, x: replace(scenario, easiness=(-x, 0.0, x)),
        ),
        Violation(
            "asymmetric_dispersion",
            "Asymmetric dispersion",
            (1.0, 1.25, 1.5, 2.0, 3.0),
            lambda scenario, x: replace(scenario, asymmetric_dispersion=x),
        ),
        Violation(
            "proportional_error_range",
            "Proportional error range",
            (0.0, 0.25, 0.5, 0.75, 1.0),
            lambda scenario, x: replace(scenario, proportional_error_range=x),
        ),
        Violation(
            "copying",
            "Probability of copying the first rater",
            (0.0, 0.1, 0.2, 0.3, 0.4),
            _copying,
        ),
        Violation(
            "misleading",
            "Share of items that mislead everybody",
            SPREADS,
            lambda scenario, x: replace(scenario, misleading=x),
        ),
    )
}


def atlas_scenarios(violation: Violation) -> Iterator[tuple[dict[str, float], Scenario]]:
    """Enumerate the grid of a violation.

    Raters at or below chance are left out, and dispersion where there are but two categories.

    Parameters
    ----------
    violation : Violation
        One of `VIOLATIONS`: how an assumption fails, and the strengths of the failure.

    Yields
    ------
    point : dict
        `strength`, `rater_accuracy`, `system_accuracy`, `skew`, `n_raters`, `n_categories`.
    scenario : Scenario
        The scenario at this point of the grid.

    Examples
    --------
    >>> points = [point for point, _ in atlas_scenarios(VIOLATIONS["copying"])]
    >>> sorted({point["strength"] for point in points})
    [0.0, 0.1, 0.2, 0.3, 0.4]
    """
    axes = {
        "n_raters": NUMBERS_OF_RATERS,
        "n_categories": NUMBERS_OF_CATEGORIES,
        "skew": SKEWS,
        "rater_accuracy": RATER_ACCURACIES,
        "system_accuracy": SYSTEM_ACCURACIES,
        "strength": violation.strengths,
    }
    for values in product(*axes.values()):
        point = dict(zip(axes, values, strict=True))
        k = int(point["n_categories"])
        no_distance = violation.name == "asymmetric_dispersion" and k == 2
        if point["rater_accuracy"] <= 1 / k or no_distance:
            continue
        rates = point["skew"] ** np.arange(k)
        scenario = Scenario(
            n_categories=k,
            initial_rater_accuracy=(point["rater_accuracy"],) * int(point["n_raters"]),
            initial_system_accuracy=point["system_accuracy"],
            base_rates=tuple(rates / rates.sum()),
        )
        yield point, violation.apply(scenario, point["strength"])


def compute_atlas(
    violation: Violation, seed: Seed = 1, *, only_drawn: bool = False
) -> pd.DataFrame:
    """Large-sample bias of each method over the grid of a violation.

    Methods that need only votes are evaluated everywhere, likelihood models at the centre of the
    grid (see `CENTRE`).

    Parameters
    ----------
    violation : Violation
        One of `VIOLATIONS`: how an assumption fails, and the strengths of the failure.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the random errors; all points share it.
    only_drawn : bool
        Whether to compute only the points that the figure shows, a tenth of the grid.

    Returns
    -------
    pandas.DataFrame
        A row for each point and method: the point, `violation`, `method`, `estimate`, `truth`
        (the system's expected accuracy), `bias`, `standard_error`.

    Examples
    --------
    Where raters copy the first one in 30% of the items, agreement makes them look more accurate,
    and the algebra's estimate for a system of accuracy .9 is too low.

    >>> copying = replace(VIOLATIONS["copying"], strengths=(0.0, 0.3))
    >>> atlas = compute_atlas(copying, only_drawn=True)
    >>> shown = atlas_slice(atlas, rater_accuracy=0.6, system_accuracy=0.9)
    >>> shown[shown.method == "algebraic"].set_index("strength")["bias"].round(3).to_dict()
    {0.0: 0.0, 0.3: -0.19}
    """
    rows = list(_rows(violation, seed, only_drawn=only_drawn))
    return pd.DataFrame(rows).astype({"estimate": float, "bias": float, "standard_error": float})


def _rows(
    violation: Violation,
    seed: Seed,
    size: tuple[int, int] | None = None,
    *,
    only_drawn: bool = False,
) -> Iterator[dict[str, Any]]:
    """Rows of the grid, or of its part with so many raters and categories."""
    for point, scenario in atlas_scenarios(violation):
        off_centre = sum(point[name] != value for name, value in CENTRE.items())
        on_the_side = off_centre == 1 and all(point[name] == SIDE[name] for name in SIDE)
        if only_drawn and off_centre and not on_the_side:
            continue
        if size is not None and (point["n_raters"], point["n_categories"]) != size:
            continue
        values = population_values(scenario, tuple(VOTE_METHODS), replicates=REPLICATES, seed=seed)
        if not off_centre:
            values |= population_values(
                scenario, LIKELIHOOD_METHODS, replicates=LIKELIHOOD_REPLICATES, seed=seed
            )
        for method, value in values.items():
            yield (
                {"violation": violation.name, **point, "method": method}
                | {"estimate": value.estimate, "truth": value.system_accuracy}
                | {"bias": value.bias, "standard_error": value.standard_error}
            )


def atlas_slice(atlas: pd.DataFrame, **point: float) -> pd.DataFrame:
    """Rows of an atlas at a point of the grid, the centre where nothing is said.

    Parameters
    ----------
    atlas : pandas.DataFrame
    **point
        Values of the grid's columns.

    Returns
    -------
    pandas.DataFrame
    """
    for name, value in (CENTRE | point).items():
        atlas = atlas[atlas[name] == value]
    return atlas


def compute_biases(
    seed: int, violation: str, n_raters: int, n_categories: int, errors: int
) -> Iterator[dict[str, Any]]:
    """Compute a part of the atlas; random errors are those of the seed `errors`."""
    yield from _rows(VIOLATIONS[violation], errors, (n_raters, n_categories))


def plot_atlas(table: pd.DataFrame) -> dict[str, Figure]:
    """Draw each violation of a table of `compute_biases`."""
    return {
        f"bias_{name}": plot_violation(rows, VIOLATIONS[name])
        for name, rows in table.groupby("violation", sort=False)
    }


def tabulate(results: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of all parts as they are."""
    return results.drop(columns=["replicate", "errors"], errors="ignore")


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
                for i, method in enumerate(DRAWN):
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
        handles = legend_handles(map(method_style, DRAWN))
        drawn_at_random = (atlas["standard_error"] > 0).any()
        title = "Bars: 95% Monte Carlo intervals" if drawn_at_random else None
        drawn.legend(handles=handles, loc="outside upper center", ncols=4, title=title)
    drawn.set_label(_alt_text(atlas, violation))
    return drawn


def _side(ax: Axes, atlas: pd.DataFrame, name: str) -> None:
    title, values = SIDES[name]
    for i, (value, label) in enumerate(values.items()):
        cells = atlas_slice(atlas, **SIDE, **{name: value})
        options = {"color": shade(i, len(values)), "marker": "osD"[i], "label": label, "ms": 3.5}
        _line(ax, cells[cells.method == "algebraic"], **options)
    ax.legend(handlelength=1.2, borderaxespad=0.1, labelspacing=0.3)
    ax.set_title(f"{method_label('algebraic')} by {title}\n(system 0.9, raters 0.6)")


def _line(ax: Axes, cells: pd.DataFrame, **options: Any) -> None:
    """Draw a line with 95% Monte Carlo intervals."""
    cells = cells.sort_values("strength")
    errors = Z * cells.standard_error
    ax.errorbar(cells.strength, cells.bias, yerr=errors, elinewidth=0.8, **options)


def _alt_text(atlas: pd.DataFrame, violation: Violation) -> str:
    centre = atlas_slice(atlas, **SIDE)
    parts = []
    for method in DRAWN:
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
