"""What every model has: base rates, confusion matrices, accuracies, and the observed ratings."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bayes_models.models.deferred import pm, pt
from bayes_models.models.observations import (
    answers_after,
    coords_of,
    observe,
    population_shares,
    split_second,
)
from bayes_models.models.parameters import SHARE, find_parameters
from bayes_models.models.spec import Priors, Variable, choose_priors, find_model, seen_by
from lehner import Patterns, Ratings

BASE_RATES = Variable(
    "base_rates", "dirichlet", ("population", "category"), start=lambda at: at.base_rates
)
BY_POPULATION = "base_rates_by_population"


class Values(dict[str, Any]):
    """Parameters by what they are in the likelihood; those that are not there are zero."""

    def __missing__(self, role: str) -> float:
        return 0.0


@contextmanager
def new_model(
    name: str, ratings: Ratings, priors: Priors = None
) -> Iterator[tuple["pm.Model", Patterns, Values]]:
    """Open a model with its parameters, to which confusion matrices are added.

    If items are from populations, `base_rates` are those of all items: the mean over the
    populations, weighted by their numbers of items (Hui & Walter 1980,
    https://doi.org/10.2307/2530508).

    Yields
    ------
    model : pymc.Model
    observed : Patterns
        What the ratings are collapsed to, see `observe`.
    values : Values
        The parameters; those that are fixed at zero are zero.
    """
    observed = seen_by(name, observe(ratings))
    parameters = find_parameters(find_model(name), observed, choose_priors(name, priors))
    sizes = {
        dim: size
        for parameter in parameters.values()
        for dim, size in zip(parameter.dims, parameter.shape, strict=True)
    }
    coords = {dim: np.arange(size) for dim, size in sizes.items()} | coords_of(observed)
    with pm.Model(coords=coords) as model:
        values = Values({role: parameter.add() for role, parameter in parameters.items()})
        if observed.populations:
            shares = pm.Data("population_shares", population_shares(observed), dims="population")
            # A product of matrices would call BLAS, which code that is kept on disk cannot.
            of_all = (shares[:, None] * values["base_rates"]).sum(axis=0)
            pm.Deterministic("base_rates", of_all, dims="category")
        yield model, observed, values


def add_confusion(
    observed: Patterns, values: Values, confusion: Any, level_rates: Any = None
) -> None:
    """Add confusion matrices, the accuracies that follow from them, and the ratings.

    Parameters
    ----------
    values : mapping
        As `new_model` gives them.
    confusion : TensorVariable, shape (n_raters, [n_levels,] n_categories, n_responses)
        Confusion matrices of raters and system; for each level of difficulty if there are levels.
    level_rates : ndarray, shape (n_levels,), optional
        Proportion of the items at each level.
    """
    # This module loads PyTensor, which is not loaded with this file.
    from bayes_models.models.graph import add_ratings

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
    if observed.dependent is not None:
        pair = pm.Data("dependent", list(observed.dependent))
        first, second = confusion[pair[0]], confusion[pair[1]]
        # The rows of the second given the first's answer, for the ratings that are split off.
        after = answers_after(first, second, values[SHARE], observed.n_categories)
        observed, confusion = split_second(observed), pt.concatenate([confusion, after], axis=0)
    add_ratings(observed, values["base_rates"], confusion, level_rates)


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


def append_system(of_raters: Any, of_system: Any, observed: Patterns) -> Any:
    """Put the system's value after those of the raters, if there is a system."""
    return (
        pt.concatenate([of_raters, of_system[None]], axis=0) if observed.has_system else of_raters
    )
