"""The methods of the benchmarks: those of the command, and models by maximum likelihood."""

from typing import Any

import numpy as np

from lehner import Estimate, IntervalEstimate, Ratings, fit_latent_class
from lehner.core.checks import find
from lehner.core.estimate import number, require_estimable
from lehner.core.named_array import NamedArray
from lehner.estimation.methods import Estimator, Method, list_methods
from lehner.latent_class.models import LIKELIHOOD_METHODS, MODELS

LEVEL = 0.9
# "one_coin_ml" would give the system the accuracy of the raters.
FITTED = ("one_coin_by_rater_ml", "dawid_skene_ml")


def _estimate(method: str) -> Estimator:
    def estimate(ratings: Ratings, *, level: float, seed: int) -> Estimate:
        require_estimable(ratings)
        fit = fit_latent_class(ratings, LIKELIHOOD_METHODS[method])
        system = np.asarray(ratings.system)
        answered = np.flatnonzero(system >= 0)
        right = fit.truth_probabilities.values[answered, system[answered]]
        in_sample = IntervalEstimate(estimate=number(right.mean()))
        return Estimate(
            method=method,
            system=ratings.systems[0],
            system_accuracy=in_sample,
            system_accuracy_in_sample=in_sample,
            arrays={"truth_probabilities": NamedArray.from_xarray(fit.truth_probabilities)},
            warnings=fit.notes,
        )

    return estimate


ALL_METHODS = list_methods() | {
    name: Method(
        name=name,
        summary=f"{LIKELIHOOD_METHODS[name]} by maximum likelihood, without interval",
        estimate=_estimate(name),
    )
    for name in FITTED
}


def find_method(name: str) -> Method:
    """Look up a method of the command, or a model by maximum likelihood as its name and "_ml".

    Parameters
    ----------
    name : str

    Returns
    -------
    Method

    Raises
    ------
    InputError
        If there is no such method, with the nearest name.

    Examples
    --------
    >>> find_method("dawid_skene_ml").summary
    'dawid_skene by maximum likelihood, without interval'
    """
    return find("method", name, ALL_METHODS)


def estimate_as_in_studies(method: str, ratings: Ratings, seed: int, **options: Any) -> Estimate:
    """Estimate as the command does; models are fitted as in studies, with fewer draws.

    Parameters
    ----------
    method : str
        As `find_method` takes it.
    ratings : Ratings
    seed : int
    **options
        Of `bayes_models.fit`, for models.

    Returns
    -------
    Estimate
        With 90% intervals.
    """
    if method not in MODELS:
        return find_method(method).estimate(ratings, level=LEVEL, seed=seed)
    import bayes_models
    from bayes_models.methods import fit_as_in_studies

    engine = "gibbs" if bayes_models.find_model(method).conjugate else "nuts"
    tree = fit_as_in_studies(method, ratings, seed, engine=engine, **options)
    return bayes_models.estimate_from_draws(tree, level=LEVEL)
