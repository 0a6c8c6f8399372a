"""Draws of a model's variables, labelled."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from lehner.core.arrays import Floats


def labelled_draws(
    variables: Mapping[str, tuple[tuple[str, ...], Floats]],
    coords: Mapping[str, Any],
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
