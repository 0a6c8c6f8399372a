"""The K-model, in which all K-properties hold, and its extension to raters of different accuracy.

A rater who is right with probability p and errs equally often into each of the K - 1 other
categories knows the category with probability c = (K p - 1) / (K - 1) and guesses otherwise. The
kappa of two raters is then c c', whatever the base rates. Both models are fitted to agreement
totals by means of this.
"""

from dataclasses import dataclass

import numpy as np

from lehner.algebra.algebraic import CHANCE_TOLERANCE, base_rates, clip_base_rates
from lehner.algebra.pairwise import brennan_prediger, fit_knowledge
from lehner.core.arrays import Floats
from lehner.k_properties.agreement_totals import (
    Design,
    Totals,
    elementary_symmetric,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class KModel:
    """Equal errors, with one accuracy for all raters or one for each, for many samples at once.

    Parameters
    ----------
    knowledge : ndarray, shape (n_samples, n_raters)
        c = (K p - 1) / (K - 1).
    frequency : ndarray, shape (n_samples, n_categories)
        Proportion of all ratings in each category.
    """

    knowledge: Floats
    frequency: Floats

    @property
    def accuracy(self) -> Floats:
        """Probability that each rater is right, shape (n_samples, n_raters)."""
        k = self.frequency.shape[1]
        return np.asarray((1 + (k - 1) * self.knowledge) / k)

    @property
    def base_rates(self) -> Floats:
        """Base rates by Eq. 5 at the raters' mean accuracy, clipped; (n_samples, n_categories)."""
        above_chance = 1 / self.frequency.shape[1] + CHANCE_TOLERANCE
        accuracy = np.maximum(self.accuracy.mean(axis=1), above_chance)
        return clip_base_rates(base_rates(self.frequency, accuracy))


def fit_k_model(totals: Totals, design: Design, *, own_accuracies: bool = False) -> KModel:
    """Fit the K-model to the agreement of raters.

    Parameters
    ----------
    totals : Totals
    design : Design
    own_accuracies : bool
        Whether each rater has an accuracy, fitted to the agreement of each pair by least squares.
        If not, one is fitted to the agreement of all pairs by Lehner's steps 1 and 2; knowledge is
        then 0 if raters agree at or below chance.

    Returns
    -------
    KModel
    """
    k, total = design.n_categories, totals.frequency.sum(axis=1)
    if own_accuracies:
        agreement = totals.agreeing / np.maximum(totals.pairs, 1)
        pairs = design.first, design.second
        knowledge = fit_knowledge(agreement, totals.pairs, pairs, design.n_raters, k)
    else:
        kappa = brennan_prediger(totals.agreeing.sum(axis=1) / totals.pairs.sum(), k)
        one = np.sqrt(np.maximum(kappa, 0))[:, None]
        knowledge = np.broadcast_to(one, (len(one), design.n_raters))
    return KModel(knowledge=knowledge, frequency=total / total.sum(axis=1, keepdims=True))


def disagreement_proportions(model: KModel) -> Floats:
    r"""Proportion of disagreements between two raters in each pair of categories.

    .. math:: P(a, b) = e\,(f_a + f_b - e)

    times 2, where e is the probability of an error and f the frequency with which raters use a
    category. In terms of base rates this is p e (π_a + π_b) + e² (1 - π_a - π_b), times 2.

    Parameters
    ----------
    model : KModel
        The model with one accuracy.

    Returns
    -------
    ndarray, shape (n_samples, n_categories * (n_categories - 1) / 2)
        Sums to 1.
    """
    k = model.frequency.shape[1]
    error = (1 - model.knowledge[:, :1]) / k
    used = np.maximum(model.frequency, error)
    a, b = np.triu_indices(k, 1)
    either = used[:, a] + used[:, b] - error
    return np.asarray(either / either.sum(axis=1, keepdims=True))


def expected_triples(model: KModel, design: Design) -> Floats:
    """Expected number of triples of ratings that agree, shape (n_samples,)."""
    k = design.n_categories
    right = model.accuracy
    wrong = (1 - right) / (k - 1)
    expected = np.zeros(len(right))
    for group in design.groups:
        given = group.given(design.n_raters)
        who = np.flatnonzero(given)
        agree = elementary_symmetric(given[who] * right[:, who])
        agree += (k - 1) * elementary_symmetric(given[who] * wrong[:, who])
        expected += group.n_items * agree
    return expected
