"""Base rates, of all items or of each population of items."""

from collections.abc import Mapping
from typing import Any

from bayes_models.likelihood.observations import population_shares
from bayes_models.models.deferred import pm
from bayes_models.models.priors import add_variable, is_distribution
from bayes_models.models.spec import Variable
from lehner import InputError, Patterns

BASE_RATES = Variable("base_rates", "dirichlet", start=lambda at: at.base_rates)
BY_POPULATION = "base_rates_by_population"


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
