"""Parameters: the base rates and confusion matrices that a scenario draws for a sample."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.seeds import Seed, generator
from lehner.core.wording import rater_names
from lehner.data.categories import category_names
from lehner.data.fields import SYSTEM
from lehner.simulation.confusion import disperse, normalise, reached_accuracy, vary_errors
from lehner.simulation.scenario import Scenario

if TYPE_CHECKING:
    import xarray as xr


SIMULATED_CELLS_AT_ONCE = 5_000_000
SAMPLES_AT_ONCE = 250


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnParameters:
    """Base rates and confusion matrices of many samples.

    Parameters
    ----------
    base_rates : ndarray, shape (n_samples, n_categories)
    confusion : ndarray, shape (n_samples, n_levels, n_raters + 1, n_categories, n_categories)
        Confusion matrices at each level of difficulty, for each rater and, last, the system.
    """

    base_rates: Floats
    confusion: Floats


def draw_parameters(
    scenario: Scenario, n_samples: int, rng: np.random.Generator
) -> DrawnParameters:
    """Draw base rates and confusion matrices anew for each sample: simulation steps 1 and 2.

    Parameters
    ----------
    scenario : Scenario
    n_samples : int
    rng : numpy.random.Generator

    Returns
    -------
    DrawnParameters
    """
    rates = _draw_base_rates(scenario, n_samples, rng)
    k, n_levels, n_raters = scenario.n_categories, len(scenario.easiness), scenario.n_raters
    accuracy, dispersed = _dispersed(scenario)
    matrices = np.broadcast_to(dispersed, (n_samples, *dispersed.shape))
    spread = scenario.proportional_error_range * _affected(scenario, scenario.errors_affect)
    if spread.any():
        shared = {"none": (n_levels, n_raters + 1), "levels": (1, n_raters + 1), "raters": (1, 1)}
        noise = rng.uniform(-1, 1, (n_samples, *shared[scenario.common_errors], k, k))
        varied = vary_errors(matrices, spread, noise)
        matrices = normalise(varied, accuracy, rates[:, None, None, :], scenario.normalization)
    return DrawnParameters(base_rates=rates, confusion=matrices)


def samples_at_once(n_cells: int, scenario: Scenario) -> int:
    """Choose how many samples to draw at once, which limits the memory needed.

    Parameters
    ----------
    n_cells : int
        Number of patterns, or combinations of votes and system answer, that are enumerated for
        each.
    scenario : Scenario

    Returns
    -------
    int
    """
    return max(
        1, min(SAMPLES_AT_ONCE, SIMULATED_CELLS_AT_ONCE // (n_cells * len(scenario.easiness)))
    )


def true_parameters(scenario: Scenario, seed: Seed = 1) -> "xr.Dataset":
    """Parameters with which `simulate(scenario, seed)` draws ratings.

    Parameters
    ----------
    scenario : Scenario
        As given to `simulate`.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        As given to `simulate`.

    Returns
    -------
    xarray.Dataset
        `base_rates` (category), `confusion` (level, rater, category, response) with the system
        as the rater named "system", `level_probabilities` (level), `system_accuracy`.

    Raises
    ------
    InputError
        If the seed is not a whole number of 0 or more.

    References
    ----------
    Lehner (2015), "Performance and robustness", simulation run, steps 1 and 2.

    Examples
    --------
    >>> float(true_parameters(Scenario(initial_system_accuracy=0.7)).system_accuracy.round(3))
    0.7
    """
    import xarray as xr

    drawn = draw_parameters(scenario, 1, generator(seed))
    names = list(category_names(scenario.n_categories))
    return xr.Dataset(
        {
            "base_rates": ("category", drawn.base_rates[0]),
            "confusion": (("level", "rater", "category", "response"), drawn.confusion[0]),
            "level_probabilities": ("level", scenario.level_probabilities),
            "system_accuracy": float(expected_system_accuracy(scenario, drawn)[0]),
        },
        coords={
            "level": list(scenario.easiness),
            "rater": [*rater_names(scenario.n_raters), SYSTEM],
            "category": names,
            "response": names,
        },
    )


def expected_system_accuracy(scenario: Scenario, parameters: DrawnParameters) -> Floats:
    """Each sample's expected accuracy of the system, shape (n_samples,)."""
    right = np.einsum(
        "g,bz,zv,bgvz->b",
        scenario.level_probabilities,
        parameters.base_rates,
        perception(scenario),
        parameters.confusion[:, :, -1],
    )
    return np.asarray(right)


@lru_cache(maxsize=64)
def perception(scenario: Scenario) -> Floats:
    """Probability of each category as which an item is perceived, given the true one.

    Returns
    -------
    ndarray, shape (n_categories, n_categories)
    """
    k = scenario.n_categories
    eye = np.eye(k)
    seen = (1 - scenario.misleading) * eye + scenario.misleading * (1 - eye) / (k - 1)
    seen.flags.writeable = False
    return seen


def _draw_base_rates(scenario: Scenario, n_samples: int, rng: np.random.Generator) -> Floats:
    k = scenario.n_categories
    if scenario.base_rates == "dirichlet":
        return rng.dirichlet(np.ones(k), n_samples)
    if scenario.base_rates == "uniform":
        drawn = rng.uniform(size=(n_samples, k))
        return drawn / drawn.sum(axis=1, keepdims=True)
    rates = np.ones(k) if scenario.base_rates == "equal" else np.array(scenario.base_rates)
    return np.broadcast_to(rates / rates.sum(), (n_samples, k))


@lru_cache(maxsize=64)
def _dispersed(scenario: Scenario) -> tuple[Floats, Floats]:
    """Accuracies (n_levels, n_raters + 1) and confusion matrices without random variation."""
    initial = np.array([*scenario.initial_rater_accuracy, scenario.initial_system_accuracy])
    affected = _affected(scenario, scenario.easiness_affects)
    accuracy = reached_accuracy(initial, np.array(scenario.easiness)[:, None] * affected)
    unequal = _affected(scenario, scenario.errors_affect) > 0
    dispersion = np.where(unequal, scenario.asymmetric_dispersion, 1.0)
    matrices = disperse(accuracy, scenario.n_categories, dispersion)
    for values in (accuracy, matrices):
        values.flags.writeable = False
    return accuracy, matrices


def _affected(scenario: Scenario, affected: str) -> Floats:
    """Give, for each rater and, last, for the system, 1 if a violation affects them, else 0."""
    raters = np.full(scenario.n_raters, float(affected != "system"))
    return np.append(raters, float(affected != "raters"))
