"""Variational Bayes by mean field: the two models that label items, and their fit."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lehner.core.arrays import TINY, Floats
from lehner.core.lazy import special
from lehner.latent_class.em import PatternTable, e_step, expected_ratings

MAJORITY = "majority"
LABEL_MODELS = {
    MAJORITY: "each rater counts the same, and so does each category",
    "dawid_skene_vb": "a confusion matrix per rater, from a population of raters",
}
"""The models, each with what it assumes about the raters."""

STEPS = 200
WARM_UP = 30
"""Steps with the first prior; an earlier estimate would shrink raters toward one another."""
STILL_MOVING = 1e-4
"""Updates stop when the mean change of the probabilities of categories is smaller."""
LEAST_PRIOR, MOST_PRIOR = 1e-3, 1e3


class RowPrior(NamedTuple):
    """Dirichlet prior of each row: concentration of the right category and of each other one."""

    right: float
    wrong: float


FIRST_PRIOR = RowPrior(4.0, 1.0)
"""The prior at which the estimation starts, that of Li, Rubinstein & Cohn (2019)."""


def update_prior(right: Floats, wrong: Floats, prior: RowPrior) -> RowPrior:
    """Take a step towards the prior under which the expected ratings are most probable.

    Parameters
    ----------
    right : ndarray, shape (n_rows,)
        Expected ratings of the right category, for each row of each confusion matrix.
    wrong : ndarray, shape (n_rows, n_categories - 1)
        Those of each other category.
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
    >>> right, wrong = np.array([9.0, 1.0] * 50), np.array([[1.0], [9.0]] * 50)
    >>> prior = FIRST_PRIOR
    >>> for _ in range(200):
    ...     prior = update_prior(right, wrong, prior)
    >>> round(prior.right, 2), round(prior.wrong, 2)
    (0.67, 0.67)
    """
    n_wrong = wrong.shape[1]
    total = prior.right + n_wrong * prior.wrong
    rise = _rise(right + wrong.sum(axis=1), total)
    if rise == 0:
        return prior
    new_right = prior.right * _rise(right, prior.right) / rise
    new_wrong = prior.wrong * _rise(wrong, prior.wrong) / (n_wrong * rise)
    return RowPrior(*np.clip([new_right, new_wrong], LEAST_PRIOR, MOST_PRIOR).tolist())


def _rise(counts: Floats, start: float) -> float:
    """Sum the differences of digamma functions, which are 0 without ratings."""
    counts = counts[counts > 0]
    return float((special.digamma(counts + start) - special.digamma(start)).sum())


def expected_log(parameters: Floats) -> Floats:
    """Expectation of the logarithms of probabilities that are Dirichlet distributed."""
    return np.asarray(
        special.digamma(parameters) - special.digamma(parameters.sum(axis=-1, keepdims=True))
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanField:
    """Items as estimated by a model.

    Parameters
    ----------
    classes : ndarray, shape (n_patterns, n_categories)
        Probability of each category.
    ratings : ndarray, shape (n_categories, n_categories)
        Expected number of ratings by all raters, by category and response.
    """

    classes: Floats
    ratings: Floats


def fit_mean_field(table: PatternTable, model: str) -> MeanField:
    """Fit a model by coordinate ascent of the evidence lower bound, from the proportions of votes.

    Rows of confusion matrices have Dirichlet priors, with one parameter for the right category and
    one for each wrong category, which are estimated. Base rates have a flat prior. In the majority
    vote all raters have one accuracy, with the first prior, and categories are equally frequent.

    Parameters
    ----------
    table : PatternTable
    model : str
        A key of `LABEL_MODELS`.

    Returns
    -------
    MeanField

    References
    ----------
    Kim & Ghahramani (2012), Bayesian classifier combination; here the prior of the rows is
    estimated, and base rates have a flat prior.
    """
    k = table.n_categories
    votes = np.where(table.possible(k), table.votes() + TINY, 0) + TINY
    classes, prior = votes / votes.sum(axis=1, keepdims=True), FIRST_PRIOR
    is_right = np.eye(k, dtype=bool)
    for step in range(STEPS):
        counts = expected_ratings(table, classes)
        log_rates = np.zeros(k)
        if model == MAJORITY:
            log_response = _log_of_one_accuracy(counts)
        else:
            if step >= WARM_UP:
                wrong = counts[:, ~is_right].reshape(-1, k - 1)
                prior = update_prior(counts[:, is_right].ravel(), wrong, prior)
            log_response = expected_log(counts + np.where(is_right, prior.right, prior.wrong))
            log_rates = expected_log(1 + table.weights @ classes)
        log_response = log_response.swapaxes(1, 2)[..., None]
        before, classes = classes, e_step(table, log_rates[:, None], log_response)[0][..., 0]
        moved = table.weights @ np.abs(classes - before).sum(axis=1)
        if step > WARM_UP and moved < k * STILL_MOVING * table.weights.sum():
            break
    return MeanField(classes=classes, ratings=counts.sum(axis=0))


def _log_of_one_accuracy(counts: Floats) -> Floats:
    """Expected log probability of each response, (n_raters, n_categories, n_categories)."""
    is_right = np.eye(counts.shape[2], dtype=bool)
    right = counts[:, is_right].sum()
    log = expected_log(np.array([right, counts.sum() - right]) + FIRST_PRIOR)
    matrix = np.where(is_right, log[0], log[1] - np.log(counts.shape[2] - 1))
    return np.broadcast_to(matrix, counts.shape)
