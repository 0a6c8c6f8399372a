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
from bayes_models.models.spec import Variable, find_model
from lehner import InputError, Patterns
from lehner.core.arrays import Floats
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
    given = dict(priors or {})
    for name in given:
        find(f"prior in {model} called", name, first)
    of_system = {
        one.name: _last_row(given[one.last_row_of])
        for one in spec.variables
        if one.last_row_of in given
    }
    return {**first, **of_system, **given}


def _last_row(prior: Any) -> Any:
    if is_distribution(prior):
        return prior
    try:
        return prior[-1] if np.ndim(prior) == BY_RATER else prior
    except ValueError:
        # Rows of unequal length raise an error where the prior is used.
        return prior


def add_variable(
    variable: Variable, priors: Mapping[str, Any], dims: tuple[str, ...] = (), *, name: str = ""
) -> Any:
    """Add a variable with its prior to the current model.

    Parameters
    ----------
    variable : Variable
        Declared in the model's `SPEC`.
    priors : mapping
        Priors by variable, as `choose_priors` returns them.
    dims : tuple of str
        Dimensions; a number for each combination of them.
    name : str
        Name in the model, if it is not that of the prior.

    Returns
    -------
    TensorVariable or None
        None where a spread is fixed at zero, a constant where a slope is fixed.

    Raises
    ------
    InputError
        If the prior has wrong numbers, or is a distribution of other dimensions.
    """
    prior, family, name = priors[variable.name], variable.family, name or variable.name
    if is_distribution(prior):
        return register_distribution(prior, name, dims)
    numbers = prior_numbers(variable, priors, dims)
    if family.zero_fixes and not numbers:
        return None
    given = numbers if family.pair else [numbers]
    return family.distribution(name, *given, dims=dims or None)


def prior_numbers(
    variable: Variable, priors: Mapping[str, Any], dims: tuple[str, ...] = ()
) -> Floats:
    """Check the numbers of a prior of a variable of the current model, with these dimensions."""
    coords = pm.modelcontext(None).coords
    shape = tuple(len(coords[dim]) for dim in dims)
    return variable.family.numbers(variable.name, priors[variable.name], shape)


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
    chosen = choose_priors(model, priors)
    return json.dumps({name: _plain(prior) for name, prior in chosen.items()})


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
