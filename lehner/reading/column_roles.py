"""The role of each column of a table: as the user names it, else by its name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lehner.core.errors import InputError
from lehner.data.categories import encode
from lehner.data.columns import encode_items
from lehner.data.fields import SYSTEM
from lehner.data.table import names_of

THINGS = ("item", "task", "case", "unit", "subject", "example", "instance", "document", "question")
PEOPLE = ("annotator", "coder", "judge", "labeler", "labeller", "reviewer", "assessor", "grader")
ITEM_COLUMNS = (
    *("item", "task", "case", "unit", "subject", "id", "index", ""),
    *(f"{name}_id" for name in THINGS),
    *THINGS[5:],
)
RATER = ("rater", "worker")
OTHER_RATER = (*PEOPLE, *(f"{name}_id" for name in (*RATER, *PEOPLE)))
RATING = ("rating", "label")
OTHER_RATING = (
    *("answer", "response", "annotation", "judgment", "judgement", "vote"),
    *("category", "class", "grade", "code"),
)


@dataclass(frozen=True, kw_only=True)
class ColumnRoles:
    """The column of each role, None if there is none.

    Parameters
    ----------
    systems : tuple of str
        Names of columns, or of raters in a table with a row per rating.
    truth, counts, item, rater, rating, occasion : str or None
        Names of columns.
    long : bool
        Whether a row is a rating.
    """

    systems: tuple[str, ...]
    truth: str | None
    counts: str | None
    item: str | None
    rater: str | None
    rating: str | None
    occasion: str | None
    long: bool


def find_roles(
    columns: dict[str, Any],
    *,
    systems: Sequence[str] = (),
    truth: str | None = None,
    item: str | None = None,
    counts: str | None = None,
) -> ColumnRoles:
    """Find the role of each column.

    A table with columns `item`, `rater` (or `worker`) and `rating` (or `label`) has a row per
    rating. With other names for these, such as `annotator` and `answer`, it has a row per rating if
    items occur more than once, because in a table with a column per rater they do not.

    Parameters
    ----------
    columns : dict of str to column
    systems : sequence of str
    truth, item, counts : str, optional
        Columns that the user names.

    Returns
    -------
    ColumnRoles

    Raises
    ------
    InputError
        If several columns may be those of the raters or ratings, or none is that of the items.

    Examples
    --------
    >>> table = {"task": [1, 1], "annotator": ["Ann", "Bo"], "answer": ["yes", "no"]}
    >>> roles = find_roles(table)
    >>> roles.item, roles.rater, roles.rating, roles.long
    ('task', 'annotator', 'answer', True)
    """
    item = item or named(columns, *ITEM_COLUMNS)
    rater, rating = named(columns, *RATER), named(columns, *RATING)
    long = None not in (item, rater, rating)
    if not long and _row_per_rating(columns, item):
        rater = rater or _only(columns, OTHER_RATER, "name the raters", "rater")
        rating = rating or _only(columns, OTHER_RATING, "hold the ratings", "rating")
        long = True
        if item is None:
            raise InputError(
                f"the columns {rater!r} and {rating!r} look like those of a table with a row per "
                "rating, but no column names the items",
                "say which one does (item=…)",
            )
    return ColumnRoles(
        systems=tuple(systems) or names_of(named(columns, SYSTEM)),
        truth=truth or named(columns, "truth"),
        counts=counts or named(columns, "count"),
        item=item,
        rater=rater,
        rating=rating,
        occasion=named(columns, "occasion"),
        long=long,
    )


def named(columns: dict[str, Any], *names: str) -> str | None:
    """Give the first column with one of the names, in any case."""
    by_name = {_plain(column): column for column in reversed(columns)}
    return next((by_name[name] for name in names if name in by_name), None)


def _plain(column: str) -> str:
    return column.lower().replace(" ", "_").replace("-", "_")


def _row_per_rating(columns: dict[str, Any], item: str | None) -> bool:
    """Whether names and contents are those of a table with a row per rating."""
    rater = named(columns, *RATER, *OTHER_RATER)
    rating = named(columns, *RATING, *OTHER_RATING)
    if rater is None or rating is None:
        return False
    if item is None:
        # Two columns of raters would have labels in common.
        raters, labels = (set(map(str, encode(columns[name]).labels)) for name in (rater, rating))
        return not raters & labels
    if item not in columns or item in (rater, rating):
        return False
    index, names = encode_items(columns[item], item)
    return len(names) < len(index)


def _only(columns: dict[str, Any], names: tuple[str, ...], what: str, clear: str) -> str:
    """Give the one column with such a name, or raise an InputError."""
    matching = [column for column in columns if _plain(column) in names]
    if len(matching) > 1:
        shown = " and ".join(map(repr, matching))
        raise InputError(
            f"each of the columns {shown} may {what}",
            f"rename the one that does to {clear!r}",
        )
    return matching[0]
