"""Variables that follow from base rates and confusion matrices, computed of their draws."""

import numpy as np

from bayes_models.likelihood.observations import group_names, group_shares, population_shares
from bayes_models.models.assemble import BASE_RATES, BY_POPULATION, GROUP
from lehner import Patterns
from lehner.core.arrays import Floats

type Draws = dict[str, tuple[tuple[str, ...], Floats]]
"""By variable: its dimensions after chain and draw, and its draws."""


def base_rates_of_all(observed: Patterns, base_rates: Floats) -> Draws:
    """Give base rates, and with populations those of each.

    Parameters
    ----------
    observed : Patterns
    base_rates : ndarray, shape (n_chains, n_draws, n_populations, n_categories)
        Without populations those of all items.

    Returns
    -------
    dict
    """
    by_population = (("population", "category"), base_rates)
    found: Draws = {BY_POPULATION: by_population} if observed.populations else {}
    of_all = population_shares(observed) @ base_rates
    return found | {BASE_RATES.name: (("category",), of_all)}


def accuracies(
    observed: Patterns, base_rates: Floats, confusion: Floats, *, pools_rater_groups: bool
) -> Draws:
    """Give confusion matrices, and the accuracies that follow from them and from base rates.

    Parameters
    ----------
    observed : Patterns
    base_rates : ndarray, shape (n_chains, n_draws, n_categories)
    confusion : ndarray, shape (n_chains, n_draws, n_raters, n_categories, n_responses)
    pools_rater_groups : bool
        Whether groups of raters have an accuracy.

    Returns
    -------
    dict
    """
    accuracy = np.einsum("cdrkk,cdk->cdr", confusion, base_rates)
    found: Draws = {
        "confusion": (("rater", "category", "response"), confusion),
        "accuracy": (("rater",), accuracy),
    }
    if observed.has_system:
        found["system_accuracy"] = ((), accuracy[..., -1])
    if pools_rater_groups and group_names(observed):
        of_groups = accuracy[..., : observed.n_raters] @ group_shares(observed).T
        found["rater_group_accuracy"] = ((GROUP,), of_groups)
    return found
