"""The log density of the priors at each draw, without PyMC.

The family of a prior given as numbers follows from its variable's name, as the table in
`bayes_models.models.priors` says.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from scipy import stats

from bayes_models.likelihood.observations import Observations
from bayes_models.models.priors import (
    choose_priors,
    confusion_concentration,
    dirichlet_concentration,
    is_distribution,
)
from lehner.core.arrays import Floats

LEAST = np.finfo(float).tiny
BETA = ("knowledge", "common_category_share")
ROWS = ("base_rates", "guessing")


def log_prior(
    model: str, posterior: xr.Dataset, observed: Observations, priors: Any = None
) -> xr.Dataset:
    """Give the log density of each prior that numbers stand for, summed over its elements.

    Effects of raters and categories are no part of it: they have standard normal priors, whatever
    the user chooses, and their spreads have the priors that can be scaled.

    Parameters
    ----------
    model : str
    posterior : xarray.Dataset
    observed : Observations
        The data the posterior is of.
    priors : str or mapping, optional
        As the fit was given them.

    Returns
    -------
    xarray.Dataset
        By variable, dims (chain, draw); without the priors that are PyMC distributions.
    """
    chosen = choose_priors(model, priors)
    found = {}
    for name, prior in chosen.items():
        if name in posterior and not is_distribution(prior):
            values = posterior[name].transpose("chain", "draw", ...).values
            density = _log_density(name, prior, values, chosen, observed)
            found[name] = (("chain", "draw"), density.reshape(*values.shape[:2], -1).sum(axis=-1))
    return xr.Dataset(found, {dim: posterior[dim] for dim in ("chain", "draw")})


def _log_density(
    name: str, prior: Any, values: Floats, chosen: Mapping[str, Any], observed: Observations
) -> Floats:
    """Give the log density of each element, or of each row of probabilities."""
    if name == "confusion":
        shape = (observed.n_raters + observed.has_system, observed.n_categories)
        return _dirichlet(
            confusion_concentration(chosen, *shape, has_system=observed.has_system), values
        )
    if name.endswith("confusion") or name in ROWS:
        return _dirichlet(dirichlet_concentration(name, prior, values.shape[2:]), values)
    if name.endswith("accuracy_by_category"):
        return _beta_by_rater(name, chosen, values, has_system=observed.has_system)
    if name in BETA:
        return np.asarray(stats.beta.logpdf(values, *prior))
    if name == "system_log_odds":
        return np.asarray(stats.logistic.logpdf(values, *prior))
    if name.endswith("_log_odds"):
        return np.asarray(stats.norm.logpdf(values, *prior))
    if name == "system_slope":
        mean, sd = prior
        return np.asarray(stats.truncnorm.logpdf(values, -mean / sd, np.inf, mean, sd))
    if name == "distance_decay":
        return np.asarray(stats.norm.logpdf(values, 0, prior))
    return np.asarray(stats.halfnorm.logpdf(values, 0, prior))


def _dirichlet(concentration: Floats, values: Floats) -> Floats:
    from scipy.special import gammaln

    constant = gammaln(concentration.sum(axis=-1)) - gammaln(concentration).sum(axis=-1)
    logs = np.log(np.maximum(values, LEAST))
    return np.asarray(constant + ((concentration - 1) * logs).sum(axis=-1))


def _beta_by_rater(
    name: str, chosen: Mapping[str, Any], values: Floats, *, has_system: bool
) -> Floats:
    """Give the log density of accuracies (chain, draw, rater, category), the system's last."""
    density = stats.beta.logpdf(values, *chosen[name])
    of_system = chosen.get(f"system_{name}")
    if has_system and of_system is not None:
        density[:, :, -1] = stats.beta.logpdf(values[:, :, -1], *of_system)
    return np.asarray(density)
