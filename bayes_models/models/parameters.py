"""The parameters of a model with their priors, and what compiled code needs to know of it.

Both PyMC's models and the compiled densities are made of the same parameters, which follow from the
variables that a model declares.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayes_models.density.priors import FAMILY_CODES, PARAMETERS, VALUE, zero_sum_basis
from bayes_models.models import spec
from bayes_models.models.deferred import pm
from bayes_models.models.families import FAMILIES, is_distribution
from bayes_models.models.observations import arrays_of, coords_of, split_second
from bayes_models.models.spec import Effect, ModelSpec, Variable, varies
from lehner import InputError, Patterns
from lehner.core.arrays import Floats, Integers
from lehner.core.text import counted

SHARE = "shared_answers"
"""Name of the shares of common answers of a dependent pair, one for each true category."""
SHARE_PRIOR = (1.0, 1.0)
"""Beta prior of each share."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Parameter:
    """A parameter of a model, and its prior.

    Parameters
    ----------
    name : str
        Its name in the model.
    family : str
        Family of its prior as in `FAMILIES`, or "fixed" if it is no parameter.
    dims : tuple of str
        Dimensions of its values.
    numbers : ndarray, shape (*shape, 2) or shape
        Numbers of the prior of each value: location and scale, or successes and failures; of a
        Dirichlet distribution the concentration, of what is fixed the value.
    variable : str
        Of whose prior it has; empty if the prior cannot be chosen.
    distribution : pymc distribution, optional
        The prior, if it is not given by numbers.
    """

    name: str
    family: str
    dims: tuple[str, ...] = ()
    numbers: Floats
    variable: str = ""
    distribution: Any = None

    def add(self) -> Any:
        """Add it to the current PyMC model, and give its variable, or its value if it is fixed."""
        if self.family == "fixed":
            return self.numbers
        dims, prior = self.dims or None, self.distribution
        if prior is None:
            return FAMILIES[self.family].distribution(self.name, self.numbers, dims)
        if dims and prior.ndim != len(dims):
            raise InputError(
                f"the prior of {self.name} is a distribution with "
                f"{counted(prior.ndim, 'dimension')}, but {self.name} has {len(dims)} "
                f"({', '.join(dims)})",
                "give a distribution of that shape, or numbers",
            )
        return pm.modelcontext(None).register_rv(prior, self.name, dims=dims)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of its values."""
        whole = self.family in ("dirichlet", "fixed")
        return self.numbers.shape if whole else self.numbers.shape[:-1]

    @property
    def n_coordinates(self) -> int:
        """Number of unconstrained coordinates."""
        if self.family == "fixed":
            return 0
        *rows, length = self.shape or (1,)
        return math.prod(rows) * (length - (self.family in ("dirichlet", "zero_sum")))

    def typical(self) -> Floats:
        """Values that are plausible by the prior."""
        if self.family == "dirichlet":
            return np.asarray(self.numbers / self.numbers.sum(axis=-1, keepdims=True))
        first, second = np.moveaxis(self.numbers, -1, 0)
        if self.family == "beta":
            return np.asarray(first / (first + second))
        return np.asarray(second if self.family == "half_normal" else first)

    def coordinates(self, values: Floats) -> Floats:
        """Unconstrained coordinates of values; not finite where a value is impossible."""
        with np.errstate(all="ignore"):
            if self.family == "dirichlet":
                values = np.log(values)
            if self.family in ("dirichlet", "zero_sum"):
                return np.ravel(values @ zero_sum_basis(values.shape[-1]).T)
            if self.family == "beta":
                return np.ravel(np.log(values / (1 - values)))
            positive = self.family in ("half_normal", "normal_above_zero")
            return np.ravel(np.log(values) if positive else values)


def find_parameters(
    model: ModelSpec, observed: Patterns, priors: Mapping[str, Any]
) -> dict[str, Parameter]:
    """Find the parameters that a model has for some ratings.

    Parameters
    ----------
    model : ModelSpec
    observed : Patterns
        As the model sees them.
    priors : mapping
        All priors of the model. A spread that its prior fixes at zero is no parameter.

    Returns
    -------
    dict
        By what they are in the likelihood, in the order of their coordinates.

    Raises
    ------
    InputError
        If a prior has wrong numbers.
    """
    coords, parameters = coords_of(observed), dict[str, Parameter]()
    for variable in model.variables:
        if variable.last_row_of or not _is_there(variable, observed, priors):
            continue
        dims = tuple(dim for dim in variable.dims if dim in coords)
        name = f"{variable.name}_by_population" if "population" in dims else variable.name
        shape = tuple(len(coords[dim]) for dim in dims)
        parameter = _make_parameter(variable, priors, name, dims, shape)
        if parameter is not None:
            parameters[variable.role or variable.name] = parameter
            parameters |= {
                effect.name: _make_effects(effect, observed) for effect in variable.effects
            }
    for variable in model.variables:
        whole = parameters.get(variable.last_row_of)
        if whole is not None and observed.has_system and whole.distribution is None:
            row = _make_parameter(variable, priors, variable.name, whole.dims[1:], whole.shape[1:])
            assert row is not None
            whole.numbers[-1] = row.numbers
    if observed.dependent is not None:
        numbers = np.tile(SHARE_PRIOR, (observed.n_categories, 1))
        parameters[SHARE] = Parameter(
            name=SHARE, family="beta", dims=("category",), numbers=numbers
        )
    if model.likelihood is None:
        return parameters
    return {role: parameters[role] for role in PARAMETERS[model.likelihood] if role in parameters}


def _is_there(variable: Variable, observed: Patterns, priors: Mapping[str, Any]) -> bool:
    conditions = {
        spec.SYSTEM: observed.has_system,
        spec.ORDER: observed.ordered,
        spec.SEVERAL_ERRORS: observed.n_categories > 2,
    }
    return all(
        conditions[need] if need in conditions else varies(priors, need) for need in variable.needs
    )


def _make_parameter(
    variable: Variable,
    priors: Mapping[str, Any],
    name: str,
    dims: tuple[str, ...],
    shape: tuple[int, ...],
) -> Parameter | None:
    """Make a parameter of a variable with its prior; None if it is fixed at zero."""
    prior, family = priors[variable.name], variable.family
    options: dict[str, Any] = {"name": name, "dims": dims, "variable": variable.name}
    if is_distribution(prior):
        numbers = np.zeros((*shape, 2))
        return Parameter(family="distribution", numbers=numbers, distribution=prior, **options)
    numbers = family.numbers(variable.name, prior, shape)
    if family.zero_fixes and not numbers:
        return None
    if family is FAMILIES["normal_above_zero"] and not numbers[1]:
        return Parameter(name=name, family="fixed", numbers=numbers[0])
    if not family.rows:
        numbers = numbers if family.pair else np.array([0.0, float(numbers)])
        numbers = np.broadcast_to(numbers, (*shape, 2)).copy()
    return Parameter(family=variable.family_name, numbers=numbers, **options)


def _make_effects(effect: Effect, observed: Patterns) -> Parameter:
    k = observed.n_categories
    sizes = {name: len(labels) for name, labels in coords_of(observed).items()}
    sizes["contrast"] = k - effect.n_contrasts
    shape = tuple(sizes[dim] for dim in effect.dims)
    scale = math.sqrt(k / (k - 1)) if effect.zero_sum else 1.0
    return Parameter(
        name=effect.name,
        family="zero_sum" if effect.zero_sum else "normal",
        dims=effect.dims,
        numbers=np.broadcast_to([0.0, scale], (*shape, 2)).copy(),
    )


ONE_LEVEL = np.zeros(1)
CONFUSION = "confusion_by_level"
"""Name of the confusion matrices that are kept of a draw."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelDensity:
    """What compiled code needs to know of a model and its data.

    Parameters
    ----------
    likelihood : int
        See `bayes_models.density.priors`.
    parameters : mapping
        By what they are in the likelihood.
    observed : Patterns
    index : ndarray of int, shape (n_raters,)
        Of each rater, and of the system, the group or the confusion matrix; negative for a system
        that has parameters of its own.
    levels : ndarray, shape (n_levels,)
        Difficulty of items.
    """

    likelihood: int
    parameters: Mapping[str, Parameter]
    observed: Patterns
    index: Integers
    levels: Floats = field(default_factory=lambda: ONE_LEVEL)

    @property
    def free(self) -> list[Parameter]:
        """Parameters that are not fixed, in the order of their coordinates."""
        return [parameter for parameter in self.parameters.values() if parameter.n_coordinates]

    @property
    def n_coordinates(self) -> int:
        """Number of unconstrained coordinates."""
        return sum(parameter.n_coordinates for parameter in self.free)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of what is kept of a draw, in its order; of confusion matrices at the end."""
        shapes = {parameter.name: parameter.shape for parameter in self.parameters.values()}
        k = self.observed.n_categories
        shape = (len(self.observed.raters), len(self.levels), k, k)
        return shapes | {"zero": (), CONFUSION: shape}

    def arrays(self) -> list[Any]:
        """Arrays in the order in which compiled code reads them."""
        table, prior = self._table()
        pair = self.observed.dependent or ()
        seen = split_second(self.observed) if pair else self.observed
        ratings = arrays_of(seen)
        sizes = (
            *(self.likelihood, len(self.observed.raters), len(self.levels), seen.n_categories),
            *(len(table), len(prior), len(seen.counts), len(ratings["raters"]), len(pair)),
            1 + sum(math.prod(parameter.shape) for parameter in self.parameters.values()),
        )
        whole = (sizes, table, self.index, pair, *ratings.values())
        arrays: list[Any] = [np.array(values, np.int64, order="C") for values in whole]
        return [*arrays[:2], prior, np.array(self.levels, float), *arrays[2:]]

    def _table(self) -> tuple[Integers, Floats]:
        """List where coordinates, values and priors are.

        A parameter that is not given has no rows, and the value zero.
        """
        roles = PARAMETERS[self.likelihood]
        table = np.zeros((len(roles), 6), np.int64)
        n_values = sum(math.prod(parameter.shape) for parameter in self.parameters.values())
        point = value = prior = 0
        for row, role in zip(table, roles, strict=True):
            row[VALUE] = n_values
            if role not in self.parameters:
                continue
            parameter = self.parameters[role]
            length = parameter.shape[-1] if parameter.shape else 1
            rows = math.prod(parameter.shape) // length
            row[:] = FAMILY_CODES[parameter.family], rows, length, point, value, prior
            point += parameter.n_coordinates
            value += math.prod(parameter.shape)
            prior += parameter.numbers.size
        return table, np.concatenate(
            [parameter.numbers.ravel() for parameter in self.parameters.values()]
        )


def describe_density(
    model: ModelSpec, observed: Patterns, priors: Mapping[str, Any]
) -> ModelDensity:
    """Describe what compiled code needs to know of a model that has a likelihood.

    Parameters
    ----------
    model : ModelSpec
    observed : Patterns
        As the model sees them.
    priors : mapping
        All priors of the model, numbers only.

    Returns
    -------
    ModelDensity
    """
    assert model.likelihood is not None
    index = np.arange(len(observed.raters))
    if model.matrices != "rater":
        index[:] = -1
        index[: observed.n_raters] = 0
    return ModelDensity(
        likelihood=model.likelihood,
        parameters=find_parameters(model, observed, priors),
        observed=observed,
        index=index,
        levels=ONE_LEVEL if model.levels is None else model.levels(priors),
    )
