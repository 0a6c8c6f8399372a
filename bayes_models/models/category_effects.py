"""Categories that are easier or harder than others, for all raters, for one rater or the system."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayes_models.models.deferred import pm, pt
from bayes_models.models.priors import add_beta, add_spread
from lehner import Patterns


def add_rater_category_effects(observed: Patterns, prior: Mapping[str, Any]) -> Any:
    """Add what each category adds to the log odds that a rater is right.

    The effects of a rater sum to zero over the categories. A share of their variance is common to
    all raters: categories that are hard for everybody.

    Parameters
    ----------
    observed : Patterns
    prior : mapping
        Priors of `category_spread` and `common_category_share`.

    Returns
    -------
    TensorVariable, shape (n_raters, n_categories)
        Effects for the raters without the system; zeros if the spread is fixed at zero.
    """
    n_raters = len(pm.modelcontext(None).coords["rater_without_system"])
    spread = add_spread("category_spread", prior["category_spread"])
    if spread is None:
        return np.zeros((n_raters, observed.n_categories))
    share = add_beta("common_category_share", prior["common_category_share"])
    common = _add_effects(observed, "common_category_effect", ("category",))
    own = _add_effects(observed, "category_effect", ("rater_without_system", "category"))
    return spread * (pt.sqrt(share) * common + pt.sqrt(1 - share) * own)


def add_system_category_effects(observed: Patterns, prior: Mapping[str, Any]) -> Any:
    """Add what each category adds to the log odds that the system is right.

    Parameters
    ----------
    observed : Patterns
    prior : mapping
        Prior of `system_category_spread`.

    Returns
    -------
    TensorVariable, shape (n_categories,)
    """
    spread = add_spread("system_category_spread", prior["system_category_spread"])
    if spread is None:
        return np.zeros(observed.n_categories)
    return spread * _add_effects(observed, "system_category_effect", ("category",))


def _add_effects(observed: Patterns, name: str, dims: tuple[str, ...]) -> Any:
    """Add effects of variance 1 that sum to zero over the categories."""
    k = observed.n_categories
    return pm.ZeroSumNormal(name, sigma=np.sqrt(k / (k - 1)), dims=dims)
