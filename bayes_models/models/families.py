"""Families of priors: which numbers each takes, its log density, and its distribution in PyMC.

A prior is given as numbers, which are parameters of the family of its variable, or as a PyMC
distribution, as in `pm.Beta.dist(2, 1)`.

==================  ========================  ==================================================
family              numbers                   variables
==================  ========================  ==================================================
dirichlet           concentration             base_rates, ...confusion, guessing
beta                successes, failures       ...accuracy_by_category, knowledge,
                                              common_category_share
normal              mean, standard deviation  rater_log_odds, mean_log_odds
logistic            location, scale           system_log_odds; (0, 1) is flat on the accuracy
half_normal         scale                     ..._spread; 0 fixes it at zero
normal_around_zero  standard deviation        distance_decay; 0 fixes it at zero
normal_above_zero   mean, standard deviation  system_slope; sd 0 fixes it at its mean
==================  ========================  ==================================================

For a confusion matrix the concentration may be "diagonal" or "weak_diagonal", see `STRENGTH`.
Nothing here loads PyMC before a model is built, or SciPy, which takes longer to load than
these densities take.
"""

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from bayes_models.models.deferred import pm, pt
from lehner import InputError
from lehner.core.arrays import Floats

DIAGONAL = "diagonal"
WEAK_DIAGONAL = "weak_diagonal"
STRENGTH = {DIAGONAL: 8.0, WEAK_DIAGONAL: 2.0}
"""Weight, as a number of ratings of each true category, of priors with a mean accuracy of .6.

The weak prior is for the system, whose accuracy is to be found out: with the other prior the
accuracy of a system of .9 was underestimated by .03 to .12
(`experiments/benchmarks/estimators.md`)."""
LEAST = np.finfo(float).tiny


@dataclass(frozen=True)
class Family:
    """A family of distributions that can be the prior of a variable.

    Parameters
    ----------
    log_density : callable
        From values and two numbers for each, or the concentration of each row of probabilities, to
        the log density of each value or row.
    distribution : callable
        From the name of a variable, these numbers and `dims` to the variable of a PyMC model.
    least : float or tuple of float
        The least number that is allowed, or the least of each of two.
    remedy : str
        What to give in place of numbers that are not allowed.
    pair : bool
        Whether a prior is two numbers, and not one scale.
    rows : bool
        Whether values are rows of probabilities, so that numbers have the shape of the variable.
    zero_fixes : bool
        Whether a scale of zero fixes the variable at zero.
    """

    log_density: Callable[[Floats, Floats], Floats]
    distribution: Callable[..., Any]
    least: float | tuple[float, float]
    remedy: str
    pair: bool = False
    rows: bool = False
    zero_fixes: bool = False

    def numbers(self, variable: str, prior: Any, shape: tuple[int, ...] = ()) -> Floats:
        """Check the numbers of a prior.

        Parameters
        ----------
        variable : str
            Its name, for errors.
        prior
            One or two numbers, as the family takes them; for rows of probabilities a concentration
            that fits the shape, "diagonal" or "weak_diagonal".
        shape : tuple of int
            Of the variable; needed for rows of probabilities only.

        Returns
        -------
        ndarray

        Raises
        ------
        InputError
            If these are no such numbers.

        Examples
        --------
        >>> FAMILIES["dirichlet"].numbers("base_rates", 3, (2,))
        array([3., 3.])
        """
        if self.rows and isinstance(prior, str) and prior in STRENGTH:
            prior = diagonal_concentration(shape[-1], strength=STRENGTH[prior])
        wanted = (2,) if self.pair else shape if self.rows else ()
        remedy = self.remedy
        try:
            values = np.asarray(prior, dtype=float)
            values = np.array(np.broadcast_to(values, wanted if self.rows else values.shape))
        except (TypeError, ValueError):
            values = np.array(np.nan)
            if self.rows:
                remedy = f"give numbers that fit shape {shape}, or a PyMC distribution"
        if values.shape != wanted or not (np.isfinite(values) & (values >= self.least)).all():
            raise InputError(f"the prior of {variable} is {prior!r}", remedy)
        return values


DISTRIBUTION = "distribution"
"""What a fit keeps a PyMC distribution under: its name."""


def is_distribution(prior: Any) -> bool:
    """Whether a prior is a PyMC distribution, not numbers."""
    # While PyTensor is not loaded there are no distributions.
    return "pytensor" in sys.modules and isinstance(prior, pt.TensorVariable)


def distribution_name(prior: Any) -> str:
    """Name of the PyMC distribution of a prior, as a model takes it or a fit keeps it.

    It is empty if the prior is given by numbers.
    """
    if is_distribution(prior):
        from pymc.printing import str_for_dist

        # Once the distribution is part of a model, its variable's name comes first.
        return str(str_for_dist(prior).split(" ~ ")[-1])
    return str(prior[DISTRIBUTION]) if isinstance(prior, Mapping) else ""


