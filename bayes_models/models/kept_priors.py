"""The priors of a fit as JSON, so that later analyses of the fit need not be given them again."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.models.prior_numbers import is_zero
from bayes_models.models.priors import Priors, choose_priors, is_distribution
from lehner import InputError

DISTRIBUTION = "distribution"


def priors_as_json(model: str, priors: Priors = None) -> str:
    """Write all priors of a model, including those that were not given.

    Parameters
    ----------
    model : str
    priors : str or mapping, optional
        As the model takes them.

    Returns
    -------
    str
        A JSON object of numbers, lists of numbers, "diagonal", and for a PyMC distribution
        `{"distribution": "HalfNormal(0, 0.5)"}`: its name only, from which it cannot be made.

    Examples
    --------
    >>> priors_as_json("dawid_skene", {"base_rates": [1, 2]})
    '{"base_rates": [1.0, 2.0], "confusion": "diagonal", "system_confusion": "weak_diagonal"}'
    """
    chosen = choose_priors(model, priors)
    return json.dumps({name: _plain(prior) for name, prior in chosen.items()})


def kept_priors(tree: xr.DataTree) -> dict[str, Any]:
    """Read the priors that a fit was made with.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.

    Returns
    -------
    dict
        By variable, as `priors_as_json` writes them.

    Raises
    ------
    InputError
        If the fit has no record of its priors.
    """
    if "priors" not in tree.attrs:
        raise InputError(
            "the fit has no record of its priors", "fit again with this version, which records them"
        )
    return dict(json.loads(tree.attrs["priors"]))


def distribution_name(prior: Any) -> str:
    """Name the PyMC distribution of a prior.

    Parameters
    ----------
    prior
        As a model takes it, or as a fit keeps it.

    Returns
    -------
    str
        Empty if the prior is given by numbers.
    """
    if is_distribution(prior):
        from pymc.printing import str_for_dist

        # Once the distribution is part of a model, its variable's name comes first.
        return str(str_for_dist(prior).split(" ~ ")[-1])
    return str(prior[DISTRIBUTION]) if isinstance(prior, Mapping) else ""


def varies(priors: Mapping[str, Any], spread: str) -> bool:
    """Tell a spread that is estimated from the data from one that is fixed at zero.

    Parameters
    ----------
    priors : mapping
        By variable, as a model takes them, or as a fit keeps them.
    spread : str
        Name of the variable.

    Returns
    -------
    bool
    """
    prior = priors[spread]
    return bool(distribution_name(prior)) or not is_zero(prior)


def _plain(prior: Any) -> Any:
    if isinstance(prior, str):
        return prior
    name = distribution_name(prior)
    return {DISTRIBUTION: name} if name else np.asarray(prior, dtype=float).tolist()
