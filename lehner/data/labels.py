"""Labels of categories: their plain form and spellings, and who uses which."""

import difflib
import re
import tomllib
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.errors import DataWarning, InputError
from lehner.core.text import counted, first_few
from lehner.data.patterns import count_categories

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings

type Label = str | int

# Texts that are read as a missing rating; not `None`, which is a common category.
MISSING = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>"})

BOOLEANS = (bool, np.bool_)
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.0+)?")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]+)?")
INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
NUMBER = re.compile(r"[-+]?[0-9]{1,15}([.,][0-9]{1,15})?")
THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+")


@cache
def load_words(file: str = "words.toml") -> dict[str, Any]:
    """Load lists of words, or what the names of columns mean, from a file of this folder."""
    return tomllib.loads(files("lehner.data").joinpath(file).read_text(encoding="utf-8"))


def plain_label(value: Any) -> Any:
    """Label as Python text, int or float; None if it means a missing rating."""
    try:
        if value is None or value != value:
            return None
    except (TypeError, ValueError):  # pandas.NA, or something that is not a label
        return None
    if isinstance(value, BOOLEANS):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return int(value) if float(value).is_integer() else float(value)
    text = str(value).strip()
    return None if text in MISSING else text


def unify(labels: Iterable[Any]) -> dict[Any, Label]:
    """Map each label to the name it is kept under: all whole numbers, or all text.

    Ratings 1 and 1.0 are one category: tools write the second for the first in a column that
    has missing values or decimals.

    Parameters
    ----------
    labels : iterable
        Labels of all the columns that share categories.

    Returns
    -------
    dict

    Examples
    --------
    >>> unify(["1", "2.0"])
    {'1': 1, '2.0': 2}
    >>> unify(["1", "B"])
    {'1': '1', 'B': 'B'}
    >>> unify(["0.5", "1.0"])
    {'0.5': '0.5', '1.0': '1'}
    """
    distinct = list(dict.fromkeys(labels))
    if all(_INTEGER.fullmatch(str(label)) for label in distinct):
        return {label: int(str(label).split(".")[0]) for label in distinct}
    if all(_DECIMAL.fullmatch(str(label)) for label in distinct):
        return {label: re.sub(r"\.0+$", "", str(label)) for label in distinct}
    return {label: str(label) for label in distinct}


def as_numbers(categories: Sequence[Label]) -> list[float] | None:
    """Numbers of categories, whole or decimal; None if one is not a number.

    Examples
    --------
    >>> as_numbers(["0.5", "1"]), as_numbers(["1", "B"])
    ([0.5, 1.0], None)
    """
    texts = [str(category) for category in categories]
    if not texts or not all(map(_DECIMAL.fullmatch, texts)):
        return None
    return [float(text) for text in texts]


def category_names(n_categories: int) -> tuple[Label, ...]:
    """Name categories A, B, C, …, or 1, 2, 3, … if there are more than letters.

    Examples
    --------
    >>> category_names(3)
    ('A', 'B', 'C')
    """
    if n_categories <= len(ascii_uppercase):
        return tuple(ascii_uppercase[:n_categories])
    return tuple(range(1, n_categories + 1))


def check_categories(categories: Sequence[Any]) -> tuple[Label, ...]:
    """Raise an InputError unless the categories are distinct names that a table can hold.

    Parameters
    ----------
    categories : sequence of str or int

    Returns
    -------
    tuple of str or int
    """
    named = tuple(plain_label(category) for category in categories)
    if not all(isinstance(c, str | int | float | np.generic) for c in categories) or None in named:
        raise InputError(
            f"the categories {list(categories)} are not all names",
            "give text or whole numbers, none of them blank",
        )
    names = unify(named)
    if len(set(names.values())) < len(named):
        raise InputError(f"the categories {list(categories)} repeat", "name each once")
    return tuple(names[name] for name in named)


