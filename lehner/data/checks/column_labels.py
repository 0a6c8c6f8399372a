"""Labels which show that a column is not a rater: identifiers, dates, notes."""

from collections import Counter
from collections.abc import Mapping, Sequence

from lehner.core.errors import InputError
from lehner.core.wording import first_few
from lehner.data.categories import Column, unify
from lehner.data.checks.scores import no_categories

FEWEST_ROWS = 5
MANY_LABELS = 10
MOST_STRAY_SHOWN = 3


def refuse_stray_columns(columns: Mapping[str, Column], raters: Sequence[str]) -> None:
    """Raise an InputError if a column is probably not a rater, but an identifier, a date or a note.

    Such a column has no labels in common with others (or less than half of its labels, if it has
    many); or it has a different label in each row, while others have at most half as many labels.

    Parameters
    ----------
    columns : mapping of str to Column
        Columns of the raters and of the system.
    raters : sequence of str
        The columns that would be raters because they have no other role.
    """
    if len(columns) < 2 or len(next(iter(columns.values())).codes) < FEWEST_ROWS:
        return
    if all(map(_holds_scores, (columns[name] for name in raters))):
        return
    same = unify(label for column in columns.values() for label in column.labels)
    labels = {name: {same[label] for label in column.labels} for name, column in columns.items()}
    holders = Counter(label for mine in labels.values() for label in mine)
    *_, second, most = sorted(map(len, labels.values()))
    for name in raters:
        mine = labels[name]
        alone = {label for label in mine if holders[label] == 1}
        many = len(mine) >= MANY_LABELS
        if alone and (alone == mine or (many and 2 * len(alone) > len(mine))):
            elsewhere = sorted(map(str, set(holders) - alone))
            raise InputError(
                f"labels such as {_shown(sorted(map(str, alone)))} occur in no other column"
                + (f", where they are {_shown(elsewhere)}" if alone == mine and elsewhere else "")
                + ", so it is probably not a rater",
                "name the raters' columns (raters=…) or the items' column (item=…), or code all "
                "raters alike",
                column=name,
            )
        others = second if len(mine) == most else most
        if many and len(mine) == len(columns[name].codes) >= 2 * others:
            raise InputError(
                "it has a different label in each row, so it is probably not a rater",
                "name the raters' columns (raters=…) or the items' column (item=…)",
                column=name,
            )


def _holds_scores(column: Column) -> bool:
    """Whether a column has many numbers, which are not accepted as categories."""
    return bool(no_categories(dict.fromkeys(column.labels, MANY_LABELS)))


def _shown(labels: Sequence[str]) -> str:
    return first_few(labels, MOST_STRAY_SHOWN)
