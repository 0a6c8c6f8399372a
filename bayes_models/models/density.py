"""Parameters of a model in the form in which compiled code reads them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayes_models.density.layout import FAMILY_CODES, PARAMETERS, VALUE
from bayes_models.likelihood.dependent_pair import split_second
from bayes_models.likelihood.observations import arrays_of, coords_of
from bayes_models.models.families import FAMILIES, is_zero
from bayes_models.models.spec import Variable
from bayes_models.models.zero_sum import zero_sum_basis
from lehner import Patterns
from lehner.core.arrays import Floats, Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class Parameter:
    """A parameter of a model, and its prior.

    Parameters
    ----------
    name : str
        Its name in the model.
    family : str
        Family of its prior as in `FAMILIES`, or "zero_sum", or "fixed" if it is no parameter.
    dims : tuple of str
        Dimensions of its values.
    numbers : ndarray, shape (*shape, 2) or shape
        Numbers of the prior of each value: location and scale, or successes and failures; of a
        Dirichlet distribution the concentration, of what is fixed the value.
    """

    name: str
    family: str
    dims: tuple[str, ...]
    numbers: Floats

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


def parameter(
    variable: Variable,
    priors: Mapping[str, Any],
    observed: Patterns,
    dims: tuple[str, ...] = (),
    name: str = "",
) -> Parameter:
    """Make a parameter of a variable with its prior, fixed where the prior fixes it.

    Raises
    ------
    InputError
        If the prior has wrong numbers.
    """
    family, sizes = variable.family, coords_of(observed)
    shape = tuple(len(sizes[dim]) for dim in dims)
    prior = priors.get(variable.name, 0.0)
    name, numbers = name or variable.name, np.zeros(())
    if variable.name in priors:
        numbers = family.numbers(variable.name, prior, shape)
    if variable.name not in priors or (family.zero_fixes and is_zero(prior)):
        return Parameter(name=name, family="fixed", dims=(), numbers=np.zeros(()))
    if family is FAMILIES["normal_above_zero"] and not numbers[1]:
        return Parameter(name=name, family="fixed", dims=(), numbers=numbers[0])
    if family.rows:
        return Parameter(name=name, family="dirichlet", dims=dims, numbers=numbers)
    if not family.pair:
        numbers = np.array([0.0, float(numbers)])
    every = np.broadcast_to(numbers, (*shape, 2)).copy()
    return Parameter(name=name, family=variable.family_name, dims=dims, numbers=every)


def effects(name: str, dims: tuple[str, ...], shape: Sequence[int]) -> Parameter:
    """Make effects that are standard normal."""
    numbers = np.broadcast_to([0.0, 1.0], (*shape, 2)).copy()
    return Parameter(name=name, family="normal", dims=dims, numbers=numbers)


def zero_sum_effects(name: str, dims: tuple[str, ...], shape: Sequence[int]) -> Parameter:
    """Make effects of variance 1 that sum to zero over the last dimension."""
    k = shape[-1]
    numbers = np.broadcast_to([0.0, math.sqrt(k / (k - 1))], (*shape, 2)).copy()
    return Parameter(name=name, family="zero_sum", dims=dims, numbers=numbers)


ONE_LEVEL = np.zeros(1)
CONFUSION = "confusion_by_level"
"""Name of the confusion matrices that are kept of a draw."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelDensity:
    """What compiled code needs to know of a model and its data.

    Parameters
    ----------
    likelihood : int
        See `bayes_models.density.layout`.
    parameters : mapping
        By what they are in the likelihood.
    observed : Patterns
    index : ndarray of int, shape (n_raters,)
        Of each rater, and of the system, the group or the confusion matrix; negative for a system
        that has parameters of its own.
    levels : ndarray, shape (n_levels,)
        Difficulty of items.
    answers : ndarray, shape (n_raters, 2), optional
        Right and wrong answers of each in earlier studies.
    """

    likelihood: int
    parameters: Mapping[str, Parameter]
    observed: Patterns
    index: Integers
    levels: Floats = field(default_factory=lambda: ONE_LEVEL)
    answers: Floats | None = None

    @property
    def free(self) -> list[Parameter]:
        """Parameters that are not fixed, in the order of their coordinates."""
        given = [self.parameters[role] for role in self._roles]
        return [one for one in given if one.n_coordinates]

    @property
    def n_coordinates(self) -> int:
        """Number of unconstrained coordinates."""
        return sum(one.n_coordinates for one in self.free)

    @property
    def _roles(self) -> list[str]:
        return [role for role in PARAMETERS[self.likelihood] if role in self.parameters]

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of what is kept of a draw, in its order; of confusion matrices at the end."""
        shapes = {self.parameters[role].name: self.parameters[role].shape for role in self._roles}
        k = self.observed.n_categories
        shape = (len(self.observed.raters), len(self.levels), k, k)
        return shapes | {"zero": (), CONFUSION: shape}

    def arrays(self) -> list[Any]:
        """Arrays in the order in which compiled code reads them."""
        table, prior = self._table()
        pair = self.observed.dependent or ()
        seen = split_second(self.observed) if self.observed.dependent else self.observed
        ratings = arrays_of(seen)
        n_raters = len(self.observed.raters)
        answers = np.zeros((n_raters, 2)) if self.answers is None else self.answers
        sizes = (
            *(self.likelihood, n_raters, len(self.levels), self.observed.n_categories),
            *(len(table), len(prior), len(seen.counts), len(ratings["raters"]), len(pair)),
            1 + sum(math.prod(one.shape) for one in self.parameters.values()),
        )
        arrays = [sizes, table, prior, self.levels, self.index, pair, answers, *ratings.values()]
        floats = (2, 3, 6)
        return [
            np.array(one, float if i in floats else np.int64, order="C")
            for i, one in enumerate(arrays)
        ]

    def _table(self) -> tuple[Integers, Floats]:
        """List where coordinates, values and priors are.

        A parameter that is not given has no rows, and the value zero.
        """
        roles = PARAMETERS[self.likelihood]
        table = np.zeros((len(roles), 6), np.int64)
        n_values = sum(math.prod(self.parameters[role].shape) for role in self._roles)
        point = value = prior = 0
        for row, role in zip(table, roles, strict=True):
            row[VALUE] = n_values
            if role not in self.parameters:
                continue
            one = self.parameters[role]
            length = one.shape[-1] if one.shape else 1
            rows = math.prod(one.shape) // length
            row[:] = FAMILY_CODES[one.family], rows, length, point, value, prior
            point += one.n_coordinates
            value += math.prod(one.shape)
            prior += one.numbers.size
        return table, np.concatenate(
            [self.parameters[role].numbers.ravel() for role in self._roles]
        )
