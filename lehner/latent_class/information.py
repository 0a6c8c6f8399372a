"""A maximum of the likelihood: its deviance, and which of its numbers the ratings determine.

Base rates and confusion matrices are linear in the free parameters of every model. The curvature of
the log-likelihood along the free directions is therefore the curvature over all probabilities, as
if they did not have to sum to 1, projected on these directions.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lehner.core.arrays import TINY, Booleans, Floats, Integers
from lehner.core.lazy import sparse, special
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings
from lehner.latent_class.em import LatentClasses, expect, expected_ratings
from lehner.latent_class.models import LatentClassModel, confusion_to_mixture, mixture_to_confusion
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
    parameters : LatentClasses
    """

    name: str
    model: LatentClassModel
    table: PatternTable
    parameters: LatentClasses

    @property
    def base_rates(self) -> Floats:
        """Base rates with a row for each group, (n_groups, n_classes)."""
        return np.atleast_2d(self.parameters.base_rates)

    @cached_property
    def classes(self) -> Floats:
        """Probability of each class for each pattern, (n_patterns, n_classes)."""
        return expect(self.table, self.parameters)[0]

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

    def compute_accuracy(self, parameters: LatentClasses) -> Floats:
        """Compute the accuracy of each rater, (n_raters,); NaN if ratings do not determine it."""
        rates = self.group_proportions @ np.atleast_2d(parameters.base_rates)
        right = np.diagonal(parameters.confusion, axis1=1, axis2=2)
        determined = self.rated | (rates < BOUNDARY)
        return np.where(determined.all(axis=1), right @ rates, np.nan)


def compute_deviance(
    ratings: Ratings, maximum: Maximum
) -> tuple[float | None, int | None, list[Warning]]:
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
    table = maximum.table
    reason = _explain_undefined(ratings, maximum)
    if reason:
        return None, None, [warn("deviance-undefined", f"G² is not defined: {reason}")]
    group = table.group_of_pattern
    sizes = np.bincount(group, table.weights)
    log_expected = np.log(sizes[group]) + expect(table, maximum.parameters)[1]
    terms = special.xlogy(table.weights, table.weights) - table.weights * log_expected
    g2 = max(0.0, 2 * float(terms.sum()))
    n_patterns = table.n_categories**table.n_raters
    free = table.n_groups * (n_patterns - 1)
    notes = []
    if sizes.sum() < LEAST_EXPECTED * table.n_groups * n_patterns:
        text = (
            f"G² is not near its chi-square distribution: there are {sizes.sum():.0f} items for "
            f"{table.n_groups * n_patterns:,} patterns"
        )
        notes.append(warn("deviance-distribution", text))
    return g2, free - maximum.n_parameters, notes


def _explain_undefined(ratings: Ratings, maximum: Maximum) -> str:
    """Say why there is no saturated model for a comparison, if there is none."""
    table = maximum.table
    if ratings.anonymous:
        return "raters are anonymous"
    if table.truths is not None:
        return "some truths are known"
    if ratings.several_votes:
        return "some raters rated an item more than once"
    n_ratings = table.answers.sum(axis=1)[table.weights > 0]
    return "" if (n_ratings == table.n_raters).all() else "some ratings are missing"


SINGULAR = 1e-9
"""Information below it, for parameters scaled to an information of 1, is none."""


