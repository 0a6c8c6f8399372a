"""Variational Bayes by mean field: the models that label items, and their fit."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from lehner.core.arrays import TINY, Floats
from lehner.core.lazy import special
from lehner.latent_class.em import e_step, expected_ratings
from lehner.latent_class.pattern_table import PatternTable

type Rows = Literal["one", "rater", "matrix"]

MAJORITY = "majority"


@dataclass(frozen=True, kw_only=True)
class LabelModel:
    """What a model assumes about the raters.

    Parameters
    ----------
    summary : str
        Description in a few words.
    rows : {"one", "rater", "matrix"}
        One accuracy; one for each rater; a confusion matrix for each rater. Errors are equally
        probable in the first two.
    equal_base_rates : bool
        Whether categories are equally frequent.
    """

    summary: str
    rows: Rows
    equal_base_rates: bool = False


LABEL_MODELS = {
    MAJORITY: LabelModel(
        summary="each rater counts the same, and so does each category",
        rows="one",
        equal_base_rates=True,
    ),
    "one_coin_vb": LabelModel(summary="one accuracy for all raters", rows="one"),
    "one_coin_by_rater_vb": LabelModel(
        summary="an accuracy per rater, from a population of raters", rows="rater"
    ),
    "dawid_skene_vb": LabelModel(
        summary="a confusion matrix per rater, from a population of raters", rows="matrix"
    ),
}
"""The models: first the majority vote with a probability, last that with most parameters."""


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


class Cells(NamedTuple):
    """Expected ratings, with a row for each accuracy or each row of a matrix that is estimated.

    `right` (n_rows,) are ratings of the right category, `wrong` (n_rows, n_cells) the others, in
    one cell if errors are equally probable.
    """

    right: Floats
    wrong: Floats


def count_cells(counts: Floats, model: LabelModel) -> Cells:
    """Pool expected ratings, (n_raters, n_categories, n_categories), as a model does."""
    n_raters, k, _ = counts.shape
    right = np.diagonal(counts, axis1=1, axis2=2)
    if model.rows == "matrix":
        wrong = counts[:, ~np.eye(k, dtype=bool)]
        return Cells(right.ravel(), wrong.reshape(n_raters * k, k - 1))
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
    counts = counts[counts > 0]
    return float((special.digamma(counts + start) - special.digamma(start)).sum())


def respond(counts: Floats, model: LabelModel, prior: RowPrior) -> tuple[Floats, Floats]:
    """Probabilities of responses to each category, from expected ratings and their prior.

    Parameters
    ----------
    counts : ndarray, shape (n_raters, n_categories, n_categories)
    model : LabelModel
    prior : RowPrior

    Returns
    -------
    log_response : ndarray, same shape
        Expectation of the log probability of each response (last).
    response : ndarray, same shape
        Expected probability.
    """
    right_here = np.eye(counts.shape[2], dtype=bool)
    if model.rows == "matrix":
        posterior = counts + np.where(right_here, prior.right, prior.wrong)
        return expected_log(posterior), posterior / posterior.sum(axis=-1, keepdims=True)
    cells = count_cells(counts, model)
    posterior = np.column_stack([cells.right + prior.right, cells.wrong + prior.wrong])
    expected = posterior / posterior.sum(axis=1, keepdims=True)
    n_wrong = counts.shape[2] - 1

    def lay_out(right: Floats, wrong: Floats) -> Floats:
        by_rater = np.where(right_here, right[:, None, None], wrong[:, None, None])
        return np.broadcast_to(by_rater, counts.shape)

    log = expected_log(posterior)
    return (
        lay_out(log[:, 0], log[:, 1] - np.log(n_wrong)),
        lay_out(expected[:, 0], expected[:, 1] / n_wrong),
    )


def expected_log(parameters: Floats) -> Floats:
    """Expectation of the logarithms of probabilities that are Dirichlet distributed."""
    return np.asarray(
        special.digamma(parameters) - special.digamma(parameters.sum(axis=-1, keepdims=True))
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanField:
    """Items and raters as estimated by a model.

    Parameters
    ----------
    classes : ndarray, shape (n_patterns, n_categories)
        Probability of each category.
    response : ndarray, shape (n_raters, n_categories, n_categories)
        Expected probability of each response (last) given the category.
    said : ndarray, shape (n_categories, n_categories)
        Expected number of ratings by all raters, by category and response.
    prior : RowPrior
    """

    classes: Floats
    response: Floats
    said: Floats
    prior: RowPrior


def fit_mean_field(table: PatternTable, model: LabelModel) -> MeanField:
    """Fit a model by coordinate ascent of the evidence lower bound, from the proportions of votes.

    Rows of confusion matrices have Dirichlet priors, with one parameter for the right category and
    one for each wrong category, which are estimated. Base rates have a flat prior.

    Parameters
    ----------
    table : PatternTable
    model : LabelModel

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
    for step in range(STEPS):
        counts = expected_ratings(table, classes)
        if step >= WARM_UP and model.rows != "one":
            prior = update_prior(count_cells(counts, model), prior)
        log_response, response = respond(counts, model, prior)
        log_rates = np.zeros(k)
        if not model.equal_base_rates:
            log_rates = expected_log(1 + table.weights @ classes)
        log_response = log_response.swapaxes(1, 2)[..., None]
        before, classes = classes, e_step(table, log_rates[:, None], log_response)[0][..., 0]
        moved = table.weights @ np.abs(classes - before).sum(axis=1)
        if step > WARM_UP and moved < k * STILL_MOVING * table.weights.sum():
            break
    return MeanField(classes=classes, response=response, said=counts.sum(axis=0), prior=prior)
