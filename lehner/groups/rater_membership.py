"""Which rater belongs to which group."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.checks import suggest
from lehner.core.errors import InputError
from lehner.data.numbering import order_of_name
from lehner.data.ratings import Ratings


@dataclass(frozen=True, kw_only=True, eq=False)
class RaterGroups:
    """Groups of raters.

    Parameters
    ----------
    names : tuple of str
        Names of the groups, in alphabetical order.
    members : tuple of ndarray of int
        Indices of the raters of each group.
    """

    names: tuple[str, ...]
    members: tuple[Integers, ...]


def find_rater_groups(ratings: Ratings, groups: Mapping[str, str]) -> RaterGroups:
    """Find the indices of the raters of each group.

    Parameters
    ----------
    ratings : Ratings
    groups : mapping
        The name of the group by the name of the rater. Raters that are not named belong to no
        group.

    Returns
    -------
    RaterGroups

    Raises
    ------
    InputError
        If there is no such rater, if no rater belongs to a group, or if raters are anonymous.
    """
    if ratings.anonymous:
        raise InputError(
            "it is unknown who gave which rating, so that raters belong to no group",
            "use data in which raters are named",
        )
    for rater in groups:
        check_rater(ratings, rater)
    names = sorted(set(groups.values()), key=order_of_name)
    if not names:
        raise InputError("no rater belongs to a group", "name the groups of raters")
    own = [groups.get(rater) for rater in ratings.raters]
    return RaterGroups(
        names=tuple(names),
        members=tuple(
            np.array([j for j, group in enumerate(own) if group == name]) for name in names
        ),
    )


def check_rater(ratings: Ratings, rater: str) -> None:
    """Raise an InputError unless there is such a rater."""
    if rater in ratings.systems:
        raise InputError(
            f"{rater!r} is a system, and systems belong to no group of raters", "leave it out"
        )
    if rater not in ratings.raters:
        raise InputError(f"there is no rater {rater!r}", suggest(rater, ratings.raters))
