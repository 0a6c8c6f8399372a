"""Models with their data, as the sampler takes them.

Priors that are numbers are data of code that is compiled once for all models, see
`bayes_models.density`. With a prior that is a PyMC distribution, nutpie compiles PyMC's model.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.density.c_functions import c_functions
from bayes_models.likelihood.observations import coords_of, data_of
from bayes_models.models.assemble import BASE_RATES
from bayes_models.models.density import CONFUSION, ModelDensity
from bayes_models.models.priors import Priors, choose_priors, is_distribution
from bayes_models.models.spec import find_model, seen_by
from bayes_models.posterior.draws import labelled_draws
from bayes_models.posterior.variables import accuracies, base_rates_of_all
from bayes_models.sampling.library_internals import sampler_model
from bayes_models.sampling.pymc_model import PyMCModel, compile_pymc_model
from bayes_models.sampling.start import StartingPoint
from lehner import Patterns
from lehner.core.arrays import Floats

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
    spec, chosen, observed = find_model(name), choose_priors(name, priors), seen_by(name, observed)
    if spec.density is None or any(map(is_distribution, chosen.values())):
        return _of_pymc(name, observed, compile_pymc_model(name, observed, chosen))
    density = spec.density(observed, chosen)
    try:
        sampled = sampler_model(
            density.shapes(), density.n_coordinates, c_functions(), density.arrays()
        )
    except (AttributeError, TypeError) as error:  # Private names of nutpie have changed.
        logger.warning("%s: compiled by nutpie, in each process: %s", name, error)
        return _of_pymc(name, observed, compile_pymc_model(name, observed, chosen))
    return CompiledModel(
        model=name,
        observed=observed,
        sampled=sampled,
        start=StartingPoint(
            transforms={one.name: one.coordinates for one in density.free},
            defaults={one.name: one.coordinates(one.typical()) for one in density.free},
        ),
        kept=(*(one.name for one in density.free), CONFUSION),
        label=partial(_label, density, spec.pools_rater_groups),
    )


def _label(
    density: ModelDensity, pools_rater_groups: bool, drawn: Mapping[str, Floats]
) -> xr.Dataset:
    observed, by_level = density.observed, drawn[CONFUSION]
    variables = {one.name: (one.dims, drawn[one.name]) for one in density.free}
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
    sizes = {dim: n for one in density.free for dim, n in zip(one.dims, one.shape, strict=True)}
    coords: dict[str, Any] = {dim: np.arange(n) for dim, n in sizes.items()}
    return labelled_draws(
        variables, coords | {"level": density.levels.round(3)} | coords_of(observed)
    )


def _of_pymc(name: str, observed: Patterns, found: PyMCModel) -> CompiledModel:
    data, coords = data_of(observed), found.coords | coords_of(observed)

    def label(drawn: Mapping[str, Floats]) -> xr.Dataset:
        variables = {name: (dims, drawn[name]) for name, dims in found.dims.items()}
        return labelled_draws(variables, coords)

    return CompiledModel(
        model=name,
        observed=observed,
        sampled=found.compiled.with_data(**{one: data[one] for one in found.data}),
        start=found.start,
        kept=tuple(found.dims),
        label=label,
    )
