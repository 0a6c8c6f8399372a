"""The maximum of the likelihood of a latent-class model, and quantities computed at it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.latent_class.expectation_maximisation import LatentClasses, expect, expected_ratings
from lehner.latent_class.models import LatentClassModel
from lehner.latent_class.pattern_table import PatternTable

LEAST_INFORMATIVE = 1e-6
BOUNDARY = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class Maximum:
    """A model with its maximum likelihood estimates.

    Parameters
    ----------
    name : str
    model : LatentClassModel
    table : PatternTable
    found : LatentClasses
    """

    name: str
    model: LatentClassModel
    table: PatternTable
    found: LatentClasses

    @property
    def base_rates(self) -> Floats:
        """Base rates with a row for each group, (n_groups, n_classes)."""
        return np.atleast_2d(self.found.base_rates)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.base_rates.shape[1]

    @cached_property
    def classes(self) -> Floats:
        """Probability of each class for each pattern, (n_patterns, n_classes)."""
        return expect(self.table, self.found)[0]

    @cached_property
    def ratings(self) -> Floats:
        """Expected number of ratings, (n_raters, n_classes, n_categories)."""
        return expected_ratings(self.table, self.classes)

    @property
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
        if self.model.form in ("accuracy", "knowledge"):
            bearing[:] = bearing.sum(axis=1, keepdims=True)
        return bearing > LEAST_INFORMATIVE

    @property
    def n_parameters(self) -> int:
        """Number of free parameters, without those of raters who gave no ratings."""
        k = self.table.n_categories
        per_matrix = {
            "accuracy": 1,
            "category_accuracy": k,
            "knowledge": k,
            "full": self.n_classes * (k - 1),
        }
        n_matrices = len(np.unique(self.matrix_numbers[self.rated.any(axis=1)]))
        n_rates = len(self.base_rates) * (self.n_classes - 1)
        return n_rates + n_matrices * per_matrix[self.model.form]

    @property
    def group_proportions(self) -> Floats:
        """Proportion of the items in each group, (n_groups,)."""
        sizes = np.ravel(self.table.sum_groups(self.table.weights[:, None]))
        return np.asarray(sizes / sizes.sum())

    @property
    def accuracy(self) -> Floats:
        """Expected accuracy of each rater, (n_raters,); NaN if ratings do not determine it."""
        rates = self.group_proportions @ self.base_rates
        right = np.diagonal(self.found.confusion, axis1=1, axis2=2)
        told = self.rated | (rates < BOUNDARY)
        return np.where(told.all(axis=1), right @ rates, np.nan)
