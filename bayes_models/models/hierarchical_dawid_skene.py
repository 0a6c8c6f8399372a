"""The hierarchical Dawid-Skene model: raters drawn from a population."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayes_models.density.layout import MATRICES
from bayes_models.likelihood.observations import cells_of_matrix, group_index
from bayes_models.models.assemble import (
    BASE_RATES,
    add_confusion,
    common_parameters,
    group_dims,
    new_model,
    of_each_rater,
    with_system,
)
from bayes_models.models.deferred import pm, pt
from bayes_models.models.density import ModelDensity, effects, parameter
from bayes_models.models.families import DIAGONAL, WEAK_DIAGONAL
from bayes_models.models.pooled import SYSTEM_CONFUSION
from bayes_models.models.priors import Priors, add_variable, n_apart, varies
from bayes_models.models.spec import OF_ALL, ModelSpec, Variable, spread
from bayes_models.models.zero_sum import zero_sum_basis
from lehner import Patterns, Ratings

POPULATION_CONFUSION = Variable(
    "population_confusion", "dirichlet", start=lambda at: at.mean_confusion_by_group, ratings=OF_ALL
)
CONFUSION_SPREAD = spread("confusion_spread")


def hierarchical_dawid_skene(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which raters' confusion matrices vary around a common one.

    .. math:: \theta_{jk} = \operatorname{softmax}(\log \bar\theta_k + \sigma u_{jk})

    where u is standard normal among the vectors that sum to zero. The system has its own matrix,
    because it does not belong to the population of raters. Groups of raters (see
    `Ratings.with_rater_groups`) are populations of their own: each has its common matrix and its
    spread, so that raters are drawn toward those of their group.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default" or "flat", or priors of `base_rates`, `population_confusion`,
        `confusion_spread` and `system_confusion`, see `bayes_models.models.families`.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`, and `population_confusion` (category, response) and
        `confusion_spread`; with groups of raters both have the dimension `rater_group` too, and
        there is `rater_group_accuracy` (rater_group), the mean of the raters' accuracies weighted
        by their numbers of ratings.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Carpenter (2008), Multilevel Bayesian models of categorical data annotation; Paun et al.
    (2018), https://doi.org/10.1162/tacl_a_00040

    Examples
    --------
    >>> import lehner
    >>> model = hierarchical_dawid_skene(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs][1:]
    ['population_confusion', 'confusion_spread', 'confusion_effect', 'system_confusion']
    """
    with new_model("hierarchical_dawid_skene", ratings, priors) as (model, observed, prior, rates):
        k = observed.n_categories
        model.add_coord("contrast", np.arange(k - 1))
        dims, groups = ("category", "response"), group_dims(observed)
        population = add_variable(POPULATION_CONFUSION, prior, (*groups, *dims))
        mean = of_each_rater(observed, pt.log(population))
        log_confusion = mean if groups else pt.stack([mean] * observed.n_raters)
        scale = add_variable(CONFUSION_SPREAD, prior, groups)
        if scale is not None:
            of_raters = ("rater_without_system", "category", "contrast")
            effect = pm.Normal("confusion_effect", dims=of_raters)
            # Not `pt.dot`: what calls BLAS cannot be kept on disk for another process.
            sums_to_zero = (effect[..., None] * zero_sum_basis(k)).sum(axis=-2)
            if groups:
                scale = of_each_rater(observed, scale)[:, None, None]
            log_confusion = log_confusion + scale * sums_to_zero
        confusion = pt.special.softmax(log_confusion, axis=-1)
        if observed.has_system:
            system = add_variable(SYSTEM_CONFUSION, prior, dims)
            confusion = with_system(confusion, system)
        add_confusion(observed, rates, confusion)
    return model


def _density(observed: Patterns, priors: Mapping[str, Any]) -> ModelDensity:
    """What compiled code needs to know of the model."""
    k, groups, dims = observed.n_categories, group_dims(observed), ("category", "response")
    given = common_parameters(observed, priors)
    given["confusion"] = parameter(POPULATION_CONFUSION, priors, observed, (*groups, *dims))
    if varies(priors, CONFUSION_SPREAD.name):
        given["confusion_spread"] = parameter(CONFUSION_SPREAD, priors, observed, groups)
        dims_of_effect = ("rater_without_system", "category", "contrast")
        shape = (observed.n_raters, k, k - 1)
        given["confusion_effect"] = effects("confusion_effect", dims_of_effect, shape)
    if observed.has_system:
        given["system_confusion"] = parameter(SYSTEM_CONFUSION, priors, observed, dims)
    index = np.full(len(observed.raters), -1)
    index[: observed.n_raters] = group_index(observed)
    return ModelDensity(likelihood=MATRICES, parameters=given, observed=observed, index=index)


SPEC = ModelSpec(
    build=hierarchical_dawid_skene,
    variables=(BASE_RATES, POPULATION_CONFUSION, CONFUSION_SPREAD, SYSTEM_CONFUSION),
    priors={
        "default": {
            "base_rates": 3.0,
            "population_confusion": DIAGONAL,
            "confusion_spread": 0.5,
            "system_confusion": WEAK_DIAGONAL,
        },
        "flat": {
            "base_rates": 1.0,
            "population_confusion": 1.0,
            "confusion_spread": 1.0,
            "system_confusion": 1.0,
        },
    },
    n_parameters=lambda priors, observed: (
        cells_of_matrix(observed)
        * (n_apart(priors, "confusion_spread", observed) + observed.has_system)
    ),
    pools_rater_groups=True,
    density=_density,
)
