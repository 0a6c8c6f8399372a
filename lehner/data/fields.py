"""The arrays and names of `Ratings`, checked for consistency."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Integers
from lehner.core.errors import InputError
from lehner.data.flat import FlatRatings, as_array, check_codes, check_flat, flatten

SYSTEM = "system"

type Names = Sequence[Any] | NDArray[Any] | None


def check_ratings(
    codes: ArrayLike | FlatRatings, items: Names, raters: Names, n_categories: int
) -> tuple[FlatRatings, int, int]:
    """Flatten ratings, with the numbers of rows and raters."""
    if not isinstance(codes, FlatRatings):
        return flatten(codes, n_categories)
    n_rows = _count_names(items, codes.item_index)
    n_raters = _count_names(raters, codes.rater_index)
    return check_flat(codes, n_rows, n_raters, n_categories), n_rows, n_raters


def _count_names(names: Names, index: Integers) -> int:
    return int(index.max(initial=-1)) + 1 if names is None else len(names)


def check_items(items: Names, n_rows: int) -> NDArray[Any]:
    """Names of the items, by default 0, 1 and so on."""
    names = np.arange(n_rows) if items is None else as_array(items, "items")
    if names.shape != (n_rows,):
        raise InputError(f"{len(names)} names for {n_rows} items", "name each item once")
    return names


def check_index(codes: ArrayLike | None, n_rows: int, n: int, name: str) -> Integers | None:
    """Code of each row, such as its truth, shape (n_rows,)."""
    if codes is None:
        return None
    array = as_array(codes, name)
    if array.shape != (n_rows,):
        raise InputError(
            f"{name} has shape {array.shape} for {n_rows} items", f"give one {name} code per item"
        )
    return check_codes(array, n, name)


def check_answers(system: ArrayLike | None, n_rows: int, n_categories: int) -> Integers:
    """Answers of the systems, shape (n_rows, n_systems)."""
    if system is None:
        return np.empty((n_rows, 0), np.int64)
    array = as_array(system, "system")
    columns = array[:, None] if array.ndim == 1 else array
    if columns.ndim != 2 or len(columns) != n_rows:
        raise InputError(
            f"system has shape {array.shape} for {n_rows} items", "give one system code per item"
        )
    return check_codes(columns, n_categories, "system")


def check_system_names(systems: Sequence[Any] | None, n_systems: int) -> tuple[str, ...]:
    """Names of the systems, by default "system", or "system 1" and so on."""
    if systems is None:
        numbered = [f"{SYSTEM} {number + 1}" for number in range(n_systems)]
        return (SYSTEM,) if n_systems == 1 else tuple(numbered)
    names = tuple(map(str, systems))
    if len(names) != n_systems or len(set(names)) < n_systems:
        raise InputError(f"{n_systems} systems are named {list(names)}", "name each system once")
    return names


def check_rater_names(raters: Names, n_raters: int, systems: Sequence[str]) -> tuple[str, ...]:
    """Names of the raters, by default "1", "2" and so on; no system has one of them."""
    names = tuple(map(str, range(1, n_raters + 1) if raters is None else raters))
    if len(names) != n_raters or len(set(names)) < n_raters:
        raise InputError(f"{n_raters} raters are named {list(names)}", "name each rater once")
    both = set(names) & set(systems)
    if both:
        raise InputError(f"a rater is named {both.pop()!r}, as the system is", "rename the rater")
    return names
