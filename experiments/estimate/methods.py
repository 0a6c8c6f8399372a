"""The methods by name: each takes ratings and gives an Estimate."""

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lehner import (
    Estimate,
    Ratings,
    estimate_adjusted,
    estimate_algebraic,
    estimate_latent_class,
    majority_agreement,
    mean_posterior,
)
from lehner.algebra.system_accuracy import Aggregation
from lehner.core.checks import find
from lehner.data.table import names_of
from lehner.latent_class.models import LIKELIHOOD_METHODS, MODELS

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to estimate the accuracy of a system.

    Parameters
    ----------
    name : str
    summary : str
        What it does, in a few words.
    estimate : callable
        From ratings, level of the interval and seed to an Estimate.
    model : str
        The Bayesian model that it samples; empty if it is quick.
    """

    name: str
    summary: str
    estimate: Callable[[Ratings, float, int], Estimate]
    model: str = ""


ALGEBRAIC: dict[str, Aggregation] = {
    "algebraic": "weighted",
    "algebraic_likelihood": "likelihood",
    "algebraic_paper": "paper",
}


def _algebraic(name: str) -> Callable[[Ratings, float, int], Estimate]:
    def estimate(ratings: Ratings, level: float, seed: int) -> Estimate:
        return estimate_algebraic(ratings, aggregation=ALGEBRAIC[name], level=level, seed=seed)

    return estimate


def _by_likelihood(model: str) -> Callable[[Ratings, float, int], Estimate]:
    def estimate(ratings: Ratings, level: float, seed: int) -> Estimate:
        return estimate_latent_class(ratings, model, level=level, seed=seed)

    return estimate


def _bayesian(model: str) -> Callable[[Ratings, float, int], Estimate]:
    def estimate(ratings: Ratings, level: float, seed: int) -> Estimate:
        tree, warnings = fit_and_check(model, ratings, seed)
        return _from_fit(tree, warnings, level)

    return estimate


SHORTER = {"dawid_skene": {"draws": 250, "tune": 100}}
"""Its 4 chains of 250 draws have effective sample sizes of about 1,000."""


def estimate_shortly(model: str, ratings: Ratings, level: float, seed: int) -> Estimate:
    """Estimate by a fit as long as those of a study, where there are many of them.

    The model `dawid_skene` needs half the draws. A model is sampled again if the effective sample
    size of the system's accuracies is below 400.

    Parameters
    ----------
    model : str
    ratings : Ratings
        With a system.
    level : float
    seed : int

    Returns
    -------
    Estimate
    """
    from bayes_models.sampling.fit import FOR_STUDIES

    of_one_core = ("cores", "progressbar")
    options = {name: value for name, value in FOR_STUDIES.items() if name not in of_one_core}
    tree, warnings = fit_and_check(model, ratings, seed, **options | SHORTER.get(model, {}))
    return _from_fit(tree, warnings, level)


def _from_fit(tree: "xr.DataTree", warnings: Sequence[str], level: float) -> Estimate:
    import bayes_models

    estimate = bayes_models.estimate_from_draws(tree, level=level)
    return replace(estimate, warnings=tuple(dict.fromkeys((*estimate.warnings, *warnings))))


@contextmanager
def compile_models(methods: Sequence[Method], ratings: Ratings) -> Iterator[Callable[[str], None]]:
    """Have the models of methods compiled while others are sampled.

    Yields
    ------
    callable
        From a method's model to nothing: it waits while the model is being compiled elsewhere.
    """
    models = [method.model for method in methods if method.model]
    if len(models) < 2:
        yield lambda model: None
        return
    from bayes_models import observe
    from bayes_models.sampling.compile_ahead import compile_ahead

    with compile_ahead(models, observe(ratings)) as wait:
        yield wait


def fit_and_check(
    model: str, ratings: Ratings, seed: int, **options: Any
) -> tuple["xr.DataTree", tuple[str, ...]]:
    """Fit a model, and say what the user should know before using it.

    Parameters
    ----------
    model : str
    ratings : Ratings
        With or without a system.
    seed : int
    **options
        As `bayes_models.fit` takes them.

    Returns
    -------
    tree : xarray.DataTree
        As `bayes_models.fit` gives it.
    warnings : tuple of str
        Of identification, convergence, predictive checks, and of known truths that entered.
    """
    import bayes_models

    before = bayes_models.identify(model, ratings).warnings()
    with warnings.catch_warnings():
        # They are given back.
        warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
        tree = bayes_models.fit(model, ratings, seed=seed, progressbar=False, **options)
    against = bayes_models.contradictions(tree, ratings)
    return tree, (*before, *json.loads(tree.attrs["warnings"]), *against)


def fit_as_in_studies(model: str, ratings: Ratings, seed: int, **options: Any) -> "xr.DataTree":
    """Fit a model with the options of `bayes_models.fit_many`; the result says if it failed."""
    import bayes_models

    with warnings.catch_warnings():
        # The result carries them.
        warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
        (tree,) = bayes_models.fit_many(model, [ratings], seed=seed, **options)
    return tree


def fit_slopes(ratings: Ratings, level: float, seed: int) -> dict[float, Estimate]:
    """Estimate by `relaxed_k` with the system's slope on difficulty fixed at 0 and at 1."""
    import bayes_models

    with warnings.catch_warnings():
        # Their estimates carry them.
        warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
        return bayes_models.slope_sensitivity(ratings, level=level, seed=seed)


