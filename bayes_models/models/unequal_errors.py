"""What relaxes equal errors: categories that are harder than others, and preferred errors."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayes_models.models.assemble import size, with_system
from bayes_models.models.deferred import pm, pt
from bayes_models.models.priors import add_variable, varies
from bayes_models.models.spec import Variable, spread
from bayes_models.models.zero_sum import zero_sum
from lehner import Patterns

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
        return pt.zeros((size("rater_without_system"), size("category")))
    in_common = add_variable(COMMON_CATEGORY_SHARE, priors)
    common = _add_effects("common_category_effect", "category")
    own = _add_effects("category_effect", "rater_without_system", "category")
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
        return pt.zeros(size("category"))
    return scale * _add_effects("system_category_effect", "category")


def _add_effects(name: str, *dims: str) -> Any:
    """Add effects of variance 1 that sum to zero over the categories."""
    k = size("category")
    return pm.ZeroSumNormal(name, sigma=pt.sqrt(k / (k - 1)), dims=dims)


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
    TensorVariable, shape (n_raters or 1, n_categories, n_responses)
        Of raters and system, or of all; zero where the response is the category.
    """
    if observed.n_categories == 2:
        return pt.as_tensor(1 - np.eye(2))[None]
    log = NEVER * pt.eye(size("category"))[None]
    if observed.ordered:
        decay = add_variable(DISTANCE_DECAY, priors)
        if decay is not None:
            place = pt.arange(size("category"))
            log = log - decay * abs(place[:, None] - place)
    common = _add_preferences(priors, COMMON_ERROR_SPREAD)
    for preferences in (common, _own_preferences(observed, priors)):
        if preferences is not None:
            log = log + preferences
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
    raters = _add_preferences(priors, ERROR_SPREAD, ("rater_without_system",))
    if not observed.has_system:
        return raters
    system = _add_preferences(priors, SYSTEM_ERROR_SPREAD)
    if raters is None and system is None:
        return None
    k = size("category")
    raters = pt.zeros((size("rater_without_system"), k, k)) if raters is None else raters
    return with_system(raters, pt.zeros((k, k)) if system is None else system)


def _add_preferences(
    priors: Mapping[str, Any], variable: Variable, dims: tuple[str, ...] = ()
) -> Any:
    """Add effects on errors that sum to zero in each row; None if their spread is zero."""
    scale = add_variable(variable, priors)
    if scale is None:
        return None
    name = variable.name.replace("spread", "effect")
    effect = pm.Normal(name, dims=(*dims, "category", "contrast"))
    return scale * _beside_diagonal(zero_sum(effect))


def _beside_diagonal(errors: Any) -> Any:
    """Put values of errors where the response is not the category, and zeros where it is.

    Parameters
    ----------
    errors : TensorVariable, shape (..., n_categories, n_responses - 1)

    Returns
    -------
    TensorVariable, shape (..., n_categories, n_responses)
    """
    k, batch = errors.shape[-2], tuple(errors.shape)[:-2]
    # In a matrix that is read row by row, k values beside the diagonal follow each value on it but
    # the last.
    between = errors.reshape((*batch, k - 1, k))
    with_zero = pt.concatenate([pt.zeros_like(between[..., :1]), between], axis=-1)
    flat = with_zero.reshape((*batch, k**2 - 1))
    return pt.concatenate([flat, pt.zeros_like(flat[..., :1])], axis=-1).reshape((*batch, k, k))