def fold(label: Any) -> str:
    r"""Label in lower case, one kind of white space and one Unicode form.

    Numbers stay as they are written: 1,000, 1 and 1.0 are three labels, and 10\u00b2 is not 102.

    Parameters
    ----------
    label : str, int or float

    Returns
    -------
    str

    Examples
    --------
    >>> fold(" Not\u00a0 Sure"), fold("\uff2e\uff2f"), fold("1,000")
    ('not sure', 'no', '1,000')
    """
    text = str(label)
    if text.isascii():
        return " ".join(text.casefold().split())
    text = _one_form(text.translate(INVISIBLE)).casefold()
    return _one_form(" ".join(text.split()))


def _one_form(text: str) -> str:
    """Text in one Unicode form, powers and fractions as they are."""
    plain = (
        c if c.isnumeric() and not c.isdecimal() else unicodedata.normalize("NFKC", c) for c in text
    )
    return unicodedata.normalize("NFC", "".join(plain))


def value_or_folded(label: Any) -> str:
    """Text that is equal for labels which may be one: numbers by their value, others folded.

    Examples
    --------
    >>> value_or_folded("2.0"), value_or_folded("02"), value_or_folded("2,0")
    ('2', '2', '2')
    >>> value_or_folded("1,000"), value_or_folded(" Yes")
    ('1000', 'yes')
    """
    text = fold(label)
    if THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    return f"{float(text.replace(',', '.')):.15g}" if NUMBER.fullmatch(text) else text


# Who uses which category


PACKAGE = str(Path(__file__).parents[1])
FEWEST_ANSWERS, SURE_ANSWERS = 5, 20
LEAST_SHARED = 0.1
FEWEST_STRANGE, LEAST_STRANGE = 3, 0.05
MOST_COUNTED_CELLS = 10_000_000
# Categories that are compared, and the lengths of labels that may be slips.
MOST_LABELS, LONGEST_LABEL, SHORTEST_LABEL = 200, 60, 3
# A rare category is at most this proportion of cells, and another is this many times as common.
FEWEST_TIMES, MOST_PROPORTION = 20, 0.01
# Of two spellings, as `difflib` has it: one letter of five may differ.
LEAST_SIMILARITY = 0.8
FEW_RATINGS, FEWEST_TO_JUDGE = 10, 20
MOST_SHOWN = 5


def check_coding(ratings: "Ratings", *, fixed: bool = False) -> "Ratings":
    """Raise an error, or warn, if answers are coded differently from the raters' ratings.

    Parameters
    ----------
    ratings : Ratings
    fixed : bool
        Whether the categories were named by the user or by the type of a column; there are then
        warnings where there would be errors.

    Returns
    -------
    Ratings
        With notes of what looks odd, which is also given as a `DataWarning`.

    Raises
    ------
    InputError
        If a system, the gold labels or a rater have other labels than the rest.
    """
    odd = list(_find_other_coding(ratings, count_uses(ratings), fixed))
    warn_of_data(odd)
    return ratings.note(*odd)


def warn_of_data(texts: Iterable[str]) -> None:
    """Warn of each, with the line outside this package that read the data."""
    for text in texts:
        warnings.warn(text, DataWarning, skip_file_prefixes=(PACKAGE,))


def count_uses(ratings: "Ratings") -> Integers:
    """Count the cells of the raters, systems and gold labels, (n_writers, n_categories).

    Raters are one if they are anonymous, or too many to be counted apart.
    """
    flat, k, n_raters = ratings.ratings, ratings.n_categories, ratings.n_raters
    rater = flat.rater_index
    if ratings.anonymous or n_raters * k > MOST_COUNTED_CELLS:
        rater, n_raters = np.zeros_like(rater), 1
    others = [*ratings.answers.T, *([] if ratings.truth is None else [ratings.truth])]
    rows = [np.bincount(codes + 1, ratings.weights, k + 1)[1:].astype(np.int64) for codes in others]
    return np.vstack([count_categories(rater, flat.category_index, n_raters, k), *rows])


