"""The value that a column of the ratings file has for each item."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lehner import Ratings
    from lehner.core.arrays import Floats


def values_by_row(
    columns: dict[str, Any], column: str, ratings: "Ratings", item: str | None
) -> "NDArray[Any]":
    """Give the value of each row of the ratings.

    Parameters
    ----------
    columns : dict of str to column
        Of a file with a row per item, or per rating; then each item has one value.
    column : str
    ratings : Ratings
        As read from the file.
    item : str, optional
        The column that names the items; by default as `lehner.read_ratings` finds it.

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
    found = np.full(ratings.n_rows, "", dtype=object)
    for line, (number, value) in enumerate(zip(index, values, strict=True)):
        row = row_of.get(str(items[number]))
        if row is None or not value:
            continue
        if found[row] not in ("", value):
            raise InputError(
                f"item {str(items[number])!r} is {value!r} here and {found[row]!r} above",
                "give each item one value",
                row=line,
                column=column,
            )
        found[row] = value
    return found


def read_scores(path: Path, column: str, ratings: "Ratings", item: str | None) -> "Floats":
    """Read a probability of each item from the file that the ratings were read from.

    Parameters
    ----------
    path : Path
    column : str
    ratings : Ratings
        As read from the file.
    item : str, optional
        The column that names the items.

    Returns
    -------
    ndarray of float, shape (n_rows,)
        NaN where it is blank.

    Raises
    ------
    InputError
        Naming file, column, item and value, if one is no number from 0 to 1.
    """
    from lehner import InputError
    from lehner.data.columns import number_or_nan
    from lehner.reading.read import read_columns

    with read_columns(path) as columns:
        values = values_by_row(columns, column, ratings, item)
        scores = np.full(len(values), np.nan)
        for row in np.flatnonzero(values != ""):
            scores[row] = number_or_nan(values[row])
            if not 0 <= scores[row] <= 1:
                raise InputError(
                    f"the score of item {str(ratings.items[row])!r} is {values[row]!r}",
                    "give probabilities, from 0 to 1, or leave it blank",
                    column=column,
                )
    return scores
