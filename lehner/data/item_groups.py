"""Groups and populations of items, numbered in the order of their names."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Integers
from lehner.core.errors import InputError
from lehner.core.wording import counted
from lehner.data.categories import encode, plain_label
from lehner.data.numbering import order_of_name


def number_groups(
    values: ArrayLike | Sequence[Any], n_rows: int, kind: str = "group"
) -> tuple[Integers, tuple[str, ...]]:
    """Give the index of each row's group, (n_rows,), -1 where it is missing, and the names.

    Parameters
    ----------
    values : array_like, shape (n_rows,)
        Missing are what is missing among ratings: None, NaN of any type, blanks and the like.
    n_rows : int
    kind : str
        What the groups are, for the error.

    Returns
    -------
    index : ndarray of int, shape (n_rows,)
    names : tuple of str
        Numbers by size, then the rest by the alphabet.

    Raises
    ------
    InputError
        If there is not one value for each row.
    """
    column = encode(values, f"{kind}s")
    if len(column.codes) != n_rows:
        raise InputError(
            f"{kind}s are given for {counted(len(column.codes), 'row')}, but the ratings have "
            f"{n_rows}",
            f"name the {kind} of each row",
        )
    labels = [str(label) for label in column.labels]
    used = np.bincount(column.codes[column.codes >= 0], minlength=len(labels)) > 0
    names = sorted(
        {label for label, one in zip(labels, used, strict=True) if one}, key=order_of_name
    )
    number = {name: place for place, name in enumerate(names)}
    place = np.array([*(number.get(label, -1) for label in labels), -1], dtype=np.int64)
    return place[column.codes], tuple(names)


def number_populations(names: ArrayLike, items: NDArray[Any]) -> tuple[Integers, tuple[str, ...]]:
    """Give the index of each row's population, (n_rows,), and the names of the populations.

    Raises
    ------
    InputError
        If there is not one name for each row.
    """
    index, populations = number_groups(names, len(items), "population")
    missing = np.flatnonzero(index < 0)
    if missing.size:
        raise InputError(
            f"item {items[missing[0]]} has no population",
            "name the population of each row, or leave such items out",
        )
    return index, populations


def check_populations(names: Sequence[Any]) -> tuple[str, ...]:
    """Give the names of populations as text; each is named, and no two alike."""
    texts = tuple(str(name) for name in names if plain_label(name) is not None)
    if len(texts) < len(names) or len(set(texts)) < len(texts):
        raise InputError(f"populations are named {list(names)}", "name each population once")
    return texts
