"""Groups of raters: parameters of the distribution of raters, for all raters or for each group."""

from typing import Any

from bayes_models.likelihood.rater_groups import group_index, group_names, group_shares
from bayes_models.models.deferred import pm
from lehner import Patterns

GROUP = "rater_group"
GROUP_INDEX = "rater_group_index"


def group_dims(observed: Patterns) -> tuple[str, ...]:
    """Dimensions that groups add to a parameter of the distribution of raters."""
    return (GROUP,) if group_names(observed) else ()


def of_each_rater(observed: Patterns, of_groups: Any) -> Any:
    """Value of each rater's group; without groups the one value there is.

    Parameters
    ----------
    of_groups : TensorVariable, shape (n_groups, ...)
        Without groups, a value for all raters, of shape (...).

    Returns
    -------
    TensorVariable, shape (n_raters, ...)
        Without groups, the value as it is.
    """
    if not group_names(observed):
        return of_groups
    model = pm.modelcontext(None)
    if GROUP_INDEX not in model:
        pm.Data(GROUP_INDEX, group_index(observed), dims="rater_without_system")
    return of_groups[model[GROUP_INDEX]]


def add_group_accuracy(observed: Patterns, accuracy: Any) -> None:
    """Add the accuracy of each group to a model that pools raters within groups.

    It is the mean of its raters' accuracies, weighted by their numbers of ratings: the probability
    that one of its ratings is right.

    Parameters
    ----------
    accuracy : TensorVariable, shape (n_raters,)
        Of raters and system.
    """
    if GROUP_INDEX not in pm.modelcontext(None):
        return
    dims = (GROUP, "rater_without_system")
    shares = pm.Data("rater_group_shares", group_shares(observed), dims=dims)
    # A product of matrices would call BLAS, which code that is kept on disk cannot.
    mean = (shares * accuracy[: observed.n_raters]).sum(axis=1)
    pm.Deterministic("rater_group_accuracy", mean, dims=GROUP)
