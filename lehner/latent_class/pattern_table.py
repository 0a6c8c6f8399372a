"""Pattern table: patterns of ratings as the likelihood of a latent-class model reads them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Union

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.lazy import sparse
from lehner.data.patterns import Patterns, collapse_patterns
from lehner.data.ratings import Ratings

FEW_CELLS = 1_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class PatternTable:
    """A matrix of the answers in each pattern, with weights that may be proportions of items.

    It is what EM multiplies, and is made of `Patterns`, whose counts are of items, or of codes and
    probabilities for a limit of many items, which are no ratings. The system is the last rater.

    Parameters
    ----------
    answers : ndarray or scipy.sparse.csr_array, shape (n_patterns, n_raters * n_categories)
        How often each rater gave each category.
    weights : ndarray, shape (n_patterns,)
        Numbers or proportions of items.
    n_categories : int
    has_system : bool
        Whether the last rater is the system.
    truths : ndarray of int, shape (n_patterns,), optional
        The gold label, -1 if unknown.
    groups : ndarray of int, shape (n_patterns,), optional
        The group of each pattern, if groups of items have different base rates.
    """

    answers: Union[Floats, "sparse.csr_array"]
    weights: Floats
    n_categories: int
    has_system: bool = True
    truths: Integers | None = None
    groups: Integers | None = None

    @property
    def n_raters(self) -> int:
        """Number of raters, including the system."""
        return int(self.answers.shape[1] // self.n_categories)

    @property
    def n_groups(self) -> int:
        """Number of groups of items with different base rates."""
        return 1 if self.groups is None else int(self.groups.max()) + 1

    @property
    def group_of_pattern(self) -> Integers:
        """Group of each pattern, all 0 without groups, (n_patterns,)."""
        return np.zeros(len(self.weights), np.int64) if self.groups is None else self.groups

    @cached_property
    def _by_answer(self) -> Union[Floats, "sparse.csc_array"]:
        # SciPy takes as long to transpose a small table as to multiply by it.
        return self.answers.T

    def possible(self, n_classes: int) -> Booleans:
        """Whether a pattern can belong to a class, given its gold label if it has one."""
        truths = np.full(len(self.weights), -1) if self.truths is None else self.truths
        return (truths[:, None] < 0) | (truths[:, None] == np.arange(n_classes))

    def votes(self) -> Floats:
        """Count the answers of each pattern in each category, (n_patterns, n_categories)."""
        return np.asarray(self.answers @ np.tile(np.eye(self.n_categories), (self.n_raters, 1)))

    def sum_cells(self, values: Floats) -> Floats:
        """Sum values (n_raters * n_categories, n) over the answers of each pattern."""
        return np.asarray(self.answers @ values)

    def sum_patterns(self, values: Floats) -> Floats:
        """Sum values (n_patterns, n) over the patterns with each answer."""
        return np.asarray(self._by_answer @ values)

    def sum_groups(self, values: Floats) -> Floats:
        """Sum values (n_patterns, n) over the patterns of each group, (n_groups, n)."""
        if self.groups is None:
            return np.asarray(values.sum(axis=0, keepdims=True))

        ends = np.arange(len(self.groups) + 1)
        member = sparse.csr_array((np.ones(len(self.groups)), self.groups, ends))
        return np.asarray(member.T @ values)


type Cells = PatternTable | Patterns
"""Patterns over whose ratings values are summed."""


def tabulate_codes(codes: Integers, weights: Floats, n_categories: int) -> PatternTable:
    """Tabulate patterns given as codes.

    Parameters
    ----------
    codes : ndarray of int, shape (n_patterns, n_raters)
        Category index, -1 if missing; the last rater is the system.
    weights : ndarray, shape (n_patterns,)
        Numbers or proportions of items.
    n_categories : int

    Returns
    -------
    PatternTable
    """
    # SciPy takes longer to load than a small dense table to multiply.
    if codes.size * n_categories <= FEW_CELLS:
        answers = (
            (codes[:, :, None] == np.arange(n_categories)).reshape(len(codes), -1).astype(float)
        )
    else:
        item, rater = np.nonzero(codes >= 0)
        cells = (item, rater * n_categories + codes[item, rater])
        shape = (len(codes), codes.shape[1] * n_categories)
        answers = sparse.csr_array((np.ones(len(item)), cells), shape=shape)
    return PatternTable(answers=answers, weights=weights, n_categories=n_categories)


def tabulate(
    ratings: Ratings, groups: Integers | None = None, *, truths: bool = False
) -> tuple[PatternTable, Integers]:
    """Tabulate the patterns of ratings, in memory proportional to the number of ratings.

    Patterns are in the order of their content, so that what is drawn for each pattern does not
    depend on the order of the rows.

    Parameters
    ----------
    ratings : Ratings
    groups : ndarray of int, shape (n_rows,), optional
        The group of each row; items of different groups have different patterns.
    truths : bool
        Whether gold labels are kept.

    Returns
    -------
    table : PatternTable
    inverse : ndarray of int, shape (n_rows,)
        The pattern of each row.
    """
    patterns = collapse_patterns(ratings, truth=truths, by_content=True)
    answers, inverse = patterns.one_hot(), patterns.inverse
    weights, truths_of = patterns.counts.astype(float), patterns.truths
    if groups is not None:
        n_groups = int(groups.max()) + 1
        cells, inverse = np.unique(inverse * n_groups + groups, return_inverse=True)
        weights = np.bincount(inverse, weights=ratings.weights)
        pattern, groups = np.divmod(cells, n_groups)
        answers, truths_of = answers[pattern], truths_of[pattern]
    table = PatternTable(
        answers=answers,
        weights=weights,
        n_categories=ratings.n_categories,
        has_system=patterns.has_system,
        truths=truths_of if truths and ratings.truth is not None else None,
        groups=groups,
    )
    return table, inverse


def known_truths(ratings: Ratings) -> int:
    """Count the items whose gold label enters a fit: none if all are known.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    int
    """
    if ratings.truth is None:
        return 0
    n_known = int(ratings.weights[ratings.truth >= 0].sum())
    return 0 if n_known == ratings.n_items else n_known
