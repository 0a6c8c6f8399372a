"""The log density of the priors at each draw, without PyMC.

The family of a prior given as numbers follows from its variable's name, as the table in
`bayes_models.models.priors` says.
"""

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.models.base_rates import BY_POPULATION
from bayes_models.models.prior_numbers import confusion_concentration, dirichlet_concentration
from bayes_models.models.priors import choose_priors, is_distribution
from lehner import Patterns
from lehner.core.arrays import Floats

LEAST = np.finfo(float).tiny
BETA = ("knowledge", "common_category_share")
ROWS = ("base_rates", "guessing")


def log_prior(
    model: str, posterior: xr.Dataset, patterns: Patterns, priors: Any = None
) -> xr.Dataset:
    """Give the log density of each prior that is given by numbers, summed over its elements.

    It leaves out the effects of raters and categories, which have standard normal priors whatever
    the user chooses; a user scales the priors of their spreads.

    Parameters
    ----------
    model : str
    posterior : xarray.Dataset
    patterns : Patterns
        Of the ratings that were fitted.
    priors : str or mapping, optional
        The priors that were given to the fit.

    Returns
    -------
    xarray.Dataset
        By variable, dims (chain, draw); without the priors that are PyMC distributions.
    """
    chosen = choose_priors(model, priors)
    densities = {}
    for name, prior in chosen.items():
        if name in posterior and not is_distribution(prior):
            # Of all items they are a mean, whose prior is not given.
            by_population = name == "base_rates" and BY_POPULATION in posterior
            variable = posterior[BY_POPULATION if by_population else name]
            values = variable.transpose("chain", "draw", ...).values
            density = _log_density(name, prior, values, chosen, patterns)
            densities[name] = (
                ("chain", "draw"),
                density.reshape(*values.shape[:2], -1).sum(axis=-1),
            )
    return xr.Dataset(densities, {dim: posterior[dim] for dim in ("chain", "draw")})


def _log_density(
    name: str, prior: Any, values: Floats, chosen: Mapping[str, Any], patterns: Patterns
) -> Floats:
    """Give the log density of each element, or of each row of probabilities."""
    if name == "confusion":
        shape = (len(patterns.raters), patterns.n_categories)
        return _dirichlet(
            confusion_concentration(chosen, *shape, has_system=patterns.has_system), values
        )
    if name.endswith("confusion") or name in ROWS:
        return _dirichlet(dirichlet_concentration(name, prior, values.shape[2:]), values)
    if name.endswith("accuracy_by_category"):
        return _beta_by_rater(name, chosen, values, has_system=patterns.has_system)
    if name in BETA:
        return _beta(values, *prior)
    if name == "system_log_odds":
        return _logistic(values, *prior)
    if name.endswith("_log_odds"):
        return _normal(values, *prior)
    if name == "system_slope":
        mean, sd = prior
        return np.asarray(_normal(values, mean, sd) - math.log(NormalDist().cdf(mean / sd)))
    if name == "distance_decay":
        return _normal(values, 0.0, prior)
    return _normal(values, 0.0, prior) + np.log(2)


# SciPy would take longer to load than these take.
_log_gamma = np.vectorize(math.lgamma, otypes=[float])


def _normal(values: Floats, mean: float, sd: float) -> Floats:
    return -(((values - mean) / sd) ** 2) / 2 - np.log(sd * np.sqrt(2 * np.pi))


def _logistic(values: Floats, location: float, scale: float) -> Floats:
    z = (values - location) / scale
    return np.asarray(-z - 2 * np.logaddexp(0.0, -z) - np.log(scale))


def _beta(values: Floats, successes: float, failures: float) -> Floats:
    constant = math.lgamma(successes + failures) - math.lgamma(successes) - math.lgamma(failures)
    of_successes = (successes - 1) * np.log(np.maximum(values, LEAST))
    of_failures = (failures - 1) * np.log(np.maximum(1 - values, LEAST))
    return np.asarray(constant + of_successes + of_failures)


def _dirichlet(concentration: Floats, values: Floats) -> Floats:
    constant = _log_gamma(concentration.sum(axis=-1)) - _log_gamma(concentration).sum(axis=-1)
    logs = np.log(np.maximum(values, LEAST))
    return np.asarray(constant + ((concentration - 1) * logs).sum(axis=-1))


def _beta_by_rater(
    name: str, chosen: Mapping[str, Any], values: Floats, *, has_system: bool
) -> Floats:
    """Give the log density of accuracies (chain, draw, rater, category), the system's last."""
    density = _beta(values, *chosen[name])
    of_system = chosen.get(f"system_{name}")
    if has_system and of_system is not None:
        density[:, :, -1] = _beta(values[:, :, -1], *of_system)
    return density
