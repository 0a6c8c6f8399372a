"""Warnings about a fit besides those about convergence."""

import xarray as xr

from bayes_models.posterior.predictive_checks import predictive_checks
from lehner import InputError, Ratings, check_dependence
from lehner.core.seeds import Seed

CHECK_DRAWS = 50


def fit_warnings(
    tree: xr.DataTree, ratings: Ratings, seed: Seed = 1, dependence_seed: Seed = 1
) -> tuple[str, ...]:
    """Compare a fit with data that it predicts, and agreement of pairs with that of equal raters.

    The second comparison is needed because a model may describe raters who share mistakes as
    accurate raters, and so predict their agreement.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the predictions.
    dependence_seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the comparison with equal raters: where it is that of the whole analysis, the sentence is
        the same for all models.

    Returns
    -------
    tuple of str
        Sentences. They are computed in a tenth of a second or two, because `predictive_checks` is
        called with fewer posterior draws than it uses by default.
    """
    warnings = predictive_checks(tree, ratings, draws=CHECK_DRAWS, seed=seed).warnings()
    try:
        dependence = check_dependence(ratings, seed=dependence_seed)
    except InputError:
        # A model can be fitted to ratings of which no two are of the same item.
        return warnings
    return (*warnings, *dependence.warnings())
