"""What relaxes equal errors: categories that are harder than others, and preferred errors."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayes_models.models.assemble import Values, append_system
from bayes_models.models.deferred import pt
from bayes_models.models.priors import varies
from bayes_models.models.spec import (
    ORDER,
    SEVERAL_ERRORS,
    SYSTEM,
    Effect,
    Variable,
    declare_spread,
)
from bayes_models.models.zero_sum import zero_sum_basis
from lehner import Patterns
from lehner.core.arrays import Floats

NEVER = -1e3
RATERS, ERRORS = "rater_without_system", ("category", "contrast")
CATEGORY_SPREAD = declare_spread(
    "category_spread",
    Effect("common_category_effect", ("category",), zero_sum=True),
    Effect("category_effect", (RATERS, "category"), zero_sum=True),
    k_property="equal errors: same accuracy in all categories",
)
COMMON_CATEGORY_SHARE = Variable("common_category_share", "beta", needs=(CATEGORY_SPREAD.name,))
SYSTEM_CATEGORY_SPREAD = declare_spread(
    "system_category_spread",
    Effect("system_category_effect", ("category",), zero_sum=True),
    needs=(SYSTEM,),
    k_property="equal errors of the system: same accuracy in all categories",
)
COMMON_ERROR_SPREAD = declare_spread(
    "common_error_spread",
    Effect("common_error_effect", ERRORS, n_contrasts=2),
    needs=(SEVERAL_ERRORS,),
    k_property="equal errors: no error preferred by all",
)
ERROR_SPREAD = declare_spread(
    "error_spread",
    Effect("error_effect", (RATERS, *ERRORS), n_contrasts=2),
    needs=(SEVERAL_ERRORS,),
    k_property="equal errors: no error preferred by one rater",
)
DISTANCE_DECAY = Variable(
    "distance_decay",
    "normal_around_zero",
    needs=(SEVERAL_ERRORS, ORDER),
    k_property="equal errors: none nearer than others",
)
SYSTEM_ERROR_SPREAD = declare_spread(
    "system_error_spread",
    Effect("system_error_effect", ERRORS, n_contrasts=2),
    needs=(SEVERAL_ERRORS, SYSTEM),
    k_property="equal errors of the system: no error preferred",
)
UNEQUAL_ERRORS = (
    CATEGORY_SPREAD,
    COMMON_CATEGORY_SHARE,
    COMMON_ERROR_SPREAD,
    ERROR_SPREAD,
    DISTANCE_DECAY,
    SYSTEM_CATEGORY_SPREAD,
    SYSTEM_ERROR_SPREAD,
)


def rater_category_effects(observed: Patterns, values: Values) -> Any:
    """Compute what each category adds to the log odds that a rater is right.

    The effects of a rater sum to zero over the categories. A share of their variance is common to
    all raters: categories that are hard for everybody.

    Parameters
    ----------
    observed : Patterns
        The ratings.
    values : Values
        As `new_model` gives them.

    Returns
    -------
    TensorVariable, shape (n_raters, n_categories)
        Effects for the raters without the system.
    """
    in_common = values["common_category_share"]
    common = pt.sqrt(in_common) * values["common_category_effect"]
    own = pt.sqrt(1 - in_common) * values["category_effect"]
    none = np.zeros((observed.n_raters, observed.n_categories))
    return values["category_spread"] * (common + own) + none


def error_probabilities(observed: Patterns, values: Values) -> Any:
    r"""Compute the probability of each error, given that the answer is wrong.

    .. math:: P(\text{rater } j \text{ errs with } l \mid k)
        \propto \exp(-\lambda |k - l| + \omega w_{kl} + \epsilon_j v_{jkl})

    `distance_decay` λ makes near errors more probable than far ones if categories are ordered.
    Preferences w, with the standard deviation `common_error_spread` ω, are common to raters and
    system; preferences v, with `error_spread` ε, are those of a single rater. For the system's own
    preferences ε is `system_error_spread`.

    Parameters
    ----------
    observed : Patterns
        The ratings.
    values : Values
        As `new_model` gives them.

    Returns
    -------
    TensorVariable, shape (n_raters, n_categories, n_responses)
        Of raters and system; zero where the response is the category.
    """
    k = observed.n_categories

    def preferences(kind: str, *shape: int) -> Any:
        effect = values[f"{kind}_effect"]
        if np.ndim(effect):
            # They sum to zero over the errors of each category.
            effect = (effect[..., None, :] * _error_contrasts(k)).sum(axis=-1)
        return values[f"{kind}_spread"] * effect + pt.zeros((*shape, k, k))

    own = preferences("error", observed.n_raters)
    own = append_system(own, preferences("system_error"), observed)
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    common = preferences("common_error") - values["distance_decay"] * distance
    return pt.special.softmax(NEVER * np.eye(k) + common + own, axis=-1)


def n_error_parameters(priors: Mapping[str, Any], observed: Patterns) -> int:
    """Count the free parameters of error preferences; with two categories there are none.

    Parameters
    ----------
    priors : mapping
        Of the four.

    Returns
    -------
    int
    """
    k = observed.n_categories
    if k == 2:
        return 0
    matrix = k * (k - 2)
    own = observed.n_raters * varies(priors, "error_spread")
    own += observed.has_system and varies(priors, "system_error_spread")
    common = 0
    if varies(priors, "common_error_spread"):
        common = matrix
    elif observed.ordered and varies(priors, "distance_decay"):
        common = 1
    return own * matrix + (common if own < len(observed.raters) else 0)


def _error_contrasts(n_categories: int) -> Floats:
    """For each category, a basis of those effects on its errors that sum to zero.

    Parameters
    ----------
    n_categories : int
        K, 3 or more.

    Returns
    -------
    ndarray, shape (n_categories, n_responses, n_categories - 2)
        Zero where the response is the category.
    """
    basis = np.zeros((n_categories, n_categories, n_categories - 2))
    for category in range(n_categories):
        errors = np.arange(n_categories) != category
        basis[category, errors] = zero_sum_basis(n_categories - 1).T
    return basis
