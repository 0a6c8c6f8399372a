"""Checks of the labels in the cells of a table, before ratings are made of it.

Each is a small function over the labels of all columns and how many cells have them.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lehner.core.errors import InputError
from lehner.core.text import counted
from lehner.data.columns import Column
from lehner.data.labels import Label, as_numbers, fold, load_words, value_or_folded
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
SIGNS = r"[\s\[\](){}<>*_`.:;,!\"']*"
AROUND = re.compile(
    rf"^((final )?(answer|verdict|label|rating|score)( is)? *[:=])?{SIGNS}|{SIGNS}$"
)
NAME_ALL = "name all categories (categories=…)"

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
    for label, error in (problem for check in CHECKS for problem in check(cells)):
        for name, column in columns.items() if refuse else ():
            has_label = column.lookup([names[own] == label for own in column.labels], False)
            if has_label.any():
                error.row, error.column = int(np.argmax(has_label)), name
                raise error
        odd.append(str(error))
        break
    return odd + [
        f"{str(label)!r} ({counted(cells[label], 'cell')}) counts as a category; if it means a "
        f"missing rating, read it as one (missing=[{str(label)!r}])"
        for label in cells
        if str(label).casefold() in load_words()["maybe_placeholders"]
        or (str(label) == "None" and len(cells) > 2)
    ]


def _group_alike(labels: Iterable[Label], form: Callable[[Label], str]) -> list[list[Label]]:
    """Group labels that have the same form, which is not blank."""
    groups: dict[str, list[Label]] = {}
    for label in labels:
        groups.setdefault(form(label), []).append(label)
    return [group for same, group in groups.items() if same and len(group) > 1]


def find_spellings(cells: Cells) -> Iterator[Problem]:
    """Find categories that differ only in case, space, Unicode form or how numbers are written."""
    rarest_first = sorted(cells, key=lambda label: (cells[label], str(label)))
    groups = _group_alike(rarest_first, value_or_folded)
    if groups:
        spellings = ", ".join("/".join(repr(str(label)) for label in group) for group in groups)
        counts = ", ".join("/".join(str(cells[label]) for label in group) for group in groups)
        problem = f"the categories {spellings} (in {counts} cells) differ only in how they are "
        # Folding makes one category of some spellings, as it does not of numbers.
        foldable = any(len(set(map(fold, group))) < len(group) for group in groups)
        way, change = " read them as one ({options}),", {"fold_case": True}
        remedy = f"write them alike,{way * foldable} or, if they are several, {NAME_ALL}"
        error = InputError(f"{problem}written", remedy, change=change if foldable else {})
        yield groups[0][0], error


def find_written_around(cells: Cells) -> Iterator[Problem]:
    """Find labels with signs or words around another label, as [[A]] and Answer: A."""
    shortest_first = sorted(cells, key=lambda label: (len(str(label)), str(label)))
    groups = _group_alike(shortest_first, lambda label: AROUND.sub("", str(label).casefold()))
    if groups:
        problem = f"the labels {', '.join(repr(str(x)) for x in groups[0])} look like one category"
        pairs = tuple(f"{label}={plain}" for plain, *labels in groups for label in labels)
        remedy = f"say what is which ({{options}}), or {NAME_ALL}"
        yield groups[0][0], InputError(problem, remedy, change={"labels": pairs})


def find_placeholders(cells: Cells) -> Iterator[Problem]:
    """Find labels that mean a missing rating unless the user names them as categories."""
    remedy = f"read it as no rating ({{options}}) or, if it is one, {NAME_ALL}"
    for label in list_placeholders(cells):
        problem = f"{str(label)!r} ({counted(cells[label], 'cell')}) would count as a category"
        yield label, InputError(problem, remedy, change={"missing": (str(label),)})


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
    others = set(plain.values()) - {str(number) for number in numbers}
    signs = any(set(text) == {"+"} for text in plain.values())  # then - is a result too
    absent = {x for x in load_words()["placeholders"] if not (signs and set(x) == {"-"})}
    if others == {"none"} and numbers:
        absent |= others
    if not others and len(numbers) > 2:
        lowest, second, last_but_one, highest = (numbers[place] for place in (0, 1, -2, -1))
        far_below = lowest == -1 or (-lowest != highest and second - lowest > WIDEST_GAP)
        if lowest < 0 <= second and far_below:
            absent.add(str(lowest))
        if highest in SENTINELS and lowest >= 0 and highest - last_but_one > WIDEST_GAP:
            absent.add(str(highest))
    return [label for label, text in plain.items() if text in absent]


def find_lists(cells: Cells) -> Iterator[Problem]:
    """Find a cell with several labels."""
    remedy = "compare sets of labels (sets=True), or make each label a column of yes and no"
    for label in cells:
        if str(label).startswith("[") and len(list_of(label)) != 1:
            problem = f"{str(label)[:40]!r} is a list: an item has several labels"
            yield label, InputError(problem, remedy)


def list_of(label: object) -> list[Any]:
    """Read the list that a cell holds; a cell with another text is a list of one.

    Examples
    --------
    >>> list_of("[1, 2]"), list_of("['a']"), list_of("a")
    ([1, 2], ['a'], ['a'])
    """
    text = str(label)
    for form in (text, text.replace("'", '"')):
        try:
            content = json.loads(form)
        except ValueError:
            continue
        return content if isinstance(content, list) else [content]
    return [text]


def find_numbers_and_lists(column: Column) -> Iterator[InputError]:
    """Find that all cells of a column are decimals with a comma, or that one is a list."""
    cells = dict.fromkeys(column.labels, 1)
    commas = bool(cells) and all(DECIMAL_COMMA.fullmatch(str(label)) for label in cells)
    several = f"; or, if they are by several raters, name these (raters='{column.name}.*')"
    for _, error in (find_other_numbers if commas else find_lists)(cells):
        error.column, error.remedy = column.name, error.remedy + several * (not commas)
        yield error


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
    if as_numbers(texts) is not None:
        return "numbers" if any("." in text for text in texts) else "whole numbers"
    if any(text.startswith("[") and len(list_of(text)) > 1 for text in texts[:LOOKED_AT]):
        return "lists"
    return "text" if texts else "blank"


def find_other_numbers(cells: Cells) -> Iterator[Problem]:
    """Find numbers that are written as 1,7 or 4/5 or 3-4."""
    remedy = f"say so ({{options}}), or {NAME_ALL}"
    for label in cells:
        if DECIMAL_COMMA.fullmatch(str(label)):
            problem = f"{str(label)!r} is a number with a decimal comma"
            yield label, InputError(problem, remedy, change={"decimal": ","})
    several = [label for label in cells if SEVERAL_NUMBERS.fullmatch(str(label))]
    if several and len(several) < len(cells):
        problem = f"{str(several[0])!r} holds two numbers, where others hold one label"
        remedy = f"say which category it is (labels='{several[0]}=…'), or {NAME_ALL}"
        yield several[0], InputError(problem, remedy)


def find_no_categories(cells: Cells) -> Iterator[Problem]:
    """Find scores and texts."""
    if kind := describe_no_categories(cells):
        way = (
            "cut them into few categories (cut=…)" if "numbers" in kind else "join them (labels=…)"
        )
        error = InputError(f"the ratings are {kind}, not categories", f"{way}, or {NAME_ALL}")
        yield next(iter(cells)), error


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
CHECKS: tuple[Callable[[Cells], Iterator[Problem]], ...] = (
    find_spellings,
    find_placeholders,
    find_lists,
    find_written_around,
    find_other_numbers,
    find_no_categories,
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
    is_or_are = "s are" if len(reading.system) > 1 else " is"
    parts = {
        f"the system{is_or_are} {_shown(reading.system)}": reading.system,
        f"raters are {_shown(raters)}": raters,
        f"items are named by {' and '.join(reading.item)}": reading.item,
        "items are numbered": not reading.item,
        f"gold labels are in {reading.truth}": reading.truth,
        f"they were chosen with the probabilities in {reading.truth_probability}": (
            reading.truth_probability
        ),
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
