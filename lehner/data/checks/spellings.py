"""Different spellings of the same category."""

import difflib
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.wording import counted, first_few
from lehner.data.categories import Label
from lehner.data.spelling import fold, value_or_folded

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


def same_spelling(cells: Mapping[Label, int]) -> list[list[Label]]:
    """Find categories that differ only in case, space, Unicode form or how numbers are written.

    Parameters
    ----------
    cells : mapping
        How often each category occurs.

    Returns
    -------
    list of lists
        Spellings of the same category, the rarest first.

    Examples
    --------
    >>> same_spelling({"yes": 9, "Yes": 2, "no": 7})
    [['Yes', 'yes']]
    """
    alike: dict[str, list[Label]] = {}
    for label in sorted(cells, key=lambda one: (cells[one], str(one))):
        alike.setdefault(value_or_folded(label), []).append(label)
    return [labels for labels in alike.values() if len(labels) > 1]


def say_slips(ratings: "Ratings") -> tuple[str, ...]:
    """Name categories that are nearly written like another one and look like a mistake.

    They are rare beside the other one, or only one rater (or system) uses them, who never uses the
    other one.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    tuple of str
        A sentence for each.
    """
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
    n_categories = ratings.n_categories
    flat = ratings.given
    cell = flat.rater_index * n_categories + flat.category_index
    given = np.bincount(cell, minlength=ratings.n_raters * n_categories)
    others = [*ratings.answers.T, *([] if ratings.truth is None else [ratings.truth])]
    rows = [np.bincount(codes[codes >= 0], minlength=n_categories) for codes in others]
    return np.vstack([given.reshape(ratings.n_raters, n_categories), *rows])


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
