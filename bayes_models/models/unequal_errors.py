"""What relaxes equal errors: categories that are harder than others, and preferred errors."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayes_models.models.assemble import with_system
from bayes_models.models.deferred import pm, pt
from bayes_models.models.priors import add_variable, varies
from bayes_models.models.spec import Variable
from bayes_models.models.zero_sum import zero_sum_basis
from lehner import Patterns
from lehner.core.arrays import Floats

NEVER = -1e3
CATEGORY_SPREAD = Variable(
    "category_spread", "half_normal", k_property="equal errors: same accuracy in all categories"
)
COMMON_CATEGORY_SHARE = Variable("common_category_share", "beta")
SYSTEM_CATEGORY_SPREAD = Variable(
    "system_category_spread",
    "half_normal",
    k_property="equal errors of the system: same accuracy in all categories",
)
COMMON_ERROR_SPREAD = Variable(
    "common_error_spread", "half_normal", k_property="equal errors: no error preferred by all"
)
ERROR_SPREAD = Variable(
    "error_spread", "half_normal", k_property="equal errors: no error preferred by one rater"
)
DISTANCE_DECAY = Variable(
    "distance_decay", "normal_around_zero", k_property="equal errors: none nearer than others"
)
SYSTEM_ERROR_SPREAD = Variable(
    "system_error_spread",
    "half_normal",
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


def add_rater_category_effects(observed: Patterns, priors: Mapping[str, Any]) -> Any:
    """Add what each category adds to the log odds that a rater is right.

    The effects of a rater sum to zero over the categories. A share of their variance is common to
    all raters: categories that are hard for everybody.

    Parameters
    ----------
    observed : Patterns
        The ratings.
    priors : mapping
        With those of `category_spread` and `common_category_share`.

    Returns
    -------
    TensorVariable, shape (n_raters, n_categories)
        Effects for the raters without the system; zeros if the spread is fixed at zero.
    """
    n_raters = len(pm.modelcontext(None).coords["rater_without_system"])
    spread = add_variable(CATEGORY_SPREAD, priors)
    if spread is None:
        return np.zeros((n_raters, observed.n_categories))
    share = add_variable(COMMON_CATEGORY_SHARE, priors)
    common = _add_effects(observed, "common_category_effect", ("category",))
    own = _add_effects(observed, "category_effect", ("rater_without_system", "category"))
    return spread * (pt.sqrt(share) * common + pt.sqrt(1 - share) * own)


def add_system_category_effects(observed: Patterns, priors: Mapping[str, Any]) -> Any:
    """Add what each category adds to the log odds that the system is right.

    Parameters
    ----------
    observed : Patterns
        The ratings.
    priors : mapping
        With that of `system_category_spread`.

    Returns
    -------
    TensorVariable, shape (n_categories,)
    """
    spread = add_variable(SYSTEM_CATEGORY_SPREAD, priors)
    if spread is None:
        return np.zeros(observed.n_categories)
    return spread * _add_effects(observed, "system_category_effect", ("category",))


def _add_effects(observed: Patterns, name: str, dims: tuple[str, ...]) -> Any:
    """Add effects of variance 1 that sum to zero over the categories."""
    k = observed.n_categories
    return pm.ZeroSumNormal(name, sigma=np.sqrt(k / (k - 1)), dims=dims)


def add_error_probabilities(observed: Patterns, priors: Mapping[str, Any]) -> Any:
    r"""Add the probability of each error, given that the answer is wrong.

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
    priors : mapping
        With those of the four.

    Returns
    -------
    TensorVariable, shape (n_raters, n_categories, n_responses)
        Of raters and system; zero where the response is the category.
    """
    k = observed.n_categories
    n_all = len(observed.raters)
    log = pt.as_tensor(np.broadcast_to(NEVER * np.eye(k), (n_all, k, k)))
    if k == 2:
        return pt.special.softmax(log, axis=-1)
    if observed.ordered:
        decay = add_variable(DISTANCE_DECAY, priors)
        if decay is not None:
            log = log - decay * np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    common = add_variable(COMMON_ERROR_SPREAD, priors)
    if common is not None:
        effect = pm.Normal("common_error_effect", dims=("category", "contrast"))
        log = log + common * _preferences(effect, k)
    own = _own_preferences(observed, priors)
    if own is not None:
        log = log + own
    return pt.special.softmax(log, axis=-1)


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
    own = observed.n_raters if varies(priors, "error_spread") else 0
    if observed.has_system and varies(priors, "system_error_spread"):
        own += 1
    common = 0
    if varies(priors, "common_error_spread"):
        common = matrix
    elif observed.ordered and varies(priors, "distance_decay"):
        common = 1
    return own * matrix + (common if own < len(observed.raters) else 0)


def _own_preferences(observed: Patterns, priors: Mapping[str, Any]) -> Any:
    """Add the preferences of each rater and of the system, None if there are none."""
    dims = ("category", "contrast")
    n_raters = len(pm.modelcontext(None).coords["rater_without_system"])
    k = observed.n_categories
    raters = system = None
    spread = add_variable(ERROR_SPREAD, priors)
    if spread is not None:
        effect = pm.Normal("error_effect", dims=("rater_without_system", *dims))
        raters = spread * _preferences(effect, k)
    if not observed.has_system:
        return raters
    system_spread = add_variable(SYSTEM_ERROR_SPREAD, priors)
    if system_spread is not None:
        effect = pm.Normal("system_error_effect", dims=dims)
        system = system_spread * _preferences(effect, k)
    if raters is None and system is None:
        return None
    raters = np.zeros((n_raters, k, k)) if raters is None else raters
    return with_system(raters, pt.zeros((k, k)) if system is None else system)


def _preferences(effect: Any, n_categories: int) -> Any:
    """Convert effects of contrasts to effects on errors, which sum to zero in each row."""
    return (effect[..., None, :] * _error_contrasts(n_categories)).sum(axis=-1)


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
