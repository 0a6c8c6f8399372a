"""Checks for labels that differ between a system, the gold labels and raters, or nearly agree."""

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
MOST_COUNTED_CELLS = 10_000_000
PACKAGE = str(Path(__file__).parents[2])
REMEDY = (
    "code them alike, or, if they are meant so, name all categories in their order (categories=…)"
)
ONE_LOWER = "; if the codes of one start at a lower number, code them alike"


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
        If a system, the gold labels or a rater have other labels than the rest.
    """
    uses = _count_uses(ratings)
    slips = [] if fixed else _say_slips(ratings, uses)
    _warn((*odd, *slips))
    return check_coding(ratings, refuse=not fixed, uses=uses, noted=slips)


def check_coding(
    ratings: "Ratings",
    *,
    refuse: bool = True,
    uses: Integers | None = None,
    noted: Sequence[str] = (),
) -> "Ratings":
    """Raise an error, or warn, if answers are coded differently from the raters' ratings."""
    uses = _count_uses(ratings) if uses is None else uses
    odd = _find_other_coding(ratings, uses, refuse=refuse)
    _warn(odd)
    return ratings._note(*noted, *odd)


def _warn(texts: Iterable[str]) -> None:
    """Warn of each, with the line outside this package that read the data."""
    for text in texts:
        warnings.warn(text, DataWarning, skip_file_prefixes=(PACKAGE,))


def _find_other_coding(ratings: "Ratings", uses: Integers, *, refuse: bool) -> list[str]:
    """Find systems, gold labels and raters with other labels than the rest, a sentence for each."""
    n_raters = len(uses) - len(ratings.systems) - (ratings.truth is not None)
    rated = uses[:n_raters].sum(axis=0)
    writers = [f"the ratings of {name!r}" for name in ratings.raters[:n_raters]]
    of_systems = [f"the answers of {name!r}" for name in ratings.systems]
    writers += of_systems if len(of_systems) > 1 else ["the system's answers"] * len(of_systems)
    sentences = []
    for place, (whose, own) in enumerate(zip([*writers, "the gold labels"], uses, strict=False)):
        is_rater, total = place < n_raters, own.sum()
        others = rated - own if is_rater else rated
        shared = own[others > 0].sum()
        hardly = not is_rater and total >= SURE_ANSWERS and shared < LEAST_SHARED * total
        if not total or not others.any() or (is_rater and total < FEWEST_ANSWERS):
            continue
        labels, of_others = _labels(ratings, own), _labels(ratings, others)
        if shared and not hardly:
            if not is_rater:
                sentences += _say_strange(ratings, whose, own, others)
            continue
        who = "those of the other raters" if is_rater else "and the raters' ratings"
        problem = (
            f"{whose} are {labels}{',' * is_rater} {who} {of_others}, with "
            f"{'hardly a' if shared else 'no'} label in common"
        )
        if refuse and total >= (SURE_ANSWERS if is_rater else FEWEST_ANSWERS):
            raise InputError(problem, REMEDY)
        if n_raters <= place < len(writers) and not shared and total >= SURE_ANSWERS:
            raise InputError(problem, "code them alike, or name another column as the system")
        sentences.append(problem)
    return sentences


def _say_strange(ratings: "Ratings", whose: str, own: Integers, rated: Integers) -> list[str]:
    """Say which answers no rater gives, if they are some."""
    strange = np.where(rated > 0, 0, own)
    if strange.sum() < max(FEWEST_STRANGE, LEAST_STRANGE * own.sum()):
        return []
    whole = all(isinstance(category, int) for category in ratings.categories)
    return [
        f"{strange.sum()} of {own.sum()} {whose.removeprefix('the ')} are "
        f"{_labels(ratings, strange)}, which no rater gives{ONE_LOWER * whole}"
    ]


def _labels(ratings: "Ratings", counts: Integers) -> str:
    used = [str(ratings.categories[k]) for k in np.flatnonzero(counts)]
    more = f", … ({counted(len(used), 'label')})" if len(used) > MOST_LABELS_SHOWN else ""
    return ", ".join(used[:MOST_LABELS_SHOWN]) + more


def _count_uses(ratings: "Ratings") -> Integers:
    """Count the cells of the raters, systems and gold labels, (n_writers, n_categories).

    Raters are one if they are anonymous, or too many to be counted apart.
    """
    flat, n_categories, n_raters = ratings.given, ratings.n_categories, ratings.n_raters
    rater = flat.rater_index
    if ratings.anonymous or n_raters * n_categories > MOST_COUNTED_CELLS:
        rater, n_raters = np.zeros_like(rater), 1
    others = [*ratings.answers.T, *([] if ratings.truth is None else [ratings.truth])]
    rows = [
        np.bincount(codes + 1, ratings.weights, n_categories + 1)[1:].astype(np.int64)
        for codes in others
    ]
    return np.vstack([count_categories(rater, flat.category_index, n_raters, n_categories), *rows])


MOST_LABELS = 200
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


def _say_slips(ratings: "Ratings", uses: Integers) -> list[str]:
    """Name each category that is nearly written like another, and by whom it is used."""
    writers = [*ratings.all_raters, "the gold labels"]
    if ratings.n_categories > MOST_LABELS or len(uses) < len(ratings.all_raters):
        return []
    cells = uses.sum(axis=0)
    sentences = []
    for slip, other in likely_slips(ratings.categories, uses):
        by = np.flatnonzero(uses[:, slip])
        who = first_few((writers[j] for j in by), MOST_WRITERS_SHOWN)
        if len(by) == 1 and not uses[by[0], other]:
            who += ", who never uses the other"
        sentences.append(
            f"the category {str(ratings.categories[slip])!r} ({counted(int(cells[slip]), 'cell')}, "
            f"by {who}) looks like another spelling of {str(ratings.categories[other])!r} "
            f"({counted(int(cells[other]), 'cell')}); correct it, or name all categories "
            "(categories=…)"
        )
    return sentences


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
    cells, n_users = uses.sum(axis=0), (uses > 0).sum(axis=0)
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
    if len(long) > LONGEST_LABEL or any(map(str.isdigit, short + long)):
        return False
    words = [pair for pair in zip(short.split(), long.split(), strict=False) if len({*pair}) > 1]
    if len(short.split()) == len(long.split()) and len(words) == 1:
        short, long = sorted(words[0], key=lambda text: (len(text), text))
    # A prefix makes another word: normal, abnormal.
    if len(short) < SHORTEST_LABEL or long.endswith(short):
        return False
    return difflib.SequenceMatcher(None, short, long, autojunk=False).ratio() >= least
