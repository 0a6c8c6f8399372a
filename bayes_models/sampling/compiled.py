"""Models compiled once, and sampled with any data of the same raters and categories.

Compiling takes far longer than sampling. The compiled code depends on the model and on the numbers
of raters and categories. Ratings, counts, known truths and the numbers of priors (but for those of
`ModelSpec.compiled_in`) are its data, which may change from fit to fit without a new compilation,
for any number of items and patterns; special cases of a model are sampled by its code (see
`special_case.py`). A process keeps compiled models in memory and, unless a prior is a PyMC
distribution, on disk, so that later processes need not build the model in PyMC.
"""

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_models.likelihood.observations import coords_of, data_of, group_names
from bayes_models.models.deferred import without_c_compiler
from bayes_models.models.families import PriorNumbers, is_zero
from bayes_models.models.priors import Priors, choose_priors, is_distribution
from bayes_models.models.spec import find_model, seen_by
from bayes_models.sampling.density import Density, compile_density
from bayes_models.sampling.kept_models import find_kept, keep
from bayes_models.sampling.special_case import general_case, special_case
from bayes_models.sampling.start import StartingPoint, em_start, start_values, starting_point
from lehner import Patterns

if TYPE_CHECKING:
    import pymc as pm

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, eq=False)
class CompiledModel:
    """A compiled model.

    Parameters
    ----------
    model : str
        Its name.
    density : Density, or nutpie's compiled model
    dims : dict
        Dimensions of the variables whose draws are kept.
    coords : dict
        Coordinates that do not depend on the data.
    data : tuple of str
        Names of the data that the model reads and `data_of` gives.
    prior_numbers : dict
        By name of the other data: the numbers of a prior.
    start : StartingPoint
    priors : dict
        The priors. They must stay alive because the cache recognises PyMC distributions by
        identity.
    """

    model: str
    density: Any
    dims: dict[str, tuple[str, ...]]
    coords: dict[str, Any]
    data: tuple[str, ...]
    prior_numbers: dict[str, PriorNumbers]
    start: StartingPoint
    priors: dict[str, Any]

    def with_data(self, observed: Patterns) -> Any:
        """Give the object that the sampler takes, with these data and the priors.

        Parameters
        ----------
        observed : Patterns

        Returns
        -------
        nutpie's compiled model

        Raises
        ------
        InputError
            If a prior has wrong numbers.
        """
        data = data_of(observed)
        numbers = {
            name: numbers.of(self.priors[numbers.variable])
            for name, numbers in self.prior_numbers.items()
        }
        return self.density.with_data(**{name: data[name] for name in self.data}, **numbers)


_compiled: dict[tuple[Any, ...], CompiledModel] = {}


def compile_model(name: str, observed: Patterns, priors: Priors = None) -> CompiledModel:
    """Compile a model, or find it in memory or on disk.

    Parameters
    ----------
    name : str
    observed : Patterns
        Any data with the same numbers of raters and categories.
    priors : str or mapping, optional

    Returns
    -------
    CompiledModel

    Raises
    ------
    InputError
        If there is no such model or prior.
    """
    chosen, observed = choose_priors(name, priors), seen_by(name, observed)
    key = _key(name, observed, chosen)
    if not load_model(name, observed, chosen):
        logger.info("%s: compiling", name)
        _compiled[key] = _compile(name, observed, chosen)
        if _on_disk(chosen) and isinstance(_compiled[key].density, Density):
            keep(_without_data(_compiled[key], observed), *key)
    return replace(_compiled[key], priors=chosen)


def load_model(name: str, observed: Patterns, priors: Priors = None) -> bool:
    """Load a model that was compiled before, by this process or another.

    Parameters
    ----------
    name : str
    observed : Patterns
    priors : str or mapping, optional

    Returns
    -------
    bool
        Whether it was found, so that `compile_model` need not compile it.
    """
    chosen, observed = choose_priors(name, priors), seen_by(name, observed)
    key = _key(name, observed, chosen)
    kept = find_kept(*key) if key not in _compiled and _on_disk(chosen) else None
    if kept is not None:
        logger.info("%s: cached", name)
        _compiled[key] = kept
    return key in _compiled


def _on_disk(chosen: dict[str, Any]) -> bool:
    # PyMC distributions are recognised by identity, which differs between processes.
    return not any(map(is_distribution, chosen.values()))


def _key(name: str, observed: Patterns, chosen: dict[str, Any]) -> tuple[Any, ...]:
    spec = find_model(name)
    return (
        name,
        len(observed.raters),
        observed.n_categories,
        observed.has_system,
        len(observed.populations),
        len(group_names(observed)) if spec.pools_rater_groups else 0,
        observed.ordered,
        observed.dependent is not None,
        *(
            (one.name, _key_of_prior(chosen[one.name], one.family.compiled_in))
            for one in spec.variables
        ),
    )


def _key_of_prior(prior: Any, is_constant: bool) -> Any:
    if is_distribution(prior):
        return id(prior)
    if is_constant:
        return repr(np.asarray(prior, dtype=object).tolist())
    # What else differs between numbers is data. A zero for another prior is refused when the model
    # is built.
    return "zero" if is_zero(prior) else "numbers"


def _compile(name: str, observed: Patterns, chosen: dict[str, Any]) -> CompiledModel:
    import pytensor

    model = find_model(name).build(observed, chosen)
    of_priors = {
        variable.name: variable.tag.prior_numbers
        for variable in model.data_vars
        if hasattr(variable.tag, "prior_numbers")
    }
    # Where chains start must not depend on which priors the model was compiled with.
    usual = choose_priors(name)
    for data_name, numbers in of_priors.items():
        model.set_data(data_name, numbers.of(usual[numbers.variable]))
    # With fast math, rounding depends on whether the code comes from a compile cache, and the same
    # seed would not give the same draws.
    with pytensor.config.change_flags(numba__fastmath=False), without_c_compiler():
        density = _density(name, observed, chosen, model)
        start = starting_point(model, start_values(name, em_start(observed)))
    kept = (*model.free_RVs, *model.deterministics)
    of_data = coords_of(observed)
    return CompiledModel(
        model=name,
        density=density,
        dims={v.name: tuple(model.named_vars_to_dims.get(v.name, ())) for v in kept},
        coords={name: np.asarray(v) for name, v in model.coords.items() if name not in of_data},
        data=tuple(v.name for v in model.data_vars if v.name not in of_priors),
        prior_numbers=of_priors,
        start=start,
        priors=chosen,
    )


def _density(name: str, observed: Patterns, chosen: dict[str, Any], model: "pm.Model") -> Any:
    """Compile a density, or take that of the model of which this is a special case."""
    general = general_case(name, observed, chosen)
    if general is None:
        return compile_density(model)
    whole = compile_model(general[0], observed, general[1]).density
    if not isinstance(whole, Density):
        return compile_density(model)
    try:
        return special_case(whole, model, find_model(name).other_names)
    except Exception as error:  # Whatever is wrong, the model itself can be compiled.
        logger.warning("%s: compiled itself, not as %s: %s", name, general[0], error)
    return compile_density(model)


def _without_data(compiled: CompiledModel, observed: Patterns) -> CompiledModel:
    data = {
        name: array[:0] if name in data_of(observed) else array
        for name, array in compiled.density.data.items()
    }
    return replace(compiled, density=replace(compiled.density, data=data))
