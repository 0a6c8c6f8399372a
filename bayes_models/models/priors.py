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
from dataclasses import replace
from typing import Any

import numpy as np

from bayes_models.models.assemble import with_system
from bayes_models.models.deferred import pm, pt
from bayes_models.models.prior_numbers import (
    CONCENTRATION,
    COUNTS,
    MEAN_ABOVE_ZERO_AND_SD,
    MEAN_AND_SD,
    NOT_NEGATIVE,
    PriorNumbers,
)
from bayes_models.models.spec import find_model
from lehner import InputError
from lehner.core.checks import find
from lehner.core.wording import counted

type Priors = str | Mapping[str, Any] | None

BY_RATER = 3
"""Number of dimensions of a prior of confusion matrices that differs between raters."""


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


def add_dirichlet(name: str, prior: Any, dims: tuple[str, ...], prior_name: str = "") -> Any:
    """Add probabilities that sum to one over the last dimension.

    The prior has the name of the variable, unless another is given.
    """
    if is_distribution(prior):
        return _register(prior, name, dims)
    return _dirichlet(name, _add_concentration(prior_name or name, prior, dims), dims)


def add_dirichlet_by_rater(name: str, prior: Any, system_prior: Any) -> Any:
    """Add rows of probabilities for each rater, the system's with a prior of their own."""
    dims = ("rater", "category", "response")
    if is_distribution(prior):
        return _register(prior, name, dims)
    concentration = _add_concentration(name, prior, dims)
    if system_prior is not None:
        of_system = _add_concentration(f"system_{name}", system_prior, dims[1:])
        concentration = with_system(concentration[:-1], of_system)
    return _dirichlet(name, concentration, dims)


def add_beta(name: str, prior: Any, dims: tuple[str, ...] | None = None) -> Any:
    """Add probabilities, one for each combination of the dimensions if there are any."""
    if is_distribution(prior):
        return _register(prior, name, dims)
    successes, failures = _add_pair(name, COUNTS, prior, ("successes", "failures"))
    return pm.Beta(name, successes, failures, dims=dims)


def add_beta_by_rater(name: str, prior: Any, system_prior: Any) -> Any:
    """Add a probability for each rater and category, the system's with a prior of its own."""
    if is_distribution(prior):
        return _register(prior, name, ("rater", "category"))
    n_raters = len(pm.modelcontext(None).coords["rater"])
    numbers = [_add_numbers(name, COUNTS, prior, (2,))] * n_raters
    if system_prior is not None:
        numbers[-1] = _add_numbers(f"system_{name}", COUNTS, system_prior, (2,))
    successes_and_failures = pt.stack(numbers)
    return pm.Beta(
        name,
        successes_and_failures[:, :1],
        successes_and_failures[:, 1:],
        dims=("rater", "category"),
    )


def add_normal(name: str, prior: Any, dims: tuple[str, ...] = ()) -> Any:
    """Add a real number, or one for each combination of the dimensions."""
    if is_distribution(prior):
        return _register(prior, name, dims)
    mean, sd = _add_pair(name, MEAN_AND_SD, prior, ("mean", "sd"))
    return pm.Normal(name, mean, sd, dims=dims or None)


def add_logistic(name: str, prior: Any) -> Any:
    """Add log odds; location 0 and scale 1 are a flat prior on the probability."""
    if is_distribution(prior):
        return _register(prior, name, None)
    location, scale = _add_pair(name, MEAN_AND_SD, prior, ("location", "scale"))
    return pm.Logistic(name, location, scale)


def add_spread(name: str, prior: Any, dims: tuple[str, ...] = ()) -> Any:
    """Add a standard deviation, or one for each combination; None where the scale is zero."""
    if is_distribution(prior):
        return _register(prior, name, dims)
    scale = _add_scale(name, prior)
    return None if scale is None else pm.HalfNormal(name, scale, dims=dims or None)


def add_decay(name: str, prior: Any) -> Any:
    """Add a real number with mean zero, or None if its standard deviation is zero."""
    if is_distribution(prior):
        return _register(prior, name, None)
    sd = _add_scale(name, prior)
    return None if sd is None else pm.Normal(name, 0, sd)


def add_slope(name: str, prior: Any) -> Any:
    """Add a number that is not negative, or give its mean if its standard deviation is zero.

    Its prior is no data of the model: what its density needs (erfcx) cannot be kept on disk.
    """
    if is_distribution(prior):
        return _register(prior, name, None)
    numbers = PriorNumbers(variable=name, parameters=MEAN_ABOVE_ZERO_AND_SD, shape=(2,))
    mean, sd = numbers.of(prior)
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


def _dirichlet(name: str, concentration: Any, dims: tuple[str, ...]) -> Any:
    # This module loads PyMC, which is not loaded with this file.
    from bayes_models.models.simplex import IsometricLogRatio

    return pm.Dirichlet(name, concentration, dims=dims, default_transform=IsometricLogRatio())


def _add_concentration(name: str, prior: Any, dims: tuple[str, ...]) -> Any:
    coords = pm.modelcontext(None).coords
    return _add_numbers(name, CONCENTRATION, prior, tuple(len(coords[dim]) for dim in dims))


def _add_scale(name: str, prior: Any) -> Any:
    """Add a scale or standard deviation as data, or give None if it is zero."""
    numbers = PriorNumbers(variable=name, parameters=NOT_NEGATIVE, shape=())
    return _as_data(f"{name}_prior", numbers, prior) if numbers.of(prior) else None


def _add_numbers(name: str, parameters: str, prior: Any, shape: tuple[int, ...]) -> Any:
    """Add the numbers of a prior as data, `<name>_prior`."""
    numbers = PriorNumbers(variable=name, parameters=parameters, shape=shape)
    return _as_data(f"{name}_prior", numbers, prior)


def _add_pair(name: str, parameters: str, prior: Any, labels: tuple[str, str]) -> tuple[Any, Any]:
    """Add two numbers as two data, so that PyMC shows them among a model's distributions."""
    whole = PriorNumbers(variable=name, parameters=parameters, shape=(2,))
    first, second = (
        _as_data(f"{name}_prior_{label}", replace(whole, element=i), prior)
        for i, label in enumerate(labels)
    )
    return first, second


def _as_data(data_name: str, numbers: PriorNumbers, prior: Any) -> Any:
    values = numbers.of(prior)
    data = pm.Data(data_name, values, shape=values.shape)
    data.tag.prior_numbers = numbers
    return data
