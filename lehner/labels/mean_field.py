"""Variational Bayes for labels: items, raters, base rates, and an estimated prior, in turn."""

from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import TINY, Floats, Integers
from lehner.core.seeds import Seed, child_seeds, generator
from lehner.labels.models import LabelModel
from lehner.labels.responses import (
    FIRST_PRIOR,
    RowPrior,
    count_cells,
    expected_log,
    respond,
    update_prior,
)
from lehner.latent_class.expectation_maximisation import e_step, expected_ratings
from lehner.latent_class.pattern_table import PatternTable

STEPS = 200
STARTS = 5
"""Number of starts with random subtypes.

Their mean labels are used, because those with the highest bound need not be the best."""
WARM_UP = 30
"""Steps with the first prior; an earlier estimate would shrink raters toward one another."""
STILL_MOVING = 1e-4
"""Updates stop when the mean change of the probabilities of categories is smaller."""
SUBTYPE_SHARE = 0.1
"""Sum of the concentration of the prior of shares of subtypes in a category."""


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
        shares = _log_shares(components @ table.weights, model, k)
        log_response = log_response.swapaxes(1, 2)[..., None]
        classes, _ = e_step(table, shares[:, None], log_response, category)
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
    """Start from each item's share of votes, and from subtypes at random."""
    k = table.n_categories
    votes = np.where(table.possible(k), table.votes() + TINY, 0) + TINY
    share = votes / votes.sum(axis=1, keepdims=True)
    if model.subtypes == 1:
        return share.T.copy()
    kinds = rng.dirichlet(np.ones(model.subtypes), share.shape)
    return (share[:, :, None] * kinds).reshape(len(share), -1).T.copy()


def _log_shares(items: Floats, model: LabelModel, k: int) -> Floats:
    """Give the expected log probability of each component before any rating."""
    in_category = items.reshape(k, -1)
    of_categories = np.zeros(k)
    if not model.equal_base_rates:
        of_categories = expected_log(1 + in_category.sum(axis=1))
    within = expected_log(SUBTYPE_SHARE / model.subtypes + in_category)
    return np.asarray(of_categories[:, None] + within).ravel()


def _by_category(components: Floats, k: int) -> Floats:
    return np.asarray(components.reshape(k, -1, components.shape[1]).sum(axis=1))
