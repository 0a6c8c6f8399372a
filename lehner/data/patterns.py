"""Patterns: items with the same ratings, collapsed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.data.dependent_pair import find_pair
from lehner.data.flat import FlatRatings, count_categories, take_rows
from lehner.data.numbering import number_by_appearance, number_by_size

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from lehner.data.ratings import Ratings

UNKNOWN = -1
FEW, SMALL = 1_000, 1_000_000
"""How many patterns, and how many sums, are added up without SciPy, which takes long to load."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Patterns:
    """Different rows of ratings, and how many items have each.

    Parameters
    ----------
    flat : FlatRatings
        The ratings of the patterns one after another. A system is the last rater.
    counts : ndarray of int, shape (n_patterns,)
        How many items have the pattern.
    truths : ndarray of int, shape (n_patterns,)
        Known true category, -1 where unknown.
    first : ndarray of int, shape (n_patterns,)
        The row of the data in which each pattern first occurs.
    inverse : ndarray of int, shape (n_rows,)
        The pattern of each row of the data.
    raters : tuple of str
        Names of the raters, with "system" as the last if there is a system.
    categories : tuple
        Names of the categories, used or not.
    ordered : bool
        Whether the order of the categories is meaningful.
    has_system : bool
        Whether the last rater is a system.
    population : ndarray of int, shape (n_patterns,)
        The population that the items of each pattern are from, all 0 where there are none.
    populations : tuple of str
        Names of the populations.
    rater_group : tuple of str
        Name of the group of each rater, "" for raters of none; empty where there are no groups.
    rater_groups : tuple of str
        Names of the groups of raters.
    dependent : tuple of int, optional
        The dependent pair of raters, or rater and system, see `Ratings.with_dependent_pair`.
    """

    flat: FlatRatings
    counts: Integers
    truths: Integers
    first: Integers
    inverse: Integers
    raters: tuple[str, ...]
    categories: tuple[Any, ...]
    ordered: bool
    has_system: bool
    population: Integers
    populations: tuple[str, ...]
    rater_group: tuple[str, ...]
    rater_groups: tuple[str, ...]
    dependent: tuple[int, int] | None = None

    def __repr__(self) -> str:
        return f"Patterns: {len(self.counts)} of {int(self.counts.sum())} items"

    @property
    def n_categories(self) -> int:
        """Number of categories, used or not."""
        return len(self.categories)

    @property
    def n_raters(self) -> int:
        """Number of raters, without the system."""
        return len(self.raters) - int(self.has_system)

    @cached_property
    def starts(self) -> Integers:
        """Start of the ratings of each pattern, and the end of the last, (n_patterns + 1,)."""
        lengths = np.bincount(self.flat.item_index, minlength=len(self.counts))
        return np.append(0, np.cumsum(lengths))

    @property
    def system(self) -> Integers:
        """The system's answer for each pattern, -1 if there is none, (n_patterns,)."""
        answers = np.full(len(self.counts), -1)
        if self.has_system:
            given = self.flat.rater_index == len(self.raters) - 1
            answers[self.flat.item_index[given]] = self.flat.category_index[given]
        return answers

    def one_hot(self) -> "csr_array":
        """Count how often each rater gave each category, in a sparse array.

        Returns
        -------
        scipy.sparse.csr_array, shape (n_patterns, n_raters * n_categories)
            Repeated ratings of an item by a rater add up. The product with log confusion matrices,
            categories in columns, is the log probability of the ratings given each category.
        """
        from scipy.sparse import csr_array

        cells = self.cells
        shape = (len(self.counts), len(self.raters) * len(self.categories))
        return csr_array((np.ones(len(cells)), cells, self.starts), shape=shape)

    @property
    def cells(self) -> Integers:
        """The rater and the category of each rating as one number, (n_ratings,)."""
        return self.flat.rater_index * len(self.categories) + self.flat.category_index

    def sum_cells(self, values: Floats) -> Floats:
        """Sum values of each rater's categories over the ratings of each pattern.

        Parameters
        ----------
        values : ndarray, shape (n_raters * n_categories, n_columns)
            A value for each rater and category, as the categories of the first rater, then those
            of the second, and so on.

        Returns
        -------
        ndarray, shape (n_patterns, n_columns)
            As `one_hot` multiplied by the values, to the last digit.
        """
        if not self._few(values):
            return np.asarray(self.one_hot() @ values)
        starts, lengths, cells = self.starts[:-1], np.diff(self.starts), self.cells
        total = np.zeros((len(lengths), values.shape[1]))
        for place in range(lengths.max(initial=0)):
            longer = np.flatnonzero(lengths > place)
            total[longer] += values[cells[starts[longer] + place]]
        return total

    def sum_patterns(self, values: Floats) -> Floats:
        """Sum values of patterns over the ratings of each rater in each category.

        Parameters
        ----------
        values : ndarray, shape (n_patterns, n_columns)
            A value for each pattern.

        Returns
        -------
        ndarray, shape (n_raters * n_categories, n_columns)
        """
        if not self._few(values):
            return np.asarray(self.one_hot().T.tocsr() @ values)
        n_cells, n_columns = len(self.raters) * len(self.categories), values.shape[1]
        place = self.cells[:, None] * n_columns + np.arange(n_columns)
        added = values[self.flat.item_index].ravel()
        return np.bincount(place.ravel(), added, n_cells * n_columns).reshape(n_cells, n_columns)

    def _few(self, values: Floats) -> bool:
        return len(self.counts) <= FEW and len(self.counts) * values.shape[1] <= SMALL

    def votes(self) -> Integers:
        """Count the ratings of each pattern in each category; the system's answers are left out.

        Returns
        -------
        ndarray of int, shape (n_patterns, n_categories)
            Number of ratings.
        """
        item, category = self.flat.item_index, self.flat.category_index
        if self.has_system:
            by_raters = self.flat.rater_index < len(self.raters) - 1
            item, category = item[by_raters], category[by_raters]
        return count_categories(item, category, len(self.counts), len(self.categories))


