"""What a user should know before using a fit, besides whether its chains converged."""

import xarray as xr

from bayes_models.posterior.predictive_checks import predictive_checks
from lehner import InputError, Ratings
from lehner.core.seeds import Seed
from lehner.dependence.check import check_dependence

DRAWS = 50


def fit_warnings(tree: xr.DataTree, ratings: Ratings, seed: Seed = 1) -> tuple[str, ...]:
    """Compare a fit with data it predicts, and pairs of raters with equal raters.

    The latter because a model may absorb raters who share mistakes as accurate ones, and predict
    their agreement all the same.

    Parameters
    ----------
    tree : xarray.DataTree
        As `fit` gives it.
    ratings : Ratings
        The data that were fitted.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    tuple of str
        With fewer posterior draws than `predictive_checks` uses by itself, to take a tenth or two
        of a second.
    """
    found = predictive_checks(tree, ratings, draws=DRAWS, seed=seed).warnings()
    try:
        # Of its own seed, so that all models say the same of the same ratings.
        dependence = check_dependence(ratings)
    except InputError:
        # A model can be fitted to ratings of which no two are of the same item.
        return found
    return (*found, *dependence.warnings())
