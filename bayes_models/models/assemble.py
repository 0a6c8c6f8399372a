"""What every model has: base rates, confusion matrices, accuracies, and the observed ratings."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from bayes_models.likelihood.dependent_pair import answers_after, split_second
from bayes_models.likelihood.observations import (
    coords_of,
    group_index,
    group_names,
    group_shares,
    observe,
    population_shares,
)
from bayes_models.models.deferred import pm, pt
from bayes_models.models.density import Parameter, parameter
from bayes_models.models.families import beta
from bayes_models.models.priors import Priors, add_variable, choose_priors, is_distribution
from bayes_models.models.spec import Variable, seen_by
from lehner import InputError, Patterns, Ratings

GROUP = "rater_group"
GROUP_INDEX = "rater_group_index"
BASE_RATES = Variable("base_rates", "dirichlet", start=lambda at: at.base_rates)
BY_POPULATION = "base_rates_by_population"


@contextmanager
def new_model(
    name: str, ratings: Ratings, priors: Priors = None
) -> Iterator[tuple["pm.Model", Patterns, dict[str, Any], Any]]:
    """Open a model with base rates, to which confusion matrices are added.

    Yields
    ------
    model : pymc.Model
    observed : Patterns
        What the ratings are collapsed to, see `observe`.
    priors : dict
        All priors of the model of this name, by variable.
    base_rates : TensorVariable
        As `add_base_rates` gives them.
    """
    observed, chosen = seen_by(name, observe(ratings)), choose_priors(name, priors)
    with pm.Model(coords=coords_of(observed)) as model:
        yield model, observed, chosen, add_base_rates(observed, chosen)


def common_parameters(observed: Patterns, priors: Mapping[str, Any]) -> dict[str, Parameter]:
    """Parameters that every compiled model has: base rates, and the share of a dependent pair."""
    by_population = (BY_POPULATION, ("population", "category"))
    name, dims = by_population if observed.populations else ("base_rates", ("category",))
    found = {"base_rates": parameter(BASE_RATES, priors, observed, dims, name)}
    if observed.dependent is not None:
        numbers = np.tile(SHARE_PRIOR, (observed.n_categories, 1))
        found[SHARE] = Parameter(name=SHARE, family="beta", dims=("category",), numbers=numbers)
    return found


def add_confusion(
    observed: Patterns, base_rates: Any, confusion: Any, level_rates: Any = None
) -> None:
    """Add confusion matrices, the accuracies that follow from them, and the ratings.

    Parameters
    ----------
    base_rates : TensorVariable, shape (n_categories,) or (n_populations, n_categories)
        As `add_base_rates` gives them.
    confusion : TensorVariable, shape (n_raters, [n_levels,] n_categories, n_responses)
        Confusion matrices of raters and system; for each level of difficulty if there are levels.
    level_rates : ndarray, shape (n_levels,), optional
        Proportion of the items at each level.
    """
    # This module loads PyTensor, which is not loaded with this file.
    from bayes_models.likelihood.marginal import add_ratings

    mean = confusion
    if level_rates is not None:
        dims = ("rater", "level", "category", "response")
        pm.Deterministic("confusion_by_level", confusion, dims=dims)
        mean = (confusion * level_rates[:, None, None]).sum(axis=1)
    if "confusion" not in pm.modelcontext(None):
        pm.Deterministic("confusion", mean, dims=("rater", "category", "response"))
    rates = pm.modelcontext(None)["base_rates"]
    right = (mean * np.eye(observed.n_categories) * rates[:, None]).sum(axis=(1, 2))
    accuracy = pm.Deterministic("accuracy", right, dims="rater")
    if observed.has_system:
        pm.Deterministic("system_accuracy", accuracy[-1])
    add_group_accuracy(observed, accuracy)
    if observed.dependent is not None:
        observed, confusion = split_second(observed), add_pair(observed, confusion)
    add_ratings(observed, base_rates, confusion, level_rates)


def equal_errors(accuracy: Any, n_categories: int, wrong: Any = None) -> Any:
    """Confusion matrices in which all errors of a row are equally probable.

    Parameters
    ----------
    accuracy : TensorVariable, shape (n_raters, 1) or (n_raters, n_categories)
    wrong : TensorVariable, optional
        The probability of an error, where it is known more exactly than as 1 - accuracy.

    Returns
    -------
    TensorVariable, shape (n_raters, n_categories, n_responses)
    """
    eye = np.eye(n_categories)
    wrong = 1 - accuracy if wrong is None else wrong
    return accuracy[..., None] * eye + wrong[..., None] / (n_categories - 1) * (1 - eye)


def with_system(of_raters: Any, of_system: Any) -> Any:
    """Put the system's value after those of the raters."""
    return pt.concatenate([of_raters, of_system[None]], axis=0)


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


def add_base_rates(observed: Patterns, priors: Mapping[str, Any]) -> Any:
    """Add base rates; those of populations all have the prior of base rates.

    If items are from populations, `base_rates` are those of all items: the mean over the
    populations, weighted by their numbers of items.

    Parameters
    ----------
    observed : Patterns
        The ratings.
    priors : mapping
        With that of `base_rates`.

    Returns
    -------
    TensorVariable, shape (n_categories,) or (n_populations, n_categories)

    References
    ----------
    Hui & Walter (1980), https://doi.org/10.2307/2530508
    """
    if not observed.populations:
        return add_variable(BASE_RATES, priors, ("category",))
    prior = priors["base_rates"]
    if is_distribution(prior) and prior.ndim != 2:
        raise InputError(
            "the prior of base_rates is a distribution of one row, but each population has its own",
            "give its concentration as numbers, or a distribution with a row for each population",
        )
    dims = ("population", "category")
    by_population = add_variable(BASE_RATES, priors, dims, name=BY_POPULATION)
    shares = pm.Data("population_shares", population_shares(observed), dims="population")
    # A product of matrices would call BLAS, which code that is kept on disk cannot.
    pm.Deterministic("base_rates", (shares[:, None] * by_population).sum(axis=0), dims="category")
    return by_population


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