def find_flat_directions(maximum: Maximum) -> Floats:
    """Find directions in which the likelihood of a t-a-p model does not change at its maximum.

    They are the directions without observed information.

    Parameters
    ----------
    maximum : Maximum

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
    directions = _free_directions(maximum)
    information = _observed_information(maximum, directions)
    diagonal = np.diagonal(information)
    scale = 1 / np.sqrt(np.where(diagonal > SINGULAR, diagonal, 1.0))
    values, vectors = np.linalg.eigh(information * scale * scale[:, None])
    moves = directions @ (scale[:, None] * vectors[:, values < SINGULAR])
    return np.asarray(moves / np.maximum(np.abs(moves).max(axis=0, initial=0), TINY))


def _observed_information(maximum: Maximum, directions: "sparse.csr_array") -> Floats:
    """Negative second derivatives of the log-likelihood along directions.

    With q the probability of class c given a pattern, p a probability and d = n/p the derivative
    of the complete data's log-likelihood, where n is 0, 1 or more, a pattern contributes
    s s' - sum_c q d d' + sum_c q n/p^2, where s = sum_c q d.

    Parameters
    ----------
    maximum : Maximum
    directions : scipy.sparse.csr_array, shape (n_probabilities, n_free)

    Returns
    -------
    ndarray, shape (n_free, n_free)
    """
    table, classes = maximum.table, maximum.classes
    rates, confusion = maximum.base_rates, maximum.parameters.confusion
    weighted = table.weights[:, None] * classes
    counts = np.append(table.sum_groups(weighted), maximum.ratings)
    values = np.append(rates, confusion)
    inverse = np.divide(1, values, out=np.zeros_like(values), where=values > BOUNDARY)
    by_probability = directions.multiply(inverse[:, None]).tocsr()
    number = np.arange(inverse.size)
    rate_rows = number[: rates.size].reshape(rates.shape)
    confusion_rows = number[rates.size :].reshape(confusion.shape)
    score = sparse.csr_array((len(weighted), directions.shape[1]))
    information = directions.T @ directions.multiply((counts * inverse**2)[:, None])
    for c in range(table.n_categories):
        derivative = by_probability[rate_rows[table.group_of_pattern, c]]
        derivative = derivative + table.answers @ by_probability[confusion_rows[:, c].ravel()]
        score = score + derivative.multiply(classes[:, c, None])
        information = information - derivative.T @ derivative.multiply(weighted[:, c, None])
    information = information + score.T @ score.multiply(table.weights[:, None])
    return np.asarray(information.toarray())


def _free_directions(maximum: Maximum) -> "sparse.csr_array":
    """Derivatives of base rates and confusion matrices by each free parameter of t-a-p.

    Parameters
    ----------
    maximum : Maximum

    Returns
    -------
    scipy.sparse.csr_array, shape (n_probabilities, n_free)
    """
    rates, numbers = maximum.base_rates, maximum.matrix_numbers
    confusion = maximum.parameters.confusion
    blocks = [_simplex_directions(row) for row in rates]
    for j in np.unique(numbers, return_index=True)[1]:
        moves = _simplex_directions(confusion_to_mixture(confusion[j]) * maximum.rated[j].any())
        blocks.append(mixture_to_confusion(moves.T).reshape(-1, confusion[j].size).T)
    size = confusion[0].size
    of_raters = rates.size + numbers[:, None] * size + np.arange(size)
    rows = np.append(np.arange(rates.size), of_raters)
    return sparse.block_diag([sparse.csr_array(block) for block in blocks], format="csr")[rows]


def _simplex_directions(probabilities: Floats) -> Floats:
    """Directions that increase a probability above 0 at the cost of the last, (n, n_free)."""
    eye = np.eye(len(probabilities))[:, probabilities > BOUNDARY]
    return eye[:, :-1] - eye[:, -1:]


STEP = 1e-6
MOVED = 1e-4
"""A quantity that a flat direction changes by more is not determined."""
LEAST_GAIN = 1e-4
MOST_PARAMETERS = 2_000
"""With more the check of a t-a-p model would take longer than the fit."""


def compute_quantities(maximum: Maximum, parameters: LatentClasses) -> dict[str, Floats]:
    """Compute estimates by name.

    Parameters
    ----------
    maximum : Maximum
    parameters : LatentClasses
        Those of the maximum, or near it.

    Returns
    -------
    dict of str to ndarray
        Base rates and confusion matrices, which are NaN in rows without expected ratings;
        accuracy; in t-a-p, knowledge and guesses.
    """
    rated = maximum.rated
    values = {
        "base_rates": parameters.base_rates,
        "confusion": np.where(rated[..., None], parameters.confusion, np.nan),
        "accuracy": maximum.compute_accuracy(parameters),
    }
    if maximum.model.form == "knowledge":
        mixture = np.where(rated[:, :1], confusion_to_mixture(parameters.confusion), np.nan)
        guessed = 1 - mixture[:, :1]
        values["knowledge"] = mixture[:, 0]
        values["guessing"] = mixture[:, 1:] / np.where(guessed > BOUNDARY, guessed, np.nan)
    return values


def find_undetermined(maximum: Maximum) -> dict[str, Booleans]:
    """Find the quantities of a t-a-p model that have other values which fit as well."""
    at = maximum.parameters
    shape = at.base_rates.shape

    def compute(move: Floats) -> dict[str, Floats]:
        rates, confusion = np.split(move, [at.base_rates.size])
        near = replace(
            at,
            base_rates=at.base_rates + rates.reshape(shape),
            confusion=at.confusion + confusion.reshape(at.confusion.shape),
        )
        return compute_quantities(maximum, near)

    hidden = {
        name: np.zeros(values.shape, dtype=bool)
        for name, values in compute_quantities(maximum, at).items()
    }
    for direction in find_flat_directions(maximum).T:
        forward, backward = compute(direction * STEP), compute(-direction * STEP)
        for name, moved in hidden.items():
            moved |= np.abs(forward[name] - backward[name]) > 2 * STEP * MOVED
    return hidden


def determine_quantities(maximum: Maximum) -> tuple[dict[str, Floats], list[Warning]]:
    """Compute the quantities of a fit, with NaN for those of t-a-p that are not determined.

    Two ratings of each item in two categories, for example, give two frequencies for three
    parameters of raters who are alike. Other models are not checked.

    Parameters
    ----------
    maximum : Maximum

    Returns
    -------
    values : dict of str to ndarray
        As `compute_quantities` gives them.
    notes : list of Warning
    """
    values = compute_quantities(maximum, maximum.parameters)
    if maximum.model.form != "knowledge":
        return values, []
    if maximum.parameters.log_likelihood - _independent_log_likelihood(maximum) < LEAST_GAIN:
        blank = {name: np.full_like(array, np.nan) for name, array in values.items()}
        text = (
            "not determined, because ratings of an item agree no more than guesses would: base "
            "rates, knowledge, guessing"
        )
        return blank, [warn("not-determined", text)]
    if maximum.n_parameters > MOST_PARAMETERS:
        text = f"more than {MOST_PARAMETERS:,} parameters: other values may fit as well"
        return values, [warn("identification-unchecked", text)]
    hidden = find_undetermined(maximum)
    values = {name: np.where(hidden[name], np.nan, array) for name, array in values.items()}
    names = [name.replace("_", " ") for name, missing in hidden.items() if missing.any()]
    if names:
        text = f"not determined, because other values fit as well: {', '.join(names)}"
        return values, [warn("not-determined", text)]
    if np.isnan(values["guessing"][maximum.rated[:, 0]]).any():
        text = "some raters always know the truth: their guesses are undefined"
        return values, [warn("guessing-undefined", text)]
    return values, []


def _independent_log_likelihood(maximum: Maximum) -> float:
    """Likelihood if the ratings of a rater had the same distribution for all items."""
    table, numbers = maximum.table, maximum.matrix_numbers
    if table.truths is not None:
        return -np.inf
    by_rater = (table.answers.T @ table.weights).reshape(table.n_raters, -1)
    totals = np.stack([by_rater[numbers == number].sum(axis=0) for number in np.unique(numbers)])
    proportions = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1.0)
    return float((totals * np.log(np.where(totals > 0, proportions, 1.0))).sum())
