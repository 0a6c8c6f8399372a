"""The numbers of a prior: parameters of the distribution of a variable, checked, without PyMC.

They are data of a model, so that other numbers are no other model, which would have to be compiled.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lehner import InputError
from lehner.core.arrays import Floats

CONCENTRATION = "concentration"
COUNTS = "successes and failures"
MEAN_AND_SD = "mean and standard deviation"
MEAN_ABOVE_ZERO_AND_SD = "mean above zero and standard deviation"
NOT_NEGATIVE = "not negative"
DIAGONAL = "diagonal"
WEAK_DIAGONAL = "weak_diagonal"
STRENGTH = {DIAGONAL: 8.0, WEAK_DIAGONAL: 2.0}
"""Weight, as a number of ratings of each true category, of priors with a mean accuracy of .6.

The weak prior is for the system, whose accuracy is to be found out: with the other prior the
accuracy of a system of .9 was underestimated by .03 to .12
(`experiments/benchmarks/estimators.md`)."""

CONSTANT = ("system_slope",)
"""Priors whose numbers are compiled into a model, see `bayes_models.models.priors.add_slope`."""


@dataclass(frozen=True, kw_only=True)
class PriorNumbers:
    """Which numbers a model reads as the prior of a variable.

    Parameters
    ----------
    variable : str
        As the user names the prior.
    parameters : str
        What the numbers are, as in `PARAMETERS`.
    shape : tuple of int
    element : int, optional
        Which of two numbers the data are; by default all of them.
    """

    variable: str
    parameters: str
    shape: tuple[int, ...]
    element: int | None = None

    def of(self, prior: Any) -> Floats:
        """Give the numbers of a prior.

        Parameters
        ----------
        prior
            Numbers that fit the shape; for a concentration also "diagonal" or "weak_diagonal".

        Returns
        -------
        ndarray

        Raises
        ------
        InputError
            If these are no such numbers.
        """
        numbers = PARAMETERS[self.parameters](self.variable, prior, self.shape)
        return numbers if self.element is None else np.asarray(numbers[self.element])


def is_zero(prior: Any) -> bool:
    """Tell a scale or standard deviation that fixes a variable.

    Parameters
    ----------
    prior
        As a model takes it, but no PyMC distribution.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_zero(0), is_zero(0.5), is_zero((0.0, 1.0)), is_zero("diagonal")
    (True, False, False, False)
    """
    return np.ndim(np.asarray(prior, dtype=object)) == 0 and bool(prior == 0)


def diagonal_concentration(
    n_categories: int, *, strength: float = 8.0, accuracy: float = 0.6
) -> Floats:
    """Give the Dirichlet concentration of raters who are right with a given mean probability.

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


def dirichlet_concentration(name: str, prior: Any, shape: tuple[int, ...]) -> Floats:
    """Give the Dirichlet concentration of a prior of probabilities."""
    if isinstance(prior, str) and prior in STRENGTH:
        prior = diagonal_concentration(shape[-1], strength=STRENGTH[prior])
    return _numbers(name, prior, shape, positive=True)


def confusion_concentration(
    priors: Mapping[str, Any], n_raters: int, n_categories: int, *, has_system: bool
) -> Floats:
    """Give the concentration of each rater's confusion matrix, the system's being the last.

    Parameters
    ----------
    priors : mapping
        Priors of `confusion` and, if the system has its own, of `system_confusion`.
    n_raters : int
        Number of raters, including the system.
    n_categories : int
    has_system : bool

    Returns
    -------
    ndarray, shape (n_raters, n_categories, n_categories)
    """
    k, prior = n_categories, priors["confusion"]
    concentration = dirichlet_concentration("confusion", prior, (n_raters, k, k))
    if has_system and "system_confusion" in priors:
        system = priors["system_confusion"]
        concentration[-1] = dirichlet_concentration("system_confusion", system, (k, k))
    return concentration


def _two_positive(name: str, prior: Any, shape: tuple[int, ...]) -> Floats:
    return _numbers(name, _pair(name, prior), shape, positive=True)


def _two_not_negative(name: str, prior: Any, shape: tuple[int, ...]) -> Floats:
    return _numbers(name, _pair(name, prior), shape)


def _pair(name: str, prior: Any) -> Any:
    if np.shape(np.asarray(prior, dtype=object)) != (2,):
        raise InputError(f"the prior of {name} is {prior!r}", "give two numbers")
    return prior


def _mean_and_sd(name: str, prior: Any, shape: tuple[int, ...]) -> Floats:
    try:
        values = np.array(prior, dtype=float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != shape or not np.isfinite(values).all() or not values[1] > 0:
        raise InputError(
            f"the prior of {name} is {prior!r}",
            "give two numbers, the second above 0",
        )
    return values


def _numbers(name: str, prior: Any, shape: tuple[int, ...], *, positive: bool = False) -> Floats:
    try:
        values = np.broadcast_to(np.asarray(prior, dtype=float), shape)
    except (TypeError, ValueError):
        raise InputError(
            f"the prior of {name} is {prior!r}",
            f"give numbers that fit shape {shape}, or a PyMC distribution",
        ) from None
    least = "above 0" if positive else "0 or more"
    if not np.isfinite(values).all() or (values < 0).any() or (positive and (values == 0).any()):
        raise InputError(f"the prior of {name} is {prior!r}", f"give numbers {least}")
    return values.copy()


PARAMETERS: dict[str, Callable[[str, Any, tuple[int, ...]], Floats]] = {
    CONCENTRATION: dirichlet_concentration,
    COUNTS: _two_positive,
    MEAN_AND_SD: _mean_and_sd,
    MEAN_ABOVE_ZERO_AND_SD: _two_not_negative,
    NOT_NEGATIVE: _numbers,
}
