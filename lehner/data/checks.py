"""Checks of labels: of the cells of a table before ratings are made of it, and of who uses which.

Each is a small function over the labels of all columns and how many cells have them.
"""

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.errors import DataWarning, InputError, compose, list_few
from lehner.core.text import pluralise
from lehner.data.columns import NUMBER, Column, Label, fold, fold_label, load_words, to_numbers
from lehner.data.reading import Reading

MOST_SHOWN = 8
# More different numbers than these are scores.
MOST_DECIMALS, MOST_WHOLE_NUMBERS = 20, 100
FEWEST_TEXTS = 20
WIDEST_GAP, LOOKED_AT = 3, 50
SENTINELS = (9, 77, 88, 97, 98, 99, 777, 888, 998, 999, 7777, 8888, 9999)
SCORE = re.compile(r"[-+]?[0-9]*[.,]?[0-9]+([eE][-+]?[0-9]+)?\s*%?")
WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")
DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}\b.*|\d{1,2}:\d\d(:\d\d)?( ?[ap]m)?", re.I)
DECIMAL_COMMA = re.compile(r"[-+]?[0-9]{1,3},[0-9]{1,2}")
SEVERAL_NUMBERS = re.compile(r"[0-9]+(\.[0-9]+)?\s*[-/–]\s*[0-9]+(\.[0-9]+)?")
# A text that only begins with a word in brackets is no list.
BRACKETS = re.compile(r"\[.*\]", re.DOTALL)
SIGNS = r"[\s\[\](){}<>*_`.:;,!\"']*"
AROUND = re.compile(
    rf"^((final )?(answer|verdict|label|rating|score)( is)? *[:=])?{SIGNS}|{SIGNS}$"
)
NAME_ALL = compose("name all categories ({categories})")

# How many cells each label is in.
type Cells = Mapping[Label, int]
# A label that is a mistake, and what is wrong with it.
type Problem = tuple[Label, InputError]


def check_labels(
    columns: Mapping[str, Column], names: Mapping[Any, Label], *, refuse: bool
) -> list[str]:
    """Raise an InputError if categories are probably an error, and name those that look odd.

    Parameters
    ----------
    columns : mapping of str to Column
        The columns of raters, systems and gold labels.
    names : mapping
        From label as found to category.
    refuse : bool
        Whether to raise errors; else there are only warnings, for example if the categories of all
        columns were declared (a pandas categorical).

    Returns
    -------
    list of str
        What looks odd, one sentence for each point.
    """
    cells: Counter[Label] = Counter()
    for column in columns.values():
        for label, n in zip(column.labels, column.count_labels().tolist(), strict=True):
            cells[names[label]] += n
    cells, odd = +cells, []
    for label, error in islice(filter(None, (check(cells) for check in CHECKS)), 1):
        for name, column in columns.items() if refuse else ():
            has_label = column.look_up([names[x] == label for x in column.labels], False)
            if has_label.any():
                error.row, error.column = int(np.argmax(has_label)), name
                raise error
        odd.append(str(error))
    for label in cells:
        is_word = str(label).casefold() in load_words()["maybe_placeholders"]
        if is_word or (str(label) == "None" and len(cells) > 2):
            what = f"{str(label)!r} ({pluralise(cells[label], 'cell')}) counts as a category"
            way = {"missing": (str(label),)}
            odd.append(compose("{}; if it means a missing rating, read it as one ({})", what, way))
    return odd


def check_sets(columns: Mapping[str, Column]) -> list[str]:
    """Name labels in sets that differ only in how they are written."""
    cells: Counter[Label] = Counter()
    for column in columns.values():
        for written, n in zip(column.labels, column.count_labels().tolist(), strict=True):
            cells.update(dict.fromkeys(list_of(written), n))
    found = find_spellings(cells)
    return [str(found[1])] if found else []


def group_alike[T](labels: Iterable[T], form: Callable[[T], str]) -> list[list[T]]:
    """Group labels that have the same form, which is not blank."""
    groups: dict[str, list[T]] = {}
    for label in labels:
        groups.setdefault(form(label), []).append(label)
    return [group for same, group in groups.items() if same and len(group) > 1]


