"""Groups of items from a column of the ratings file."""

import re
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lehner import Ratings
    from lehner.contrasts.membership import GroupColumn

MOST_GROUPS = 20
MOST_UNCUT_NUMBERS = 8
"""A column of more different numbers than these is cut into bins."""
BINS = 4
NUMBER = r"\s*[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?\s*"
CUTS = re.compile(rf"(.+?):({NUMBER}(?:,{NUMBER})*)", re.DOTALL)


def split_cuts(given: str) -> tuple[str, list[float]]:
    """Split a column from the numbers at which it is cut.

    Examples
    --------
    >>> split_cuts("age:65"), split_cuts("age:65,50"), split_cuts("a:b")
    (('age', [65.0]), ('age', [50.0, 65.0]), ('a:b', []))
    """
    found = CUTS.fullmatch(given)
    if found is None:
        return given, []
    return found[1], sorted({float(number) for number in found[2].split(",")})


def read_groups(path: Path, given: str, ratings: "Ratings") -> "GroupColumn":
    """Read groups of items from a column of the file that the ratings were read from.

    Parameters
    ----------
    path : Path
        The file, for errors.
    given : str
        The column, or the column and the numbers at which it is cut, as in "age:50,65".
    ratings : Ratings
        As read from the file.

    Returns
    -------
    GroupColumn
        Numbers are cut where that is said: a number at a cut belongs to the group above it. Else,
        if there are more than eight different ones, they are cut into four bins with about as many
        items.

    Raises
    ------
    InputError
        Naming file, row, column, value and remedy.
    """
    from experiments.cli.item_column import values_by_row
    from lehner import InputError

    column, cuts = split_cuts(given)
    try:
        return _grouped(values_by_row(ratings, column), column, cuts)
    except InputError as error:
        error.file = error.file or path
        raise


def read_populations(path: Path, given: str, ratings: "Ratings") -> "GroupColumn":
    """Read the population of each item, as `read_groups` reads groups; none may be without one."""
    from lehner import InputError

    found = read_groups(path, given, ratings)
    missing = np.flatnonzero(found.names == "")
    if missing.size:
        raise InputError(
            f"item {str(ratings.items[missing[0]])!r} has no population",
            "name the population of each item, or leave such items out of the file",
            file=path,
            column=found.column,
        )
    return found


def _grouped(values: "NDArray[Any]", column: str, cuts: list[float]) -> "GroupColumn":
    from lehner import InputError

    known = values != ""
    different = sorted(set(values[known]))
    if not different:
        raise InputError("it is blank for all items", "name their groups", column=column)
    numbers = _numbers(different)
    infinite = [text for text in different if numbers and not isfinite(float(text))]
    if infinite:
        raise InputError(
            f"{infinite[0]!r} stands among numbers", "correct it, or leave it blank", column=column
        )
    cut = ""
    if cuts and numbers is None:
        text = next(text for text in different if _numbers([text]) is None)
        raise InputError(
            f"{text!r} is no number to cut at {cuts[0]:g}", "correct it", column=column
        )
    if cuts:
        values, cut = _cut(values, known, column, cuts)
    elif numbers is not None and len(different) > MOST_UNCUT_NUMBERS:
        values, cut = _bins(values, known, column)
    elif len(different) > MOST_GROUPS:
        raise InputError(
            f"it has {len(different)} different values, as {different[0]!r} and {different[1]!r}",
            f"join them into {MOST_GROUPS} groups or fewer",
            column=column,
        )
    from lehner.contrasts.membership import group_column

    return group_column(column, values, cut)


def _numbers(values: list[str]) -> list[float] | None:
    try:
        return [float(value) for value in values]
    except ValueError:
        return None


def _cut(
    values: "NDArray[Any]", known: "NDArray[Any]", column: str, cuts: list[float]
) -> tuple["NDArray[Any]", str]:
    """Cut numbers where the user says; each group has items."""
    from lehner import InputError

    place = np.searchsorted(cuts, values[known].astype(float), side="right")
    between = [f"{low:g} to below {high:g}" for low, high in pairwise(cuts)]
    groups = [f"below {cuts[0]:g}", *between, f"{cuts[-1]:g} or more"]
    for number, group in enumerate(groups):
        if number not in place:
            raise InputError(f"no item is {group}", "cut at other numbers", column=column)
    named = np.full(len(values), "", dtype=object)
    numbered = [f"{number}: {group}" for number, group in enumerate(groups, start=1)]
    named[known] = np.array(numbered, dtype=object)[place]
    return named, f"{column} was cut at {' and '.join(f'{cut:g}' for cut in cuts)}"


def _bins(values: "NDArray[Any]", known: "NDArray[Any]", column: str) -> tuple["NDArray[Any]", str]:
    """Cut numbers into bins with about as many items; equal numbers stay together."""
    numbers = values[known].astype(float)
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, BINS + 1)))
    place = np.clip(np.searchsorted(edges, numbers, side="left") - 1, 0, len(edges) - 2)
    # Numbered, so that they stay in their order.
    labels = []
    for b in range(len(edges) - 1):
        inside = numbers[place == b]
        labels.append(f"{b + 1}: {inside.min():g} to {inside.max():g}" if inside.size else "")
    named = np.full(len(values), "", dtype=object)
    named[known] = np.array(labels, dtype=object)[place]
    used = len(set(place))
    return named, f"{column} was cut at its quantiles into {used} groups"
