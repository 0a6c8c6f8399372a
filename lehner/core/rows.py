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
TEXT, NUMBER, BOOLEAN = "text", "number or null", "true or false"
MEANINGS = {
    "system": (TEXT, "The system that the number is of; empty if it is of none."),
    "method": (TEXT, "The method that gave it; empty if no method is needed."),
    "quantity": (TEXT, "What the number is: see below."),
    "grouping": (TEXT, "What the group is one of: group (of items), population or rater_group."),
    "group": (TEXT, "The group."),
    "rater": (TEXT, "The rater. Without a rater, numbers by category are the system's."),
    "category": (TEXT, "The category; of a confusion matrix the true one, its row."),
    "response": (TEXT, "The answer, a column of a confusion matrix."),
    "versus": (
        TEXT,
        "The second of a difference, which is the first minus this; or what the number assumes, as "
        "misleading_share=0.1.",
    ),
    "estimate": (NUMBER, "The number; null where the data support none."),
    "lower": (NUMBER, "The lower end of its interval."),
    "upper": (NUMBER, "The upper end."),
    "level": (NUMBER, "The probability of the interval."),
    "kind": (TEXT, "How the interval was made."),
    "corrected": (
        BOOLEAN,
        "Whether gold labels correct the number or entered it. The method's own number stands "
        "beside a corrected one; results.final has each once.",
    ),
    "probability": (
        NUMBER,
        "Of a difference, that it is above zero; of a rank, that it is the first; of a test, the "
        "p-value; of a parameter, that it has its sign.",
    ),
    "n_items": (NUMBER, "How many items the number is of."),
}
"""What the columns of the table of results, and of the rows of JSON, hold: type and meaning."""
COLUMNS = tuple(MEANINGS)


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