def find_spellings(cells: Cells) -> Problem | None:
    """Find categories that differ only in case, space, Unicode form or how numbers are written."""
    rarest_first = sorted(cells, key=lambda label: (cells[label], str(label)))
    groups = group_alike(rarest_first, fold_label)
    if not groups:
        return None
    spellings = ", ".join("/".join(repr(str(label)) for label in group) for group in groups)
    counts = ", ".join("/".join(str(cells[label]) for label in group) for group in groups)
    problem = f"the categories {spellings} (in {counts} cells) differ only in how they are written"
    # Numbers that are written otherwise may be others.
    pairs = [(x, usual) for *rare, usual in groups for x in rare if fold(x) == fold(usual)]
    change = {"labels": tuple(f"{x}={usual}" for x, usual in pairs)} if pairs else {}
    way = compose(" read them as one ({}),", change) if pairs else ""
    remedy = compose("write them alike,{} or, if they are several, {}", way, NAME_ALL)
    return groups[0][0], InputError(problem, remedy, change=change)


def find_written_around(cells: Cells) -> Problem | None:
    """Find labels with signs or words around another label, as [[A]] and Answer: A."""
    shortest_first = sorted(cells, key=lambda label: (len(str(label)), str(label)))
    groups = group_alike(shortest_first, lambda label: AROUND.sub("", str(label).casefold()))
    if not groups:
        return None
    problem = f"the labels {', '.join(repr(str(x)) for x in groups[0])} look like one category"
    pairs = tuple(f"{label}={plain}" for plain, *labels in groups for label in labels)
    remedy = compose("say what is which ({}), or {}", change := {"labels": pairs}, NAME_ALL)
    return groups[0][0], InputError(problem, remedy, change=change)


def find_placeholder(cells: Cells) -> Problem | None:
    """Find a label that means a missing rating unless the user names it as a category."""
    for label in list_placeholders(cells):
        problem = f"{str(label)!r} ({pluralise(cells[label], 'cell')}) would count as a category"
        remedy = "read it as no rating ({}) or, if it is one, name all categories ({categories})"
        return label, InputError(problem, remedy, change={"missing": (str(label),)})
    return None


def list_placeholders(labels: Iterable[Label]) -> list[Label]:
    """List labels that mean a missing rating: signs, None or -1 among numbers, 99 far above them.

    Examples
    --------
    >>> list_placeholders([1, 2, 3, 99]), list_placeholders([-1, 0, 1])
    ([99], [-1])
    >>> list_placeholders(["none", "mild", "?"]), list_placeholders(["None", 1, 2])
    (['?'], ['None'])
    >>> list_placeholders(["+", "-"])
    []
    """
    plain = {label: str(label).casefold() for label in labels}
    numbers = sorted(int(text) for text in plain.values() if re.fullmatch(r"-?[0-9]{1,9}", text))
    words = set(plain.values()) - {str(number) for number in numbers}
    signs = any(set(text) == {"+"} for text in plain.values())  # then - is a result too
    absent = {x for x in load_words()["placeholders"] if not (signs and set(x) == {"-"})}
    if words == {"none"} and numbers:
        absent |= words
    if not words and len(numbers) > 2:
        lowest, second, last_but_one, highest = (numbers[k] for k in (0, 1, -2, -1))
        far_below = lowest == -1 or (-lowest != highest and second - lowest > WIDEST_GAP)
        if lowest < 0 <= second and far_below:
            absent.add(str(lowest))
        if highest in SENTINELS and lowest >= 0 and highest - last_but_one > WIDEST_GAP:
            absent.add(str(highest))
    return [label for label, text in plain.items() if text in absent]


def find_list(cells: Cells) -> Problem | None:
    """Find a cell with several labels."""
    remedy = compose("compare sets of labels ({sets=True}), or make a column of each label")
    texts = set(map(str, cells))
    for label in cells:
        parts = list_of(label) if re.search(r"^\[|[,;|]", str(label)) else [label]
        several = len(parts) > 1 and texts.issuperset(map(str, parts))
        several = several and not DECIMAL_COMMA.fullmatch(str(label))
        if several or (BRACKETS.fullmatch(str(label)) and len(parts) != 1):
            problem = f"{str(label)[:40]!r} is a list: an item has several labels"
            return label, InputError(problem, remedy)
    return None


