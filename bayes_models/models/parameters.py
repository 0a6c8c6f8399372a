"""Parameters of a model in the form in which compiled code reads them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_models.likelihood.observations import coords_of
from bayes_models.models.families import FAMILIES, is_zero
from bayes_models.models.spec import Variable
from bayes_models.models.zero_sum import zero_sum_basis
from lehner import Patterns
from lehner.core.arrays import Floats


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
