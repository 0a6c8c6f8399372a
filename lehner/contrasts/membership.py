"""Which items belong to which group."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Integers
from lehner.core.errors import InputError
from lehner.core.text import counted
from lehner.data.groups import number_groups
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


def find_groups(ratings: Ratings, groups: ArrayLike | Sequence[Any], kind: str = "group") -> Groups:
    """Assign to each row the index of its group.

    Parameters
    ----------
    ratings : Ratings
        The ratings that are grouped.
    groups : array_like, shape (n_rows,)
        The name of each row's group; missing (None, NaN, blank, NA) for rows that belong to none.
    kind : str
        What they are called, for errors.

    Returns
    -------
    Groups
        The groups in alphabetical order, or in numerical order if all names are numbers.

    Raises
    ------
    InputError
        If there is not one name for each row, or no row belongs to any group.
    """
    index, names = number_groups(groups, ratings.n_rows, kind)
    if not names:
        raise InputError(f"no item belongs to a {kind}", f"name the {kind}s of items")
    return Groups(names=names, index=index)


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


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupColumn:
    """The groups that a column makes.

    Parameters
    ----------
    column : str
        Its name.
    names : ndarray of str, shape (n_rows,)
        The group of each row of the ratings, "" for none.
    note : str
        How numbers were cut into bins, and how many items belong to no group; empty if there is
        nothing to say.
    """

    column: str
    names: NDArray[Any]
    note: str


def group_column(column: str, names: NDArray[Any], cut: str = "") -> GroupColumn:
    """Give the groups of a column, with a note on how it was cut and on rows without a group."""
    none = int(np.sum(names == ""))
    without = f"{counted(none, 'row')} without {column} belong to no group" if none else ""
    note = "; ".join(part for part in (cut, without) if part)
    return GroupColumn(column=column, names=names, note=note)