def list_of(label: object) -> list[Any]:
    """Read the list that a cell holds, in brackets or separated by commas, semicolons or `|`.

    Examples
    --------
    >>> list_of("[1, 2]"), list_of("['a']"), list_of("a"), list_of("a, b")
    ([1, 2], ['a'], ['a'], ['a', 'b'])
    """
    text = str(label)
    for form in (text, text.replace("'", '"')):
        try:
            content = json.loads(form)
        except ValueError:
            continue
        return content if isinstance(content, list) else [content]
    return re.split(r"\s*[,;|]\s*", text)


def refuse_numbers_and_lists(column: Column) -> None:
    """Raise an InputError if all cells are decimals with a comma, or if one is a list."""
    cells = dict.fromkeys(column.labels, 1)
    commas = bool(cells) and all(DECIMAL_COMMA.fullmatch(str(label)) for label in cells)
    parts = [str(part) for label in list(cells)[:LOOKED_AT] for part in list_of(label)]
    if not commas and len(cells) >= FEWEST_TEXTS and 2 * len(set(parts)) > len(parts):
        return  # they are texts of the items: labels would recur
    several, raters = "if they are by several raters, name these", {"raters": (f"{column.name}.*",)}
    found = find_other_number(cells) if commas else find_list(cells)
    if found:
        error = found[1]
        error.column = column.name
        if not commas:
            error.remedy = compose("{}; or, {} ({})", error.remedy, several, raters)
        raise error


def describe(column: Column) -> str:
    """Describe what a column holds: blanks, dates, numbers, whole numbers, lists or text.

    Examples
    --------
    >>> from lehner.data.columns import encode
    >>> [describe(encode(labels)) for labels in (["1", "2.5"], ["2026-01-31"], ["yes", "3"])]
    ['numbers', 'dates', 'text']
    """
    texts = list(map(str, column.labels))
    if texts and all(map(DATE.fullmatch, texts[:LOOKED_AT])):
        return "dates"
    if to_numbers(texts) is not None:
        return "numbers" if any("." in text for text in texts) else "whole numbers"
    if any(BRACKETS.fullmatch(text) and len(list_of(text)) > 1 for text in texts[:LOOKED_AT]):
        return "lists"
    return "text" if texts else "blank"


def find_other_number(cells: Cells) -> Problem | None:
    """Find a number that is written as 1,7 or 4/5 or 3-4."""
    for label in (label for label in cells if DECIMAL_COMMA.fullmatch(str(label))):
        problem = f"{str(label)!r} is a number with a decimal comma"
        remedy = compose("say so ({decimal=,}), or {}", NAME_ALL)
        return label, InputError(problem, remedy, change={"decimal": ","})
    several = [label for label in cells if SEVERAL_NUMBERS.fullmatch(str(label))]
    if not several or len(several) == len(cells):
        return None
    problem = f"{str(several[0])!r} holds two numbers, where others hold one label"
    remedy = compose("say which category it is ({labels}), or {}", NAME_ALL)
    return several[0], InputError(problem, remedy)


def find_scores(cells: Cells) -> Problem | None:
    """Find scores and texts."""
    kind = describe_no_categories(cells)
    if not kind:
        return None
    remedy = compose("join them ({labels}), or {}", NAME_ALL)
    if "numbers" in kind:
        remedy = compose("cut them into few categories ({cut}), or {}", NAME_ALL)
    return next(iter(cells)), InputError(f"the ratings are {kind}, not categories", remedy)


def describe_no_categories(cells: Cells) -> str:
    """Describe the labels if they are certainly not categories; else the text is empty.

    Examples
    --------
    >>> describe_no_categories({f"{i}.5%": 2 for i in range(300)})
    '300 different numbers'
    """
    texts = [str(label) for label in cells]
    numbers = [text for text in texts if SCORE.fullmatch(text)]
    whole = all(WHOLE_NUMBER.fullmatch(text) for text in numbers)
    if len(numbers) > (MOST_WHOLE_NUMBERS if whole else MOST_DECIMALS):
        return f"{len(numbers)} different numbers"
    if len(texts) >= FEWEST_TEXTS and 2 * len(texts) > sum(cells.values()):
        return f"{len(texts)} different labels in {sum(cells.values())} cells"
    return ""


