"""Pseudo-ratings: random ratings that are added to resamples, because other items may have them.

A rater without an error among few items has no error in any resample of them, and the interval of
the rater's accuracy would be [1, 1]. To each resample a random number of pseudo-ratings is added.
If the truth is known, proportions in resampled items and pseudo-ratings are then nearly draws from
their posterior distribution with a Dirichlet prior.
"""

import numpy as np

from lehner.core.arrays import Floats
from lehner.latent_class.expectation_maximisation import Samples
from lehner.latent_class.fitted_model import FittedModel
from lehner.latent_class.models import LatentClassModel

LEAST_WRONG = 0.5
"""Mean number of wrong pseudo-ratings of each category, as in Jeffreys' prior."""
ITEMS = 0.5
"""Mean number of pseudo-items of each category in each population, as in Jeffreys' prior."""


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
    """Give the mean numbers, (n_raters, n_classes, n_categories).

    If several rows or raters have a parameter in common, its pseudo-ratings are divided among them.
    """
    k = len(fitted.base_rates)
    accuracy = np.clip(np.nan_to_num(fitted.accuracy, nan=1 / k), 1 / k, 1.0)[:, None, None]
    wrong = np.maximum(k * (1 - accuracy), LEAST_WRONG) / (k - 1)
    mean = np.where(np.eye(k, dtype=bool), k * accuracy, wrong)
    return np.asarray(mean / _cells_of_a_number(fitted.maximum.model, len(accuracy), k))


def _cells_of_a_number(model: LatentClassModel, n_raters: int, n_categories: int) -> Floats:
    """Count the rows and raters that have a parameter in common, (n_raters, 1, 1)."""
    by_category = model.form in ("category_accuracy", "full")
    cells = np.full((n_raters, 1, 1), 1.0 if by_category else n_categories)
    if model.shared:
        cells[:-1] *= n_raters - 1
    return cells
