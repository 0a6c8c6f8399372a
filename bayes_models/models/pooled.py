"""The pooled model: one full confusion matrix shared by the raters."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayes_models.density.layout import MATRICES
from bayes_models.likelihood.observations import cells_of_matrix
from bayes_models.models.assemble import (
    BASE_RATES,
    add_confusion,
    common_parameters,
    new_model,
    with_system,
)
from bayes_models.models.deferred import pm, pt
from bayes_models.models.density import ModelDensity, parameter
from bayes_models.models.families import DIAGONAL, WEAK_DIAGONAL
from bayes_models.models.priors import Priors, add_variable
from bayes_models.models.spec import OF_ALL, OF_THE_SYSTEM, ModelSpec, Variable
from lehner import Patterns, Ratings

RATER_CONFUSION = Variable(
    "rater_confusion", "dirichlet", start=lambda at: at.mean_confusion, ratings=OF_ALL
)
SYSTEM_CONFUSION = Variable(
    "system_confusion", "dirichlet", start=lambda at: at.confusion[-1], ratings=OF_THE_SYSTEM
)


def pooled(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which all raters have the same confusion matrix.

    .. math:: \theta_{jk} = \theta_k \sim \mathrm{Dirichlet}

    Some errors may be more probable than others, but they are so for all raters. The system has its
    own matrix.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default"; "rater" (as in R's rater: the prior of each row of a matrix counts as much as
        8 ratings, of which 60% are right); "flat"; or priors of `base_rates`, `rater_confusion` and
        `system_confusion`, see `bayes_models.models.families`. "default" differs from "rater" in
        the system's rows, whose prior counts as much as 2 ratings.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Paun et al. (2018), https://doi.org/10.1162/tacl_a_00040, the multinomial model.

    Examples
    --------
    >>> import lehner
    >>> model = pooled(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs]
    ['base_rates', 'rater_confusion', 'system_confusion']
    """
    with new_model("pooled", ratings, priors) as (model, observed, prior, base_rates):
        dims = ("category", "response")
        shared = add_variable(RATER_CONFUSION, prior, dims)
        confusion = pt.stack([shared] * observed.n_raters)
        if observed.has_system:
            system = add_variable(SYSTEM_CONFUSION, prior, dims)
            confusion = with_system(confusion, system)
        add_confusion(observed, base_rates, confusion)
    return model


def _density(observed: Patterns, priors: Mapping[str, Any]) -> ModelDensity:
    """What compiled code needs to know of the model."""
    dims = ("category", "response")
    given = common_parameters(observed, priors)
    given["confusion"] = parameter(RATER_CONFUSION, priors, observed, dims)
    if observed.has_system:
        given["system_confusion"] = parameter(SYSTEM_CONFUSION, priors, observed, dims)
    index = np.where(np.arange(len(observed.raters)) < observed.n_raters, 0, -1)
    return ModelDensity(likelihood=MATRICES, parameters=given, observed=observed, index=index)


SPEC = ModelSpec(
    build=pooled,
    variables=(BASE_RATES, RATER_CONFUSION, SYSTEM_CONFUSION),
    priors={
        "default": {
            "base_rates": 3.0,
            "rater_confusion": DIAGONAL,
            "system_confusion": WEAK_DIAGONAL,
        },
        "rater": {"base_rates": 3.0, "rater_confusion": DIAGONAL, "system_confusion": DIAGONAL},
        "flat": {"base_rates": 1.0, "rater_confusion": 1.0, "system_confusion": 1.0},
    },
    n_parameters=lambda priors, observed: cells_of_matrix(observed) * (1 + observed.has_system),
    conjugate=True,
    density=_density,
)
