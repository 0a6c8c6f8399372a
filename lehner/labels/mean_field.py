"""Variational Bayes by mean field: the models that label items, and their fit."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from lehner.core.arrays import TINY, Floats, Integers
from lehner.core.lazy import special
from lehner.core.seeds import Seed, child_seeds, generator
from lehner.latent_class.em import e_step, expected_ratings
from lehner.latent_class.pattern_table import PatternTable

type Rows = Literal["one", "rater", "matrix"]

MAJORITY = "majority"
SUBTYPES = 10


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
    subtypes : int
        Number of kinds of items in a category, each with its own confusion matrices, so that raters
        of items of one kind share mistakes.
    equal_base_rates : bool
        Whether categories are equally frequent.
    """

    summary: str
    rows: Rows
    subtypes: int = 1
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
    "ebcc": LabelModel(
        summary="kinds of items within a category, on which raters share mistakes",
        rows="matrix",
        subtypes=SUBTYPES,
    ),
}
"""The models: first the majority vote with a probability, last that with most parameters."""


STEPS = 200
STARTS = 5
"""Number of starts with random subtypes.

Their mean labels are used, because those with the highest bound need not be the best."""
WARM_UP = 30
"""Steps with the first prior; an earlier estimate would shrink raters toward one another."""
STILL_MOVING = 1e-4
"""Updates stop when the mean change of the probabilities of categories is smaller."""
SUBTYPE_CONCENTRATION = 0.1
"""Sum of the concentration of the prior of proportions of subtypes in a category."""
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
    """Sum the differences of special.digamma functions, which are 0 without ratings."""
    counts = counts[counts > 0]
    return float((special.digamma(counts + start) - special.digamma(start)).sum())


def respond(
    counts: Floats, category: Integers, model: LabelModel, prior: RowPrior
) -> tuple[Floats, Floats]:
    """Probabilities of responses to each component, from expected ratings and their prior.

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
    components : ndarray, shape (n_components, n_patterns)
        Probability of each component: a category, or a subtype of one.
    category : ndarray of int, shape (n_components,)
        The category of each component.
    response : ndarray, shape (n_raters, n_components, n_categories)
        Expected probability of each response.
    said : ndarray, shape (n_components, n_categories)
        Expected number of ratings by all raters.
    prior : RowPrior
    """

    components: Floats
    category: Integers
    response: Floats
    said: Floats
    prior: RowPrior

    @property
    def classes(self) -> Floats:
        """Probability of each category, (n_patterns, n_categories)."""
        return _by_category(self.components, self.response.shape[2]).T


def fit_starts(table: PatternTable, model: LabelModel, seed: Seed) -> list[MeanField]:
    """Fit a model from each of five random starts; from one if it has no random subtypes.

    Parameters
    ----------
    table : PatternTable
    model : LabelModel
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    list of MeanField
    """
    n_starts = STARTS if model.subtypes > 1 else 1
    return [fit_mean_field(table, model, child) for child in child_seeds(seed, n_starts)]


def fit_mean_field(table: PatternTable, model: LabelModel, seed: Seed) -> MeanField:
    """Fit a model by coordinate ascent of the evidence lower bound.

    Rows of confusion matrices have Dirichlet priors, with one parameter for the right category and
    one for each wrong category, which are estimated. Base rates have a flat prior.

    Parameters
    ----------
    table : PatternTable
    model : LabelModel
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the first subtypes of items.

    Returns
    -------
    MeanField

    References
    ----------
    Kim & Ghahramani (2012), Bayesian classifier combination. Li, Rubinstein & Cohn (2019),
    Exploiting worker correlation for label aggregation in crowdsourcing, section 4 and Algorithm 1:
    here the prior of the rows is estimated, and base rates have a flat prior.
    """
    k = table.n_categories
    category = np.repeat(np.arange(k), model.subtypes)
    components, prior = _first_components(table, model, generator(seed)), FIRST_PRIOR
    for step in range(STEPS):
        counts = expected_ratings(table, components.T)
        if step >= WARM_UP and model.rows != "one":
            prior = update_prior(count_cells(counts, category, model), prior)
        log_response, response = respond(counts, category, model, prior)
        log_proportions = _log_proportions(components @ table.weights, model, k)
        log_response = log_response.swapaxes(1, 2)[..., None]
        classes, _ = e_step(table, log_proportions[:, None], log_response, category)
        before, components = components, classes[..., 0].T
        moved = np.abs(_by_category(components, k) - _by_category(before, k)).sum(axis=0)
        if step > WARM_UP and moved @ table.weights < k * STILL_MOVING * table.weights.sum():
            break
    return MeanField(
        components=components,
        category=category,
        response=response,
        said=counts.sum(axis=0),
        prior=prior,
    )


def _first_components(table: PatternTable, model: LabelModel, rng: np.random.Generator) -> Floats:
    """Start from each item's proportion of votes, and from subtypes at random."""
    k = table.n_categories
    votes = np.where(table.possible(k), table.votes() + TINY, 0) + TINY
    proportion = votes / votes.sum(axis=1, keepdims=True)
    if model.subtypes == 1:
        return proportion.T.copy()
    kinds = rng.dirichlet(np.ones(model.subtypes), proportion.shape)
    return (proportion[:, :, None] * kinds).reshape(len(proportion), -1).T.copy()


def _log_proportions(items: Floats, model: LabelModel, k: int) -> Floats:
    """Expected log probability of each component before any rating."""
    in_category = items.reshape(k, -1)
    of_categories = np.zeros(k)
    if not model.equal_base_rates:
        of_categories = expected_log(1 + in_category.sum(axis=1))
    within = expected_log(SUBTYPE_CONCENTRATION / model.subtypes + in_category)
    return np.asarray(of_categories[:, None] + within).ravel()


def _by_category(components: Floats, k: int) -> Floats:
    return np.asarray(components.reshape(k, -1, components.shape[1]).sum(axis=1))
