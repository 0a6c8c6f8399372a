"""Models that nutpie compiles of PyMC's: those with a prior that is a PyMC distribution.

Compiling takes a minute or two. The compiled code depends on the model, its priors, and the numbers
of raters and categories; ratings and counts are its data. A process keeps it in memory.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.density.c_functions import c_functions
from bayes_models.likelihood.observations import coords_of, data_of, group_names
from bayes_models.models.assemble import BASE_RATES
from bayes_models.models.deferred import nutpie, without_c_compiler
from bayes_models.models.density import CONFUSION, ModelDensity, describe_density
from bayes_models.models.priors import Priors, choose_priors, is_distribution
from bayes_models.models.spec import find_model, seen_by
from bayes_models.posterior.draws import accuracies, base_rates_of_all, labelled_draws
from bayes_models.sampling.library_internals import sampler_model
from bayes_models.sampling.start import StartingPoint, em_start, start_values, starting_point
from lehner import Patterns
from lehner.core.arrays import Floats

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, eq=False)
class PyMCModel:
    """A model compiled by nutpie, for any data of the same raters and categories.

    Parameters
    ----------
    compiled : nutpie's compiled model
    data : tuple of str
        Names of the data that it reads and `data_of` gives.
    dims : dict
        Dimensions of the variables that are kept.
    coords : dict
        Coordinates that do not depend on the data.
    start : StartingPoint
    priors : mapping
        They must stay alive, because compiled models are found by the identity of distributions.
    """

    compiled: Any
    data: tuple[str, ...]
    dims: dict[str, tuple[str, ...]]
    coords: dict[str, Any]
    start: StartingPoint
    priors: Mapping[str, Any]


_compiled: dict[tuple[Any, ...], PyMCModel] = {}


def compile_pymc_model(name: str, observed: Patterns, priors: Mapping[str, Any]) -> PyMCModel:
    """Compile a model, or find it in memory.

    Parameters
    ----------
    name : str
    observed : Patterns
        As the model sees them.
    priors : mapping
        All priors of the model.

    Returns
    -------
    PyMCModel
    """
    key = _key(name, observed, priors)
    if key not in _compiled:
        logger.info("%s: compiling", name)
        _compiled[key] = _compile(name, observed, priors)
    return _compiled[key]


def _key(name: str, observed: Patterns, priors: Mapping[str, Any]) -> tuple[Any, ...]:
    numbers = {
        name: id(prior) if is_distribution(prior) else repr(np.asarray(prior, object).tolist())
        for name, prior in priors.items()
    }
    return (
        name,
        len(observed.raters),
        observed.n_categories,
        observed.has_system,
        len(observed.populations),
        len(group_names(observed)),
        observed.ordered,
        observed.dependent is not None,
        *numbers.items(),
    )


def _compile(name: str, observed: Patterns, priors: Mapping[str, Any]) -> PyMCModel:
    import pytensor

    model = find_model(name).build(observed, priors)
    # With fast math, rounding depends on whether the code comes from a compile cache, and the same
    # seed would not give the same draws.
    with pytensor.config.change_flags(numba__fastmath=False), without_c_compiler():
        compiled = nutpie.compile_pymc_model(model, backend="numba")
        start = starting_point(model, start_values(name, em_start(observed)))
    of_data = data_of(observed)
    kept = (*model.free_RVs, *model.deterministics)
    return PyMCModel(
        compiled=compiled,
        data=tuple(variable.name for variable in model.data_vars if variable.name in of_data),
        dims={
            variable.name: tuple(model.named_vars_to_dims.get(variable.name, ()))
            for variable in kept
        },
        coords={
            name: np.asarray(labels)
            for name, labels in model.coords.items()
            if name not in coords_of(observed)
        },
        start=start,
        priors=priors,
    )


logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, eq=False)
class CompiledModel:
    """A model with its data, ready to be sampled.

    Parameters
    ----------
    model : str
        Its name.
    observed : Patterns
        As the model sees them.
    sampled : nutpie's compiled model
    start : StartingPoint
    kept : tuple of str
        What the sampler keeps of a draw.
    label : callable
        From the draws of what is kept, of shape (n_chains, n_draws, ...), to the model's variables.
    """

    model: str
    observed: Patterns
    sampled: Any
    start: StartingPoint
    kept: tuple[str, ...]
    label: Callable[[Mapping[str, Floats]], xr.Dataset]


def compile_model(name: str, observed: Patterns, priors: Priors = None) -> CompiledModel:
    """Make a model ready to be sampled.

    Parameters
    ----------
    name : str
    observed : Patterns
    priors : str or mapping, optional

    Returns
    -------
    CompiledModel

    Raises
    ------
    InputError
        If there is no such model or prior, or a prior has wrong numbers.
    """
    spec, all_priors, observed = (
        find_model(name),
        choose_priors(name, priors),
        seen_by(name, observed),
    )
    if spec.likelihood is None or any(map(is_distribution, all_priors.values())):
        return _of_pymc(name, observed, compile_pymc_model(name, observed, all_priors))
    density = describe_density(spec, observed, all_priors)
    try:
        sampled = sampler_model(
            density.shapes(), density.n_coordinates, c_functions(), density.arrays()
        )
    except (AttributeError, TypeError) as error:  # Private names of nutpie have changed.
        logger.warning("%s: compiled by nutpie, in each process: %s", name, error)
        return _of_pymc(name, observed, compile_pymc_model(name, observed, all_priors))
    return CompiledModel(
        model=name,
        observed=observed,
        sampled=sampled,
        start=StartingPoint(
            transforms={parameter.name: parameter.coordinates for parameter in density.free},
            defaults={
                parameter.name: parameter.coordinates(parameter.typical())
                for parameter in density.free
            },
        ),
        kept=(*(parameter.name for parameter in density.free), CONFUSION),
        label=partial(_label, density, spec.pools_rater_groups),
    )


def _label(
    density: ModelDensity, pools_rater_groups: bool, drawn: Mapping[str, Floats]
) -> xr.Dataset:
    observed, by_level = density.observed, drawn[CONFUSION]
    variables = {
        parameter.name: (parameter.dims, drawn[parameter.name]) for parameter in density.free
    }
    base_rates = drawn[density.parameters[BASE_RATES.name].name]
    by_population = base_rates if observed.populations else base_rates[..., None, :]
    variables |= base_rates_of_all(observed, by_population)
    if len(density.levels) > 1:
        variables[CONFUSION] = (("rater", "level", "category", "response"), by_level)
    variables |= accuracies(
        observed,
        variables[BASE_RATES.name][1],
        by_level.mean(axis=3),
        pools_rater_groups=pools_rater_groups,
    )
    sizes = {
        dim: n
        for parameter in density.free
        for dim, n in zip(parameter.dims, parameter.shape, strict=True)
    }
    coords: dict[str, Any] = {dim: np.arange(n) for dim, n in sizes.items()}
    return labelled_draws(
        variables, coords | {"level": density.levels.round(3)} | coords_of(observed)
    )


def _of_pymc(name: str, observed: Patterns, compiled: PyMCModel) -> CompiledModel:
    data, coords = data_of(observed), compiled.coords | coords_of(observed)

    def label(drawn: Mapping[str, Floats]) -> xr.Dataset:
        variables = {name: (dims, drawn[name]) for name, dims in compiled.dims.items()}
        return labelled_draws(variables, coords)

    return CompiledModel(
        model=name,
        observed=observed,
        sampled=compiled.compiled.with_data(
            **{name_of_data: data[name_of_data] for name_of_data in compiled.data}
        ),
        start=compiled.start,
        kept=tuple(compiled.dims),
        label=label,
    )
