"""Probabilities of raters' responses from expected counts of ratings, with an estimated prior."""

from typing import NamedTuple

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.labels.models import LabelModel

LEAST_PRIOR, MOST_PRIOR = 1e-3, 1e3


class RowPrior(NamedTuple):
    """Dirichlet prior of each row: concentration of the right category and of each other one."""

    right: float
    wrong: float


FIRST_PRIOR = RowPrior(4.0, 1.0)
"""The prior of Li, Rubinstein & Cohn (2019), at which the estimation starts."""


class Cells(NamedTuple):
    """Expected ratings, with a row for each accuracy or each row of a matrix that is estimated.

    `right` (n_rows,) are ratings of the right category, `wrong` (n_rows, n_cells) the others, in
    one cell if errors are equally probable.
    """

    right: Floats
    wrong: Floats


def count_cells(counts: Floats, category: Integers, model: LabelModel) -> Cells:
    """Pool expected ratings as a model does.

    Parameters
    ----------
    counts : ndarray, shape (n_raters, n_components, n_categories)
    category : ndarray of int, shape (n_components,)
        The category of each component.
    model : LabelModel

    Returns
    -------
    Cells
    """
    n_raters, n_components, k = counts.shape
    right = counts[:, np.arange(n_components), category]
    if model.rows == "matrix":
        wrong = counts[:, category[:, None] != np.arange(k)]
        return Cells(right.ravel(), wrong.reshape(n_raters * n_components, k - 1))
    by_rater = right.sum(axis=1)
    wrong = counts.sum(axis=(1, 2)) - by_rater
    if model.rows == "rater":
        return Cells(by_rater, wrong[:, None])
    return Cells(by_rater.sum(keepdims=True), wrong.sum(keepdims=True)[:, None])


def update_prior(cells: Cells, prior: RowPrior) -> RowPrior:
    """Take a step towards the prior under which the expected ratings are most probable.

    Parameters
    ----------
    cells : Cells
    prior : RowPrior

    Returns
    -------
    RowPrior

    References
    ----------
    Minka (2000), Estimating a Dirichlet distribution, Eq. 55, with equal parameters of the wrong
    categories.

    Examples
    --------
    >>> half_good = Cells(np.array([9.0, 1.0] * 50), np.array([[1.0], [9.0]] * 50))
    >>> prior = FIRST_PRIOR
    >>> for _ in range(200):
    ...     prior = update_prior(half_good, prior)
    >>> round(prior.right, 2), round(prior.wrong, 2)
    (0.67, 0.67)
    """
    n_wrong = cells.wrong.shape[1]
    total = prior.right + n_wrong * prior.wrong
    rise = _rise(cells.right + cells.wrong.sum(axis=1), total)
    if rise == 0:
        return prior
    right = prior.right * _rise(cells.right, prior.right) / rise
    wrong = prior.wrong * _rise(cells.wrong, prior.wrong) / (n_wrong * rise)
    return RowPrior(*np.clip([right, wrong], LEAST_PRIOR, MOST_PRIOR).tolist())


def _rise(counts: Floats, start: float) -> float:
    """Sum the differences of digamma functions, which are 0 without ratings."""
    from scipy.special import digamma

    counts = counts[counts > 0]
    return float((digamma(counts + start) - digamma(start)).sum())


def respond(
    counts: Floats, category: Integers, model: LabelModel, prior: RowPrior
) -> tuple[Floats, Floats]:
    """Give the probabilities of responses to each component, from expected ratings and their prior.

    Parameters
    ----------
    counts : ndarray, shape (n_raters, n_components, n_categories)
    category : ndarray of int, shape (n_components,)
    model : LabelModel
    prior : RowPrior

    Returns
    -------
    log_response : ndarray, shape (n_raters, n_components, n_categories)
        Expectation of the log probability of each response.
    response : ndarray, same shape
        Expected probability.
    """
    right_here = category[:, None] == np.arange(counts.shape[2])
    if model.rows == "matrix":
        posterior = counts + np.where(right_here, prior.right, prior.wrong)
        return expected_log(posterior), posterior / posterior.sum(axis=-1, keepdims=True)
    cells = count_cells(counts, category, model)
    posterior = np.column_stack([cells.right + prior.right, cells.wrong + prior.wrong])
    share = posterior / posterior.sum(axis=1, keepdims=True)
    n_wrong = counts.shape[2] - 1

    def lay_out(right: Floats, wrong: Floats) -> Floats:
        by_rater = np.where(right_here, right[:, None, None], wrong[:, None, None])
        return np.broadcast_to(by_rater, counts.shape)

    log = expected_log(posterior)
    return (
        lay_out(log[:, 0], log[:, 1] - np.log(n_wrong)),
        lay_out(share[:, 0], share[:, 1] / n_wrong),
    )


def expected_log(parameters: Floats) -> Floats:
    """Give the expectation of the logarithms of probabilities that are Dirichlet distributed."""
    from scipy.special import digamma

    return np.asarray(digamma(parameters) - digamma(parameters.sum(axis=-1, keepdims=True)))
