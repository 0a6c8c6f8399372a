"""A model at the maximum of its likelihood, and which of its numbers the ratings determine.

Base rates and confusion matrices are linear in the free parameters of every model. The curvature of
the log-likelihood along the free directions is therefore the curvature over all probabilities, as
if they did not have to sum to 1, projected on these directions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lehner.core.arrays import TINY, Booleans, Floats, Integers
from lehner.core.errors import Warning, warn
from lehner.core.lazy import sparse
from lehner.core.resampling import ItemCounts
from lehner.latent_class import models
from lehner.latent_class.em import LatentClasses, PatternTable, expect, expect_ratings
from lehner.latent_class.models import LatentClassModel

LEAST_INFORMATIVE = 1e-6
BOUNDARY = 1e-6
# Information below it, for parameters scaled to an information of 1, is none.
SINGULAR = 1e-9
STEP = 1e-6
# A quantity that a flat direction changes by more is not determined.
MOVED = 1e-4
LEAST_GAIN = 1e-4
# With more the check of a t-a-p model would take longer than the fit.
MOST_PARAMETERS = 2_000


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
        return self._group_proportions @ self.group_rates

    @property
    def _group_proportions(self) -> Floats:
        sizes = np.ravel(self.table.sum_groups(self.table.weights[:, None]))
        return np.asarray(sizes / sizes.sum())

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
        if self.model.form in ("accuracy", "knowledge"):
            bearing[:] = bearing.sum(axis=1, keepdims=True)
        return bearing > LEAST_INFORMATIVE

    @property
    def n_parameters(self) -> int:
        """Number of free parameters, without those of raters who gave no ratings."""
        k = self.table.n_categories
        per_matrix = {"accuracy": 1, "full": k * (k - 1)}.get(self.model.form, k)
        n_matrices = len(np.unique(self.matrix_numbers[self.rated.any(axis=1)]))
        return len(self.group_rates) * (k - 1) + n_matrices * per_matrix

    def compute(self, parameters: LatentClasses) -> dict[str, Floats]:
        """Compute estimates by name from parameters, which are those of the maximum or near it.

        Parameters
        ----------
        parameters : LatentClasses

        Returns
        -------
        dict of str to ndarray
            Base rates and confusion matrices, which are NaN in rows without expected ratings;
            accuracy; in t-a-p, knowledge and guesses.
        """
        rates = self._group_proportions @ np.atleast_2d(parameters.base_rates)
        right = np.diagonal(parameters.confusion, axis1=1, axis2=2)
        determined = (self.rated | (rates < BOUNDARY)).all(axis=1)
        values = {
            "base_rates": parameters.base_rates,
            "confusion": np.where(self.rated[..., None], parameters.confusion, np.nan),
            "accuracy": np.where(determined, right @ rates, np.nan),
        }
        if self.model.form == "knowledge":
            mixture = models.to_mixture(parameters.confusion)
            mixture = np.where(self.rated[:, :1], mixture, np.nan)
            guessed = 1 - mixture[:, :1]
            values["knowledge"] = mixture[:, 0]
            values["guessing"] = mixture[:, 1:] / np.where(guessed > BOUNDARY, guessed, np.nan)
        return values

    @cached_property
    def determined(self) -> tuple[dict[str, Floats], list[Warning]]:
        """The quantities, NaN where the ratings do not determine them, and why."""
        return determine_quantities(self)

    @property
    def accuracy(self) -> Floats:
        """Expected accuracy of each rater, NaN if the ratings do not determine it, (n_raters,)."""
        return self.determined[0]["accuracy"]

    @property
    def confusion(self) -> Floats:
        """Confusion matrices, (n_raters, n_classes, n_categories); NaN as accuracies are."""
        return self.determined[0]["confusion"]

    @property
    def classes(self) -> Floats:
        """Probability of each class for each pattern, (n_patterns, n_classes); NaN likewise."""
        undefined = np.isnan(self.determined[0]["base_rates"]).any()
        return np.where(undefined, np.nan, self.expected[0])


def determine_quantities(fitted: FittedModel) -> tuple[dict[str, Floats], list[Warning]]:
    """Compute the quantities of a fit, with NaN for those of t-a-p that are not determined.

    Two ratings of each item in two categories, for example, give two frequencies for three
    parameters of raters who are alike. Other models are not checked.

    Parameters
    ----------
    fitted : FittedModel

    Returns
    -------
    values : dict of str to ndarray
        As `FittedModel.quantities` gives them.
    notes : list of Warning
    """
    values = fitted.compute(fitted.parameters)
    if fitted.model.form != "knowledge":
        return values, []
    gain = fitted.table.weights @ fitted.expected[1] - _find_independent_log_likelihood(fitted)
    if gain < LEAST_GAIN:
        blank = {name: np.full_like(array, np.nan) for name, array in values.items()}
        text = (
            "not determined, because ratings of an item agree no more than guesses would: base "
            "rates, knowledge, guessing"
        )
        return blank, [warn("not-determined", text)]
    if fitted.n_parameters > MOST_PARAMETERS:
        text = f"more than {MOST_PARAMETERS:,} parameters: other values may fit as well"
        return values, [warn("identification-unchecked", text)]
    hidden = _find_undetermined(fitted)
    values = {name: np.where(hidden[name], np.nan, array) for name, array in values.items()}
    names = [name.replace("_", " ") for name, missing in hidden.items() if missing.any()]
    if names:
        text = f"not determined, because other values fit as well: {', '.join(names)}"
        return values, [warn("not-determined", text)]
    if np.isnan(values["guessing"][fitted.rated[:, 0]]).any():
        text = "some raters always know the truth: their guesses are undefined"
        return values, [warn("guessing-undefined", text)]
    return values, []


def _find_independent_log_likelihood(fitted: FittedModel) -> float:
    """Compute the likelihood if the ratings of a rater had the same distribution for all items."""
    table, numbers = fitted.table, fitted.matrix_numbers
    if table.truths is not None:
        return -np.inf
    by_rater = (table.answers.T @ table.weights).reshape(table.n_raters, -1)
    totals = np.stack([by_rater[numbers == number].sum(axis=0) for number in np.unique(numbers)])
    proportions = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1.0)
    return float((totals * np.log(np.where(totals > 0, proportions, 1.0))).sum())


def _find_undetermined(fitted: FittedModel) -> dict[str, Booleans]:
    """Find the quantities of a t-a-p model that have other values which fit as well."""
    at = fitted.parameters

    def move_by(move: Floats) -> dict[str, Floats]:
        rates, confusion = np.split(move, [at.base_rates.size])
        near = replace(
            at,
            base_rates=at.base_rates + rates.reshape(at.base_rates.shape),
            confusion=at.confusion + confusion.reshape(at.confusion.shape),
        )
        return fitted.compute(near)

    hidden = {
        name: np.zeros(values.shape, dtype=bool) for name, values in fitted.compute(at).items()
    }
    for direction in _find_flat_directions(fitted).T:
        forward, backward = move_by(direction * STEP), move_by(-direction * STEP)
        for name, moved in hidden.items():
            moved |= np.abs(forward[name] - backward[name]) > 2 * STEP * MOVED
    return hidden


def _find_flat_directions(fitted: FittedModel) -> Floats:
    """Find directions in which the likelihood of a t-a-p model does not change at its maximum.

    They are the directions without observed information.

    Parameters
    ----------
    fitted : FittedModel

    Returns
    -------
    ndarray, shape (n_probabilities, n_directions)
        Changes of the base rates, by group and class, then of the confusion matrices, by rater,
        class and response; the greatest change is 1. Probabilities within 1e-6 of 0 or 1 and those
        without ratings do not change.

    References
    ----------
    Louis (1982), Finding the observed information matrix when using the EM algorithm.
    """
    directions = _list_free_directions(fitted)
    information = _find_observed_information(fitted, directions)
    diagonal = np.diagonal(information)
    scale = 1 / np.sqrt(np.where(diagonal > SINGULAR, diagonal, 1.0))
    values, vectors = np.linalg.eigh(information * scale * scale[:, None])
    moves = directions @ (scale[:, None] * vectors[:, values < SINGULAR])
    return np.asarray(moves / np.maximum(np.abs(moves).max(axis=0, initial=0), TINY))


def _find_observed_information(fitted: FittedModel, directions: "sparse.csr_array") -> Floats:
    """Compute the negative second derivatives of the log-likelihood along directions.

    With q the probability of class c given a pattern, p a probability and d = n/p the derivative
    of the complete data's log-likelihood, where n is 0, 1 or more, a pattern contributes
    s s' - sum_c q d d' + sum_c q n/p^2, where s = sum_c q d.

    Parameters
    ----------
    fitted : FittedModel
    directions : scipy.sparse.csr_array, shape (n_probabilities, n_free)

    Returns
    -------
    ndarray, shape (n_free, n_free)
    """
    table, classes = fitted.table, fitted.expected[0]
    rates, confusion = fitted.group_rates, fitted.parameters.confusion
    group = np.zeros(len(classes), np.int64) if table.groups is None else table.groups
    weighted = table.weights[:, None] * classes
    counts = np.append(table.sum_groups(weighted), fitted.ratings)
    values = np.append(rates, confusion)
    inverse = np.divide(1, values, out=np.zeros_like(values), where=values > BOUNDARY)
    by_probability = directions.multiply(inverse[:, None]).tocsr()
    number = np.arange(inverse.size)
    rate_rows = number[: rates.size].reshape(rates.shape)
    confusion_rows = number[rates.size :].reshape(confusion.shape)
    score = sparse.csr_array((len(weighted), directions.shape[1]))
    information = directions.T @ directions.multiply((counts * inverse**2)[:, None])
    for c in range(table.n_categories):
        derivative = by_probability[rate_rows[group, c]]
        derivative = derivative + table.answers @ by_probability[confusion_rows[:, c].ravel()]
        score = score + derivative.multiply(classes[:, c, None])
        information = information - derivative.T @ derivative.multiply(weighted[:, c, None])
    information = information + score.T @ score.multiply(table.weights[:, None])
    return np.asarray(information.toarray())


def _list_free_directions(fitted: FittedModel) -> "sparse.csr_array":
    """Compute the derivatives of base rates and confusion matrices by each free parameter of t-a-p.

    Parameters
    ----------
    fitted : FittedModel

    Returns
    -------
    scipy.sparse.csr_array, shape (n_probabilities, n_free)
    """
    rates, numbers = fitted.group_rates, fitted.matrix_numbers
    confusion = fitted.parameters.confusion
    blocks = [_list_simplex_directions(row) for row in rates]
    for j in np.unique(numbers, return_index=True)[1]:
        mixture = models.to_mixture(confusion[j]) * fitted.rated[j].any()
        moves = _list_simplex_directions(mixture)
        blocks.append(models.to_confusion(moves.T).reshape(-1, confusion[j].size).T)
    size = confusion[0].size
    of_raters = rates.size + numbers[:, None] * size + np.arange(size)
    rows = np.append(np.arange(rates.size), of_raters)
    return sparse.block_diag([sparse.csr_array(block) for block in blocks], format="csr")[rows]


def _list_simplex_directions(probabilities: Floats) -> Floats:
    """Give the directions that raise a probability above 0 at the cost of the last, (n, n_free)."""
    eye = np.eye(len(probabilities))[:, probabilities > BOUNDARY]
    return eye[:, :-1] - eye[:, -1:]
