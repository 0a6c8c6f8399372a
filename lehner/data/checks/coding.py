"""Checks for labels that differ between a system, the truths and raters, or nearly agree."""

import difflib
import warnings
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.errors import DataWarning, InputError
from lehner.core.text import counted, first_few
from lehner.data.categories import Label, fold
from lehner.data.flat import count_categories

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings


FEWEST_ANSWERS = 5
SURE_ANSWERS = 20
LEAST_SHARED = 0.1
LEAST_STRANGE = 0.05
FEWEST_STRANGE = 3
MOST_LABELS_SHOWN = 8
PACKAGE = str(Path(__file__).parents[2])
REMEDY = (
    "code them alike, or, if they are meant so, name all categories in their order (categories=…)"
)


def check_read(ratings: "Ratings", odd: Sequence[str], *, fixed: bool) -> "Ratings":
    """Check ratings that were read from a table.

    Parameters
    ----------
    ratings : Ratings
        Whose notes say what looked odd in the table.
    odd : sequence of str
        What looked odd, which is also given as a `DataWarning`.
    fixed : bool
        Whether the categories were named by the user or by the type of a column; there are then
        warnings where there would be errors.

    Returns
    -------
    Ratings
        With notes of what looks odd in them.

    Raises
    ------
    InputError
        If a system, the truths or a rater have other labels than the rest.
    """
    slips = () if fixed else _say_slips(ratings)
    _warn((*odd, *slips))
    return check_coding(ratings._note(*slips), refuse=not fixed)


def check_coding(ratings: "Ratings", *, refuse: bool = True) -> "Ratings":
    """Raise an error, or warn, if answers are coded differently from the raters' ratings."""
    odd = _other_coding(ratings, refuse=refuse)
    _warn(odd)
    return ratings._note(*odd)


def _warn(texts: Iterable[str]) -> None:
    """Warn of each, with the line outside this package that read the data."""
    for text in texts:
        warnings.warn(text, DataWarning, skip_file_prefixes=(PACKAGE,))


def _other_coding(ratings: "Ratings", *, refuse: bool) -> list[str]:
    """Find systems, truths and raters with other labels than the rest, a sentence for each."""
    if len(ratings.given.item_index) == 0:
        return []
    n_categories = ratings.n_categories
    if ratings.anonymous or ratings.n_raters * n_categories > MOST_COUNTED_CELLS:
        by_rater = np.bincount(ratings.given.category_index, minlength=n_categories)[None]
    else:
        by_rater = _count_by_rater(ratings)
    rated = by_rater.sum(axis=0)
    sentences: list[str] = []
    whose_answers = [f"the answers of {name!r}" for name in ratings.systems]
    if len(whose_answers) == 1:
        whose_answers = ["the system's answers"]
    coded = list(zip(whose_answers, ratings.answers.T, strict=True))
    if ratings.truth is not None:
        coded.append(("truths", ratings.truth))
    for whose, codes in coded:
        given = np.bincount(codes + 1, ratings.weights, n_categories + 1)[1:].astype(np.int64)
        if not given.any():
            continue
        shared = given[rated > 0].sum()
        if shared and (given.sum() < SURE_ANSWERS or shared >= LEAST_SHARED * given.sum()):
            sentences += _strange(ratings, whose, given, rated)
            continue
        problem = (
            f"{whose} are {_labels(ratings, given)} and the raters' ratings "
            f"{_labels(ratings, rated)}, with {'hardly a' if shared else 'no'} label in common"
        )
        if refuse and given.sum() >= FEWEST_ANSWERS:
            raise InputError(problem, REMEDY)
        if codes is not ratings.truth and not shared and given.sum() >= SURE_ANSWERS:
            raise InputError(problem, "code them alike, or name another column as the system")
        sentences.append(problem)
    return [*sentences, *_raters_apart(ratings, by_rater, refuse=refuse)]


