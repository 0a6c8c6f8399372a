"""How priors are chosen and become variables. The sets of priors are in the models' files.

A prior is given as numbers, which are parameters of the family named here, or as a PyMC
distribution, as in `pm.Beta.dist(2, 1)`.

=======================  =========================  ==============================================
variable                 numbers                    family
=======================  =========================  ==============================================
base_rates,              concentration              Dirichlet
...confusion, guessing
..._log_odds             mean, standard deviation   Normal
system_log_odds          location, scale            logistic; (0, 1) is a flat prior on accuracy
...accuracy_by_category, successes, failures        Beta
knowledge,
common_category_share
..._spread               scale                      half-normal; 0 fixes the spread at zero
distance_decay           standard deviation         Normal around zero; 0 fixes it at zero
system_slope             mean, standard deviation   Normal above zero; sd 0 fixes it at its mean
=======================  =========================  ==============================================
"""

import sys
from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from bayes_models.models.deferred import pm, pt
from bayes_models.models.spec import find_model
from lehner import InputError
from lehner.core.arrays import Floats
from lehner.core.checks import find
from lehner.core.wording import counted

type Priors = str | Mapping[str, Any] | None

DIAGONAL = "diagonal"
WEAK_DIAGONAL = "weak_diagonal"
BY_RATER = 3
"""Number of dimensions of a prior of confusion matrices that differs between raters."""
STRENGTH = {DIAGONAL: 8.0, WEAK_DIAGONAL: 2.0}
"""Weight, as a number of ratings of each true category, of priors with a mean accuracy of .6.

The weak prior is for the system, whose accuracy is to be found out: with the other prior the
accuracy of a system of .9 was underestimated by .03 to .12
(`experiments/benchmarks/estimators.md`)."""


def choose_priors(model: str, priors: Priors = None) -> dict[str, Any]:
    """Give all priors of a model, given those that the user chose.

    Parameters
    ----------
    model : str
        Name of the model.
    priors : str or mapping, optional
        Name of a set, or priors of some variables by name. Other variables have their priors in the
        model's first set, which is also the default. A prior for all raters, such as `confusion`,
        is also that of the system, unless the system's prior, such as `system_confusion`, is given.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        If there is no such set or variable.

    Examples
    --------
    >>> choose_priors("dawid_skene", {"base_rates": 1.0})
    {'base_rates': 1.0, 'confusion': 'diagonal', 'system_confusion': 'weak_diagonal'}
    """
    spec = find_model(model)
    sets = spec.priors
    if isinstance(priors, str):
        return dict(find(f"set of priors of {model} called", priors, sets))
    first = next(iter(sets.values()))
    given = dict(priors or {})
    for name in given:
        find(f"prior in {model} called", name, first)
    return {**first, **_of_the_system(given, spec.row_priors), **given}


def _of_the_system(given: Mapping[str, Any], of_rows: Container[str]) -> dict[str, Any]:
    """Give the system's matrix the prior that is given for those of all raters."""
    return {
        f"system_{name}": prior[-1] if _differs_by_rater(prior) else prior
        for name, prior in given.items()
        if f"system_{name}" in of_rows
    }


def _differs_by_rater(prior: Any) -> bool:
    if is_distribution(prior):
        return False
    try:
        return np.ndim(prior) == BY_RATER
    except ValueError:
        # Rows of unequal length raise an error where the prior is used.
        return False


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


def add_dirichlet(name: str, prior: Any, dims: tuple[str, ...]) -> Any:
    """Add probabilities that sum to one over the last dimension."""
    if is_distribution(prior):
        return _register(prior, name, dims)
    coords = pm.modelcontext(None).coords
    shape = tuple(len(coords[dim]) for dim in dims)
    # This module loads PyMC, which is not loaded with this file.
    from bayes_models.models.simplex import IsometricLogRatio

    concentration = dirichlet_concentration(name, prior, shape)
    return pm.Dirichlet(name, concentration, dims=dims, default_transform=IsometricLogRatio())


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


def add_beta(name: str, prior: Any, dims: tuple[str, ...] | None = None) -> Any:
    """Add probabilities, one for each combination of the dimensions if there are any."""
    if is_distribution(prior):
        return _register(prior, name, dims)
    successes, failures = _numbers(name, prior, (2,), positive=True)
    return pm.Beta(name, successes, failures, dims=dims)


def add_beta_by_rater(name: str, prior: Any, system_prior: Any) -> Any:
    """Add a probability for each rater and category, the system's with a prior of its own."""
    if is_distribution(prior):
        return _register(prior, name, ("rater", "category"))
    n_raters = len(pm.modelcontext(None).coords["rater"])
    numbers = np.tile(_numbers(name, prior, (2,), positive=True), (n_raters, 1))
    if system_prior is not None:
        numbers[-1] = _numbers(f"system_{name}", system_prior, (2,), positive=True)
    successes, failures = numbers.T[:, :, None]
    return pm.Beta(name, successes, failures, dims=("rater", "category"))


def add_normal(name: str, prior: Any, dims: tuple[str, ...] = ()) -> Any:
    """Add a real number, or one for each combination of the dimensions."""
    if is_distribution(prior):
        return _register(prior, name, dims)
    mean, sd = _mean_and_sd(name, prior)
    return pm.Normal(name, mean, sd, dims=dims or None)


def add_logistic(name: str, prior: Any) -> Any:
    """Add log odds; location 0 and scale 1 are a flat prior on the probability."""
    if is_distribution(prior):
        return _register(prior, name, None)
    location, scale = _mean_and_sd(name, prior)
    return pm.Logistic(name, location, scale)


def add_spread(name: str, prior: Any, dims: tuple[str, ...] = ()) -> Any:
    """Add a standard deviation, or one for each combination; None where the scale is zero."""
    if is_distribution(prior):
        return _register(prior, name, dims)
    scale = float(_numbers(name, prior, ()))
    return pm.HalfNormal(name, scale, dims=dims or None) if scale else None


def add_decay(name: str, prior: Any) -> Any:
    """Add a real number with mean zero, or None if its standard deviation is zero."""
    if is_distribution(prior):
        return _register(prior, name, None)
    sd = float(_numbers(name, prior, ()))
    return pm.Normal(name, 0, sd) if sd else None


def add_slope(name: str, prior: Any) -> Any:
    """Add a number that is not negative, or give its mean if its standard deviation is zero."""
    if is_distribution(prior):
        return _register(prior, name, None)
    mean, sd = _numbers(name, prior, (2,))
    return pm.TruncatedNormal(name, mean, sd, lower=0) if sd else pt.constant(mean)


def is_distribution(prior: Any) -> bool:
    """Tell a PyMC distribution from numbers."""
    # While PyTensor is not loaded there are no distributions.
    return "pytensor" in sys.modules and isinstance(prior, pt.TensorVariable)


def _register(prior: Any, name: str, dims: tuple[str, ...] | None) -> Any:
    if dims and prior.ndim != len(dims):
        raise InputError(
            f"the prior of {name} is a distribution with {counted(prior.ndim, 'dimension')}, but "
            f"{name} has {len(dims)} ({', '.join(dims)})",
            "give a distribution of that shape, or numbers",
        )
    return pm.modelcontext(None).register_rv(prior, name, dims=dims or None)


def _mean_and_sd(name: str, prior: Any) -> tuple[float, float]:
    try:
        values = np.asarray(prior, dtype=float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (2,) or not np.isfinite(values).all() or not values[1] > 0:
        raise InputError(
            f"the prior of {name} is {prior!r}",
            "give two numbers, the second above 0",
        )
    return float(values[0]), float(values[1])


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
