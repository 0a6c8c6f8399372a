"""A maximum of the likelihood: its deviance, and what the observed information says of it.

Base rates and confusion matrices are linear in the free parameters of every model. The curvature of
the log-likelihood along the free directions is therefore the curvature over all probabilities, as
if they did not have to sum to 1, projected on these directions.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lehner.core.arrays import TINY, Booleans, Floats, Integers
from lehner.core.errors import InputError
from lehner.core.lazy import linalg, sparse, special
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
        determined = self.rated | (rates < BOUNDARY)
        return np.where(determined.all(axis=1), right @ rates, np.nan)


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
    table = maximum.table
    reason = _undefined(ratings, maximum)
    if reason:
        return None, None, [warn("deviance-undefined", f"G² is not defined: {reason}")]
    group = np.zeros(len(table.weights), np.int64) if table.groups is None else table.groups
    sizes = np.bincount(group, table.weights)
    log_expected = np.log(sizes[group]) + expect(table, maximum.found)[1]
    terms = special.xlogy(table.weights, table.weights) - table.weights * log_expected
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


SINGULAR = 1e-9
MOST_FREE_PARAMETERS = 5_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Curvature:
    """How well the ratings determine the probabilities of a model.

    Rows are for the base rates, by group and class, then for the confusion matrices, by rater,
    class and response. They are zero for fixed probabilities: those within 1e-6 of 0 or 1, and
    those without ratings.

    Parameters
    ----------
    directions : scipy.sparse.csr_array, shape (n_probabilities, n_free)
        Derivatives of the probabilities by the free parameters, first those that are determined.
    factor : ndarray, shape (n_free, n_determined)
        The Cholesky factor of the information along the directions.
    """

    directions: "sparse.csr_array"
    factor: Floats

    @cached_property
    def root(self) -> Floats:
        """A matrix whose product with its transpose is the covariance of the probabilities.

        Shape (n_probabilities, n_determined). It has no part along the flat directions.
        """
        n_determined = self.factor.shape[1]
        determined = self.directions[:, :n_determined].toarray()
        return np.asarray(
            linalg.solve_triangular(self.factor[:n_determined], determined.T, lower=True).T
        )

    @cached_property
    def flat(self) -> Floats:
        """Directions in which the likelihood does not change, with a greatest entry of 1.

        Shape (n_probabilities, n_free - n_determined).
        """
        n_free, n_determined = self.factor.shape
        if n_free == n_determined:
            return np.zeros((self.directions.shape[0], 0))
        above, below = self.factor[:n_determined], self.factor[n_determined:]
        opposed = linalg.solve_triangular(above, below.T, lower=True, trans="T")
        moves = self.directions @ np.concatenate([-opposed, np.eye(n_free - n_determined)])
        return np.asarray(moves / np.maximum(np.abs(moves).max(axis=0), TINY))


def curvature(maximum: Maximum) -> Curvature:
    """Compute how well the ratings determine the probabilities, from the observed information.

    Parameters
    ----------
    maximum : Maximum

    Returns
    -------
    Curvature

    Raises
    ------
    InputError
        If there are more than 5,000 parameters.

    References
    ----------
    Louis (1982), Finding the observed information matrix when using the EM algorithm.
    """
    from scipy.linalg.lapack import dpstrf

    directions = _free_directions(maximum)
    n_free = directions.shape[1]
    if n_free > MOST_FREE_PARAMETERS:
        raise InputError(
            f"{n_free} free parameters have too large an information matrix",
            "fit a model with fewer, such as one that raters share",
        )
    if n_free == 0:
        return Curvature(directions=directions, factor=np.zeros((0, 0)))
    information = _observed_information(maximum, directions)
    diagonal = np.diagonal(information)
    scale = 1 / np.sqrt(np.where(diagonal > SINGULAR, diagonal, 1.0))
    # The squares on the diagonal of the factor are the part of each parameter's information that
    # earlier parameters do not explain. The pivots leave those with the least to the end.
    factor, order, rank, _ = dpstrf(information * scale * scale[:, None], tol=SINGULAR, lower=1)
    return Curvature(
        directions=directions.multiply(scale).tocsc()[:, order - 1],
        factor=np.tril(factor[:, :rank]),
    )


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
    rates, confusion = maximum.base_rates, maximum.found.confusion
    weighted = table.weights[:, None] * classes
    counts = np.append(table.sum_groups(weighted), maximum.ratings)
    inverse = _inverse(np.append(rates, confusion))
    by_probability = directions.multiply(inverse[:, None]).tocsr()
    number = np.arange(inverse.size)
    rate_rows = number[: rates.size].reshape(rates.shape)
    confusion_rows = number[rates.size :].reshape(confusion.shape)
    group = np.zeros(len(weighted), np.int64) if table.groups is None else table.groups
    score = sparse.csr_array((len(weighted), directions.shape[1]))
    information = directions.T @ directions.multiply((counts * inverse**2)[:, None])
    for c in range(table.n_categories):
        derivative = by_probability[rate_rows[group, c]]
        derivative = derivative + table.answers @ by_probability[confusion_rows[:, c].ravel()]
        score = score + derivative.multiply(classes[:, c, None])
        information = information - derivative.T @ derivative.multiply(weighted[:, c, None])
    information = information + score.T @ score.multiply(table.weights[:, None])
    return np.asarray(information.toarray())


def _free_directions(maximum: Maximum) -> "sparse.csr_array":
    """Derivatives of base rates and confusion matrices by each free parameter.

    Parameters
    ----------
    maximum : Maximum

    Returns
    -------
    scipy.sparse.csr_array, shape (n_probabilities, n_free)
    """
    rates, confusion, numbers = maximum.base_rates, maximum.found.confusion, maximum.matrix_numbers
    _, first = np.unique(numbers, return_index=True)
    blocks = [_simplex_directions(row) for row in rates]
    blocks += [
        _matrix_directions(confusion[j], maximum.rated[j], maximum.model.form) for j in first
    ]
    size = confusion[0].size
    of_raters = rates.size + numbers[:, None] * size + np.arange(size)
    rows = np.append(np.arange(rates.size), of_raters)
    return sparse.block_diag([sparse.csr_array(block) for block in blocks], format="csr")[rows]


def _matrix_directions(matrix: Floats, rated: Booleans, form: str) -> Floats:
    """Directions of one confusion matrix, shape (n_classes * n_categories, n_free)."""
    if form == "full":
        return np.asarray(linalg.block_diag(*map(_simplex_directions, matrix * rated[:, None])))
    if form == "knowledge":
        moves = _simplex_directions(confusion_to_mixture(matrix) * rated.any())
        return mixture_to_confusion(moves.T).reshape(moves.shape[1], matrix.size).T
    right = np.diagonal(matrix)
    free = rated & (right > BOUNDARY) & (right < 1 - BOUNDARY)
    eye = np.eye(len(matrix))
    rise = eye - (1 - eye) / (len(matrix) - 1)
    if form == "accuracy":
        return rise.reshape(-1, 1)[:, : int(free.any())]
    return np.asarray(linalg.block_diag(*rise[:, :, None]))[:, free]


def _simplex_directions(probabilities: Floats) -> Floats:
    """Directions that increase a probability above 0 at the cost of the last, (n, n_free)."""
    eye = np.eye(len(probabilities))[:, probabilities > BOUNDARY]
    return eye[:, :-1] - eye[:, -1:]


def _inverse(values: Floats) -> Floats:
    return np.divide(1, values, out=np.zeros_like(values), where=values > BOUNDARY)


LENGTH_ROUNDING = 1e-10
MOVED = 1e-4
"""A quantity that a flat direction changes by more is not determined."""
LEAST_GAIN = 1e-4
MOST_PARAMETERS = 2_000
"""With more the check of a t-a-p model would take longer than the fit."""


def quantities(maximum: Maximum) -> dict[str, Floats]:
    """Estimates by name.

    Parameters
    ----------
    maximum : Maximum

    Returns
    -------
    dict of str to ndarray
        Base rates and confusion matrices, which are NaN in rows without expected ratings;
        accuracy; in t-a-p, knowledge and guesses.
    """
    rated, fitted = maximum.rated, maximum.found
    values = {
        "base_rates": fitted.base_rates,
        "confusion": np.where(rated[..., None], fitted.confusion, np.nan),
        "accuracy": maximum.accuracy,
    }
    if maximum.model.form == "knowledge":
        mixture = np.where(rated[:, :1], confusion_to_mixture(fitted.confusion), np.nan)
        guessed = 1 - mixture[:, :1]
        values["knowledge"] = mixture[:, 0]
        values["guessing"] = mixture[:, 1:] / np.where(guessed > BOUNDARY, guessed, np.nan)
    return values


def changes(maximum: Maximum, directions: Floats) -> dict[str, Floats]:
    """Changes of the quantities along directions.

    Parameters
    ----------
    maximum : Maximum
    directions : ndarray, shape (n_probabilities, n_directions)
        As in `Curvature`.

    Returns
    -------
    dict of str to ndarray
        As `quantities` gives them, with the directions as one more, last dimension.
    """
    values, fitted = quantities(maximum), maximum.found
    by_rates, by_confusion = np.split(directions, [fitted.base_rates.size])
    rates = by_rates.reshape(*maximum.base_rates.shape, -1)
    confusion = by_confusion.reshape(*fitted.confusion.shape, -1)
    sizes = maximum.group_proportions
    right = np.diagonal(fitted.confusion, axis1=1, axis2=2)
    changed = {
        "base_rates": rates.reshape(*fitted.base_rates.shape, -1),
        "confusion": confusion,
        "accuracy": right @ np.tensordot(sizes, rates, axes=1)
        + np.einsum("c,jccf->jf", sizes @ maximum.base_rates, confusion),
    }
    if "knowledge" in values:
        category = np.arange(maximum.table.n_categories)
        knowledge = confusion[:, 0, 0] - confusion[:, -1, 0]
        guesses = confusion[:, category - 1, category]
        guessed = np.maximum(1 - values["knowledge"], BOUNDARY)[:, None, None]
        guessing = np.nan_to_num(values["guessing"])[..., None]
        changed["knowledge"] = knowledge
        changed["guessing"] = (guesses + guessing * knowledge[:, None]) / guessed
    return changed


def standard_errors(maximum: Maximum, curvature: Curvature) -> dict[str, Floats]:
    """Standard errors of the quantities, NaN if they are fixed or not determined."""
    hidden = undetermined(maximum, curvature)
    errors = {}
    for name, change in changes(maximum, curvature.root).items():
        lengths = np.sqrt((change**2).sum(axis=-1))
        errors[name] = np.where(hidden[name] | (lengths < LENGTH_ROUNDING), np.nan, lengths)
    return errors


def undetermined(maximum: Maximum, curvature: Curvature) -> dict[str, Booleans]:
    """Which quantities have other values that fit as well."""
    return {
        name: np.abs(change).max(axis=-1, initial=0) > MOVED
        for name, change in changes(maximum, curvature.flat).items()
    }


def determined_quantities(
    maximum: Maximum,
) -> tuple[dict[str, Floats], Curvature | None, list[Warning]]:
    """Quantities of a fit, with NaN for those of t-a-p that are not determined.

    Two ratings of each item in two categories, for example, give two frequencies for three
    parameters of raters who are alike. Other models are not checked.

    Parameters
    ----------
    maximum : Maximum

    Returns
    -------
    values : dict of str to ndarray
        As `quantities` gives them.
    curvature : Curvature or None
        If it was computed.
    notes : list of Warning
    """
    values = quantities(maximum)
    if maximum.model.form != "knowledge":
        return values, None, []
    if maximum.found.log_likelihood - _independent_log_likelihood(maximum) < LEAST_GAIN:
        blank = {name: np.full_like(array, np.nan) for name, array in values.items()}
        text = (
            "not determined, because ratings of an item agree no more than guesses would: base "
            "rates, knowledge, guessing"
        )
        return blank, None, [warn("not-determined", text)]
    if maximum.n_parameters > MOST_PARAMETERS:
        text = "not checked whether other values fit as well"
        text = f"more than {MOST_PARAMETERS:,} parameters: {text}"
        return values, None, [warn("identification-unchecked", text)]
    curved = curvature(maximum)
    hidden = undetermined(maximum, curved)
    values = {name: np.where(hidden[name], np.nan, array) for name, array in values.items()}
    names = [name.replace("_", " ") for name, missing in hidden.items() if missing.any()]
    if names:
        text = f"not determined, because other values fit as well: {', '.join(names)}"
        return values, curved, [warn("not-determined", text)]
    if np.isnan(values["guessing"][maximum.rated[:, 0]]).any():
        text = "some raters always know the truth: their guesses are undefined"
        return values, curved, [warn("guessing-undefined", text)]
    return values, curved, []


def _independent_log_likelihood(maximum: Maximum) -> float:
    """Likelihood if the ratings of a rater had the same distribution for all items."""
    table, numbers = maximum.table, maximum.matrix_numbers
    if table.truths is not None:
        return -np.inf
    by_rater = (table.answers.T @ table.weights).reshape(table.n_raters, -1)
    totals = np.stack([by_rater[numbers == number].sum(axis=0) for number in np.unique(numbers)])
    proportions = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1.0)
    return float((totals * np.log(np.where(totals > 0, proportions, 1.0))).sum())
