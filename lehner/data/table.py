"""What was read from a table of ratings, before it becomes `Ratings`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from lehner.core.arrays import Integers
from lehner.data.categories import (
    Column,
    Label,
    choose_categories,
    declared_column,
    recode,
)
from lehner.data.checks.categories import check_found_categories
from lehner.data.flat import FlatRatings


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """What was read from a table.

    Parameters
    ----------
    ratings : ndarray of int, shape (n_rows, n_raters), or FlatRatings
        Codes of the ratings.
    raters, systems : sequence of str
    items : ndarray, optional
    answers, truth, counts : ndarray of int, optional
    categories : tuple
    ordered : bool
    noticed : tuple of str
        How columns were interpreted, and what looks odd.
    odd : tuple of str
        What looks odd.
    fixed : bool
        Whether the categories were named by the user or by the type of a column.
    """

    ratings: Integers | FlatRatings
    raters: Sequence[str]
    systems: Sequence[str] | None = None
    items: NDArray[Any] | None = None
    answers: Integers | None = None
    truth: Integers | None = None
    counts: Integers | None = None
    categories: tuple[Label, ...]
    ordered: bool
    noticed: tuple[str, ...]
    odd: tuple[str, ...]
    fixed: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Coded:
    """Columns of labels as codes of the same categories.

    Parameters
    ----------
    codes : mapping of str to ndarray of int
        Codes by column, -1 if missing.
    categories : tuple
    ordered : bool
    odd : tuple of str
        What looks odd about the categories.
    """

    codes: Mapping[str, Integers]
    categories: tuple[Label, ...]
    ordered: bool
    odd: tuple[str, ...]


def are_fixed(columns: Mapping[str, Column], categories: Sequence[Label] | None) -> bool:
    """Tell whether the categories were named by the user or by the type of a column."""
    return categories is not None or declared_column(columns) is not None


def code_labels(
    columns: Mapping[str, Column], categories: Sequence[Label] | None, *, ordered: bool
) -> Coded:
    """Find the categories of several columns of labels, and code these.

    Parameters
    ----------
    columns : mapping of str to Column
    categories : sequence, optional
        All categories in order; by default those that occur.
    ordered : bool

    Returns
    -------
    Coded
    """
    chosen, names, ordered = choose_categories(columns, categories, ordered=ordered)
    odd: tuple[str, ...] = ()
    if categories is None:
        odd = check_found_categories(columns, names, refuse=not are_fixed(columns, categories))
    codes = {name: recode(column, name, chosen, names) for name, column in columns.items()}
    return Coded(codes=codes, categories=chosen, ordered=ordered, odd=odd)


def names_of(names: Any) -> tuple[str, ...]:
    """Give one name, several or none as a tuple of texts.

    Examples
    --------
    >>> names_of("gpt"), names_of(["gpt", "base"]), names_of(2), names_of(None)
    (('gpt',), ('gpt', 'base'), ('2',), ())
    """
    if names is None:
        return ()
    several = isinstance(names, Iterable) and not isinstance(names, str)
    return tuple(map(str, names)) if several else (str(names),)
