"""Draws of a model's variables: labelled, and summarised."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from lehner import InputError, IntervalEstimate
from lehner.core.arrays import Floats

PAIRS = "agreeing_pairs"
"""What stands for all ratings of an item where ArviZ asks for a number: pairs that agree."""
ADDED_BY = {
    "posterior": "fit the model by bayes_models.fit",
    "truth": "fit the model by bayes_models.fit",
    "log_likelihood": "fit again by bayes_models.fit with log_likelihood=True",
}


def group(tree: xr.DataTree, name: str) -> xr.Dataset:
    """Look up a group of a fit; an InputError names the call that adds it, if it is not there."""
    if name not in tree.children:
        raise InputError(f"the fit has no group {name}", ADDED_BY[name])
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
    return xr.Dataset(
        {name: (("chain", "draw", *dims), values) for name, (dims, values) in variables.items()},
        {"chain": np.arange(chains), "draw": np.arange(draws)}
        | {dim: np.asarray(coords[dim]) for dim in sorted(used)},
    )


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
