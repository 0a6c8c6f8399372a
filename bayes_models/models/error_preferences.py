"""Which wrong category a rater names: some errors may be preferred to others."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayes_models.models.assemble import with_system
from bayes_models.models.deferred import pm, pt
from bayes_models.models.kept_priors import varies
from bayes_models.models.priors import add_decay, add_spread
from bayes_models.models.zero_sum import zero_sum_basis
from lehner import Patterns
from lehner.core.arrays import Floats

NEVER = -1e3


def add_error_probabilities(observed: Patterns, prior: Mapping[str, Any]) -> Any:
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
    prior : mapping
        Of the four.

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
        decay = add_decay("distance_decay", prior["distance_decay"])
        if decay is not None:
            log = log - decay * np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    common = add_spread("common_error_spread", prior["common_error_spread"])
    if common is not None:
        effect = pm.Normal("common_error_effect", dims=("category", "contrast"))
        log = log + common * _preferences(effect, k)
    own = _own_preferences(observed, prior)
    if own is not None:
        log = log + own
    return pt.special.softmax(log, axis=-1)


def n_error_parameters(priors: Mapping[str, Any], observed: Patterns) -> int:
    """Count the free parameters of error preferences; with two categories there are none.

    Parameters
    ----------
    priors : mapping
        Of the four.
    observed : Patterns

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


def _own_preferences(observed: Patterns, prior: Mapping[str, Any]) -> Any:
    """Add the preferences of each rater and of the system, None if there are none."""
    dims = ("category", "contrast")
    n_raters = len(pm.modelcontext(None).coords["rater_without_system"])
    k = observed.n_categories
    raters = system = None
    spread = add_spread("error_spread", prior["error_spread"])
    if spread is not None:
        effect = pm.Normal("error_effect", dims=("rater_without_system", *dims))
        raters = spread * _preferences(effect, k)
    if not observed.has_system:
        return raters
    system_spread = add_spread("system_error_spread", prior["system_error_spread"])
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
    """Give, for each category, a basis of those effects on its errors that sum to zero.

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
