"""How priors are chosen, become variables of a model, and are kept with a fit.

The sets of priors are in the models' files; `families.py` says which numbers a prior takes.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.likelihood.observations import group_names
from bayes_models.models.deferred import pm, pt
from bayes_models.models.families import is_zero
from bayes_models.models.spec import find_model
from lehner import InputError, Patterns
from lehner.core.errors import find
from lehner.core.text import counted

type Priors = str | Mapping[str, Any] | None

BY_RATER = 3
"""Number of dimensions of a prior of confusion matrices that differs between raters."""
DISTRIBUTION = "distribution"


def choose_priors(model: str, priors: Priors = None) -> dict[str, Any]:
    """All priors of a model, given those that the user chose.

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
        Priors by variable.

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
    if isinstance(priors, str):
        return dict(find(f"set of priors of {model} called", priors, spec.priors))
    first = next(iter(spec.priors.values()))
    named = dict(priors or {})
    for name in named:
        find(f"prior in {model} called", name, first)
    of_system = {
        variable.name: _last_row(named[variable.last_row_of])
        for variable in spec.variables
        if variable.last_row_of in named
    }
    return {**first, **of_system, **named}


def _last_row(prior: Any) -> Any:
    if is_distribution(prior):
        return prior
    try:
        return prior[-1] if np.ndim(prior) == BY_RATER else prior
    except ValueError:
        # Rows of unequal length raise an error where the prior is used.
        return prior


def register_distribution(prior: Any, name: str, dims: tuple[str, ...]) -> Any:
    """Add a variable whose prior is a PyMC distribution to the current model."""
    if dims and prior.ndim != len(dims):
        raise InputError(
            f"the prior of {name} is a distribution with {counted(prior.ndim, 'dimension')}, but "
            f"{name} has {len(dims)} ({', '.join(dims)})",
            "give a distribution of that shape, or numbers",
        )
    return pm.modelcontext(None).register_rv(prior, name, dims=dims or None)


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


def varies(priors: Mapping[str, Any], spread: str) -> bool:
    """Whether a spread is estimated from the data, not fixed at zero by its prior."""
    prior = priors[spread]
    return bool(distribution_name(prior)) or not is_zero(prior)


def n_apart(priors: Mapping[str, Any], spread: str, observed: Patterns) -> int:
    """Number of raters, or where a spread keeps them alike, of groups of raters."""
    if varies(priors, spread):
        return observed.n_raters
    return max(1, len(group_names(observed)))


def priors_as_json(model: str, priors: Priors = None) -> str:
    """Write all priors of a model as JSON, including those that were not given.

    Parameters
    ----------
    model : str
        Name of the model.
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
    all_priors = choose_priors(model, priors)
    return json.dumps({name: _plain(prior) for name, prior in all_priors.items()})


def _plain(prior: Any) -> Any:
    if isinstance(prior, str):
        return prior
    name = distribution_name(prior)
    return {DISTRIBUTION: name} if name else np.asarray(prior, dtype=float).tolist()


def kept_priors(tree: xr.DataTree) -> dict[str, Any]:
    """Read the priors that a fit was made with, by variable as `priors_as_json` writes them.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.

    Returns
    -------
    dict
        Priors by variable.

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