def _find_other_coding(ratings: "Ratings", uses: Integers, fixed: bool) -> Iterator[str]:
    """Find systems, gold labels and raters with other labels than the rest, a sentence for each."""
    n_systems = len(ratings.systems)
    n_raters = len(uses) - n_systems - (ratings.truth is not None)
    rated = uses[:n_raters].sum(axis=0)
    systems = [f"the answers of {name!r}" for name in ratings.systems]
    writers = [f"the ratings of {name!r}" for name in ratings.raters[:n_raters]]
    writers += systems if n_systems > 1 else ["the system's answers"] * n_systems

    def name_labels(cells: Integers) -> str:
        return first_few([str(ratings.categories[k]) for k in np.flatnonzero(cells)], 8)

    for place, (whose, own) in enumerate(zip([*writers, "the gold labels"], uses, strict=False)):
        is_rater, total = place < n_raters, int(own.sum())
        others = rated - own if is_rater else rated
        if not total or not others.any() or (is_rater and total < FEWEST_ANSWERS):
            continue
        strange = np.where(others > 0, 0, own)
        shared = total - int(strange.sum())
        hardly = not is_rater and total >= SURE_ANSWERS and shared < LEAST_SHARED * total
        if shared and not hardly:
            if not is_rater and strange.sum() >= max(FEWEST_STRANGE, LEAST_STRANGE * total):
                yield (
                    f"{strange.sum()} of {total} {whose.removeprefix('the ')} are "
                    f"{name_labels(strange)}, which no rater gives; if codes of one start at "
                    "a lower number, code them alike"
                )
            continue
        who = ", those of the other raters" if is_rater else " and the raters' ratings"
        problem = f"{whose} are {name_labels(own)}{who} {name_labels(others)}, with "
        problem += f"{'hardly a' if shared else 'no'} label in common"
        if not fixed and total >= (SURE_ANSWERS if is_rater else FEWEST_ANSWERS):
            remedy = "code them alike, or, if they are meant so, name all categories in their order"
            raise InputError(problem, f"{remedy} (categories=…)")
        if n_raters <= place < len(writers) and not shared and total >= SURE_ANSWERS:
            raise InputError(problem, "code them alike, or name another column as the system")
        yield problem


def describe_slips(ratings: "Ratings", uses: Integers) -> list[str]:
    """Name each category that is nearly written like another, and by whom it is used."""
    writers = [*ratings.all_raters, "the gold labels"]
    if ratings.n_categories > MOST_LABELS or len(uses) < len(ratings.all_raters):
        return []
    sentences = []
    for slip, other in find_likely_slips(ratings.categories, uses):
        by = np.flatnonzero(uses[:, slip])
        who = first_few((writers[j] for j in by), 3)
        if len(by) == 1 and not uses[by[0], other]:
            who += ", who never uses the other"
        n_slips, n_others = (counted(int(uses[:, k].sum()), "cell") for k in (slip, other))
        sentences.append(
            f"the category {str(ratings.categories[slip])!r} ({n_slips}, by {who}) looks like "
            f"another spelling of {str(ratings.categories[other])!r} ({n_others}); correct it, or "
            "name all categories (categories=…)"
        )
    return sentences


