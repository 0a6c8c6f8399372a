"""The models by name, and the priors that are chosen for them.

The names are the rows of `lehner.latent_class.em.MODELS`. A file of models ends with its
`SPECS`; that of a model which is not listed here has the name of the model.
"""

import json
from importlib import import_module
from typing import Any

import numpy as np

from bayes_models.models import log_odds, matrices
from bayes_models.models.spec import (
    BY_RATER,
    DISTRIBUTION,
    ModelSpec,
    Priors,
    is_distribution,
    name_distribution,
)
from lehner.core.errors import find
from lehner.latent_class.em import MODELS

SPECS = log_odds.SPECS | matrices.SPECS


def find_model(name: str) -> ModelSpec:
    """Find a model by name.

    Parameters
    ----------
    name : str
        Name of the model, as in `MODELS`.

    Returns
    -------
    ModelSpec
        How it is built, and its sets of priors.

    Raises
    ------
    InputError
        If there is no such model.

    Examples
    --------
    >>> list(find_model("one_coin").priors)
    ['default', 'flat']
    """
    find("model", name, MODELS)
    if name in SPECS:
        return SPECS[name]
    spec: ModelSpec = import_module(f"bayes_models.models.{name}").SPECS[name]
    return spec


def choose_priors(model: str, priors: Priors = None) -> dict[str, Any]:
    """Give all priors of a model: those that the user chose, and the defaults of others.

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
    defaults, selected = next(iter(spec.priors.values())), dict(priors or {})
    for name in selected:
        find(f"prior in {model} called", name, defaults)
    of_system = {
        variable.name: _take_last(selected[variable.last_row_of])
        for variable in spec.variables
        if variable.last_row_of in selected
    }
    return {**defaults, **of_system, **selected}


def _take_last(prior: Any) -> Any:
    """Take the prior of the last rater from one that differs between raters."""
    alike = is_distribution(prior) or np.asarray(prior, object).ndim != BY_RATER
    return prior if alike else prior[-1]


def write_priors(model: str, priors: Priors = None) -> str:
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
    >>> write_priors("dawid_skene", {"base_rates": [1, 2]})
    '{"base_rates": [1.0, 2.0], "confusion": "diagonal", "system_confusion": "weak_diagonal"}'
    """
    plain = {}
    for variable, prior in choose_priors(model, priors).items():
        name = name_distribution(prior)
        numbers = prior if isinstance(prior, str) or name else np.asarray(prior, float).tolist()
        plain[variable] = {DISTRIBUTION: name} if name else numbers
    return json.dumps(plain)
