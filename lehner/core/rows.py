"""Rows of the table of results: one number, with what it is of."""

from typing import Any

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


def row(quantity: str, value: IntervalEstimate | None = None, /, **columns: Any) -> Row:
    """Make a row of a number with its interval.

    Parameters
    ----------
    quantity : str
        What the number is, as "recall".
    value : IntervalEstimate, optional
        None if the row has no number but a probability.
    **columns
        Values of other columns.

    Returns
    -------
    dict
    """
    made: Row = {"quantity": quantity}
    if value is not None:
        made |= {name: getattr(value, name) for name in (*NUMBERS, "kind", "corrected")}
    return made | columns
