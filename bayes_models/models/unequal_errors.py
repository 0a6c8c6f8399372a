"""What relaxes equal errors: categories that are harder than others, and preferred errors."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayes_models.models.assemble import with_system
from bayes_models.models.deferred import pm, pt
from bayes_models.models.density import (
    Parameter,
    effects,
    parameter,
    zero_sum_effects,
)
from bayes_models.models.priors import add_variable, varies
from bayes_models.models.spec import Variable, spread
from bayes_models.models.zero_sum import zero_sum_basis
from lehner import Patterns
from lehner.core.arrays import Floats

NEVER = -1e3
CATEGORY_SPREAD = spread("category_spread", "equal errors: same accuracy in all categories")
COMMON_CATEGORY_SHARE = Variable("common_category_share", "beta")
SYSTEM_CATEGORY_SPREAD = spread(
    "system_category_spread", "equal errors of the system: same accuracy in all categories"
)
COMMON_ERROR_SPREAD = spread("common_error_spread", "equal errors: no error preferred by all")
ERROR_SPREAD = spread("error_spread", "equal errors: no error preferred by one rater")
DISTANCE_DECAY = Variable(
    "distance_decay", "normal_around_zero", k_property="equal errors: none nearer than others"
)
SYSTEM_ERROR_SPREAD = spread(
    "system_error_spread", "equal errors of the system: no error preferred"
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
    scale = add_variable(CATEGORY_SPREAD, priors)
    if scale is None:
        return np.zeros((observed.n_raters, observed.n_categories))
    in_common = add_variable(COMMON_CATEGORY_SHARE, priors)
    common = _add_effects(observed, "common_category_effect", "category")
    own = _add_effects(observed, "category_effect", "rater_without_system", "category")
    return scale * (pt.sqrt(in_common) * common + pt.sqrt(1 - in_common) * own)


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
    scale = add_variable(SYSTEM_CATEGORY_SPREAD, priors)
    if scale is None:
        return np.zeros(observed.n_categories)
    return scale * _add_effects(observed, "system_category_effect", "category")


def _add_effects(observed: Patterns, name: str, *dims: str) -> Any:
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
    log = pt.as_tensor(np.broadcast_to(NEVER * np.eye(k), (len(observed.raters), k, k)))
    if k == 2:
        return pt.special.softmax(log, axis=-1)
    if observed.ordered:
        decay = add_variable(DISTANCE_DECAY, priors)
        if decay is not None:
            log = log - decay * np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    common = _add_preferences(observed, priors, COMMON_ERROR_SPREAD)
    for preferences in (common, _own_preferences(observed, priors)):
        if preferences is not None:
            log = log + preferences
    return pt.special.softmax(log, axis=-1)


def unequal_error_parameters(observed: Patterns, priors: Mapping[str, Any]) -> dict[str, Parameter]:
    """Parameters of unequal errors, as compiled code knows them."""
    k, raters, contrasts = observed.n_categories, "rater_without_system", ("category", "contrast")
    given = {}
    if varies(priors, CATEGORY_SPREAD.name):
        for one in (CATEGORY_SPREAD, COMMON_CATEGORY_SHARE):
            given[one.name] = parameter(one, priors, observed)
        of_all = zero_sum_effects("common_category_effect", ("category",), (k,))
        own = zero_sum_effects("category_effect", (raters, "category"), (observed.n_raters, k))
        given |= {of_all.name: of_all, own.name: own}
    if observed.has_system and varies(priors, SYSTEM_CATEGORY_SPREAD.name):
        given[SYSTEM_CATEGORY_SPREAD.name] = parameter(SYSTEM_CATEGORY_SPREAD, priors, observed)
        effect = zero_sum_effects("system_category_effect", ("category",), (k,))
        given[effect.name] = effect
    if k == 2:
        return given
    if observed.ordered:
        given[DISTANCE_DECAY.name] = parameter(DISTANCE_DECAY, priors, observed)
    of_raters = {
        COMMON_ERROR_SPREAD: (contrasts, (k, k - 2)),
        ERROR_SPREAD: ((raters, *contrasts), (observed.n_raters, k, k - 2)),
    }
    of_system = {SYSTEM_ERROR_SPREAD: (contrasts, (k, k - 2))} if observed.has_system else {}
    for one, (dims, shape) in (of_raters | of_system).items():
        if varies(priors, one.name):
            given[one.name] = parameter(one, priors, observed)
            effect = effects(one.name.replace("spread", "effect"), dims, shape)
            given[effect.name] = effect
    return given


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


def _own_preferences(observed: Patterns, priors: Mapping[str, Any]) -> Any:
    """Add the preferences of each rater and of the system, None if there are none."""
    k, of_raters = observed.n_categories, ("rater_without_system",)
    raters = _add_preferences(observed, priors, ERROR_SPREAD, of_raters)
    if not observed.has_system:
        return raters
    system = _add_preferences(observed, priors, SYSTEM_ERROR_SPREAD)
    if raters is None and system is None:
        return None
    raters = np.zeros((observed.n_raters, k, k)) if raters is None else raters
    return with_system(raters, pt.zeros((k, k)) if system is None else system)


def _add_preferences(
    observed: Patterns, priors: Mapping[str, Any], variable: Variable, dims: tuple[str, ...] = ()
) -> Any:
    """Add effects on errors that sum to zero in each row; None if their spread is zero."""
    scale = add_variable(variable, priors)
    if scale is None:
        return None
    name = variable.name.replace("spread", "effect")
    effect = pm.Normal(name, dims=(*dims, "category", "contrast"))
    return scale * (effect[..., None, :] * _error_contrasts(observed.n_categories)).sum(axis=-1)


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
