"""The density of a model with its data, as the sampler evaluates it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayes_models.density.layout import FAMILY_CODES, PARAMETERS, VALUE
from bayes_models.likelihood.dependent_pair import split_second
from bayes_models.likelihood.observations import arrays_of
from bayes_models.models.parameters import Parameter
from lehner import Patterns
from lehner.core.arrays import Floats, Integers

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
