"""Draws of a model's variables: labelled, and summarised."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.models.assemble import BASE_RATES, BY_POPULATION
from bayes_models.models.observations import population_shares
from lehner import InputError, IntervalEstimate, Patterns
from lehner.core.arrays import Floats
from lehner.core.lazy import special

PAIRS = "agreeing_pairs"
"""What stands for all ratings of an item where ArviZ asks for a number: pairs that agree."""
DECLARED = (
    *("population", "rater", "rater_without_system", "level"),
    *("category", "response", "contrast"),
)
"""All dimensions of variables, in the order in which models declare those of each."""


def group(tree: xr.DataTree, name: str) -> xr.Dataset:
    """Look up a group of a fit; an InputError if it is not there."""
    if name not in tree.children:
        raise InputError(f"the fit has no group {name}", "fit the model by bayes_models.fit")
    return tree[name].to_dataset()


def labelled_draws(
    variables: Mapping[str, tuple[tuple[str, ...], Floats]], coords: Mapping[str, Any]
) -> xr.Dataset:
    """Put draws and the coordinates they need into a dataset.

    Parameters
    ----------
    variables : mapping
        For each name, the dimensions after chain and draw, and the draws.
    coords : mapping
        Coordinates by dimension; those that are not needed are ignored.

    Returns
    -------
    xarray.Dataset
    """
    chains, draws = next(iter(variables.values()))[1].shape[:2]
    used = {dim for dims, _ in variables.values() for dim in dims}
    dataset = xr.Dataset(
        {name: (("chain", "draw", *dims), values) for name, (dims, values) in variables.items()},
        {"chain": np.arange(chains), "draw": np.arange(draws)}
        | {dim: np.asarray(coords[dim]) for dim in sorted(used)},
    )
    return _in_order_of_labels(dataset)


def _in_order_of_labels(dataset: xr.Dataset) -> xr.Dataset:
    """Order variables so that dimensions first appear in the order in which models declare them.

    `arviz.summary` names the numbers of a variable rightly only if its dimensions appear in that
    order, see `docs/upstream/arviz_summary_labels.md`. Only tables of populations become
    (category, population): functions of PyMC, which read draws by position, need the others as
    they are declared.
    """
    names: list[Hashable] = []
    for dim in DECLARED[1:]:
        having = [name for name in dataset if dim in dataset[name].dims]
        names += sorted(having, key=lambda name: dataset[name].ndim)[:1]
    names = list(dict.fromkeys([*names, *dataset]))
    in_order = list(dict.fromkeys(dim for name in names for dim in dataset[name].dims))
    return dataset[names].transpose(*in_order)


def values_by_draw(posterior: xr.Dataset, name: str, *dims: Any) -> Floats:
    """Draws of a variable, those of all chains one after another, shape (n_draws, ...)."""
    values = posterior[name].transpose("chain", "draw", *dims).values
    return np.asarray(values.reshape(-1, *values.shape[2:]))


def credible_interval(draws: xr.DataArray | Floats, level: float) -> IntervalEstimate:
    """Mean of draws and their equal-tailed credible interval.

    Parameters
    ----------
    level : float
        Probability of the interval, between 0 and 1.

    Returns
    -------
    IntervalEstimate
    """
    values = np.asarray(draws)
    lower, upper = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return IntervalEstimate(
        estimate=float(values.mean()),
        lower=float(lower),
        upper=float(upper),
        level=level,
        kind="equal-tailed credible",
        standard_error=float(values.std(ddof=1)) if values.size > 1 else None,
    )


def beta_interval(concentration: Floats, place: int, level: float) -> IntervalEstimate:
    """Mean and central interval of one probability of a Dirichlet distribution."""
    successes, failures = float(concentration[place]), float(np.delete(concentration, place).sum())
    mean = successes / (successes + failures)
    ends = special.betaincinv(successes, failures, [(1 - level) / 2, (1 + level) / 2])
    lower, upper = map(float, ends)
    return IntervalEstimate(estimate=mean, lower=lower, upper=upper, level=level, kind="prior")


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
    variables: Draws = {BY_POPULATION: by_population} if observed.populations else {}
    of_all = population_shares(observed) @ base_rates
    return variables | {BASE_RATES.name: (("category",), of_all)}


def accuracies(observed: Patterns, base_rates: Floats, confusion: Floats) -> Draws:
    """Give confusion matrices, and the accuracies that follow from them and from base rates.

    Parameters
    ----------
    observed : Patterns
    base_rates : ndarray, shape (n_chains, n_draws, n_categories)
    confusion : ndarray, shape (n_chains, n_draws, n_raters, n_categories, n_responses)

    Returns
    -------
    dict
    """
    accuracy = np.einsum("cdrkk,cdk->cdr", confusion, base_rates)
    variables: Draws = {
        "confusion": (("rater", "category", "response"), confusion),
        "accuracy": (("rater",), accuracy),
    }
    if observed.has_system:
        variables["system_accuracy"] = ((), accuracy[..., -1])
    return variables
