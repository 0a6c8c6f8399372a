"""A latent-class model fitted by maximum likelihood to each of many resamples of the items."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Booleans, Floats
from lehner.core.replicates import Parameters
from lehner.core.seeds import Seed, generator
from lehner.latent_class.expectation_maximisation import SampledFits, fit_samples
from lehner.latent_class.fitted_model import FittedModel
from lehner.latent_class.pseudo_ratings import add_pseudo_ratings

KIND = "bootstrap with pseudo-ratings"


@dataclass(frozen=True, kw_only=True, eq=False)
class RefittedSamples:
    """Estimates of the system's accuracy, and of the parameters, in each resample.

    Parameters
    ----------
    system_accuracy : ndarray, shape (n_samples,)
        Expected accuracy in the fit to the resample.
    system_accuracy_in_sample : ndarray, shape (n_samples,)
        Share of the original items that the system got right, whose truths are drawn from their
        probabilities in the fit to the resample.
    converged : ndarray of bool, shape (n_samples,)
    parameters : Parameters
        Base rates, the system's confusion matrix, and the raters' accuracies.
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
    accuracy, in_sample, converged, parameters = [], [], [], []
    for fits in fit_resamples(fitted, weights, rng):
        right = np.diagonal(fits.confusion[:, -1], axis1=1, axis2=2)
        accuracy.append((fits.base_rates * right).sum(axis=1))
        in_sample.append(_draw_share_right(fitted, fits, rng))
        converged.append(fits.converged)
        parameters.append(_parameters(fits))
    return RefittedSamples(
        system_accuracy=np.concatenate(accuracy),
        system_accuracy_in_sample=np.concatenate(in_sample),
        converged=np.concatenate(converged),
        parameters=Parameters(
            base_rates=np.concatenate([one.base_rates for one in parameters]),
            confusion=np.concatenate([one.confusion for one in parameters]),
            rater_accuracy=np.concatenate([one.rater_accuracy for one in parameters]),
        ),
    )


def _parameters(fits: SampledFits) -> Parameters:
    right = np.diagonal(fits.confusion[:, :-1], axis1=2, axis2=3)
    return Parameters(
        base_rates=fits.base_rates,
        confusion=fits.confusion[:, -1],
        rater_accuracy=np.einsum("bk,bjk->bj", fits.base_rates, right),
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


def _draw_share_right(fitted: FittedModel, fits: SampledFits, rng: np.random.Generator) -> Floats:
    answered = np.flatnonzero(fitted.answers >= 0)
    right = fits.classes[answered, fitted.answers[answered]]
    n_items = fitted.n_items[answered]
    drawn = rng.binomial(n_items[:, None], np.clip(right, 0.0, 1.0))
    return np.asarray(drawn.sum(axis=0) / n_items.sum())
