"""Groups of items from a column of the ratings file."""

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lehner import Ratings
    from lehner.groups.membership import GroupColumn

MOST_GROUPS = 20
MOST_UNCUT_NUMBERS = 8
"""A column of more different numbers than these is cut into bins."""
BINS = 4


def read_groups(path: Path, column: str, ratings: "Ratings", item: str | None) -> "GroupColumn":
    """Read groups of items from a column of the file that the ratings were read from.

    Parameters
    ----------
    path : Path
        With a row per item, or per rating; then each item has one group.
    column : str
    ratings : Ratings
        As read from the file.
    item : str, optional
        The column that names the items; by default as `lehner.read_ratings` finds it.

    Returns
    -------
    GroupColumn
        Numbers, if there are more than eight different ones, are cut into four bins with about as
        many items.

    Raises
    ------
    InputError
        Naming file, row, column, value and remedy.
    """
    from lehner.reading.read import read_columns

    with read_columns(path) as columns:
        return _grouped(_by_row(columns, column, ratings, item), column)


def read_populations(
    path: Path, column: str, ratings: "Ratings", item: str | None
) -> "GroupColumn":
    """Read the population of each item, as `read_groups` reads groups; none may be without one."""
    from lehner import InputError

    found = read_groups(path, column, ratings, item)
    missing = np.flatnonzero(found.names == "")
    if missing.size:
        raise InputError(
            f"item {str(ratings.items[missing[0]])!r} has no population",
            "name the population of each item, or leave such items out of the file",
            file=path,
            column=column,
        )
    return found


def _by_row(
    columns: dict[str, Any], column: str, ratings: "Ratings", item: str | None
) -> "NDArray[Any]":
    """Give the value of each row of the ratings."""
    from lehner import InputError
    from lehner.data.categories import encode
    from lehner.data.columns import encode_items, require_columns
    from lehner.data.options import ReadingOptions
    from lehner.reading.column_roles import find_roles

    require_columns(columns, [column])
    encoded = encode(columns[column], column)
    values = np.array([*(str(label) for label in encoded.labels), ""], dtype=object)[encoded.codes]
    roles = find_roles(columns, ReadingOptions(item=item))
    if roles.item is None or (len(values) == ratings.n_rows and roles.rater is None):
        return values
    index, items = encode_items(columns[roles.item], roles.item)
    row_of = {str(name): row for row, name in enumerate(ratings.items)}
    groups = np.full(ratings.n_rows, "", dtype=object)
    for line, (number, value) in enumerate(zip(index, values, strict=True)):
        row = row_of.get(str(items[number]))
        if row is None or not value:
            continue
        if groups[row] not in ("", value):
            raise InputError(
                f"item {str(items[number])!r} is {value!r} here and {groups[row]!r} above",
                "give each item one group",
                row=line,
                column=column,
            )
        groups[row] = value
    return groups


def _grouped(values: "NDArray[Any]", column: str) -> "GroupColumn":
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
    if numbers is not None and len(different) > MOST_UNCUT_NUMBERS:
        values, cut = _bins(values, known, column)
    elif len(different) > MOST_GROUPS:
        raise InputError(
            f"it has {len(different)} different values, as {different[0]!r} and {different[1]!r}",
            f"join them into {MOST_GROUPS} groups or fewer",
            column=column,
        )
    from lehner.groups.membership import group_column

    return group_column(column, values, cut)


def _numbers(values: list[str]) -> list[float] | None:
    try:
        return [float(value) for value in values]
    except ValueError:
        return None


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
