"""Populations of items, numbered in the order of their names."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Integers
from lehner.core.errors import InputError
from lehner.core.wording import counted
from lehner.data.categories import encode
from lehner.data.numbering import order_of_name


def number_populations(names: ArrayLike, items: NDArray[Any]) -> tuple[Integers, tuple[str, ...]]:
    """Give the index of each row's population, (n_rows,), and the names of the populations.

    Raises
    ------
    InputError
        If there is not one name for each row.
    """
    column = encode(names, "populations")
    if len(column.codes) != len(items):
        raise InputError(
            f"populations are given for {counted(len(column.codes), 'row')}, but the ratings have "
            f"{len(items)}",
            "name the population of each row",
        )
    missing = np.flatnonzero(column.codes < 0)
    if missing.size:
        raise InputError(
            f"item {items[missing[0]]} has no population",
            "name the population of each row, or leave such items out",
        )
    labels = [str(label) for label in column.labels]
    populations = sorted(labels, key=order_of_name)
    place = np.array([populations.index(label) for label in labels], dtype=np.int64)
    return place[column.codes], tuple(populations)
