"""A latent-class model at the maximum of its likelihood."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.resampling import ItemCounts
from lehner.latent_class.em import LatentClasses, PatternTable, expect, expect_ratings
from lehner.latent_class.models import LatentClassModel

LEAST_INFORMATIVE = 1e-6
BOUNDARY = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedModel:
    """The maximum of the likelihood of ratings; a system, if there is one, is the last rater.

    Parameters
    ----------
    name : str
    model : LatentClassModel
    table : PatternTable
    parameters : LatentClasses
    fits : mapping of str to LatentClasses
        The maximum that was reached from each start, of which `parameters` are the highest.
    pattern : ndarray of int, shape (n_rows,)
        The pattern of each row of the ratings.
    sampled : ndarray of int, shape (n_patterns,), or csr_array, shape (n_clusters, n_patterns)
        Number of items of each pattern, in each cluster if items are clustered.
    """

    name: str
    model: LatentClassModel
    table: PatternTable
    parameters: LatentClasses
    fits: Mapping[str, LatentClasses]
    pattern: Integers
    sampled: ItemCounts

    @property
    def group_rates(self) -> Floats:
        """Base rates with a row for each population, (n_groups, n_classes)."""
        return np.atleast_2d(self.parameters.base_rates)

    @property
    def base_rates(self) -> Floats:
        """Base rates of all populations together, (n_classes,)."""
        sizes = np.ravel(self.table.sum_groups(self.table.weights[:, None]))
        return np.asarray(sizes / sizes.sum()) @ self.group_rates

    @property
    def n_items(self) -> Integers:
        """Number of items of each pattern, (n_patterns,)."""
        return self.table.weights.astype(np.int64)

    @cached_property
    def answers(self) -> Integers:
        """The system's answer for each pattern, -1 if there is none, (n_patterns,)."""
        own = self.table.answers[:, -self.table.n_categories :] * self.table.has_system
        return np.where(own.sum(axis=1) > 0, own.argmax(axis=1), -1)

    @property
    def n_answered(self) -> int:
        """Number of items that the system answered."""
        return int(self.n_items @ (self.answers >= 0))

    def sum_populations(self, values: Floats) -> Floats:
        """Sum values of patterns, (n_patterns, n), over each population, (n, n_populations)."""
        return self.table.sum_groups(values).T

    def sum_rows(self, weights: Floats) -> Floats:
        """Sum weights of rows, (n_samples, n_rows), over each pattern, (n_samples, n_patterns)."""
        size = len(self.table.weights)
        return np.array([np.bincount(self.pattern, sample, size) for sample in weights])

    def find_chance_right(self, classes: Floats) -> Floats:
        """Give the probability that the answer to each pattern is right, (n_patterns, n_samples).

        It is 0 where the system gave none; `classes` has the shape (n_patterns, n_classes,
        n_samples).
        """
        answer = self.answers[:, None, None]
        chance = np.take_along_axis(classes, np.maximum(answer, 0), axis=1)[:, 0]
        return np.where(answer[:, 0] < 0, 0.0, np.clip(chance, 0.0, 1.0))

    @cached_property
    def expected(self) -> tuple[Floats, Floats]:
        """Probability of each class for each pattern, and log probability of each pattern."""
        return expect(self.table, self.parameters)

    @cached_property
    def ratings(self) -> Floats:
        """Expected number of ratings, (n_raters, n_classes, n_categories)."""
        return expect_ratings(self.table, self.expected[0])

    @cached_property
    def matrix_numbers(self) -> Integers:
        """Index of each rater's confusion matrix; it is equal for raters who share one."""
        numbers = np.arange(self.table.n_raters)
        if self.model.shared:
            numbers[: self.table.n_raters - self.table.has_system] = 0
        return np.unique(numbers, return_inverse=True)[1]

    @cached_property
    def rated(self) -> Booleans:
        """Whether a row of a confusion matrix has expected ratings, (n_raters, n_classes)."""
        numbers, ratings = self.matrix_numbers, self.ratings.sum(axis=2)
        bearing = np.stack([ratings[numbers == number].sum(axis=0) for number in numbers])
        if self.model.form == "accuracy":
            bearing[:] = bearing.sum(axis=1, keepdims=True)
        return bearing > LEAST_INFORMATIVE

    @property
    def n_parameters(self) -> int:
        """Number of free parameters, without those of raters who gave no ratings."""
        k = self.table.n_categories
        per_matrix = {"accuracy": 1, "full": k * (k - 1)}.get(self.model.form, k)
        n_matrices = len(np.unique(self.matrix_numbers[self.rated.any(axis=1)]))
        return len(self.group_rates) * (k - 1) + n_matrices * per_matrix

    @property
    def accuracy(self) -> Floats:
        """Expected accuracy of each rater, NaN if the ratings do not determine it, (n_raters,)."""
        right = np.diagonal(self.parameters.confusion, axis1=1, axis2=2)
        determined = (self.rated | (self.base_rates < BOUNDARY)).all(axis=1)
        return np.where(determined, right @ self.base_rates, np.nan)

    @property
    def confusion(self) -> Floats:
        """Confusion matrices, (n_raters, n_classes, n_categories); rows without ratings are NaN."""
        return np.where(self.rated[..., None], self.parameters.confusion, np.nan)

    @property
    def classes(self) -> Floats:
        """Probability of each class for each pattern, (n_patterns, n_classes)."""
        return self.expected[0]