# Each finds mistakes in the labels of all columns together; the first that is found counts.
CHECKS: tuple[Callable[[Cells], Problem | None], ...] = (
    find_spellings,
    find_placeholder,
    find_list,
    find_written_around,
    find_other_number,
    find_scores,
)


def say_columns(raters: Sequence[str], ignored: Iterable[str], reading: Reading) -> str:
    """Say who the raters and the systems are, and the role of other columns.

    Parameters
    ----------
    raters : sequence of str
        Names of the raters.
    ignored : iterable of str
        The columns that were not read.
    reading : Reading
        The other roles.

    Returns
    -------
    str

    Examples
    --------
    >>> say_columns(["Ann", "Bo"], ["time"], Reading(system="gpt", item="id"))
    'the system is gpt; raters are Ann, Bo; items are named by id; ignored: time'
    """
    rating = None if (reading.rater, reading.rating) == ("rater", "rating") else reading.rating
    left = [name or "(a column without a name)" for name in ignored]
    is_or_are, chance = "s are" if len(reading.system) > 1 else " is", reading.truth_probability
    parts = {
        f"the system{is_or_are} {_shown(reading.system)}": reading.system,
        f"raters are {_shown(raters)}": raters,
        f"items are named by {' and '.join(reading.item) or 'the first column'}": reading.item,
        "items are numbered": not reading.item,
        f"gold labels are in {reading.truth}": reading.truth,
        f"they were chosen with the probabilities in {chance}": chance,
        f"items are clustered by {reading.cluster}": reading.cluster,
        f"each row is a rating: the rater is in {reading.rater}, the rating in {rating}": (
            reading.rater and rating
        ),
        f"ignored: {_shown(left)}": left,
    }
    return "; ".join(text for text, is_said in parts.items() if is_said)


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(names[:MOST_SHOWN]) + more


# Who uses which category


PACKAGE = str(Path(__file__).parents[1])
FEWEST_ANSWERS, SURE_ANSWERS = 5, 20
LEAST_SHARED = 0.1
# More categories than these are not looked at one by one.
MOST_LABELS = 200
FEW_RATINGS, FEWEST_TO_JUDGE, MOST_NAMED = 10, 20, 5
# A stray category has less than this proportion of cells, and two others so many times as many.
LEAST_PROPORTION, TIMES_AS_MANY = 0.02, 10


def warn_of_data(texts: Iterable[str]) -> None:
    """Warn of each, with the line outside this package that read the data."""
    for text in texts:
        warnings.warn(text, DataWarning, skip_file_prefixes=(PACKAGE,))


def find_other_coding(
    uses: Integers,
    raters: Sequence[str],
    systems: Sequence[str],
    categories: Sequence[Label],
    fixed: bool,
) -> list[str]:
    """Find systems, gold labels and raters with other labels than the rest.

    Parameters
    ----------
    uses : ndarray of int, shape (n_writers, n_categories)
        Cells of raters, systems and gold labels, as `Ratings.uses` has them.
    raters, systems, categories : sequence
        Their names.
    fixed : bool
        Whether the categories were named by the user or by the type of a column; there are then
        sentences where there would be errors.

    Returns
    -------
    list of str
        A sentence for each.

    Raises
    ------
    InputError
        If a system, the gold labels or a rater have other labels than the rest.
    """
    n_raters, rated, odd = len(raters), uses[: len(raters)].sum(axis=0), list[str]()
    writers = [f"the ratings of {name!r}" for name in raters]
    writers += [f"the answers of {name!r}" for name in systems]

    def name_labels(cells: Integers) -> str:
        return list_few([str(categories[k]) for k in np.flatnonzero(cells).tolist()], 8)

    for j, (writer, counts) in enumerate(zip([*writers, "the gold labels"], uses, strict=False)):
        is_rater, total = j < n_raters, int(counts.sum())
        peers = rated - counts if is_rater else rated
        if not total or not peers.any() or (is_rater and total < FEWEST_ANSWERS):
            continue
        shared = int(counts[peers > 0].sum())
        hardly = not is_rater and total >= SURE_ANSWERS and shared < LEAST_SHARED * total
        if shared and not hardly:
            continue
        who = ", those of the other raters" if is_rater else " and the raters' ratings"
        problem = f"{writer} are {name_labels(counts)}{who} {name_labels(peers)}, with "
        problem += f"{'hardly a' if shared else 'no'} label in common"
        if not fixed and total >= (SURE_ANSWERS if is_rater else FEWEST_ANSWERS):
            way = "code them alike, or, if they are meant so"
            raise InputError(problem, compose("{}, {} in their order", way, NAME_ALL))
        if n_raters <= j < len(writers) and not shared and total >= SURE_ANSWERS:
            raise InputError(problem, "code them alike, or name another column as the system")
        odd.append(problem)
    return odd