def _strange(ratings: "Ratings", whose: str, given: Integers, rated: Integers) -> list[str]:
    """Say which answers no rater gives, if they are some."""
    strange = np.where(rated > 0, 0, given)
    if strange.sum() < max(FEWEST_STRANGE, LEAST_STRANGE * given.sum()):
        return []
    text = (
        f"{strange.sum()} of {given.sum()} {whose.removeprefix('the ')} are "
        f"{_labels(ratings, strange)}, which no rater gives"
    )
    if _one_off(ratings, given, rated):
        text += (
            f": {whose} are {_labels(ratings, given)}, the raters' ratings "
            f"{_labels(ratings, rated)}; if the codes of one start at a lower number, code them "
            "alike"
        )
    return [text]


def _one_off(ratings: "Ratings", given: Integers, rated: Integers) -> bool:
    if not all(isinstance(category, int) for category in ratings.categories):
        return False
    numbers = np.array(ratings.categories)
    one, other = numbers[given > 0], numbers[rated > 0]
    return len(one) == len(other) and len(set((np.sort(one) - np.sort(other)).tolist())) == 1


def _raters_apart(ratings: "Ratings", counts: Integers, *, refuse: bool) -> list[str]:
    """Find raters none of whose labels another rater gives."""
    if len(counts) < 2:
        return []
    others = counts.sum(axis=0) - counts
    shared = np.where(others > 0, counts, 0).sum(axis=1)
    apart = (shared == 0) & (counts.sum(axis=1) >= FEWEST_ANSWERS) & others.any(axis=1)
    sentences = []
    for j in np.flatnonzero(apart):
        problem = (
            f"the ratings of {ratings.raters[j]!r} are {_labels(ratings, counts[j])}, those of the "
            f"other raters {_labels(ratings, others[j])}, with no label in common"
        )
        if refuse and counts[j].sum() >= SURE_ANSWERS:
            raise InputError(problem, REMEDY)
        sentences.append(problem)
    return sentences


def _labels(ratings: "Ratings", counts: Integers) -> str:
    used = [str(ratings.categories[k]) for k in np.flatnonzero(counts)]
    more = f", … ({counted(len(used), 'label')})" if len(used) > MOST_LABELS_SHOWN else ""
    return ", ".join(used[:MOST_LABELS_SHOWN]) + more


MOST_LABELS = 200
MOST_COUNTED_CELLS = 10_000_000
LONGEST_LABEL = 60
SHORTEST_LABEL = 3
FEWEST_TIMES = 20
MOST_PROPORTION = 0.01
NEAR = 0.8
"""The least similarity of two spellings, as `difflib` has it: one letter of five may differ."""
VERY_NEAR = 0.9
"""The least similarity to a spelling that the writer uses, too."""
MANY_USERS = 3
MOST_WRITERS_SHOWN = 3


def _say_slips(ratings: "Ratings") -> tuple[str, ...]:
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
    return np.vstack([_count_by_rater(ratings), *rows])


def _count_by_rater(ratings: "Ratings") -> Integers:
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
    >>> likely_slips(("positiv", "positive"), np.array([[20, 80], [0, 90], [0, 99]]))
    [(0, 1)]
    >>> likely_slips(("abnormal", "normal"), np.array([[1, 210], [0, 211]]))
    []
    """
    cells = uses.sum(axis=0)
    n_users = (uses > 0).sum(axis=0)
    slips = []
    for pair in combinations(np.flatnonzero(cells).tolist(), 2):
        rare, frequent = sorted(pair, key=lambda k: cells[k])
        few = cells[rare] <= max(1, MOST_PROPORTION * cells.sum())
        odd = few and cells[frequent] >= FEWEST_TIMES * cells[rare]
        if not odd:
            rare, frequent = sorted(pair, key=lambda k: (n_users[k], cells[k]))
            odd = n_users[rare] == 1
        both = not few and (uses[:, rare] * uses[:, frequent]).any()
        if both and n_users[frequent] < MANY_USERS:
            continue
        if odd and _near(categories[rare], categories[frequent], VERY_NEAR if both else NEAR):
            slips.append((rare, frequent))
    return slips


def _near(one: Label, other: Label, least: float) -> bool:
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
    return difflib.SequenceMatcher(None, short, long, autojunk=False).ratio() >= least
