"""The role of each column of a table: as the user names it, else by its name or what it holds."""

import re
from dataclasses import replace
from typing import Any

from lehner.core.errors import InputError
from lehner.data.categories import encode
from lehner.data.checks.columns import role_by_name
from lehner.data.columns import encode_items
from lehner.data.fields import SYSTEM
from lehner.data.options import ReadingOptions, names_of

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
FEWEST_ROWS = 5
NUMBER_OR_WORD = r"[0-9]+|[^\W\d_]\S*"
"""No decimals, dates or sentences."""
OTHER_RATING = (
    *("answer", "response", "annotation", "judgment", "judgement", "vote"),
    *("category", "class", "grade", "code"),
)


def find_roles(columns: dict[str, Any], options: ReadingOptions) -> ReadingOptions:
    """Find the columns of the roles that are not named.

    A table with columns `item`, `rater` (or `worker`) and `rating` (or `label`) has a row per
    rating. With other names for these, such as `annotator` and `answer`, it has a row per rating if
    items occur more than once, because in a table with a column per rater they do not. There, if no
    column has a name of items, the one that has another whole number or word in each row does.

    Parameters
    ----------
    columns : dict of str to column
        The table.
    options : ReadingOptions
        The columns that the user names.

    Returns
    -------
    ReadingOptions
        With `rater` and `rating` if a row is a rating.

    Raises
    ------
    InputError
        If several columns may be those of the raters or ratings, or none is that of the items.

    Examples
    --------
    >>> table = {"task": [1, 1], "annotator": ["Ann", "Bo"], "answer": ["yes", "no"]}
    >>> roles = find_roles(table, ReadingOptions())
    >>> roles.item, roles.rater, roles.rating
    ('task', 'annotator', 'answer')
    """
    item = options.item or named(columns, *ITEM_COLUMNS)
    rater, rating = named(columns, *RATER), named(columns, *RATING)
    if options.counts is not None or any(name in columns for name in options.raters or ()):
        rater = rating = None
    elif None in (item, rater, rating):
        rater, rating = _row_per_rating(columns, item)
    system = options.system or names_of(named(columns, SYSTEM))
    truth = options.truth or named(columns, "truth")
    counts = options.counts or named(columns, "count")
    if item is None and options.raters is None and rater is None:
        probability = options.truth_probability
        taken = [*system, truth, probability, counts, options.order, options.cluster]
        item = _numbered({name: columns[name] for name in columns if name not in taken})
    return replace(
        options,
        system=system,
        truth=truth,
        counts=counts,
        item=item,
        rater=rater,
        rating=rating,
        occasion=named(columns, "occasion"),
    )


def named(columns: dict[str, Any], *names: str) -> str | None:
    """First column with one of the names, in any case."""
    by_name = {_plain(column): column for column in reversed(columns)}
    return next((by_name[name] for name in names if name in by_name), None)


def _plain(column: str) -> str:
    return column.lower().replace(" ", "_").replace("-", "_")


def _numbered(columns: dict[str, Any]) -> str | None:
    """Find the one column with another whole number or word in each row, as no rater has."""
    found = [name for name in columns if _is_numbered(columns, name) and _may_name_items(name)]
    if len(found) != 1 or len(columns) < 2:
        return None
    labels = {name: set(map(str, encode(values, name).labels)) for name, values in columns.items()}
    own = labels.pop(found[0])
    few = 2 * max(map(len, labels.values())) <= len(own)
    return found[0] if few or not own & set().union(*labels.values()) else None


def _is_numbered(columns: dict[str, Any], name: str) -> bool:
    values = columns[name]
    for part in (values[:FEWEST_ROWS], values):  # most columns are known by their first rows
        labels = encode(part, name).labels
        if len(labels) < max(len(part), FEWEST_ROWS):
            return False
    return all(re.fullmatch(NUMBER_OR_WORD, str(label)) for label in labels)


def _may_name_items(name: str) -> bool:
    role = role_by_name(name, ())
    return role is None or role[0] == "the items"


def _row_per_rating(columns: dict[str, Any], item: str | None) -> tuple[str | None, str | None]:
    """Find the columns of raters and ratings by their names and contents."""
    rater = named(columns, *RATER, *OTHER_RATER)
    rating = named(columns, *RATING, *OTHER_RATING)
    if rater is None or rating is None:
        return None, None
    if item is None:
        # Two columns of raters would have labels in common.
        raters, labels = (set(map(str, encode(columns[name]).labels)) for name in (rater, rating))
        is_long = not raters & labels
    elif item not in columns or item in (rater, rating):
        is_long = False
    else:
        index, names = encode_items(columns[item], item)
        is_long = len(names) < len(index)
    if not is_long:
        return None, None
    rater = named(columns, *RATER) or _only(columns, OTHER_RATER, "name the raters", "rater")
    rating = named(columns, *RATING) or _only(columns, OTHER_RATING, "hold the ratings", "rating")
    if item is None:
        raise InputError(
            f"the columns {rater!r} and {rating!r} look like those of a table with a row per "
            "rating, but no column names the items",
            "say which one does (item=…)",
        )
    return rater, rating


def _only(columns: dict[str, Any], names: tuple[str, ...], what: str, clear: str) -> str:
    """Find the one column with such a name, or raise an InputError."""
    matching = [column for column in columns if _plain(column) in names]
    if len(matching) > 1:
        shown = " and ".join(map(repr, matching))
        raise InputError(
            f"each of the columns {shown} may {what}", f"rename the one that does to {clear!r}"
        )
    return matching[0]
