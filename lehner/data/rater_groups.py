"""Groups of raters: the name of each rater's group."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lehner.core.checks import suggest
from lehner.core.errors import InputError
from lehner.core.wording import counted
from lehner.data.categories import encode, plain_label

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings

OF_NONE = ""
"""Stands for the group of a rater who belongs to none."""


def name_rater_groups(ratings: "Ratings", groups: Mapping[str, Any]) -> tuple[str, ...]:
    """Give the name of each rater's group, in the order of the raters.

    Raises
    ------
    InputError
        If there is no such rater, if no rater belongs to a group, or if raters are anonymous.
    """
    if not isinstance(groups, Mapping):
        raise InputError(
            f"groups of raters are given as {type(groups).__name__}",
            "give a mapping from the name of each rater to that of its group",
        )
    if ratings.anonymous:
        raise InputError(
            "it is unknown who gave which rating, so that raters belong to no group",
            "use data in which raters are named",
        )
    raters = [str(rater) for rater in groups]
    for rater in raters:
        check_rater(ratings, rater)
    column = encode(list(groups.values()), "rater_groups")
    named = {
        rater: str(column.labels[code])
        for rater, code in zip(raters, column.codes, strict=True)
        if code >= 0
    }
    if not named:
        raise InputError("no rater belongs to a group", "name the groups of raters")
    return tuple(named.get(rater, OF_NONE) for rater in ratings.raters)


def check_rater(ratings: "Ratings", rater: str) -> None:
    """Raise an InputError unless there is such a rater."""
    if rater in ratings.systems:
        raise InputError(
            f"{rater!r} is a system, and systems belong to no group of raters", "leave it out"
        )
    if rater not in ratings.raters:
        raise InputError(f"there is no rater {rater!r}", suggest(rater, ratings.raters))


def check_rater_group(rater_group: Any, n_raters: int) -> tuple[str, ...]:
    """Give the group of each rater; none has one if there are no groups."""
    labels = map(plain_label, rater_group)
    names = tuple(OF_NONE if label is None else str(label) for label in labels)
    if names and len(names) != n_raters:
        raise InputError(
            f"groups are given for {counted(len(names), 'rater')} of {n_raters}",
            'name the group of each rater, "" for none',
        )
    return names if any(names) else ()
