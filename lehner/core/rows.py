"""Rows of the table of results: one number each, with what it is of."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.estimate import IntervalEstimate

type Row = dict[str, Any]
"""One number: values of some of `COLUMNS` by name."""

KEYS = (
    "system",
    "method",
    "quantity",
    "grouping",
    "group",
    "rater",
    "category",
    "response",
    "versus",
)
"""The columns that say which number it is; each is empty where it does not apply."""
NUMBERS = ("estimate", "lower", "upper", "level")
COLUMNS = (*KEYS, *NUMBERS, "kind", "corrected", "probability", "n_items")


def row(quantity: str, value: IntervalEstimate, /, **columns: Any) -> Row:
    """Make a row of a number with its interval.

    Parameters
    ----------
    quantity : str
        What the number is, as "recall".
    value : IntervalEstimate
    **columns
        Values of other columns.

    Returns
    -------
    dict
    """
    numbers = {name: getattr(value, name) for name in (*NUMBERS, "kind", "corrected")}
    return {"quantity": quantity} | numbers | columns


def rows_of(
    quantity: str,
    values: Floats,
    names: Mapping[str, Sequence[Any]],
    *,
    level: float | None = None,
    kind: str = "",
    **columns: Any,
) -> list[Row]:
    """Make a row of each number of an array, with its interval.

    Parameters
    ----------
    quantity : str
        What the numbers are.
    values : ndarray, shape (..., 3)
        Estimates and the ends of their intervals, NaN where there are none.
    names : mapping of str to sequence
        For each axis but the last, the column that names its places, and these names.
    level : float, optional
        Probability of the intervals.
    kind : str
        How the intervals were made.
    **columns
        Values of other columns of all rows.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> values = np.array([[0.5, 0.4, 0.6], [np.nan] * 3])
    >>> first, second = rows_of("recall", values, {"category": ["no", "yes"]}, level=0.9)
    >>> first["category"], first["estimate"], first["level"], second["estimate"]
    ('no', 0.5, 0.9, None)
    """
    rows = []
    for place in np.ndindex(values.shape[:-1]):
        labels = {
            name: str(labels[i]) for (name, labels), i in zip(names.items(), place, strict=True)
        }
        numbers = [None if np.isnan(one) else float(one) for one in values[place]]
        made: Row = dict(zip(NUMBERS, numbers, strict=False)) | labels | columns
        if numbers[0] is not None:
            made |= {"level": None if numbers[1] is None else level, "kind": kind}
        rows.append({"quantity": quantity} | made)
    return rows
