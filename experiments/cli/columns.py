"""What columns of the ratings file say of items, and a file of its own of raters."""

import re
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lehner import Ratings
    from lehner.contrasts.groups import GroupColumn
    from lehner.core.arrays import Floats

MOST_GROUPS = 20
MOST_UNCUT_NUMBERS = 8
"""A column of more different numbers than these is cut into bins."""
BINS = 4
NUMBER = r"\s*[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?\s*"
CUTS = re.compile(rf"(.+?):({NUMBER}(?:,{NUMBER})*)", re.DOTALL)


def split_cuts(text: str) -> tuple[str, list[float]]:
    """Split a column from the numbers at which it is cut.

    Examples
    --------
    >>> split_cuts("age:65"), split_cuts("age:65,50"), split_cuts("a:b")
    (('age', [65.0]), ('age', [50.0, 65.0]), ('a:b', []))
    """
    match = CUTS.fullmatch(text)
    if match is None:
        return text, []
    return match[1], sorted({float(number) for number in match[2].split(",")})


def values_by_row(ratings: "Ratings", column: str) -> "NDArray[Any]":
    """Give the value that a column of the ratings file has for each row of the ratings.

    Parameters
    ----------
    ratings : Ratings
        As read from a file with a row per item, or per rating; then each item has one value.
    column : str

    Returns
    -------
    ndarray of str, shape (n_rows,)
        "" where there is none.

    Raises
    ------
    InputError
        If there is no such column, or an item has two values.
    """
    from lehner import InputError
    from lehner.data.columns import require_columns

    table, roles = ratings.source
    require_columns(table, [column])
    values, codes = table[column], table[column].codes
    item = roles.item[0] if roles.item else None
    if item not in table or (len(values) == ratings.n_rows and roles.rater is None):
        return values.texts
    index, items = table[item].items
    row_of = {str(name): row for row, name in enumerate(ratings.items)}
    rows = np.array([row_of.get(str(name), -1) for name in items])[index]
    lines = np.flatnonzero((rows >= 0) & (codes >= 0))
    by_row = np.full(ratings.n_rows, -1)
    by_row[rows[lines[::-1]]] = codes[lines[::-1]]
    labels = np.array([*map(str, values.labels), ""], dtype=object)
    for line in lines[by_row[rows[lines]] != codes[lines]]:
        row = rows[line]
        problem = f"item {str(ratings.items[row])!r} is {labels[codes[line]]!r} here and "
        problem += f"{labels[by_row[row]]!r} above"
        error = InputError(problem, "give each item one value", row=int(line), column=column)
        table.locate(error)
        raise error
    return labels[by_row]


def read_scores(ratings: "Ratings", column: str) -> "Floats":
    """Give the probability, 0 to 1, that a column has for each item; NaN where it is blank."""
    from lehner import InputError
    from lehner.data.columns import number_or_nan

    values = values_by_row(ratings, column)
    scores = np.array(list(map(number_or_nan, values)), dtype=float)
    for row in np.flatnonzero((values != "") & ~((scores >= 0) & (scores <= 1))):
        raise InputError(
            f"the score of item {str(ratings.items[row])!r} is {values[row]!r}",
            "give probabilities, from 0 to 1, or leave it blank",
            column=column,
        )
    return scores


def read_groups(path: Path, text: str, ratings: "Ratings") -> "GroupColumn":
    """Read groups of items from a column of the file that the ratings were read from.

    Parameters
    ----------
    path : Path
        The file, for errors.
    text : str
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
    from lehner import InputError
    from lehner.contrasts.groups import group_column

    column, cuts = split_cuts(text)
    try:
        values, note = _group(values_by_row(ratings, column), column, cuts)
        return group_column(column, values, note)
    except InputError as error:
        error.file, error.column = error.file or path, error.column or column
        raise


def read_populations(path: Path, text: str, ratings: "Ratings") -> "GroupColumn":
    """Read the population of each item, as `read_groups` reads groups; none may be without one."""
    from lehner import InputError

    populations = read_groups(path, text, ratings)
    for row in np.flatnonzero(populations.names == ""):
        raise InputError(
            f"item {str(ratings.items[row])!r} has no population",
            "name the population of each item, or leave such items out of the file",
            file=path,
            column=populations.column,
        )
    return populations


def _group(values: "NDArray[Any]", column: str, cuts: list[float]) -> tuple["NDArray[Any]", str]:
    """Name the group of each row, and say how a column of numbers was cut."""
    from lehner import InputError
    from lehner.data.columns import number_or_nan
    from lehner.data.tables import cut_names

    known = values != ""
    different = sorted(set(values[known]))
    if not different:
        raise InputError("it is blank for all items", "name their groups")
    numbers = np.array(list(map(number_or_nan, values[known])))
    texts = [text for text in different if np.isnan(number_or_nan(text))]
    infinite = [text for text in different if not texts and not isfinite(float(text))]
    if infinite:
        raise InputError(f"{infinite[0]!r} stands among numbers", "correct it, or leave it blank")
    if cuts and texts:
        raise InputError(f"{texts[0]!r} is no number to cut at {cuts[0]:g}", "correct it")
    if cuts:
        names, place = cut_names(cuts), np.searchsorted(cuts, numbers, side="right")
        for number in set(range(len(names))) - set(place.tolist()):
            raise InputError(f"no item is {names[number]}", "cut at other numbers")
        note = f"{column} was cut at {' and '.join(f'{cut:g}' for cut in cuts)}"
    elif not texts and len(different) > MOST_UNCUT_NUMBERS:
        edges = np.unique(np.quantile(numbers, np.linspace(0, 1, BINS + 1)))
        # Bins have about as many items; equal numbers stay together.
        place = np.clip(np.searchsorted(edges, numbers, side="left") - 1, 0, len(edges) - 2)
        bins = [numbers[place == number] for number in range(len(edges) - 1)]
        names = [f"{one.min():g} to {one.max():g}" if one.size else "" for one in bins]
        note = f"{column} was cut at its quantiles into {len(set(place))} groups"
    elif len(different) > MOST_GROUPS:
        raise InputError(
            f"it has {len(different)} different values, as {different[0]!r} and {different[1]!r}",
            f"join them into {MOST_GROUPS} groups or fewer",
        )
    else:
        return values, ""
    # Numbered, so that they stay in their order.
    numbered = np.array([f"{number}: {name}" for number, name in enumerate(names, 1)], dtype=object)
    named = np.full(len(values), "", dtype=object)
    named[known] = numbered[place]
    return named, note
