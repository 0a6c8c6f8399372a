"""The maximum of the likelihood of a latent-class model, quantities at it, and its deviance."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings
from lehner.latent_class.expectation_maximisation import LatentClasses, expect, expected_ratings
from lehner.latent_class.models import LatentClassModel
from lehner.latent_class.pattern_table import PatternTable

LEAST_INFORMATIVE = 1e-6
BOUNDARY = 1e-6
LEAST_EXPECTED = 5


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
        per_matrix = {"accuracy": 1, "full": k * (k - 1)}.get(self.model.form, k)
        n_matrices = len(np.unique(self.matrix_numbers[self.rated.any(axis=1)]))
        n_rates = len(self.base_rates) * (k - 1)
        return n_rates + n_matrices * per_matrix

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


def deviance(ratings: Ratings, maximum: Maximum) -> tuple[float | None, int | None, list[Warning]]:
    r"""Compute the deviance of a model.

    .. math:: G^2 = 2 \sum_p n_p \log \frac{n_p}{n \hat f_p}

    Parameters
    ----------
    ratings : Ratings
    maximum : Maximum
        The maximum of the likelihood of these ratings.

    Returns
    -------
    g2 : float or None
        Twice the difference of the log-likelihoods; None unless each rater, and the system if there
        is one, rated each item once.
    degrees_of_freedom : int or None
        The number of patterns minus 1, for each group of items, minus the number of parameters.
    notes : list of Warning

    References
    ----------
    Goodman (1974), https://doi.org/10.1093/biomet/61.2.215
    """
    from scipy.special import xlogy

    table = maximum.table
    reason = _undefined(ratings, maximum)
    if reason:
        return None, None, [warn("deviance-undefined", f"G² is not defined: {reason}")]
    group = np.zeros(len(table.weights), np.int64) if table.groups is None else table.groups
    sizes = np.bincount(group, table.weights)
    log_expected = np.log(sizes[group]) + expect(table, maximum.found)[1]
    terms = xlogy(table.weights, table.weights) - table.weights * log_expected
    g2 = max(0.0, 2 * float(terms.sum()))
    n_patterns = table.n_categories**table.n_raters
    free = table.n_groups * (n_patterns - 1)
    notes = []
    if free < maximum.n_parameters:
        text = (
            f"not identified: {maximum.n_parameters} parameters for {free} free "
            "proportions of patterns, so that other values fit as well"
        )
        notes.append(warn("not-identified", text))
    if sizes.sum() < LEAST_EXPECTED * table.n_groups * n_patterns:
        text = (
            f"G² is not near its chi-square distribution: there are {sizes.sum():.0f} items for "
            f"{table.n_groups * n_patterns:,} patterns"
        )
        notes.append(warn("deviance-distribution", text))
    return g2, free - maximum.n_parameters, notes


def _undefined(ratings: Ratings, maximum: Maximum) -> str:
    """Why there is no saturated model for a comparison, if there is none."""
    table = maximum.table
    if ratings.anonymous:
        return "raters are anonymous"
    if table.truths is not None:
        return "some truths are known"
    if ratings.several_votes:
        return "some raters rated an item more than once"
    n_ratings = table.answers.sum(axis=1)[table.weights > 0]
    return "" if (n_ratings == table.n_raters).all() else "some ratings are missing"
