"""Scenario: what is simulated, by how much it violates the K-properties, and its parameters.

`disperse`, `vary_errors` and `normalise` are the paper's steps ("Performance and robustness",
Tables 5 to 7). They work on arrays with any leading dimensions, so that thousands of matrices are
computed at once.
"""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lehner.core import errors
from lehner.core.arrays import Floats, Seed, make_rng
from lehner.core.lazy import xr
from lehner.core.text import name_raters
from lehner.data.columns import name_categories
from lehner.data.ratings import SYSTEM

type Affected = Literal["both", "raters", "system"]
type BaseRates = Literal["dirichlet", "equal"] | tuple[float, ...]

AFFECTED = ("both", "raters", "system")
PROBABILITIES = ("initial_system_accuracy", "proportional_error_range", "missing", "misleading")
SEQUENCES = ("initial_rater_accuracy", "easiness", "copying")
NAMED_BASE_RATES = ("dirichlet", "equal")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """How items, raters and the system behave in a simulation.

    Parameters
    ----------
    n_categories : int
        K, 2 or more.
    n_items : int
        Number of items, 1 or more.
    initial_rater_accuracy : tuple of float, length n_raters
        Initial probability that each rater is right (the paper's IPC), 0 to 1. The expected
        accuracy can differ from it, because `easiness` changes it.
    initial_system_accuracy : float
        Initial probability that the system is right (IPC), 0 to 1.
    easiness : tuple of float
        What is added to accuracy at each level of difficulty (the paper's PDA), from -1 to 1:
        the higher, the easier the items. Accuracy stays in [0, 1]. Levels are equally frequent, so
        that one that is named twice is that of twice as many items.
    easiness_affects : {"both", "raters", "system"}
        Whose accuracy the levels change.
    asymmetric_dispersion : float
        How many times more likely an error one step nearer to the truth is (AD), above 0.
    proportional_error_range : float
        Each error probability is multiplied by a uniform draw from 1 ± this number (PER), 0 to 1.
    errors_affect : {"both", "raters", "system"}
        Whose errors AD and PER make unequal.
    base_rates : {"dirichlet", "equal"} or tuple of float
        Base rates: drawn for each sample from a flat Dirichlet distribution, or equal, or these.
    missing : float
        Probability that a rating is missing, 0 to 1.
    copying : tuple of float, length n_raters
        Probability that a rater repeats the first rater's rating; () if none does.
    misleading : float
        Proportion of items that raters and system alike perceive as items of another category,
        0 to 1.

    Raises
    ------
    InputError
        If a field is not as above; the error names it.

    References
    ----------
    Lehner (2015), "Performance and robustness".

    Examples
    --------
    >>> scenario = Scenario(initial_rater_accuracy=(0.5, 0.6, 0.7), easiness=(-0.2, 0, 0.2))
    >>> scenario.n_raters, scenario.level_probabilities.round(2).tolist()
    (3, [0.33, 0.33, 0.33])
    """

    n_categories: int = 5
    n_items: int = 200
    initial_rater_accuracy: tuple[float, ...] = (0.6, 0.6, 0.6)
    initial_system_accuracy: float = 0.9
    easiness: tuple[float, ...] = (0.0,)
    easiness_affects: Affected = "both"
    asymmetric_dispersion: float = 1.0
    proportional_error_range: float = 0.0
    errors_affect: Affected = "both"
    base_rates: BaseRates = "dirichlet"
    missing: float = 0.0
    copying: tuple[float, ...] = ()
    misleading: float = 0.0

    def __post_init__(self) -> None:
        # 1 becomes 1.0 and -0.0 becomes 0.0, so that equal scenarios are written alike.
        change = partial(object.__setattr__, self)
        named_rates = isinstance(self.base_rates, str)
        for name in SEQUENCES if named_rates else (*SEQUENCES, "base_rates"):
            values = errors.check_numbers(name, getattr(self, name))
            change(name, tuple(value + 0.0 for value in values))
        for name, least in (("n_categories", 2), ("n_items", 1)):
            change(name, errors.check_whole_number(name, getattr(self, name), least))
        for name in PROBABILITIES:
            change(name, errors.check_probability(name, getattr(self, name)) + 0.0)
        name, remedy = "asymmetric_dispersion", "give a number above 0"
        lowest, highest = float(np.nextafter(0, 1)), float(np.finfo(float).max)
        change(name, errors.check_number(name, self.asymmetric_dispersion, lowest, highest, remedy))
        for name in ("easiness_affects", "errors_affect"):
            errors.check_choice(name, getattr(self, name), AFFECTED)
        for name in ("initial_rater_accuracy", "copying"):
            for value in getattr(self, name):
                errors.check_probability(name, value)
        if self.n_raters < 2:
            remedy = "give two or more raters"
            raise errors.make_error("initial_rater_accuracy", self.initial_rater_accuracy, remedy)
        if not self.easiness or not all(-1 <= level <= 1 for level in self.easiness):
            raise errors.make_error("easiness", self.easiness, "give levels between -1 and 1")
        if self.copying and (len(self.copying) != self.n_raters or self.copying[0] != 0):
            remedy = f"give {self.n_raters} probabilities, the first 0"
            raise errors.make_error("copying", self.copying, remedy)
        if named_rates:
            errors.check_choice("base_rates", self.base_rates, NAMED_BASE_RATES)
        else:
            errors.check_proportions("base_rates", self.base_rates, self.n_categories)

    @property
    def n_raters(self) -> int:
        """Number of raters, without the system."""
        return len(self.initial_rater_accuracy)

    @property
    def level_probabilities(self) -> Floats:
        """Proportion of the items at each level of difficulty."""
        return np.full(len(self.easiness), 1 / len(self.easiness))

    @property
    def random_parameters(self) -> bool:
        """Whether base rates or confusion matrices differ between samples."""
        return self.proportional_error_range > 0 or self.base_rates == "dirichlet"


