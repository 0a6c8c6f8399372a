"""The arrays and names of `Ratings`, checked for consistency."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Floats, Integers
from lehner.core.errors import InputError
from lehner.data.columns import LEAST_PROBABILITY
from lehner.data.flat import FlatRatings, as_array, check_codes, check_flat, flatten

SYSTEM = "system"

type Names = Sequence[Any] | NDArray[Any] | None


def check_ratings(
    codes: ArrayLike | FlatRatings, items: Names, raters: Names, n_categories: int
) -> tuple[FlatRatings, int, int]:
    """Flatten ratings, with the numbers of rows and raters."""
    if not isinstance(codes, FlatRatings):
        return flatten(codes, n_categories)
    n_rows, n_raters = (
        int(index.max(initial=-1)) + 1 if names is None else len(names)
        for names, index in ((items, codes.item_index), (raters, codes.rater_index))
    )
    return check_flat(codes, n_rows, n_raters, n_categories), n_rows, n_raters


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
        problem = f"{name} has shape {array.shape} for {n_rows} items"
        raise InputError(problem, f"give one {name} code per item")
    return check_codes(array, n, name)


def check_answers(system: ArrayLike | None, n_rows: int, n_categories: int) -> Integers:
    """Answers of the systems, shape (n_rows, n_systems)."""
    if system is None:
        return np.empty((n_rows, 0), np.int64)
    array = as_array(system, "system")
    if array.ndim == 2 and len(array) == n_rows:
        return check_codes(array, n_categories, "system")
    answers = check_index(array, n_rows, n_categories, "system")
    return np.reshape(answers, (n_rows, 1))  # type: ignore[arg-type]


def check_system_names(systems: Sequence[Any] | None, n_systems: int) -> tuple[str, ...]:
    """Names of the systems, by default "system", or "system 1" and so on."""
    if systems is None:
        numbered = [f"{SYSTEM} {number + 1}" for number in range(n_systems)]
        systems = [SYSTEM] if n_systems == 1 else numbered
    return _check_names(systems, n_systems, SYSTEM)


def check_rater_names(raters: Names, n_raters: int, systems: Sequence[str]) -> tuple[str, ...]:
    """Names of the raters, by default "1", "2" and so on; no system has one of them."""
    names = _check_names(range(1, n_raters + 1) if raters is None else raters, n_raters, "rater")
    both = set(names) & set(systems)
    if both:
        raise InputError(f"a rater is named {both.pop()!r}, as the system is", "rename the rater")
    return names


def _check_names(given: Any, n: int, kind: str) -> tuple[str, ...]:
    names = tuple(map(str, given))
    if len(names) != n or len(set(names)) < n:
        raise InputError(f"{n} {kind}s are named {list(names)}", f"name each {kind} once")
    return names


def check_truth_probability(
    given: ArrayLike | None, items: NDArray[Any], truth: ArrayLike | None
) -> Floats | None:
    """Probability with which each item was chosen to have its truth found out, (n_rows,)."""
    if given is None:
        return None
    probability = as_array(given, "truth_probability")
    if probability.shape != items.shape or probability.dtype.kind not in "iuf":
        problem = f"truth_probability is {probability.dtype} of shape {probability.shape}"
        raise InputError(f"{problem} for {len(items)} items", "give one probability per item")
    bad = np.flatnonzero(~((probability >= LEAST_PROBABILITY) & (probability <= 1)))
    for row in bad[:1]:
        raise InputError(
            f"the probability with which item {items[row]} was chosen is {probability[row]:g}",
            "give each item, with a gold label or not, a number from 0.000001 to 1",
        )
    unknown = np.zeros(items.shape, bool) if truth is None else np.asarray(truth) < 0
    for row in np.flatnonzero((probability == 1) & unknown)[:1]:
        raise InputError(
            f"item {items[row]} was chosen with probability 1, and its truth is not known",
            "give the probability with which its truth was found out",
        )
    return probability.astype(float)
