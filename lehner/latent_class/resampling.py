"""A latent-class model fitted by maximum likelihood to ratings, and to many resamples of them.

A rater without an error among few items has no error in any resample of them, and the interval of
the rater's accuracy would be [1, 1]. To each resample a random number of pseudo-ratings is added:
other items may have them. If the truth is known, proportions in resampled items and pseudo-ratings
are then nearly draws from their posterior distribution with a Dirichlet prior.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.bootstrap import ItemCounts, draw_counts
from lehner.core.replicates import Parameters
from lehner.core.seeds import Seed, generator
from lehner.data.clusters import count_items
from lehner.data.ratings import Ratings
from lehner.latent_class.expectation_maximisation import SampledFits, Samples, fit_samples
from lehner.latent_class.maximum import Maximum
from lehner.latent_class.maximum_likelihood import fit_latent_class
from lehner.latent_class.result import LatentClassFit

KIND = "bootstrap with pseudo-ratings"
LEAST_WRONG = 0.5
"""Mean number of wrong pseudo-ratings of each category, as in Jeffreys' prior."""
ITEMS = 0.5
"""Mean number of pseudo-items of each category in each population, as in Jeffreys' prior."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedModel:
    """The maximum of the likelihood of ratings; a system, if there is one, is the last rater.

    Parameters
    ----------
    fit : LatentClassFit
    maximum : Maximum
    accuracy : ndarray, shape (n_raters,)
        Expected accuracy; NaN if the ratings do not determine it.
    confusion : ndarray, shape (n_raters, n_classes, n_categories)
        Confusion matrices; NaN in rows without expected ratings.
    classes : ndarray, shape (n_patterns, n_classes)
        Probability of each class for each pattern; NaN if the ratings do not determine them.
    pattern : ndarray of int, shape (n_rows,)
        The pattern of each row.
    answers : ndarray of int, shape (n_patterns,)
        The system's answer, -1 if there is none.
    sampled : ndarray of int, shape (n_patterns,), or csr_array, shape (n_clusters, n_patterns)
        Number of items of each pattern, in each cluster if items are clustered.
    """

    fit: LatentClassFit
    maximum: Maximum
    accuracy: Floats
    confusion: Floats
    classes: Floats
    pattern: Integers
    answers: Integers
    sampled: ItemCounts

    @property
    def n_items(self) -> Integers:
        """Number of items of each pattern, (n_patterns,)."""
        return self.maximum.table.weights.astype(np.int64)

    @property
    def base_rates(self) -> Floats:
        """Base rates of all populations together, (n_classes,)."""
        return self.maximum.group_proportions @ self.maximum.base_rates


def fit_by_likelihood(ratings: Ratings, model: str) -> FittedModel:
    """Fit a model of `LATENT_CLASS_MODELS` to ratings, from the votes."""
    fit = fit_latent_class(ratings, model)
    answers = np.full(len(fit._maximum.table.weights), -1)
    if ratings.system is not None:
        answers[fit._pattern] = ratings.system
    return FittedModel(
        fit=fit,
        maximum=fit._maximum,
        accuracy=np.asarray(fit.accuracy),
        confusion=fit.confusion.values,
        classes=np.where(fit.base_rates.isnull().any(), np.nan, fit._maximum.classes),
        pattern=fit._pattern,
        answers=answers,
        sampled=count_items(ratings, fit._pattern, len(answers)),
    )


def draw_patterns(fitted: FittedModel, resamples: int, rng: np.random.Generator) -> Floats:
    """Resample items, or whole clusters: numbers by pattern, (n_samples, n_patterns)."""
    return np.concatenate(list(draw_counts(fitted.sampled, resamples, rng)))


def add_pseudo_ratings(fitted: FittedModel, weights: Floats, rng: np.random.Generator) -> Samples:
    """Draw pseudo-ratings for each resample.

    In each true category the mean number of a rater's pseudo-ratings is the number of categories.
    They are right as often as the rater is in the fit, but on average at least half a rating is
    wrong, and all errors are equally probable. Their numbers have gamma distributions.

    Parameters
    ----------
    fitted : FittedModel
    weights : ndarray, shape (n_samples, n_patterns)
    rng : numpy.random.Generator

    Returns
    -------
    Samples

    References
    ----------
    Newton & Raftery (1994), https://doi.org/10.1111/j.2517-6161.1994.tb01956.x, for posterior
    distributions by weighted likelihood, with artificial data for the prior.
    """
    n_samples, mean = len(weights), mean_pseudo_ratings(fitted)
    return Samples(
        weights=weights,
        items=rng.gamma(ITEMS, size=(n_samples, *fitted.maximum.base_rates.shape)),
        ratings=rng.gamma(mean, size=(n_samples, *mean.shape)),
    )


def mean_pseudo_ratings(fitted: FittedModel) -> Floats:
    """Mean numbers of pseudo-ratings, (n_raters, n_classes, n_categories).

    If several rows or raters have a parameter in common, its pseudo-ratings are divided among them.
    """
    k = len(fitted.base_rates)
    accuracy = np.clip(np.nan_to_num(fitted.accuracy, nan=1 / k), 1 / k, 1.0)[:, None, None]
    wrong = np.maximum(k * (1 - accuracy), LEAST_WRONG) / (k - 1)
    mean = np.where(np.eye(k, dtype=bool), k * accuracy, wrong)
    model = fitted.maximum.model
    cells = np.full(mean.shape[:1], 1 if model.form in ("category_accuracy", "full") else k)
    n_alike = len(cells) - fitted.maximum.table.has_system
    cells[:n_alike] *= n_alike if model.shared else 1
    return np.asarray(mean / cells[:, None, None])


@dataclass(frozen=True, kw_only=True, eq=False)
class RefittedSamples:
    """Estimates of the system's accuracy, and of the parameters, in each resample.

    Parameters
    ----------
    system_accuracy : ndarray, shape (n_samples,)
        Expected accuracy in the fit to the resample.
    system_accuracy_in_sample : ndarray, shape (n_samples,)
        Proportion of the original items that the system got right; their truths are drawn from
        their probabilities in the fit to the resample.
    converged : ndarray of bool, shape (n_samples,)
    parameters : Parameters
        Base rates, the system's confusion matrix, and the raters' accuracy and recall.
    """

    system_accuracy: Floats
    system_accuracy_in_sample: Floats
    converged: Booleans
    parameters: Parameters


def refit_samples(fitted: FittedModel, weights: Floats, seed: Seed = 1) -> RefittedSamples:
    """Fit a model to weightings of the items, starting at the fit to the original items.

    With the same weights for several systems their differences are those of a joint bootstrap.

    Parameters
    ----------
    fitted : FittedModel
    weights : ndarray, shape (n_samples, n_rows)
        Number of items of each row of the ratings in each sample, as from
        `numpy.random.Generator.multinomial`.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the pseudo-ratings and truths that are drawn.

    Returns
    -------
    RefittedSamples
    """
    by_pattern = np.array(
        [np.bincount(fitted.pattern, one, len(fitted.n_items)) for one in weights]
    )
    return refit_patterns(fitted, by_pattern, seed)


def refit_patterns(fitted: FittedModel, weights: Floats, seed: Seed = 1) -> RefittedSamples:
    """Fit a model to weightings of the patterns, (n_samples, n_patterns); see `refit_samples`."""
    rng = generator(seed)
    answered = np.flatnonzero(fitted.answers >= 0)
    n_items, parts = fitted.n_items[answered], []
    for fits in fit_resamples(fitted, weights, rng):
        chance = np.clip(fits.classes[answered, fitted.answers[answered]], 0.0, 1.0)
        drawn = rng.binomial(n_items[:, None], chance).sum(axis=0) / n_items.sum()
        right = np.diagonal(fits.confusion[:, :-1], axis1=2, axis2=3)
        rater_accuracy = np.einsum("bk,bjk->bj", fits.base_rates, right)
        system = fits.confusion[:, -1]
        parts.append((fits.base_rates, system, rater_accuracy, right, drawn, fits.converged))
    rates, confusion, accuracy, recall, in_sample, converged = map(
        np.concatenate, zip(*parts, strict=True)
    )
    return RefittedSamples(
        system_accuracy=(rates * np.diagonal(confusion, axis1=1, axis2=2)).sum(axis=1),
        system_accuracy_in_sample=in_sample,
        converged=converged,
        parameters=Parameters(
            base_rates=rates, confusion=confusion, rater_accuracy=accuracy, rater_recall=recall
        ),
    )


def fit_resamples(
    fitted: FittedModel, weights: Floats, rng: np.random.Generator
) -> Iterator[SampledFits]:
    """Add pseudo-ratings to resamples, and fit the model to each.

    Parameters
    ----------
    fitted : FittedModel
    weights : ndarray, shape (n_samples, n_patterns)
    rng : numpy.random.Generator
        Of the pseudo-ratings.

    Returns
    -------
    iterator of SampledFits
    """
    samples = add_pseudo_ratings(fitted, weights, rng)
    best = fitted.maximum
    return fit_samples(best.table, best.model, best.found, samples)
