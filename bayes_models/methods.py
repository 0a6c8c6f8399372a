"""The Bayesian models as methods of estimation, which lehner finds by an entry point.

Nothing here loads PyMC before a model is fitted.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bayes_models
from bayes_models import methods as this_module
from lehner.core.estimate import Estimate
from lehner.core.warning import Warning, warnings_from_json
from lehner.data.ratings import Ratings
from lehner.estimation.methods import Estimator, Method
from lehner.groups.result import GroupEstimates
from lehner.latent_class.models import MODELS
from lehner.systems.comparison import JointDraws

if TYPE_CHECKING:
    import xarray as xr

    from bayes_models import KPropertyParameter

SHORTER = {"dawid_skene": {"draws": 250, "tune": 100}}
"""Its 4 chains of 250 draws have effective sample sizes of about 1,000."""


def list_methods() -> list[Method]:
    """List the Bayesian models as methods.

    Examples
    --------
    >>> list_methods()[0].name
    'one_coin'
    """
    return [
        Method(
            name=name,
            summary=f"{row.summary}, Bayesian",
            estimate=_estimator(name),
            label=row.label,
            color=row.color,
            marker=row.marker,
            gives=frozenset({"truth_probabilities", "confusion", "draws"}),
            posterior=this_module,
        )
        for name, row in MODELS.items()
    ]


def _estimator(model: str) -> Estimator:
    def estimate(ratings: Ratings, *, level: float, seed: int) -> Estimate:
        return _estimate(*fit_and_check(model, ratings, seed), level)

    return estimate


def _estimate(tree: "xr.DataTree", found: Sequence[Warning], level: float) -> Estimate:
    estimate = bayes_models.estimate_from_draws(tree, level=level)
    return replace(estimate, warnings=tuple(dict.fromkeys((*estimate.warnings, *found))))


def fit_and_check(
    model: str, ratings: Ratings, seed: int, **options: Any
) -> tuple["xr.DataTree", tuple[Warning, ...]]:
    """Fit a model, and say what the user should know before using it.

    Parameters
    ----------
    model : str
        Name of the model.
    ratings : Ratings
        With or without a system.
    seed : int
        The same seed gives the same draws.
    **options
        As `bayes_models.fit` takes them.

    Returns
    -------
    tree : xarray.DataTree
        As `bayes_models.fit` returns it.
    warnings : tuple of Warning
        Of identification, convergence, predictive checks, and of known truths that entered.
    """
    before = bayes_models.identify(model, ratings).warnings()
    with warnings.catch_warnings():
        # They are returned.
        warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
        tree = bayes_models.fit(model, ratings, seed=seed, progressbar=False, **options)
    against = bayes_models.contradictions(tree, ratings)
    return tree, (*before, *warnings_from_json(tree.attrs["warnings"]), *against)


def fit_as_in_studies(model: str, ratings: Ratings, seed: int, **options: Any) -> "xr.DataTree":
    """Fit a model with the options of `bayes_models.fit_many`; the result says if it failed."""
    with warnings.catch_warnings():
        # The result carries them.
        warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
        (tree,) = bayes_models.fit_many(model, [ratings], seed=seed, **options)
    return tree


def estimate_shortly(method: str, ratings: Ratings, *, level: float, seed: int) -> Estimate:
    """Estimate by a fit as long as those of a study, where there are many of them.

    The model `dawid_skene` needs half the draws. A model is sampled again if the effective sample
    size of the system's accuracies is below 400.
    """
    from bayes_models.sampling.fit import FOR_STUDIES

    of_one_core = ("cores", "progressbar")
    options = {name: value for name, value in FOR_STUDIES.items() if name not in of_one_core}
    fitted = fit_and_check(method, ratings, seed, **options | SHORTER.get(method, {}))
    return _estimate(*fitted, level)


@contextmanager
def compile_ahead(methods: Sequence[str], ratings: Ratings) -> Iterator[Callable[[str], None]]:
    """Have models compiled while others are sampled."""
    if len(methods) < 2:
        yield lambda model: None
        return
    from bayes_models.sampling import compile_ahead as ahead

    with ahead.compile_ahead(methods, bayes_models.observe(ratings)) as wait:
        yield wait


def estimate_by_group(
    estimate: Estimate, ratings: Ratings, names: Any, *, level: float, seed: int
) -> GroupEstimates:
    """Estimate the accuracy in groups of items from draws."""
    assert estimate.draws is not None
    return bayes_models.accuracy_by_group(estimate.draws, ratings, names, level=level, seed=seed)


def estimate_by_population(
    estimate: Estimate, ratings: Ratings, *, level: float, seed: int
) -> GroupEstimates:
    """Estimate accuracy and base rates in populations from draws."""
    assert estimate.draws is not None
    return bayes_models.accuracy_by_population(estimate.draws, ratings, level=level, seed=seed)


def joint_draws(
    estimates: Mapping[str, Estimate],
    ratings: Ratings,
    *,
    systems_rate: bool,
    common_items: bool,
    seed: int,
) -> JointDraws:
    """Put draws of several systems' accuracies side by side."""
    return bayes_models.joint_draws(
        {name: one.draws for name, one in estimates.items() if one.draws is not None},
        ratings,
        systems_rate=systems_rate,
        common_items=common_items,
        seed=seed,
    )


def estimate_at_slopes(ratings: Ratings, *, level: float, seed: int) -> dict[float, Estimate]:
    """Estimate by `relaxed_k` with the system's slope on difficulty fixed at 0 and at 1."""
    with warnings.catch_warnings():
        # Their estimates carry them.
        warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
        return bayes_models.slope_sensitivity(ratings, level=level, seed=seed)


def k_properties(estimate: Estimate, *, level: float) -> "tuple[KPropertyParameter, ...]":
    """Say what a fit of `relaxed_k` found of each K-property; nothing of other models."""
    if estimate.method != "relaxed_k" or estimate.draws is None:
        return ()
    return bayes_models.read_k_properties(estimate.draws, level=level)


def predictions(estimates: Sequence[Estimate]) -> "tuple[Any, ...]":
    """Compare models by how well they predict items left out."""
    from bayes_models.posterior.predictions import compare_predictions

    return compare_predictions(estimates)
