"""Slips: categories that are nearly written like another one and look like a mistake."""

import difflib
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.wording import counted, first_few
from lehner.data.categories import Label
from lehner.data.flat import count_categories
from lehner.data.spelling import fold

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings

MOST_LABELS = 200
MOST_COUNTED_CELLS = 10_000_000
LONGEST_LABEL = 60
SHORTEST_LABEL = 4
FEWEST_TIMES = 20
MOST_SHARE = 0.01
NEAR = 0.8
"""The least similarity of two spellings, as `difflib` has it: one letter of five may differ."""
MOST_WRITERS_SHOWN = 3


def say_slips(ratings: "Ratings") -> tuple[str, ...]:
    """Name each category that is nearly written like another, and by whom it is used."""
    n_categories = ratings.n_categories
    if n_categories > MOST_LABELS or ratings.n_raters * n_categories > MOST_COUNTED_CELLS:
        return ()
    uses = _count_uses(ratings)
    writers = [*ratings.all_raters, "the known truths"]
    sentences = []
    for slip, other in likely_slips(ratings.categories, uses):
        by = [writers[j] for j in np.flatnonzero(uses[:, slip])]
        who = first_few(by, MOST_WRITERS_SHOWN)
        if len(by) == 1 and not uses[writers.index(by[0]), other]:
            who += ", who never uses the other"
        cells = uses.sum(axis=0)
        sentences.append(
            f"the category {str(ratings.categories[slip])!r} ({counted(int(cells[slip]), 'cell')}, "
            f"by {who}) looks like another spelling of {str(ratings.categories[other])!r} "
            f"({counted(int(cells[other]), 'cell')}); correct it, or name all categories "
            "(categories=…)"
        )
    return tuple(sentences)


def _count_uses(ratings: "Ratings") -> Integers:
    """Count the cells of each rater, each system and the truths, (n_writers, n_categories)."""
    others = [*ratings.answers.T, *([] if ratings.truth is None else [ratings.truth])]
    rows = [np.bincount(codes[codes >= 0], minlength=ratings.n_categories) for codes in others]
    return np.vstack([count_by_rater(ratings), *rows])


def count_by_rater(ratings: "Ratings") -> Integers:
    """Count the ratings of each rater in each category, (n_raters, n_categories)."""
    flat, n_raters, n_categories = ratings.given, ratings.n_raters, ratings.n_categories
    return count_categories(flat.rater_index, flat.category_index, n_raters, n_categories)


def likely_slips(categories: tuple[Label, ...], uses: Integers) -> list[tuple[int, int]]:
    """Find categories that are nearly written like another, and rare or used by one writer alone.

    Parameters
    ----------
    categories : tuple of str or int
    uses : ndarray of int, shape (n_writers, n_categories)
        How often each writer uses each category.

    Returns
    -------
    list of pairs
        Index of the category, and of that which was probably meant.

    Examples
    --------
    >>> likely_slips(("positiv", "positive"), np.array([[1, 210], [0, 211]]))
    [(0, 1)]
    >>> likely_slips(("positiv", "positive"), np.array([[200, 0], [0, 211], [0, 190]]))
    [(0, 1)]
    >>> likely_slips(("abnormal", "normal"), np.array([[1, 210], [0, 211]]))
    []
    """
    cells = uses.sum(axis=0)
    n_users = (uses > 0).sum(axis=0)
    slips = []
    for pair in combinations(np.flatnonzero(cells).tolist(), 2):
        rare, frequent = sorted(pair, key=lambda k: cells[k])
        few = cells[rare] <= max(1, MOST_SHARE * cells.sum())
        odd = few and cells[frequent] >= FEWEST_TIMES * cells[rare]
        if not odd:
            rare, frequent = sorted(pair, key=lambda k: (n_users[k], cells[k]))
            odd = n_users[rare] == 1 and not (uses[:, rare] * uses[:, frequent]).any()
        if odd and _near(categories[rare], categories[frequent]):
            slips.append((rare, frequent))
    return slips


def _near(one: Label, other: Label) -> bool:
    short, long = sorted((fold(one), fold(other)), key=lambda text: (len(text), text))
    if len(long) > LONGEST_LABEL or long.endswith(short):
        return False  # a prefix makes another word: normal, abnormal
    if any(character.isdigit() for character in short + long):
        return False
    words = [(a, b) for a, b in zip(short.split(), long.split(), strict=False) if a != b]
    if len(short.split()) == len(long.split()) and len(words) == 1:
        short, long = sorted(words[0], key=lambda text: (len(text), text))
    if len(short) < SHORTEST_LABEL or long.endswith(short):
        return False
    return difflib.SequenceMatcher(None, short, long, autojunk=False).ratio() >= NEAR
