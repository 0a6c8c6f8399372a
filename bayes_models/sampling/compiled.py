"""Models compiled once, and sampled with any data.

Compiling takes far longer than sampling. Ratings, counts, known truths, the numbers of raters,
categories, populations and groups, and the numbers of priors (but for those of
`ModelSpec.compiled_in`) are data of the compiled code, which may change from fit to fit without a
new compilation. What is compiled apart is a model without a system, with populations, groups of
raters, ordered categories or a dependent pair, and some models with two categories. Special cases
of a model are sampled by its code (see `special_case.py`). A process keeps compiled models in
memory and, unless a prior is a PyMC distribution, on disk, so that later processes need not build
the model in PyMC.
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
from bayes_models.sampling.density_check import why_wrong
from bayes_models.sampling.kept_models import find_kept, keep
from bayes_models.sampling.special_case import general_case, special_case
from bayes_models.sampling.start import StartingPoint, em_start, start_values, starting_point
from lehner import Patterns

if TYPE_CHECKING:
    import pymc as pm

logger = logging.getLogger(__name__)

FEWEST = 2
"""Categories that some models are compiled for apart."""
CONTRAST = "contrast"
"""Dimension of coordinates of effects, with one or two fewer than there are categories."""


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
        Coordinates that do not depend on the data, but for the length of contrasts.
    lengths : dict
        Lengths of all dimensions when it was compiled.
    data : tuple of str
        Names of the data that the model reads and `data_of` gives.
    prior_numbers : dict
        By name of the other data: the numbers of a prior.
    start : StartingPoint
    any_lengths : bool
        Whether the dimensions may have other lengths than `lengths`. They may not if a prior is a
        PyMC distribution, or if the model is compiled by nutpie.
    priors : dict
        The priors. They must stay alive because the cache recognises PyMC distributions by
        identity.
    """

    model: str
    density: Any
    dims: dict[str, tuple[str, ...]]
    coords: dict[str, Any]
    lengths: dict[str, int]
    data: tuple[str, ...]
    prior_numbers: dict[str, PriorNumbers]
    start: StartingPoint
    any_lengths: bool
    priors: dict[str, Any]

    def coords_with(self, observed: Patterns) -> dict[str, Any]:
        """Give the coordinates of the model for these data."""
        coords = self.coords | coords_of(observed)
        if CONTRAST in coords:
            more = observed.n_categories - self.lengths["category"]
            coords[CONTRAST] = np.arange(len(self.coords[CONTRAST]) + more)
        return coords

    def lengths_with(self, observed: Patterns) -> dict[str, int]:
        """Give the lengths of the model's dimensions for these data."""
        coords = self.coords_with(observed)
        return {name: len(coords[name]) for name in self.lengths}

    def takes(self, observed: Patterns) -> bool:
        """Tell whether the compiled code can sample these data."""
        return self.any_lengths or self.lengths_with(observed) == self.lengths

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
        lengths, of_code = self.lengths_with(observed), isinstance(self.density, Density)
        if of_code:
            # The code of a more general model has dimensions of its own.
            lengths = self.density.lengths | lengths
        given = data_of(observed)
        data = {name: given[name] for name in self.data} | {
            name: numbers.of(self.priors[numbers.variable], lengths)
            for name, numbers in self.prior_numbers.items()
        }
        if of_code:
            data |= {name: lengths[name] for name in self.density.lengths}
        return self.density.with_data(**data)


_compiled: dict[tuple[Any, ...], CompiledModel] = {}


def compile_model(name: str, observed: Patterns, priors: Priors = None) -> CompiledModel:
    """Compile a model, or find it in memory or on disk.

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
        If there is no such model or prior.
    """
    chosen, observed = choose_priors(name, priors), seen_by(name, observed)
    key = _key(name, observed, chosen)
    if not load_model(name, observed, chosen):
        logger.info("%s: compiling", name)
        _compiled[key] = _compile(name, observed, chosen)
        if _on_disk(chosen) and isinstance(_compiled[key].density, Density):
            keep(_without_data(_compiled[key], observed), *key)
    compiled = _compiled[key]
    own = {find_model(name).other_names.get(one, one): prior for one, prior in chosen.items()}
    return replace(compiled, priors=compiled.priors | chosen | own)


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
    return key in _compiled and _compiled[key].takes(observed)


def _on_disk(chosen: dict[str, Any]) -> bool:
    # PyMC distributions are recognised by identity, which differs between processes.
    return not any(map(is_distribution, chosen.values()))


def _key(name: str, observed: Patterns, chosen: dict[str, Any]) -> tuple[Any, ...]:
    spec = find_model(name)
    return (
        name,
        spec.two_categories_apart and observed.n_categories == FEWEST,
        observed.has_system,
        bool(observed.populations),
        spec.pools_rater_groups and bool(group_names(observed)),
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
    coords = {dim: np.asarray(labels) for dim, labels in model.coords.items() if labels is not None}
    lengths = {dim: len(labels) for dim, labels in coords.items()}
    for data_name, numbers in of_priors.items():
        model.set_data(data_name, numbers.of(usual[numbers.variable], lengths))
    kept = (*model.free_RVs, *model.deterministics)
    # With fast math, rounding depends on whether the code comes from a compile cache, and the same
    # seed would not give the same draws.
    with pytensor.config.change_flags(numba__fastmath=False), without_c_compiler():
        compiled = CompiledModel(
            model=name,
            density=None,
            dims={v.name: tuple(model.named_vars_to_dims.get(v.name, ())) for v in kept},
            coords={dim: own for dim, own in coords.items() if dim not in coords_of(observed)},
            lengths=lengths,
            data=tuple(v.name for v in model.data_vars if v.name not in of_priors),
            prior_numbers=of_priors,
            start=starting_point(model, start_values(name, em_start(observed))),
            any_lengths=_on_disk(chosen),
            priors=chosen,
        )
        return _of_general(compiled, observed, chosen, model) or _of_its_own(compiled, model)


def _of_its_own(compiled: CompiledModel, model: "pm.Model") -> CompiledModel:
    density = compile_density(model)
    any_lengths = compiled.any_lengths and isinstance(density, Density)
    return replace(compiled, density=density, any_lengths=any_lengths)


def _of_general(
    compiled: CompiledModel, observed: Patterns, chosen: dict[str, Any], model: "pm.Model"
) -> CompiledModel | None:
    """Take the compiled code of the model of which this is a special case, if it is one."""
    name = compiled.model
    general = general_case(name, observed, chosen)
    if general is None:
        return None
    whole = compile_model(general[0], observed, general[1])
    if not isinstance(whole.density, Density):
        return None
    try:
        names = find_model(name).other_names
        found = replace(
            compiled,
            density=special_case(whole.density, model, names),
            data=whole.data,
            prior_numbers=whole.prior_numbers,
            priors=whole.priors,
        )
        usual = {names.get(one, one): prior for one, prior in choose_priors(name).items()}
        with_data = replace(found, priors=whole.priors | usual).with_data(observed)
        reason = why_wrong(with_data, model, up_to_constant=True)
    except Exception as error:  # Whatever is wrong, the model itself can be compiled.
        reason = str(error)
    if not reason:
        return found
    logger.warning("%s: compiled itself, not as %s: %s", name, general[0], reason)
    return None


def _without_data(compiled: CompiledModel, observed: Patterns) -> CompiledModel:
    data = {
        name: array[:0] if name in data_of(observed) else array
        for name, array in compiled.density.data.items()
    }
    return replace(compiled, density=replace(compiled.density, data=data))
