"""The log density of the priors at each draw, without PyMC."""

from typing import Any

import numpy as np
import xarray as xr

from bayes_models.models.base_rates import BASE_RATES, BY_POPULATION
from bayes_models.models.priors import choose_priors, is_distribution
from bayes_models.models.spec import find_model
from lehner import Patterns


def log_prior(
    model: str, posterior: xr.Dataset, patterns: Patterns, priors: Any = None
) -> xr.Dataset:
    """Log density of each prior that is given by numbers, summed over its elements.

    It leaves out the effects of raters and categories, which have standard normal priors whatever
    the user chooses; a user scales the priors of their spreads.

    Parameters
    ----------
    model : str
        Name of the model.
    posterior : xarray.Dataset
        Draws of its variables.
    patterns : Patterns
        Of the ratings that were fitted.
    priors : str or mapping, optional
        The priors that were given to the fit.

    Returns
    -------
    xarray.Dataset
        By variable, dims (chain, draw); without the priors that are PyMC distributions.
    """
    chosen, variables = choose_priors(model, priors), find_model(model).variables
    of_systems = {one.last_row_of: one for one in variables if one.last_row_of}
    densities = {}
    for one in variables:
        if one.name not in posterior or is_distribution(chosen[one.name]):
            continue
        # Of all items they are a mean, whose prior is not given.
        by_population = one == BASE_RATES and BY_POPULATION in posterior
        variable = posterior[BY_POPULATION if by_population else one.name]
        values = variable.transpose("chain", "draw", ...).values
        numbers = one.family.numbers(one.name, chosen[one.name], values.shape[2:])
        density = one.family.log_density(values, numbers)
        system = of_systems.get(one.name)
        if system is not None and patterns.has_system:
            last = values[:, :, -1]
            numbers = system.family.numbers(system.name, chosen[system.name], last.shape[2:])
            density[:, :, -1] = system.family.log_density(last, numbers)
        by_draw = density.reshape(*values.shape[:2], -1).sum(axis=-1)
        densities[one.name] = (("chain", "draw"), np.asarray(by_draw))
    return xr.Dataset(densities, {dim: posterior[dim] for dim in ("chain", "draw")})