WITHOUT_MODEL = (
    Method(
        name="majority_agreement",
        summary="how often the system agrees with the majority of the raters",
        estimate=lambda ratings, level, seed: majority_agreement(ratings),
    ),
    Method(
        name="mean_posterior",
        summary="how probably the system's answers are true, on average, by the algebra",
        estimate=lambda ratings, level, seed: mean_posterior(ratings),
    ),
    Method(
        name="algebraic",
        summary="Lehner's algebra; items whose truth is clearer weigh more in its last step",
        estimate=_algebraic("algebraic"),
    ),
    Method(
        name="algebraic_likelihood",
        summary="Lehner's algebra, its last step by maximum likelihood",
        estimate=_algebraic("algebraic_likelihood"),
    ),
    Method(
        name="algebraic_paper",
        summary="Lehner's algebra, its last step in bins as in the paper, which stays biased with "
        "more items",
        estimate=_algebraic("algebraic_paper"),
    ),
    Method(
        name="algebraic_adjusted",
        summary="Lehner's algebra, less the bias that violations fitted to the ratings give it",
        estimate=lambda ratings, level, seed: estimate_adjusted(ratings, level=level, seed=seed),
    ),
)

DEFAULT_METHODS = ("majority_agreement", "algebraic", "dawid_skene", "relaxed_k")


def list_methods() -> dict[str, Method]:
    """Give all methods of estimation by name.

    Returns
    -------
    dict of str to Method
        First the methods that need no Bayesian model, then the models by maximum likelihood, then
        the Bayesian ones.

    Examples
    --------
    >>> list_methods()["dawid_skene"].summary
    'each rater has their own confusion matrix, Bayesian'
    """
    by_likelihood = (
        Method(
            name=name,
            summary=f"{MODELS[model].summary}, by maximum likelihood",
            estimate=_by_likelihood(model),
        )
        for name, model in LIKELIHOOD_METHODS.items()
    )
    bayesian = (
        Method(
            name=name,
            summary=f"{row.summary}, Bayesian",
            estimate=_bayesian(name),
            model=name,
        )
        for name, row in MODELS.items()
    )
    return {method.name: method for method in (*WITHOUT_MODEL, *by_likelihood, *bayesian)}


def find_method(name: str) -> Method:
    """Look a method up, or raise an InputError with the nearest name."""
    return find("method", name, list_methods())


def find_methods(names: str | Sequence[str]) -> list[Method]:
    """Look methods up; "all" stands for all of them.

    Parameters
    ----------
    names : str or sequence of str

    Returns
    -------
    list of Method
        Each once.

    Raises
    ------
    InputError
        If there is no such method, with the nearest name.

    Examples
    --------
    >>> [method.name for method in find_methods(["tap", "all"])][:2]
    ['tap', 'majority_agreement']
    """
    expanded = [
        one for name in names_of(names) for one in (list_methods() if name == "all" else [name])
    ]
    return [find_method(name) for name in dict.fromkeys(expanded)]