def describe_categories(
    categories: Sequence[Label], uses: Integers, writers: Sequence[str], *, apart: bool
) -> list[str]:
    """Describe categories that are rare, that one alone uses, or that mean the same as others."""
    if len(categories) > MOST_LABELS:
        return []
    cells, sentences = uses.sum(axis=0), list[str]()
    strays = find_strays(categories, uses, apart=apart)
    used = [
        f"{str(categories[k])!r} ({pluralise(int(cells[k]), 'cell')}, by "
        f"{list_few((writers[j] for j in np.flatnonzero(uses[:, k]).tolist()), 3)})"
        for k in strays
    ]
    if used:
        text = "categories that are rare, or that one alone uses, count in the chance level "
        text += f"1/{len(categories)} of Brennan and Prediger's κ, AC1 and the algebra: "
        text += list_few(used, MOST_NAMED)
        lower = "if codes of one start at a lower number, code them alike, or "
        way, ways = lower * bool(to_numbers(categories)), {"labels": None, "missing": None}
        sentences.append(compose("{}; {}correct them ({}), or {}", text, way, ways, NAME_ALL))
    frequent = [label for k, label in enumerate(categories) if cells[k] and k not in strays]
    if text := _describe_codings(frequent):
        sentences.append(compose("{}; say what is which ({labels}), or {}", text, NAME_ALL))
    return sentences


def _describe_codings(categories: Sequence[Label]) -> str:
    """Describe categories that mean the same, as y and yes, or numbers among words."""
    groups = [[str(x) for x in categories if fold(x) in same] for same in load_words()["alike"]]
    shown = [" and ".join(x) for x in groups if len(x) > 1 and max(map(len, x)) > 1]
    if shown:
        return f"the categories {', '.join(shown)} seem to mean the same"
    numbers = [label for label in categories if NUMBER.fullmatch(str(label))]
    words = [label for label in categories if str(label).isalpha()]
    if not numbers or len(words) < 2:
        return ""
    return f"the categories {list_few(numbers, 5)} are numbers, and {list_few(words, 5)} are words"


def find_strays(categories: Sequence[Label], uses: Integers, *, apart: bool = True) -> list[int]:
    """Find categories that one rater alone uses, or that are rare beside two frequent ones.

    A number of an evenly spaced scale may be rare.

    Parameters
    ----------
    categories : sequence of str or int
    uses : ndarray of int, shape (n_writers, n_categories)
        As `Ratings.uses` has them.
    apart : bool
        Whether raters are counted apart; else the first row is of all raters.

    Returns
    -------
    list of int
        Their codes.

    Examples
    --------
    >>> find_strays(("jes", "no", "yes"), np.array([[1, 60, 59], [0, 70, 50]]))
    [0]
    >>> find_strays((1, 2, 3), np.array([[1, 60, 59], [1, 70, 50]]))
    []
    """
    cells, n_users = uses.sum(axis=0), (uses > 0).sum(axis=0)
    if len(cells) > MOST_LABELS or cells.sum() < FEWEST_TO_JUDGE:
        return []
    numbers = to_numbers([label for label, n in zip(categories, cells, strict=True) if n])
    stray = (cells < LEAST_PROPORTION * cells.sum()) & (np.sort(cells)[-2] >= TIMES_AS_MANY * cells)
    stray &= numbers is None or len(set(np.diff(numbers).round(9))) > 1
    alone = (n_users == 1) & (len(uses) > 1) & (apart | (uses[0] == 0))
    said = [fold(label) in load_words()["maybe_placeholders"] for label in categories]
    return np.flatnonzero((stray | alone) & (cells > 0) & ~np.array(said)).tolist()
