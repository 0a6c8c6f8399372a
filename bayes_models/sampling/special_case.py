"""Models that are special cases of another, sampled by the compiled functions of that other.

`one_coin` is `one_coin_by_rater` without differences between raters. `relaxed_k` with spreads fixed
at zero is `one_coin_by_rater`, if only raters may differ in it, or else `relaxed_k`. The special
case has fewer parameters; the others stay where they have no effect: standard deviations at zero,
and all else at zero on its unconstrained scale.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_models.likelihood.observations import group_names
from bayes_models.models.families import is_zero
from bayes_models.models.priors import choose_priors, is_distribution
from bayes_models.models.spec import find_model
from bayes_models.sampling.density import Array, Density
from bayes_models.sampling.density_check import by_pymc, evaluate, why_wrong
from lehner import Patterns
from lehner.core.arrays import Floats, Integers

if TYPE_CHECKING:
    import pymc as pm

LOG_ZERO = -1000.0
"""Logarithm of a standard deviation that is exactly zero in double precision."""


def general_case(
    name: str, observed: Patterns, priors: Mapping[str, Any]
) -> tuple[str, dict[str, Any]] | None:
    """Give the model that is compiled in place of a special case, and its priors.

    Parameters
    ----------
    name : str
    observed : Patterns
    priors : mapping
        All priors of the model, as `choose_priors` gives them.

    Returns
    -------
    tuple or None
        Name and priors; None if the model itself is compiled.

    Examples
    --------
    >>> import lehner
    >>> from bayes_models import observe
    >>> seen = observe(lehner.load_dataset("lehner_table2"))
    >>> general, its_priors = general_case("one_coin", seen, choose_priors("one_coin"))
    >>> general
    'one_coin_by_rater'
    >>> general_case(general, seen, its_priors) is None
    True
    """
    spec = find_model(name)
    if not spec.special_case_of or any(map(is_distribution, priors.values())):
        return None
    if observed.dependent is not None or (group_names(observed) and not spec.pools_rater_groups):
        return None
    zero = {variable for variable, prior in priors.items() if is_zero(prior)}
    spreads = {one.name for one in spec.variables if one.family.zero_fixes} - zero
    its_priors = {model: choose_priors(model) for model in spec.special_case_of}
    general, usual = next(g for g in its_priors.items() if spreads <= set(g[1]))
    if general == name and not zero:
        return None
    constants = find_model(general).compiled_in
    return general, usual | {name: priors[name] for name in constants if name in priors}


def special_case(general: Density, model: "pm.Model", other_names: Mapping[str, str]) -> Density:
    """Give the density of a special case.

    Parameters
    ----------
    general : Density
        Of the more general model.
    model : pymc.Model
        The special case.
    other_names : mapping
        By variable of the special case: its name in the general model, if that is another.

    Returns
    -------
    Density

    Raises
    ------
    ValueError
        If it is not the density of the model by PyMC.
    """
    positions = _positions(general)
    parameters = [model.rvs_to_values[variable].name for variable in model.free_RVs]
    variables = [variable.name for variable in model.unobserved_value_vars]
    names = list(dict.fromkeys([*parameters, *variables]))
    in_general = {name: other_names.get(name, name) for name in names}
    density = replace(
        general,
        shapes={name: general.shapes[in_general[name]] for name in names},
        data=_data(general, model, other_names),
        whole_point=_without_effects(general),
        free=np.concatenate([positions[in_general[name]] for name in parameters]),
        kept=np.concatenate([positions[in_general[name]] for name in names]),
    )
    origin = np.zeros(density.n_parameters)
    value, _, _ = evaluate(density, origin)
    expected, _, _ = by_pymc(model)(origin)
    density = replace(density, constant=float(value - expected))
    reason = why_wrong(density, model)
    if reason:
        raise ValueError(reason)
    return density


def _positions(general: Density) -> dict[str, Integers]:
    """Give the positions of each variable among all values."""
    lengths = [int(np.prod(shape)) for shape in general.shapes.values()]
    every = np.split(np.arange(sum(lengths)), np.cumsum(lengths)[:-1])
    return dict(zip(general.shapes, every, strict=True))


def _without_effects(general: Density) -> Floats:
    point = np.zeros(general.n_parameters)
    for name, at in _positions(general).items():
        if name.endswith("_spread_log__"):
            point[at] = LOG_ZERO
    return point


def _data(general: Density, model: "pm.Model", other_names: Mapping[str, str]) -> dict[str, Array]:
    """Give the data of the special case, by its own names; those that it does not have stay."""
    given = {variable.name: variable.get_value() for variable in model.data_vars}
    data = {}
    for name, old in general.data.items():
        for own, theirs in other_names.items():
            name = name.replace(f"{theirs}_prior", f"{own}_prior")
        data[name] = np.array(given.get(name, old), dtype=old.dtype)
    return data