def diagonal_concentration(
    n_categories: int, *, strength: float = 8.0, accuracy: float = 0.6
) -> Floats:
    """Dirichlet concentration of raters who are right with a given mean probability.

    Parameters
    ----------
    n_categories : int
        K, 2 or more.
    strength : float
        Sum of each row, above 0: the prior counts as much as so many ratings.
    accuracy : float
        Prior mean of the diagonal, between 0 and 1.

    Returns
    -------
    ndarray, shape (n_categories, n_categories)
        Concentrations by true category and response, as `dawid_skene` takes them for `confusion`.

    References
    ----------
    Pullin, Gurrin & Vukcevic (2023), https://doi.org/10.32614/RJ-2023-064, for the defaults.

    Examples
    --------
    >>> diagonal_concentration(3).round(2).tolist()
    [[4.8, 1.6, 1.6], [1.6, 4.8, 1.6], [1.6, 1.6, 4.8]]
    """
    wrong = strength * (1 - accuracy) / (n_categories - 1)
    matrix = np.full((n_categories, n_categories), wrong)
    np.fill_diagonal(matrix, strength * accuracy)
    return matrix


_log_gamma = np.vectorize(math.lgamma, otypes=[float])
type Numbers = tuple[Floats, Floats]


def _halves(numbers: Floats) -> Numbers:
    return numbers[..., 0], numbers[..., 1]


def _log_dirichlet(values: Floats, concentration: Floats) -> Floats:
    constant = _log_gamma(concentration.sum(axis=-1)) - _log_gamma(concentration).sum(axis=-1)
    logs = np.log(np.maximum(values, LEAST))
    return np.asarray(constant + ((concentration - 1) * logs).sum(axis=-1))


def _log_beta(values: Floats, numbers: Floats) -> Floats:
    successes, failures = _halves(numbers)
    constant = _log_gamma(successes + failures) - _log_gamma(successes) - _log_gamma(failures)
    of_successes = (successes - 1) * np.log(np.maximum(values, LEAST))
    of_failures = (failures - 1) * np.log(np.maximum(1 - values, LEAST))
    return np.asarray(constant + of_successes + of_failures)


def _log_normal(values: Floats, numbers: Floats) -> Floats:
    mean, sd = _halves(numbers)
    return np.asarray(-(((values - mean) / sd) ** 2) / 2 - np.log(sd * np.sqrt(2 * np.pi)))


def _log_above_zero(values: Floats, numbers: Floats) -> Floats:
    above = np.vectorize(NormalDist().cdf, otypes=[float])(numbers[..., 0] / numbers[..., 1])
    return np.asarray(_log_normal(values, numbers) - np.log(above))


def _log_logistic(values: Floats, numbers: Floats) -> Floats:
    location, scale = _halves(numbers)
    z = (values - location) / scale
    return np.asarray(-z - 2 * np.logaddexp(0.0, -z) - np.log(scale))


def _dirichlet(name: str, concentration: Floats, dims: Any) -> Any:
    # This module loads PyMC, which is not loaded with this file.
    from bayes_models.models.graph import IsometricLogRatio

    return pm.Dirichlet(name, concentration, dims=dims, default_transform=IsometricLogRatio())


def _beta(name: str, numbers: Floats, dims: Any) -> Any:
    from bayes_models.models.graph import LogOdds

    return pm.Beta(name, *_halves(numbers), dims=dims, default_transform=LogOdds())


def _normal(name: str, numbers: Floats, dims: Any) -> Any:
    return pm.Normal(name, *_halves(numbers), dims=dims)


A_SCALE = "give a number, 0 or more, or a PyMC distribution"
TWO = "give two numbers, the second above 0"
ABOVE_ZERO = "give two numbers above 0"
NOT_NEGATIVE = "give two numbers, 0 or more"
SECOND_ABOVE_ZERO = (-np.inf, LEAST)
FAMILIES = {
    "dirichlet": Family(_log_dirichlet, _dirichlet, LEAST, "give numbers above 0", rows=True),
    "beta": Family(_log_beta, _beta, LEAST, ABOVE_ZERO, pair=True),
    "normal": Family(_log_normal, _normal, SECOND_ABOVE_ZERO, TWO, pair=True),
    "logistic": Family(
        _log_logistic,
        lambda name, numbers, dims: pm.Logistic(name, *_halves(numbers), dims=dims),
        SECOND_ABOVE_ZERO,
        TWO,
        pair=True,
    ),
    "half_normal": Family(
        lambda values, numbers: _log_normal(values, numbers) + np.log(2),
        lambda name, numbers, dims: pm.HalfNormal(name, numbers[..., 1], dims=dims),
        0.0,
        A_SCALE,
        zero_fixes=True,
    ),
    "normal_around_zero": Family(_log_normal, _normal, 0.0, A_SCALE, zero_fixes=True),
    "normal_above_zero": Family(
        _log_above_zero,
        lambda name, numbers, dims: pm.TruncatedNormal(name, *_halves(numbers), lower=0, dims=dims),
        0.0,
        NOT_NEGATIVE,
        pair=True,
    ),
    "zero_sum": Family(
        _log_normal,
        lambda name, numbers, dims: pm.ZeroSumNormal(name, sigma=numbers.flat[1], dims=dims),
        0.0,
        NOT_NEGATIVE,
    ),
}
