"""Groups of raters from a file of their own."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lehner import Ratings


def read_rater_groups(path: Path, ratings: "Ratings") -> dict[str, str]:
    """Read to which group each rater belongs.

    Parameters
    ----------
    path : Path
        Columns `rater`, with names as in the ratings, and `group`, blank for raters of none. Other
        columns are ignored.
    ratings : Ratings

    Returns
    -------
    dict
        From the name of a rater to that of its group.

    Raises
    ------
    InputError
        Naming file, row, column, value and remedy.
    """
    from lehner.reading.read import read_columns

    with read_columns(path) as columns:
        return _read(columns, ratings)


def _read(columns: Mapping[str, Any], ratings: "Ratings") -> dict[str, str]:
    from lehner import InputError
    from lehner.data.columns import require_columns
    from lehner.data.groups import check_rater

    by_name = {name.casefold(): name for name in columns}
    rater, group = (by_name.get(name, name) for name in ("rater", "group"))
    if rater not in columns:
        rater = by_name.get("worker", rater)
    require_columns(columns, [rater, group])
    raters, groups = columns[rater], columns[group]
    found: dict[str, str] = {}
    for line, (who, which) in enumerate(zip(raters.codes, groups.codes, strict=True)):
        if which < 0:
            continue
        if who < 0:
            raise InputError("the name is missing", "name the rater", row=line, column=rater)
        name, label = str(raters.labels[who]), str(groups.labels[which])
        try:
            check_rater(ratings, name)
        except InputError as error:
            raise InputError(error.problem, error.remedy, row=line, column=rater) from None
        if found.get(name, label) != label:
            raise InputError(
                f"rater {name!r} is in group {label!r} here and in {found[name]!r} above",
                "give each rater one group",
                row=line,
                column=group,
            )
        found[name] = label
    if not found:
        raise InputError("no rater has a group", "name the groups of raters", column=group)
    return found
