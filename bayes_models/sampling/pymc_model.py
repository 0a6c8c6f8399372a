"""Models that nutpie compiles of PyMC's: those with a prior that is a PyMC distribution.

Compiling takes a minute or two. The compiled code depends on the model, its priors, and the numbers
of raters and categories; ratings and counts are its data. A process keeps it in memory.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_models.likelihood.observations import coords_of, data_of, group_names
from bayes_models.models.deferred import nutpie, without_c_compiler
from bayes_models.models.priors import is_distribution
from bayes_models.models.spec import find_model
from bayes_models.sampling.start import StartingPoint, em_start, start_values, starting_point
from lehner import Patterns

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
        data=tuple(one.name for one in model.data_vars if one.name in of_data),
        dims={one.name: tuple(model.named_vars_to_dims.get(one.name, ())) for one in kept},
        coords={
            name: np.asarray(labels)
            for name, labels in model.coords.items()
            if name not in coords_of(observed)
        },
        start=start,
        priors=priors,
    )
