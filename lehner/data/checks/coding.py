"""Checks for a system, truths or a rater whose labels differ from those of the rest."""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.errors import DataWarning, InputError
from lehner.core.wording import counted
from lehner.data.checks.slips import MOST_COUNTED_CELLS, count_by_rater, say_slips

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
    slips = () if fixed else say_slips(ratings)
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
    n_raters, n_categories = ratings.n_raters, ratings.n_categories
    if ratings.anonymous or n_raters * n_categories > MOST_COUNTED_CELLS:
        by_rater = np.bincount(ratings.given.category_index, minlength=n_categories)[None]
    else:
        by_rater = count_by_rater(ratings)
    rated = by_rater.sum(axis=0)
    sentences: list[str] = []
    coded = [(_whose(ratings, j), answers) for j, answers in enumerate(ratings.answers.T)]
    if ratings.truth is not None:
        coded.append(("truths", ratings.truth))
    for whose, codes in coded:
        given = _count(ratings, codes)
        if not given.any():
            continue
        problem = _otherwise(ratings, whose, given, rated)
        if problem and refuse and given.sum() >= FEWEST_ANSWERS:
            raise InputError(problem, REMEDY)
        sentences += [problem] if problem else _strange(ratings, whose, given, rated)
    return [*sentences, *_raters_apart(ratings, by_rater, refuse=refuse)]


def _whose(ratings: "Ratings", system: int) -> str:
    one = len(ratings.systems) == 1
    return "the system's answers" if one else f"the answers of {ratings.systems[system]!r}"


def _count(ratings: "Ratings", codes: Integers) -> Integers:
    known = codes >= 0
    counts = np.bincount(codes[known], ratings.weights[known], minlength=ratings.n_categories)
    return counts.astype(np.int64)


def _otherwise(ratings: "Ratings", whose: str, given: Integers, rated: Integers) -> str:
    """Say that answers have hardly a label in common with the ratings, if so."""
    shared = given[rated > 0].sum()
    if shared and (given.sum() < SURE_ANSWERS or shared >= LEAST_SHARED * given.sum()):
        return ""
    return (
        f"{whose} are {_labels(ratings, given)} and the raters' ratings "
        f"{_labels(ratings, rated)}, with {'hardly a' if shared else 'no'} label in common"
    )


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
