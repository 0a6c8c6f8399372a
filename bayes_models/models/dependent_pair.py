"""A dependent pair in a model: the share of the items on which the two answer alike."""

from typing import Any

from bayes_models.likelihood.dependent_pair import answers_after
from bayes_models.models.deferred import pm, pt
from bayes_models.models.families import beta
from lehner import Patterns

SHARE = "shared_answers"
"""Name of the variable, which has an element for each true category."""
SHARE_PRIOR = (1.0, 1.0)
"""Beta prior of each share."""


def add_pair(observed: Patterns, confusion: Any) -> Any:
    """Add the shares of a dependent pair, and the rows of the second given the first's answer.

    Parameters
    ----------
    observed : Patterns
        With a dependent pair.
    confusion : TensorVariable, shape (n_raters, n_categories, n_responses)

    Returns
    -------
    TensorVariable, shape (n_raters + n_responses, n_categories, n_responses)
        For the ratings that `split_second` makes.
    """
    assert observed.dependent is not None
    share = beta(SHARE, *SHARE_PRIOR, dims="category")
    pair = pm.Data("dependent", list(observed.dependent))
    after = answers_after(confusion[pair[0]], confusion[pair[1]], share, observed.n_categories)
    return pt.concatenate([confusion, after], axis=0)
