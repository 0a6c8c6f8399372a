"""Models compiled once, to be sampled with any data of the same shape.

Compiling takes far longer than sampling. What is compiled depends on the model, the numbers of
raters and categories and the priors; ratings, counts and known truths are data, and change from
fit to fit without a new compilation, however many items and patterns there are. What a process
has compiled it keeps in memory and, unless a prior is a PyMC distribution, on disk, where it
replaces PyMC's model in the processes that follow.
"""

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayes_models.likelihood.observations import Observations
from bayes_models.models.assemble import rater_coords
from bayes_models.models.priors import Priors, choose_priors, is_distribution
from bayes_models.models.spec import find_model
from bayes_models.sampling.density import Density, compile_density
from bayes_models.sampling.kept_models import find_kept, keep
from bayes_models.sampling.start import em_start
from bayes_models.sampling.starting_point import StartingPoint, starting_point

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, eq=False)
class CompiledModel:
    """A compiled model.

    Parameters
    ----------
    density : Density, or nutpie's compiled model
    dims : dict
        Dimensions of the variables that are kept.
    coords : dict
        Coordinates that do not depend on the data.
    start : StartingPoint
    priors : dict
        Kept because the cache knows distributions by their identity.
    """

    density: Any
    dims: dict[str, tuple[str, ...]]
    coords: dict[str, Any]
    start: StartingPoint
    priors: dict[str, Any]


_compiled: dict[tuple[Any, ...], CompiledModel] = {}


def compile_model(name: str, observed: Observations, priors: Priors = None) -> CompiledModel:
    """Compile a model, or find it among those compiled in this process or kept on disk.

    Parameters
    ----------
    name : str
    observed : Observations
        Any data with the raters and categories to come.
    priors : str or mapping, optional

    Returns
    -------
    CompiledModel

    Raises
    ------
    InputError
        If there is no such model or prior.
    """
    chosen = choose_priors(name, priors)
    key = _key(name, observed, chosen)
    if not _load(key, chosen):
        logger.info("%s: compiling", name)
        _compiled[key] = _compile(name, observed, chosen)
        if _on_disk(chosen) and isinstance(_compiled[key].density, Density):
            keep(_without_data(_compiled[key], observed), *key)
    return _compiled[key]


def load_model(name: str, observed: Observations, priors: Priors = None) -> bool:
    """Load a model that was compiled before, by this process or another.

    Parameters
    ----------
    name : str
    observed : Observations
    priors : str or mapping, optional

    Returns
    -------
    bool
        Whether there is one, so that `compile_model` need not compile it.
    """
    chosen = choose_priors(name, priors)
    return _load(_key(name, observed, chosen), chosen)


def _load(key: tuple[Any, ...], chosen: dict[str, Any]) -> bool:
    if key not in _compiled and _on_disk(chosen):
        found = find_kept(*key)
        if found is not None:
            logger.info("%s: cached", key[0])
            _compiled[key] = found
    return key in _compiled


def _on_disk(chosen: dict[str, Any]) -> bool:
    # PyMC distributions are known by their identity, which is another in each process.
    return not any(map(is_distribution, chosen.values()))


def _key(name: str, observed: Observations, chosen: dict[str, Any]) -> tuple[Any, ...]:
    return (
        name,
        len(observed.rater_names),
        observed.n_categories,
        observed.has_system,
        observed.patterns.ordered,
        *((variable, _key_of_prior(prior)) for variable, prior in chosen.items()),
    )


def _key_of_prior(prior: Any) -> Any:
    if isinstance(prior, str):
        return prior
    if is_distribution(prior):
        return id(prior)
    try:
        values = np.asarray(prior, dtype=float)
    except (TypeError, ValueError):
        # No numbers: the model refuses them, and nothing is compiled.
        return id(prior)
    return values.shape, values.tobytes()


def _compile(name: str, observed: Observations, chosen: dict[str, Any]) -> CompiledModel:
    import pytensor

    model = find_model(name).build(observed.ratings, chosen)
    # Fast math rounds differently with a warm and a cold compile cache: same seed, other draws.
    with pytensor.config.change_flags(numba__fastmath=False):
        density = compile_density(model)
    kept = (*model.free_RVs, *model.deterministics)
    of_data = rater_coords(observed)
    return CompiledModel(
        density=density,
        dims={v.name: tuple(model.named_vars_to_dims.get(v.name, ())) for v in kept},
        coords={name: np.asarray(v) for name, v in model.coords.items() if name not in of_data},
        start=starting_point(model, em_start(observed)),
        priors=chosen,
    )


def _without_data(compiled: CompiledModel, observed: Observations) -> CompiledModel:
    data = {
        name: array[:0] if name in observed.arrays else array
        for name, array in compiled.density.data.items()
    }
    return replace(compiled, density=replace(compiled.density, data=data))
