"""Confusion matrices of a scenario, drawn or expected, and the parameters of samples.

The functions after `confusion_matrix` are the paper's steps. They work on arrays with any leading
dimensions, so that thousands of matrices are computed at once.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats
from lehner.core.errors import (
    check_choice,
    check_number,
    check_positive,
    check_probability,
    check_proportions,
    check_whole_number,
)
from lehner.core.lazy import xr
from lehner.core.seeds import Seed, generator
from lehner.core.text import rater_names
from lehner.data.categories import category_names
from lehner.data.fields import SYSTEM
from lehner.simulation.scenario import NORMALIZATIONS, Normalization, Scenario


def confusion_matrix(
    accuracy: float,
    easiness: float = 0.0,
    asymmetric_dispersion: float = 1.0,
    proportional_error_range: float = 0.0,
    *,
    n_categories: int = 5,
    base_rates: ArrayLike | None = None,
    normalization: Normalization = "expected",
    draws: int | None = None,
    seed: Seed = 1,
) -> "xr.DataArray":
    """Make confusion matrices from the paper's four parameters.

    Parameters
    ----------
    accuracy : float
        Initial probability of a correct classification (the paper's IPC), 0 to 1.
    easiness : float
        What is added to the accuracy (the paper's PDA), -1 to 1: the higher, the easier the items.
        The sum is clipped to [0, 1].
    asymmetric_dispersion : float
        How many times more likely an error one step nearer to the truth is (AD), above 0.
    proportional_error_range : float
        Each error probability is multiplied by a uniform draw from 1 ± this number (PER), 0 to 1.
    n_categories : int
        K, 2 or more.
    base_rates : array_like, shape (n_categories,), optional
        Base rates for which the expected accuracy shall be `accuracy + easiness`; equal by default.
    normalization : {"expected", "scaled_errors", "rows"}
        How the paper's step 5 is interpreted, which makes rows sum to 1 again: "expected" makes the
        expected accuracy `accuracy + easiness`, "scaled_errors" scales the errors, "rows" scales
        whole rows.
    draws : int, optional
        Number of matrices, 1 or more; by default one, without a `draw` dimension.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the uniform draws: the same seed gives the same matrices.

    Returns
    -------
    xarray.DataArray, dims ([draw,] category, response)
        Rows, the true categories, sum to 1.

    Raises
    ------
    InputError
        If an argument is not as above; the error names it.

    References
    ----------
    Lehner (2015), "Performance and robustness", steps 1-5, Tables 5-7.

    Examples
    --------
    >>> confusion_matrix(0.6, -0.2, 2).values[1].round(3).tolist()  # Table 6, row B
    [0.218, 0.4, 0.218, 0.109, 0.055]
    """
    k = check_whole_number("n_categories", n_categories, 2)
    check_choice("normalization", normalization, NORMALIZATIONS)
    check_probability("accuracy", accuracy)
    check_number("easiness", easiness, -1, 1)
    check_positive("asymmetric_dispersion", asymmetric_dispersion)
    check_probability("proportional_error_range", proportional_error_range)
    rates = check_proportions(
        "base_rates", np.full(k, 1 / k) if base_rates is None else base_rates, k
    )
    n_draws = 1 if draws is None else check_whole_number("draws", draws, 1)
    reached = reached_accuracy(np.full(n_draws, accuracy), easiness)
    initial = disperse(reached, n_categories, asymmetric_dispersion)
    noise = generator(seed).uniform(-1, 1, initial.shape)
    matrices = normalise(
        vary_errors(initial, proportional_error_range, noise),
        reached,
        np.asarray(rates, dtype=float),
        normalization,
    )
    names = list(category_names(n_categories))
    dims = ("draw", "category", "response")
    coords = {"draw": np.arange(n_draws), "category": names, "response": names}
    labelled = xr.DataArray(matrices, dims=dims, coords=coords)
    return labelled if draws is not None else labelled.isel(draw=0, drop=True)


def reached_accuracy(accuracy: ArrayLike, easiness: ArrayLike) -> Floats:
    """Add the easiness (PDA) to the accuracy (IPC), within [0, 1]: steps 1 and 2."""
    return np.clip(np.asarray(accuracy, dtype=float) + np.asarray(easiness), 0.0, 1.0)


def disperse(accuracy: ArrayLike, n_categories: int, asymmetric_dispersion: ArrayLike) -> Floats:
    """Step 3: give each error a probability that decreases with its distance from the truth.

    Parameters
    ----------
    accuracy : array_like, shape (...)
    n_categories : int
    asymmetric_dispersion : array_like, shape (...)
        1 for equal errors.

    Returns
    -------
    ndarray, shape (..., n_categories, n_categories)
    """
    step = np.arange(n_categories)
    distance = np.abs(step[:, None] - step)
    dispersion = np.asarray(asymmetric_dispersion, dtype=float)[..., None, None]
    weight = np.where(distance > 0, dispersion ** (1.0 - distance), 0.0)
    proportion = weight / weight.sum(axis=-1, keepdims=True)
    right = np.asarray(accuracy, dtype=float)[..., None, None]
    return right * np.eye(n_categories) + (1 - right) * proportion


def vary_errors(matrices: Floats, proportional_error_range: ArrayLike, noise: Floats) -> Floats:
    """Step 4: multiply each error by 1 + PER times noise from [-1, 1]."""
    spread = np.asarray(proportional_error_range, dtype=float)[..., None, None]
    off_diagonal = 1 - np.eye(matrices.shape[-1])
    return matrices * (1 + spread * noise * off_diagonal)


def normalise(
    matrices: Floats, accuracy: ArrayLike, base_rates: Floats, normalization: Normalization
) -> Floats:
    """Step 5: make rows sum to 1 and, except for "rows", restore the expected accuracy.

    Parameters
    ----------
    matrices : ndarray, shape (..., n_categories, n_categories)
        Matrices after step 4.
    accuracy : array_like, shape (...)
        IPC + PDA, the required expected accuracy.
    base_rates : ndarray, shape (..., n_categories)
    normalization : {"expected", "scaled_errors", "rows"}
        "expected" divides rows by their sums, scales the diagonal to the expected accuracy, and
        rescales the errors; "scaled_errors" multiplies all errors by one factor; "rows" only
        divides rows by their sums.

    Returns
    -------
    ndarray, shape (..., n_categories, n_categories)
    """
    right = np.diagonal(matrices, axis1=-2, axis2=-1)
    wrong = np.maximum(matrices.sum(axis=-1) - right, 0.0)
    if normalization == "scaled_errors":
        diagonal = 1 - scale_to_mean(wrong, 1 - np.asarray(accuracy), base_rates)
    else:
        diagonal = right / (right + wrong)
    if normalization == "expected":
        diagonal = scale_to_mean(diagonal, accuracy, base_rates)
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = np.where(wrong > 0, (1 - diagonal) / wrong, 0.0)
    eye = np.eye(matrices.shape[-1])
    return np.where(eye > 0, diagonal[..., None, :] * eye, matrices * factor[..., None])


def scale_to_mean(values: Floats, mean: ArrayLike, weights: Floats) -> Floats:
    """Multiply values by a factor, and cap them at 1, so that their weighted mean is as given.

    Parameters
    ----------
    values : ndarray, shape (..., n)
        0 or more.
    mean : array_like, shape (...)
        Between 0 and 1.
    weights : ndarray, shape (..., n)
        Sum to 1.

    Returns
    -------
    ndarray, shape (..., n)
        The scaled values; all are 1 if no factor reaches the mean.

    Examples
    --------
    >>> scale_to_mean(np.array([0.2, 0.8]), 0.8, np.array([0.5, 0.5])).round(3).tolist()
    [0.6, 1.0]
    """
    mean = np.asarray(mean, dtype=float)[..., None]
    top = values.max(axis=-1, keepdims=True)
    # Products of very small numbers would underflow to zero.
    values = np.divide(values, top, out=np.zeros_like(values, dtype=float), where=top > 0)
    capped = np.zeros(np.broadcast_shapes(values.shape, weights.shape, mean.shape), dtype=bool)
    scaled = values
    for _ in range(values.shape[-1]):
        free = (weights * values * ~capped).sum(axis=-1, keepdims=True)
        left = mean - (weights * capped).sum(axis=-1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            factor = np.where(free > 0, left / free, np.where(left > 0, np.inf, 0.0))
            scaled = np.where(capped, 1.0, np.where(values > 0, factor * values, 0.0))
        if not (scaled > 1).any():
            break
        capped = capped | (scaled > 1)
    return np.minimum(scaled, 1.0)


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
