"""Base rates in populations of items, and the raters' accuracy, by methods that need no system."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lehner.algebra.algebraic import credit_majority
from lehner.core.arrays import Floats, Seed, make_rng
from lehner.core.errors import Warning, warn
from lehner.core.lazy import sparse, special
from lehner.core.text import list_few
from lehner.data.estimable import find_mean_widening
from lehner.data.ratings import Ratings
from lehner.latent_class.fit import fit_by_likelihood
from lehner.latent_class.intervals import KIND, draw_patterns, fit_warnings, refit_samples

DRAWS, RESAMPLES = 4000, 500
# Of each category in each population, as in Jeffreys' prior. A prior that counts as more items
# would draw all populations together toward equal base rates.
PSEUDO_ITEMS = 0.5
# In a population of fewer items the prior counts, and agreement is not tested.
FEW_ITEMS = 30
ROUNDING = 1e-9
# Greatest p-value, adjusted, with which the raters are said to differ between populations.
UNLIKELY = 0.05


@dataclass(frozen=True, kw_only=True, eq=False)
class BaseRates:
    """What a method says of ratings without a system, and joint draws or replicates of it.

    Parameters
    ----------
    base_rates : ndarray, shape (n_populations, n_categories)
    drawn_base_rates : ndarray, shape (n_draws, n_populations, n_categories)
        NaN where a population is not in a replicate.
    truth_probabilities : ndarray, shape (n_rows, n_categories)
    kind : str
        How intervals are made.
    confusion : ndarray, shape (n_raters, n_categories, n_categories), optional
        Probability of each response (last) given the true category; None if the method has none.
    rater_accuracy : ndarray, shape (n_raters,), optional
        Expected accuracy of each rater on all items; with `confusion`.
    drawn_rater_accuracy : ndarray, shape (n_draws, n_raters), optional
    drawn_recall : ndarray, shape (n_draws, n_raters, n_categories), optional
        Probability that each rater answers a category when it is the true one; with `confusion`.
    warnings : tuple of Warning
    by_clusters : bool
        Whether draws allow for clusters of items.
    by_truths : bool
        Whether gold labels are part of the estimate, so that nothing corrects it by them.
    """

    base_rates: Floats
    drawn_base_rates: Floats
    truth_probabilities: Floats
    kind: str
    confusion: Floats | None = None
    rater_accuracy: Floats | None = None
    drawn_rater_accuracy: Floats | None = None
    drawn_recall: Floats | None = None
    warnings: tuple[Warning, ...] = ()
    by_clusters: bool = False
    by_truths: bool = False


def estimate_by_majority(ratings: Ratings, *, seed: Seed = 1) -> BaseRates:
    """Take the majority of the raters for the truth; tied categories share the item.

    Parameters
    ----------
    ratings : Ratings
        With populations. Items without ratings are left out.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    BaseRates
        Draws are from Dirichlet distributions with Jeffreys' prior, as if the majority were never
        wrong.

    References
    ----------
    Brown, Cai & DasGupta (2001), https://doi.org/10.1214/ss/1009213286, for Jeffreys' interval.
    """
    rng, votes = make_rng(seed), ratings.count_votes()
    share = credit_majority(votes)
    counts = np.zeros((len(ratings.populations), ratings.n_categories))
    np.add.at(counts, np.asarray(ratings.population), share * ratings.weights[:, None])
    with np.errstate(invalid="ignore"):
        rates = counts / counts.sum(axis=1, keepdims=True)
    drawn = [rng.dirichlet(own + PSEUDO_ITEMS, size=DRAWS) for own in counts]
    return BaseRates(
        base_rates=rates,
        drawn_base_rates=np.stack(drawn, axis=1),
        truth_probabilities=share,
        kind="Jeffreys",
    )


def estimate_by_likelihood(ratings: Ratings, model: str, *, seed: Seed = 1) -> BaseRates:
    """Fit a latent-class model with base rates by population, by maximum likelihood.

    Parameters
    ----------
    ratings : Ratings
        With populations, without a system.
    model : str
        As in `fit_latent_class`; the confusion matrices are the same in all populations.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the resamples of the items.

    Returns
    -------
    BaseRates

    References
    ----------
    Hui & Walter (1980), https://doi.org/10.2307/2530508
    """
    fitted, rng = fit_by_likelihood(ratings, model), make_rng(seed)
    refits = refit_samples(fitted, draw_patterns(fitted, RESAMPLES, rng), rng)
    return BaseRates(
        base_rates=fitted.group_rates,
        drawn_base_rates=refits.group_rates,
        truth_probabilities=fitted.classes[fitted.table.inverse],
        kind=KIND,
        confusion=np.nan_to_num(fitted.confusion),
        rater_accuracy=fitted.accuracy,
        drawn_rater_accuracy=refits.accuracy,
        drawn_recall=refits.recall,
        warnings=fit_warnings(fitted, ratings),
        by_clusters=True,
    )


def allow_for_clusters(rates: BaseRates, ratings: Ratings, level: float) -> BaseRates:
    """Widen draws of base rates for clusters of items, where they do not allow for these.

    The base rate of a category is the mean of its probabilities over items, whose design effect is
    the factor of the variance; see `lehner.core.resampling.design_effect`.

    Parameters
    ----------
    rates : BaseRates
    ratings : Ratings
        With populations, and perhaps clusters.
    level : float
        Probability of the intervals, on which the allowance for few clusters depends.

    Returns
    -------
    BaseRates
    """
    if ratings.cluster is None or rates.by_clusters:
        return rates
    drawn = rates.drawn_base_rates.copy()
    for g, k in np.ndindex(drawn.shape[1:]):
        n_items = (ratings.weights * (ratings.population == g)).astype(float)
        factor = find_mean_widening(ratings, rates.truth_probabilities[:, k], n_items, level)
        mean = drawn[:, g, k].mean()
        drawn[:, g, k] = np.clip(mean + factor * (drawn[:, g, k] - mean), 0.0, 1.0)
    return replace(rates, drawn_base_rates=drawn)


def warn_of_raters(ratings: Ratings, rates: BaseRates) -> Iterator[Warning]:
    """Warn of raters who are worse than chance, and of raters who differ between populations."""
    if rates.confusion is None or np.isnan(rates.base_rates).any():
        return
    # Who guesses has equal rows, whose diagonal sums to 1.
    below = np.flatnonzero(np.trace(rates.confusion, axis1=1, axis2=2) < 1)
    if below.size:
        names = list_few((ratings.raters[j] for j in below), 4)
        text = f"{names}: right less often than by guessing, as if categories were mixed up"
        yield warn("rater-below-chance", text)
    p_value, population = check_agreement(ratings, rates.base_rates, rates.confusion)
    if p_value <= UNLIKELY:
        text = (
            f"raters agree otherwise in {population} than the model expects, as if they were not "
            "as accurate there as elsewhere, which biases proportions and differences"
        )
        yield warn("raters-differ", text)


def check_agreement(ratings: Ratings, base_rates: Floats, confusion: Floats) -> tuple[float, str]:
    """Test whether raters agree in some population more or less often than a model expects.

    Parameters
    ----------
    ratings : Ratings
        With populations.
    base_rates : ndarray, shape (n_populations, n_categories)
    confusion : ndarray, shape (n_raters, n_categories, n_categories)

    Returns
    -------
    p_value : float
        Of the population in which agreement is farthest from what is expected, two-sided, adjusted
        by Bonferroni's method; 1 with one population. It is too large rather than too small,
        because the model was fitted to the same ratings.
    population : str
        Its name.
    """
    place, n, flat = np.asarray(ratings.population), len(ratings.populations), ratings.votes
    cells = (flat.item_index, flat.rater_index)
    rated = sparse.csr_array(
        (np.ones(len(flat.item_index)), cells), (ratings.n_rows, len(confusion))
    )
    expected = np.zeros(ratings.n_rows)
    for category, rates in enumerate(base_rates.T):
        response = confusion[:, category]
        by_category = np.asarray(rated @ response)
        alone = np.asarray(rated @ (response**2).sum(axis=1))
        expected += rates[place] * ((by_category**2).sum(axis=1) - alone) / 2
    votes = ratings.count_votes()
    pairs = votes.sum(axis=1) * (votes.sum(axis=1) - 1) / 2
    surplus = (votes * (votes - 1) / 2).sum(axis=1) - expected
    # What the model gets wrong in all populations alike is no difference between them.
    surplus -= pairs * (ratings.weights @ surplus) / max(float(ratings.weights @ pairs), 1.0)
    total, square, n_items = (
        np.bincount(place, ratings.weights * values, n)
        for values in (surplus, surplus**2, np.ones(len(surplus)))
    )
    variance = np.maximum(square - total**2 / n_items, ROUNDING)
    z = np.where(n_items < FEW_ITEMS, 0.0, np.abs(total) / np.sqrt(variance))
    p_value = min(1.0, 2 * n * float(special.ndtr(-z.max()))) if n > 1 else 1.0
    return p_value, ratings.populations[int(z.argmax())]