def find_likely_slips(categories: tuple[Label, ...], uses: Integers) -> list[tuple[int, int]]:
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
    >>> find_likely_slips(("positiv", "positive"), np.array([[1, 210], [0, 211]]))
    [(0, 1)]
    >>> find_likely_slips(("positiv", "positive"), np.array([[200, 0], [0, 211], [0, 190]]))
    [(0, 1)]
    >>> find_likely_slips(("abnormal", "normal"), np.array([[1, 210], [0, 211]]))
    []
    """
    cells, n_users = uses.sum(axis=0), (uses > 0).sum(axis=0)
    slips = []
    for pair in combinations(np.flatnonzero(cells).tolist(), 2):
        rare, frequent = sorted(pair, key=lambda k: cells[k])
        few = cells[rare] <= max(1, MOST_PROPORTION * cells.sum())
        likely = few and cells[frequent] >= FEWEST_TIMES * cells[rare]
        if not few:
            rare, frequent = sorted(pair, key=lambda k: (n_users[k], cells[k]))
            likely = n_users[rare] == 1 and not (uses[:, rare] * uses[:, frequent]).any()
        if likely and _are_near(categories[rare], categories[frequent]):
            slips.append((rare, frequent))
    return slips


def _are_near(first: Label, second: Label) -> bool:
    short, long = sorted((fold(first), fold(second)), key=lambda text: (len(text), text))
    if len(long) > LONGEST_LABEL or any(map(str.isdigit, short + long)):
        return False
    words = [pair for pair in zip(short.split(), long.split(), strict=False) if len({*pair}) > 1]
    if len(short.split()) == len(long.split()) and len(words) == 1:
        short, long = sorted(words[0], key=lambda text: (len(text), text))
    # A prefix makes another word: normal, abnormal.
    if len(short) < SHORTEST_LABEL or long.endswith(short):
        return False
    matcher = difflib.SequenceMatcher(None, short, long, autojunk=False)
    return matcher.ratio() >= LEAST_SIMILARITY


def count_gaps(ratings: "Ratings") -> Iterator[str]:
    """Count repeated ratings, unanswered items, items with one rating or none, and lazy raters.

    Parameters
    ----------
    ratings : Ratings

    Yields
    ------
    str
        A sentence for each; none if nothing is missing and nothing repeated.

    Examples
    --------
    >>> from lehner import Ratings
    >>> for text in count_gaps(Ratings([[0, 1], [1, -1]], ["no", "yes"], system=[0, -1])):
    ...     print(text)
    the system did not answer 1 of 2 items
    1 of 2 items has one rating, which tells nothing of agreement
    """
    weights, flat = ratings.weights, ratings.votes
    of_items = f"of {counted(ratings.n_items, 'item')}"
    # A rater whose repeated ratings tie has rated, and has no vote.
    unit = "vote" if ratings.repeated else "rating"
    yield from _say_repeats(ratings)
    for name, answers in zip(ratings.systems, ratings.answers.T, strict=True):
        who = "the system" if len(ratings.systems) == 1 else f"the system {name}"
        n_blank = int(weights[answers < 0].sum())
        if n_blank:
            yield f"{who} did not answer {n_blank} {of_items}"
    lengths = np.bincount(flat.item_index, minlength=ratings.n_rows)
    for length, what in ((1, f"one {unit}, which tells nothing of agreement"), (0, f"no {unit}")):
        n_items = int(weights[lengths == length].sum())
        if n_items and ratings.n_raters > length:
            yield f"{n_items} {of_items} {'has' if n_items == 1 else 'have'} {what}"
    votes = np.bincount(flat.rater_index, weights[flat.item_index], minlength=ratings.n_raters)
    few = np.flatnonzero(votes < FEW_RATINGS)
    if len(few) and not ratings.anonymous and ratings.n_items >= FEWEST_TO_JUDGE:
        shown = first_few((f"{ratings.raters[j]} {votes[j]:.0f}" for j in few), MOST_SHOWN)
        yield (
            f"{len(few)} of {counted(ratings.n_raters, 'rater')} "
            f"{'gave' if len(few) == 1 else 'each gave'} fewer than {FEW_RATINGS} {unit}s: {shown}"
        )


def _say_repeats(ratings: "Ratings") -> Iterator[str]:
    """Say how often a rater rated an item again, and what becomes of such ratings."""
    again = ratings.ratings.is_repeated
    weights = ratings.weights[ratings.ratings.item_index]
    n_again = int(weights[again].sum())
    text = "each counts as a vote of its own"
    if not ratings.independent_repeats:
        n_votes = int(ratings.weights[ratings.votes.item_index].sum())
        tied = int(weights[~again].sum()) - n_votes
        text = "a rater has one vote for an item, the rating that the rater gave most often"
        text += f", and none where two are equally frequent ({counted(tied, 'time')})" * bool(tied)
    if n_again:
        yield (
            f"{n_again} of {counted(ratings.n_ratings, 'rating')} "
            f"{'is' if n_again == 1 else 'are'} of an item that the same rater rated before: {text}"
        )
