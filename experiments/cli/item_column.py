"""The value that a column of the ratings file has for each item."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lehner import Ratings
    from lehner.core.arrays import Floats


def values_by_row(ratings: "Ratings", column: str) -> "NDArray[Any]":
    """Give the value that a column has for each row of the ratings.

    Parameters
    ----------
    ratings : Ratings
        As read from a file with a row per item, or per rating; then each item has one value.
    column : str
        A column of that file.

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
    values = table[column].texts
    item = roles.item[0] if roles.item else None
    if item not in table or (len(values) == ratings.n_rows and roles.rater is None):
        return values
    index, items = table[item].items
    row_of = {str(name): row for row, name in enumerate(ratings.items)}
    rows = np.array([row_of.get(str(name), -1) for name in items])[index]
    found = np.full(ratings.n_rows, "", dtype=object)
    for line in np.flatnonzero((rows >= 0) & (values != "")):
        row, value = rows[line], values[line]
        if found[row] not in ("", value):
            error = InputError(
                f"item {str(ratings.items[row])!r} is {value!r} here and {found[row]!r} above",
                "give each item one value",
                row=int(line),
                column=column,
            )
            table.locate(error)
            raise error
        found[row] = value
    return found


def read_scores(ratings: "Ratings", column: str) -> "Floats":
    """Give the probability that a column has for each item.

    Parameters
    ----------
    ratings : Ratings
        As read from a file.
    column : str
        A column of that file.

    Returns
    -------
    ndarray of float, shape (n_rows,)
        NaN where it is blank.

    Raises
    ------
    InputError
        Naming column, item and value, if one is no number from 0 to 1.
    """
    from lehner import InputError
    from lehner.data.columns import number_or_nan

    values = values_by_row(ratings, column)
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
