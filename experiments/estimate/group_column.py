"""The groups that a column of the data makes of the items."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lehner.core.wording import counted


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