def add_easiness(accuracy: ArrayLike, easiness: ArrayLike) -> Floats:
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


def normalise(matrices: Floats, accuracy: ArrayLike, base_rates: Floats) -> Floats:
    """Step 5: make rows sum to 1 again, and restore the expected accuracy.

    Rows are divided by their sums, the diagonal is scaled to the expected accuracy, and errors are
    rescaled, so that rows sum to 1.

    Parameters
    ----------
    matrices : ndarray, shape (..., n_categories, n_categories)
        Matrices after step 4.
    accuracy : array_like, shape (...)
        IPC + PDA, the required expected accuracy.
    base_rates : ndarray, shape (..., n_categories)

    Returns
    -------
    ndarray, shape (..., n_categories, n_categories)
    """
    right = np.diagonal(matrices, axis1=-2, axis2=-1)
    off_diagonal = np.maximum(matrices.sum(axis=-1) - right, 0.0)
    diagonal = scale_to_mean(right / (right + off_diagonal), accuracy, base_rates)
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = np.where(off_diagonal > 0, (1 - diagonal) / off_diagonal, 0.0)
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
    accuracy, dispersed = _disperse(scenario)
    matrices = np.broadcast_to(dispersed, (n_samples, *dispersed.shape))
    spread = scenario.proportional_error_range * _mark_affected(scenario, scenario.errors_affect)
    if spread.any():
        noise = rng.uniform(-1, 1, (n_samples, n_levels, n_raters + 1, k, k))
        varied = vary_errors(matrices, spread, noise)
        matrices = normalise(varied, accuracy, rates[:, None, None, :])
    return DrawnParameters(base_rates=rates, confusion=matrices)


def choose_batch(n_cells: int, scenario: Scenario) -> int:
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


def draw_true_parameters(scenario: Scenario, seed: Seed = 1) -> "xr.Dataset":
    """Give the parameters with which `simulate(scenario, seed)` draws ratings.

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
    >>> float(draw_true_parameters(Scenario(initial_system_accuracy=0.7)).system_accuracy.round(3))
    0.7
    """
    drawn = draw_parameters(scenario, 1, make_rng(seed))
    names = list(name_categories(scenario.n_categories))
    return xr.Dataset(
        {
            "base_rates": ("category", drawn.base_rates[0]),
            "confusion": (("level", "rater", "category", "response"), drawn.confusion[0]),
            "level_probabilities": ("level", scenario.level_probabilities),
            "system_accuracy": float(expect_system_accuracy(scenario, drawn)[0]),
        },
        coords={
            "level": list(scenario.easiness),
            "rater": [*name_raters(scenario.n_raters), SYSTEM],
            "category": names,
            "response": names,
        },
    )


def expect_system_accuracy(scenario: Scenario, parameters: DrawnParameters) -> Floats:
    """Give each sample's expected accuracy of the system, shape (n_samples,)."""
    right = np.einsum(
        "g,bz,zv,bgvz->b",
        scenario.level_probabilities,
        parameters.base_rates,
        find_perception(scenario),
        parameters.confusion[:, :, -1],
    )
    return np.asarray(right)


def expect_joint(scenario: Scenario, seed: Seed) -> Floats:
    """Give the expected proportion of items with each truth (row) and answer of the system.

    Parameters
    ----------
    scenario : Scenario
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        As given to `simulate`.
    """
    parameters = draw_parameters(scenario, 1, make_rng(seed))
    confusion = np.tensordot(scenario.level_probabilities, parameters.confusion[0, :, -1], 1)
    return np.asarray(parameters.base_rates[0][:, None] * (find_perception(scenario) @ confusion))


@lru_cache(maxsize=64)
def find_perception(scenario: Scenario) -> Floats:
    """Compute the probability of each category as which an item is perceived, given the true one.

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
    rates = np.ones(k) if scenario.base_rates == "equal" else np.array(scenario.base_rates)
    return np.broadcast_to(rates / rates.sum(), (n_samples, k))


@lru_cache(maxsize=64)
def _disperse(scenario: Scenario) -> tuple[Floats, Floats]:
    """Compute accuracies, (n_levels, n_raters + 1), and confusion matrices without chance."""
    initial = np.array([*scenario.initial_rater_accuracy, scenario.initial_system_accuracy])
    affected = _mark_affected(scenario, scenario.easiness_affects)
    accuracy = add_easiness(initial, np.array(scenario.easiness)[:, None] * affected)
    unequal = _mark_affected(scenario, scenario.errors_affect) > 0
    dispersion = np.where(unequal, scenario.asymmetric_dispersion, 1.0)
    matrices = disperse(accuracy, scenario.n_categories, dispersion)
    for values in (accuracy, matrices):
        values.flags.writeable = False
    return accuracy, matrices


def _mark_affected(scenario: Scenario, affected: str) -> Floats:
    """Give, for each rater and, last, for the system, 1 if a violation affects them, else 0."""
    raters = np.full(scenario.n_raters, float(affected != "system"))
    return np.append(raters, float(affected != "raters"))
