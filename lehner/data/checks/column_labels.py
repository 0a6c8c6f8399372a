"""Labels that say that a column is no rater: identifiers, dates, notes."""

from collections.abc import Mapping, Sequence

from lehner.core.errors import InputError
from lehner.core.wording import first_few
from lehner.data.categories import Column, unify
from lehner.data.checks.scores import no_categories

FEWEST_ROWS = 5
MANY_LABELS = 10
MOST_STRAY_SHOWN = 3


def refuse_stray_columns(columns: Mapping[str, Column], raters: Sequence[str]) -> None:
    """Raise an InputError where a column is hardly a rater: an identifier, a date, a note.

    That is one none of whose labels, or, if it has many, less than half, occur elsewhere; or
    one with a label of its own in each row where others have half as many at most.

    Parameters
    ----------
    columns : mapping of str to Column
        Of the raters, and of the system.
    raters : sequence of str
        The columns that would be raters because they have no other part.
    """
    if len(columns) < 2 or len(next(iter(columns.values())).codes) < FEWEST_ROWS:
        return
    if all(map(_holds_scores, (columns[name] for name in raters))):
        return
    same = unify(label for column in columns.values() for label in column.labels)
    labels = {name: {same[label] for label in column.labels} for name, column in columns.items()}
    for name in raters:
        mine = labels[name]
        others = [labels[other] for other in columns if other != name]
        alone = mine.difference(*others)
        many = len(mine) >= MANY_LABELS
        if alone and (alone == mine or (many and 2 * len(alone) > len(mine))):
            elsewhere = sorted(map(str, set().union(*others)))
            raise InputError(
                f"labels such as {_shown(sorted(map(str, alone)))} occur in no other column"
                + (f", where they are {_shown(elsewhere)}" if alone == mine and elsewhere else "")
                + ", so it is hardly a rater",
                "name the raters' columns (raters=…) or the items' column (item=…), or code all "
                "raters alike",
                column=name,
            )
        if many and len(mine) == len(columns[name].codes) >= 2 * max(map(len, others)):
            raise InputError(
                "it has another label in each row, so it is hardly a rater",
                "name the raters' columns (raters=…) or the items' column (item=…)",
                column=name,
            )


def _holds_scores(column: Column) -> bool:
    """Whether a column holds many numbers, which are refused as categories."""
    return bool(no_categories(dict.fromkeys(column.labels, MANY_LABELS)))


def _shown(labels: Sequence[str]) -> str:
    return first_few(labels, MOST_STRAY_SHOWN)
