"""The class-conditional model: an accuracy for each rater and category, and equal errors."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayes_models.density.layout import CLASS_CONDITIONAL
from bayes_models.models.assemble import (
    BASE_RATES,
    add_confusion,
    common_parameters,
    equal_errors,
    new_model,
)
from bayes_models.models.deferred import pm
from bayes_models.models.density import ModelDensity, parameter
from bayes_models.models.families import beta
from bayes_models.models.priors import Priors, is_distribution, prior_numbers, register_distribution
from bayes_models.models.spec import OF_A_RATER, OF_THE_SYSTEM, ModelSpec, Variable
from lehner import Patterns, Ratings

ACCURACY = Variable(
    "accuracy_by_category", "beta", start=lambda at: at.accuracy_by_category, ratings=OF_A_RATER
)
SYSTEM_ACCURACY = Variable(
    "system_accuracy_by_category", "beta", last_row_of="accuracy_by_category", ratings=OF_THE_SYSTEM
)


def class_conditional(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which a rater's accuracy depends on the true category.

    .. math::
        \theta_{jkk} \sim \mathrm{Beta}, \quad
        \theta_{jkl} = \frac{1 - \theta_{jkk}}{K - 1} \;(l \ne k)

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default", "rater" (as in R's rater) or "flat", or priors of `base_rates`,
        `accuracy_by_category` and `system_accuracy_by_category`, see
        `bayes_models.models.families`. In "rater" the prior of each accuracy counts as much as 8
        ratings; "default" differs from it in the system's prior, which counts as much as 2.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`, and `accuracy_by_category` (rater, category).

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Pullin, Gurrin & Vukcevic (2023), https://doi.org/10.32614/RJ-2023-064

    Examples
    --------
    >>> import lehner
    >>> model = class_conditional(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs]
    ['base_rates', 'accuracy_by_category']
    """
    with new_model("class_conditional", ratings, priors) as (model, observed, prior, base_rates):
        accuracy = _add_accuracies(observed, prior)
        add_confusion(observed, base_rates, equal_errors(accuracy, observed.n_categories))
    return model


def _add_accuracies(observed: Patterns, prior: Mapping[str, Any]) -> Any:
    name, dims = ACCURACY.name, ("rater", "category")
    if is_distribution(prior[name]):
        return register_distribution(prior[name], name, dims)
    numbers = np.tile(prior_numbers(ACCURACY, prior), (len(observed.raters), 1))
    if observed.has_system:
        numbers[-1] = prior_numbers(SYSTEM_ACCURACY, prior)
    return beta(name, numbers[:, :1], numbers[:, 1:], dims)


def _density(observed: Patterns, priors: Mapping[str, Any]) -> ModelDensity:
    """What compiled code needs to know of the model."""
    given = common_parameters(observed, priors)
    accuracy = parameter(ACCURACY, priors, observed, ("rater", "category"))
    if observed.has_system:
        accuracy.numbers[-1] = parameter(SYSTEM_ACCURACY, priors, observed, ("category",)).numbers
    given[ACCURACY.name] = accuracy
    index = np.arange(len(observed.raters))
    return ModelDensity(
        likelihood=CLASS_CONDITIONAL, parameters=given, observed=observed, index=index
    )


SPEC = ModelSpec(
    build=class_conditional,
    variables=(BASE_RATES, ACCURACY, SYSTEM_ACCURACY),
    priors={
        "default": {
            "base_rates": 3.0,
            "accuracy_by_category": (4.8, 3.2),
            "system_accuracy_by_category": (1.2, 0.8),
        },
        "rater": {
            "base_rates": 3.0,
            "accuracy_by_category": (4.8, 3.2),
            "system_accuracy_by_category": (4.8, 3.2),
        },
        "flat": {
            "base_rates": 1.0,
            "accuracy_by_category": (1.0, 1.0),
            "system_accuracy_by_category": (1.0, 1.0),
        },
    },
    density=_density,
    n_parameters=lambda priors, observed: observed.n_categories * len(observed.raters),
)