def collapse_patterns(
    ratings: "Ratings",
    *,
    truth: bool,
    apart: Sequence[Integers | None] = (),
    by_content: bool = False,
) -> Patterns:
    """Compute the result of `Ratings.patterns`; rows with different numbers can be kept apart."""
    has_system, population = ratings.system is not None, ratings.population
    flat, known = ratings.all_flat, ratings.truth if truth else None
    inverse, first = number_patterns(
        flat,
        (known, population, *apart),
        ratings.n_rows,
        len(ratings.all_raters),
        ratings.n_categories,
        by_content=by_content,
    )
    counts = np.bincount(inverse, weights=ratings.weights, minlength=len(first))
    return Patterns(
        flat=take_rows(flat, first, ratings.n_rows),
        counts=counts.astype(np.int64),
        truths=np.full(len(first), UNKNOWN) if known is None else known[first],
        first=first,
        inverse=inverse,
        raters=ratings.all_raters,
        categories=ratings.categories,
        ordered=ratings.ordered,
        has_system=has_system,
        population=np.zeros_like(first) if population is None else population[first],
        populations=ratings.populations,
        rater_group=ratings.rater_group,
        rater_groups=ratings.rater_groups,
        dependent=find_pair(ratings),
    )


def number_patterns(
    flat: FlatRatings,
    others: Sequence[Integers | None],
    n_rows: int,
    n_raters: int,
    n_categories: int,
    *,
    by_content: bool = False,
) -> tuple[Integers, Integers]:
    """Assign to each row the index of its pattern; patterns are numbered in order of appearance.

    The partition of rows is refined one rating at a time.

    Parameters
    ----------
    flat : FlatRatings
    others : sequence of ndarray of int, shape (n_rows,), or None
        Further values, -1 or more, in which rows of a pattern must agree.
    n_rows, n_raters, n_categories : int
    by_content : bool
        Whether patterns are numbered by what they contain instead, so that another order of the
        rows gives the same patterns in the same order.

    Returns
    -------
    numbers : ndarray of int, shape (n_rows,)
    first : ndarray of int, shape (n_patterns,)
        The row in which each pattern first occurs.
    """
    lengths = np.bincount(flat.item_index, minlength=n_rows)
    starts = np.cumsum(lengths) - lengths
    key = lengths.astype(np.int64)
    for other in others:
        if other is not None:
            key = number_by_size(key) * (int(other.max(initial=0)) + 2) + other + 1
    key = number_by_size(key)
    symbol = flat.rater_index * n_categories + flat.category_index
    n_symbols = n_raters * n_categories
    active = np.arange(n_rows)
    # Rows of different length differ in `key` from the start, so those that have ended
    # can keep a number below `n_done` while the others are refined above it.
    start, n_done = 0, int(key.max(initial=-1)) + 1
    for place in range(int(lengths.max(initial=0))):
        active = active[lengths[active] > place]
        symbols = symbol[starts[active] + place]
        refined = number_by_size((key[active] - start) * n_symbols + symbols)
        key[active] = refined + n_done
        start, n_done = n_done, n_done + int(refined.max(initial=-1)) + 1
    if by_content:
        _, first, numbers = np.unique(key, return_index=True, return_inverse=True)
        return numbers, first
    return number_by_appearance(key)
