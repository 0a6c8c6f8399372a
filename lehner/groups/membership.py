"""Which items belong to which group."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Integers
from lehner.core.errors import InputError
from lehner.core.wording import counted
from lehner.data.numbering import order_of_name
from lehner.data.ratings import Ratings


@dataclass(frozen=True, kw_only=True, eq=False)
class Groups:
    """Groups of the rows of ratings.

    Parameters
    ----------
    names : tuple of str
    index : ndarray of int, shape (n_rows,)
        The group of each row, -1 for rows that belong to none.
    """

    names: tuple[str, ...]
    index: Integers

    def __len__(self) -> int:
        return len(self.names)


def find_groups(ratings: Ratings, groups: ArrayLike | Sequence[Any]) -> Groups:
    """Assign to each row the index of its group.

    Parameters
    ----------
    ratings : Ratings
        The ratings that are grouped.
    groups : array_like, shape (n_rows,)
        The name of each row's group; None, NaN or "" for rows that belong to none.

    Returns
    -------
    Groups
        The groups in alphabetical order, or in numerical order if all names are numbers.

    Raises
    ------
    InputError
        If there is not one name for each row, or no row belongs to any group.
    """
    values = np.asarray(groups, dtype=object)
    if values.shape != (ratings.n_rows,):
        raise InputError(
            f"{values.size} groups for {counted(ratings.n_rows, 'row')}",
            "name the group of each row",
        )
    names = ["" if value is None or value != value else str(value) for value in values]
    group_names = sorted(set(names) - {""}, key=order_of_name)
    if not group_names:
        raise InputError("no item belongs to a group", "name the groups of items")
    number = {name: i for i, name in enumerate(group_names)}
    index = np.array([number.get(name, -1) for name in names], dtype=np.int64)
    return Groups(names=tuple(group_names), index=index)


def count_answers(ratings: Ratings, groups: Groups) -> tuple[Integers, Integers]:
    """Count the items and the answered items of each group.

    Raises
    ------
    InputError
        If the system answered no item of a group.
    """
    member = groups.index >= 0
    answered = member & (np.asarray(ratings.system) >= 0)
    n_items, n_answered = (
        np.bincount(groups.index[rows], ratings.weights[rows], len(groups)).astype(np.int64)
        for rows in (member, answered)
    )
    if (n_answered == 0).any():
        raise InputError(
            f"the system answered no item of the group {groups.names[n_answered.argmin()]!r}",
            "leave the group out, or join it with another",
        )
    return n_items, n_answered
