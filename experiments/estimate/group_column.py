"""The groups that a column of the data makes of the items."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


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
