"""The system's confusion matrix by maximum likelihood, with resamples."""

import numpy as np

from lehner.core.seeds import Seed, generator
from lehner.data.ratings import Ratings
from lehner.latent_class.fitted_model import fit_by_likelihood
from lehner.latent_class.resampling import KIND, fit_resamples
from lehner.performance.parameters import Parameters, Replicates

MOST_RESAMPLES = 300
"""Greatest number of resamples, because each is fitted."""


def likelihood_replicates(
    ratings: Ratings, model: str, *, resamples: int, seed: Seed
) -> Replicates:
    """Fit a latent-class model to the ratings and to resamples of the items.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    model : str
        One of `LIKELIHOOD_MODELS`.
    resamples : int
        Number of resamples; at most 300 are fitted.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    Replicates
    """
    fitted = fit_by_likelihood(ratings, model)
    total = fitted.n_items.sum()
    size = min(resamples, MOST_RESAMPLES)
    rng = generator(seed)
    weights = rng.multinomial(total, fitted.n_items / total, size=size).astype(float)
    parts = list(fit_resamples(fitted, weights, rng))
    rates = np.concatenate([part.base_rates for part in parts])
    confusion = np.concatenate([part.confusion for part in parts])
    right = np.diagonal(confusion[:, :-1], axis1=2, axis2=3)
    return Replicates(
        point=Parameters(
            base_rates=fitted.base_rates,
            confusion=fitted.confusion[-1],
            rater_accuracy=fitted.accuracy[:-1],
        ),
        drawn=Parameters(
            base_rates=rates,
            confusion=confusion[:, -1],
            rater_accuracy=np.einsum("bk,bjk->bj", rates, right),
        ),
        kind=KIND,
    )
