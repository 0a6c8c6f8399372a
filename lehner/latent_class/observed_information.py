"""Observed information of a latent-class model, and the standard errors that follow from it.

Base rates and confusion matrices are linear in the free parameters of every model. The curvature of
the log-likelihood along the free directions is therefore the curvature over all probabilities, as
if they did not have to sum to 1, projected on these directions.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lehner.core.arrays import TINY, Booleans, Floats
from lehner.core.errors import InputError
from lehner.latent_class.confusion_matrices import confusion_to_mixture, mixture_to_confusion
from lehner.latent_class.maximum import BOUNDARY, Maximum

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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

    directions: "csr_array"
    factor: Floats

    @cached_property
    def root(self) -> Floats:
        """A matrix whose product with its transpose is the covariance of the probabilities.

        Shape (n_probabilities, n_determined). It has no part along the flat directions.
        """
        from scipy.linalg import solve_triangular

        n_determined = self.factor.shape[1]
        determined = self.directions[:, :n_determined].toarray()
        return np.asarray(solve_triangular(self.factor[:n_determined], determined.T, lower=True).T)

    @cached_property
    def flat(self) -> Floats:
        """Directions in which the likelihood does not change, with a greatest entry of 1.

        Shape (n_probabilities, n_free - n_determined).
        """
        from scipy.linalg import solve_triangular

        n_free, n_determined = self.factor.shape
        if n_free == n_determined:
            return np.zeros((self.directions.shape[0], 0))
        above, below = self.factor[:n_determined], self.factor[n_determined:]
        opposed = solve_triangular(above, below.T, lower=True, trans="T")
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


def _observed_information(maximum: Maximum, directions: "csr_array") -> Floats:
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
    from scipy.sparse import csr_array

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
    score = csr_array((len(weighted), directions.shape[1]))
    information = directions.T @ directions.multiply((counts * inverse**2)[:, None])
    for c in range(table.n_categories):
        derivative = by_probability[rate_rows[group, c]]
        derivative = derivative + table.answers @ by_probability[confusion_rows[:, c].ravel()]
        score = score + derivative.multiply(classes[:, c, None])
        information = information - derivative.T @ derivative.multiply(weighted[:, c, None])
    information = information + score.T @ score.multiply(table.weights[:, None])
    return np.asarray(information.toarray())


def _free_directions(maximum: Maximum) -> "csr_array":
    """Derivatives of base rates and confusion matrices by each free parameter.

    Parameters
    ----------
    maximum : Maximum

    Returns
    -------
    scipy.sparse.csr_array, shape (n_probabilities, n_free)
    """
    from scipy.sparse import block_diag, csr_array

    rates, confusion, numbers = maximum.base_rates, maximum.found.confusion, maximum.matrix_numbers
    _, first = np.unique(numbers, return_index=True)
    blocks = [_simplex_directions(row) for row in rates]
    blocks += [
        _matrix_directions(confusion[j], maximum.rated[j], maximum.model.form) for j in first
    ]
    size = confusion[0].size
    of_raters = rates.size + numbers[:, None] * size + np.arange(size)
    rows = np.append(np.arange(rates.size), of_raters)
    return block_diag([csr_array(block) for block in blocks], format="csr")[rows]


def _matrix_directions(matrix: Floats, rated: Booleans, form: str) -> Floats:
    """Directions of one confusion matrix, shape (n_classes * n_categories, n_free)."""
    from scipy.linalg import block_diag

    if form == "full":
        return np.asarray(block_diag(*map(_simplex_directions, matrix * rated[:, None])))
    if form == "knowledge":
        moves = _simplex_directions(confusion_to_mixture(matrix) * rated.any())
        return mixture_to_confusion(moves.T).reshape(moves.shape[1], matrix.size).T
    right = np.diagonal(matrix)
    free = rated & (right > BOUNDARY) & (right < 1 - BOUNDARY)
    eye = np.eye(len(matrix))
    rise = eye - (1 - eye) / (len(matrix) - 1)
    if form == "accuracy":
        return rise.reshape(-1, 1)[:, : int(free.any())]
    return np.asarray(block_diag(*rise[:, :, None]))[:, free]


def _simplex_directions(probabilities: Floats) -> Floats:
    """Directions that increase a probability above 0 at the cost of the last, (n, n_free)."""
    eye = np.eye(len(probabilities))[:, probabilities > BOUNDARY]
    return eye[:, :-1] - eye[:, -1:]


def _inverse(values: Floats) -> Floats:
    return np.divide(1, values, out=np.zeros_like(values), where=values > BOUNDARY)
