"""Which rater belongs to which group."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.errors import InputError
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


def find_rater_groups(ratings: Ratings, groups: Mapping[str, str] | None = None) -> RaterGroups:
    """Find the indices of the raters of each group.

    Parameters
    ----------
    ratings : Ratings
    groups : mapping, optional
        As `Ratings.with_rater_groups` takes it; by default the groups of the ratings.

    Returns
    -------
    RaterGroups

    Raises
    ------
    InputError
        For the reasons of `Ratings.with_rater_groups`, or if there are no groups.
    """
    if groups is not None:
        ratings = ratings.with_rater_groups(groups)
    if not ratings.rater_group:
        raise InputError("no rater belongs to a group", "name the groups of raters")
    own = np.array(ratings.rater_group)
    return RaterGroups(
        names=ratings.rater_groups,
        members=tuple(np.flatnonzero(own == name) for name in ratings.rater_groups),
    )
