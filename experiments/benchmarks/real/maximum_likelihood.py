"""Latent-class models by maximum likelihood, as methods of the benchmark."""

from collections.abc import Callable

import numpy as np

from experiments.methods import METHODS, Method
from lehner import Estimate, IntervalEstimate, Ratings, fit_latent_class
from lehner.checks import find
from lehner.estimate import number, require_estimable
from lehner.named_array import NamedArray

SUFFIX = "_ml"
# "one_coin" would give the system the accuracy of the raters.
MODELS = ("one_coin_by_rater", "dawid_skene")


def _estimate(model: str) -> Callable[[Ratings, float, int], Estimate]:
    def estimate(ratings: Ratings, level: float, seed: int) -> Estimate:
        require_estimable(ratings)
        fit = fit_latent_class(ratings, model)
        system = np.asarray(ratings.system)
        answered = np.flatnonzero(system >= 0)
        right = fit.class_probabilities.values[answered, system[answered]]
        in_sample = IntervalEstimate(estimate=number(right.mean()))
        return Estimate(
            method=model + SUFFIX,
            system_accuracy=in_sample,
            system_accuracy_in_sample=in_sample,
            arrays={"truth_probabilities": NamedArray.from_xarray(fit.class_probabilities)},
            warnings=fit.notes,
        )

    return estimate


ALL_METHODS = METHODS | {
    model + SUFFIX: Method(
        name=model + SUFFIX,
        summary=f"{model} by maximum likelihood, without interval",
        estimate=_estimate(model),
    )
    for model in MODELS
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
