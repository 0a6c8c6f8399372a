"""The grid of the atlas, and the population values on it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd

from lehner import Scenario, population_values
from lehner.algebra.algebraic import VOTE_METHODS
from lehner.core.seeds import Seed

LIKELIHOOD_METHODS = ("one_coin_by_rater_ml", "dawid_skene_ml")
SYSTEM_ACCURACIES = (0.1, 0.5, 0.9)
RATER_ACCURACIES = (0.4, 0.6, 0.8)
SKEWS = (1.0, 0.7, 0.5)
"""Each base rate over the one before it."""
NUMBERS_OF_RATERS = (2, 3, 5)
NUMBERS_OF_CATEGORIES = (2, 3, 5)
REPLICATES = 200
LIKELIHOOD_REPLICATES = 10
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
    rows = []
    for point, scenario in atlas_scenarios(violation):
        off_centre = sum(point[name] != value for name, value in CENTRE.items())
        on_the_side = off_centre == 1 and all(point[name] == SIDE[name] for name in SIDE)
        if only_drawn and off_centre and not on_the_side:
            continue
        values = population_values(scenario, tuple(VOTE_METHODS), replicates=REPLICATES, seed=seed)
        if not off_centre:
            values |= population_values(
                scenario, LIKELIHOOD_METHODS, replicates=LIKELIHOOD_REPLICATES, seed=seed
            )
        rows += [
            {"violation": violation.name, **point, "method": method}
            | {"estimate": value.estimate, "truth": value.system_accuracy}
            | {"bias": value.bias, "standard_error": value.standard_error}
            for method, value in values.items()
        ]
    return pd.DataFrame(rows).astype({"estimate": float, "bias": float, "standard_error": float})


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
