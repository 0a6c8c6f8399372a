"""Checks of the labels in a table: spellings of one category, missing ratings, scores, texts."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.errors import InputError
from lehner.core.text import counted
from lehner.data.categories import MISSING, Label, fold, value_or_folded

SCORE = re.compile(r"[-+]?[0-9]*[.,]?[0-9]+([eE][-+]?[0-9]+)?\s*%?")
WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")
DECIMAL_COMMA = re.compile(r"[-+]?[0-9]{1,3},[0-9]{1,2}")
SEVERAL_NUMBERS = re.compile(r"[0-9]+(\.[0-9]+)?\s*[-/–]\s*[0-9]+(\.[0-9]+)?")
SIGNS = r"[\s\[\](){}<>*_`.:;,!\"']*"
AROUND_LABEL = re.compile(
    rf"^((final )?(answer|verdict|label|rating|score)( is)? *[:=])?{SIGNS}|{SIGNS}$"
)
MOST_DECIMALS = 20
MANY_NUMBERS = 20
MOST_WHOLE_NUMBERS = 100
FEWEST_TEXTS = 20

SURE_PLACEHOLDERS = {text.casefold() for text in MISSING} | {
    *("-", "--", "---", "–", "—", "?", "??", "???", ".", "..", "...", "…", "*", "_", "/"),
    *("n.a.", "n.a", "n.d.", "#n/a", "#na", "#null!", "#value!", "#ref!", "#name?", "#div/0!"),
    *("-nan", "1.#ind", "-1.#ind", "1.#qnan", "(null)", "(blank)", "<missing>", "undefined"),
}
"""Texts, in lower case, that are a category only if the user names it."""
LIKELY_PLACEHOLDERS = {
    *("unknown", "missing", "blank", "skipped", "unanswered", "unrated", "not available"),
    *("not applicable", "no answer", "no response", "no rating", "not rated", "abstain", "skip"),
    *("cannot decide", "i cannot decide", "cannot tell", "can't tell", "can't say", "cannot say"),
}
"""Texts, in lower case, that may be a category."""
SENTINELS = (9, 77, 88, 97, 98, 99, 777, 888, 998, 999, 7777, 8888, 9999)
WIDEST_GAP = 3
NAME_ALL = "name all categories (categories=…)"

type Cells = Mapping[Label, int]
type Problem = tuple[Label, str, str, Mapping[str, Any]]
"""A label that is a mistake, what is wrong with it, and the remedy, also as reading options."""


class Labelled(Protocol):
    """A coded column."""

    @property
    def codes(self) -> Integers:
        """Index into `labels`, -1 where missing."""

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels."""


def check_found_categories(
    columns: Mapping[str, Labelled], names: Mapping[object, Label], *, refuse: bool
) -> list[str]:
    """Raise an InputError if categories are probably a mistake, and name those that look odd.

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

    Raises
    ------
    InputError
        Naming row and column.
    """
    cells: Counter[Label] = Counter()
    for column in columns.values():
        uses = np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels))
        for label, n in zip(column.labels, uses.tolist(), strict=True):
            cells[names[label]] += n
    cells = +cells
    problem = next(filter(None, (find(cells) for find in PROBLEMS)), None)
    sentences = []
    if problem is not None:
        label, what, remedy, change = problem
        for name, column in columns.items() if refuse else ():
            mine = [code for code, one in enumerate(column.labels) if names[one] == label]
            rows = np.flatnonzero(np.isin(column.codes, mine))
            if rows.size:
                row = int(rows[0])
                raise InputError(what, remedy, row=row, column=name, change=change)
        sentences.append(f"{what}; {remedy}")
    sentences += [
        f"{str(label)!r} ({counted(cells[label], 'cell')}) counts as a category; if it means a "
        f"missing rating, read it as one (missing=[{str(label)!r}])"
        for label in cells
        if str(label).casefold() in LIKELY_PLACEHOLDERS or (str(label) == "None" and len(cells) > 2)
    ]
    if sum(bool(WHOLE_NUMBER.fullmatch(str(label))) for label in cells) > MANY_NUMBERS:
        sentences.append(
            f"there are {len(cells)} categories, which are numbers; if they are scores, cut them "
            "into few categories (cut=…)"
        )
    return sentences


def find_spellings(cells: Cells) -> Problem | None:
    """Find categories that differ only in case, space, Unicode form or how numbers are written."""
    same = same_spelling(cells)
    if not same:
        return None
    spellings = ["/".join(f"{str(one)!r}" for one in labels) for labels in same]
    counts = ["/".join(str(cells[one]) for one in labels) for labels in same]
    # Folding makes one category of some spellings, as it does not of numbers.
    foldable = any(len({fold(label) for label in labels}) < len(labels) for labels in same)
    one = " read them as one (fold_case=True)," if foldable else ""
    return (
        same[0][0],
        f"the categories {', '.join(spellings)} (in {', '.join(counts)} cells) differ only "
        "in how they are written",
        f"write them alike,{one} or, if they are several, {NAME_ALL}",
        {"fold_case": True} if foldable else {},
    )


def same_spelling(cells: Cells) -> list[list[Label]]:
    """List the spellings of each category that has several, the rarest first.

    Examples
    --------
    >>> same_spelling({"yes": 9, "Yes": 2, "no": 7})
    [['Yes', 'yes']]
    """
    alike: dict[str, list[Label]] = {}
    for label in sorted(cells, key=lambda one: (cells[one], str(one))):
        alike.setdefault(value_or_folded(label), []).append(label)
    return [labels for labels in alike.values() if len(labels) > 1]


def find_placeholder(cells: Cells) -> Problem | None:
    """Find a label that means a missing rating unless the user names it as a category."""
    for label in [*sure_placeholders(cells), *abstentions(cells)]:
        return (
            label,
            f"{str(label)!r} ({counted(cells[label], 'cell')}) would count as a category",
            f"read it as no rating (missing=[{str(label)!r}]) or, if it is one, {NAME_ALL}",
            {"missing": (str(label),)},
        )
    return None


def sure_placeholders(labels: Iterable[Label]) -> list[Label]:
    """Signs and texts that mean a missing rating."""
    plain = {label: str(label).casefold() for label in labels}
    signs = any(set(text) == {"+"} for text in plain.values())  # then - is a result too
    return [
        label
        for label, text in plain.items()
        if text in SURE_PLACEHOLDERS and not (signs and set(text) == {"-"})
    ]


def abstentions(labels: Iterable[Label]) -> list[Label]:
    """Labels that probably mean a missing rating among the others: None, -1, 99.

    Examples
    --------
    >>> abstentions([1, 2, 3, 99]), abstentions([-1, 0, 1]), abstentions([0, 1, 2, 3, -9])
    ([99], [-1], [-9])
    >>> abstentions(["none", "mild"]), abstentions(["None", 1, 2])
    ([], ['None'])
    """
    likely = list(labels)
    found = [label for label in likely if _is_none(label, likely)]
    numbers = [label for label in likely if isinstance(label, int)]
    return found + _far_numbers(numbers) if len(numbers) == len(likely) else found


def _is_none(label: Label, labels: list[Label]) -> bool:
    """Whether "none" means no rating: it does among numbers."""
    others = [str(other) for other in labels if other != label]
    numbers = all(other.lstrip("-").isdigit() for other in others)
    return bool(others) and numbers and str(label).casefold() == "none"


def _far_numbers(numbers: list[int]) -> list[Label]:
    """Find a negative number below others, and one such as 99 far above them."""
    if len(numbers) < 3:
        return []
    in_order = sorted(numbers)
    lowest, second, last_but_one, highest = (in_order[j] for j in (0, 1, -2, -1))
    far: list[Label] = []
    if lowest < 0 <= second and (lowest == -1 or (-lowest != highest and second - lowest > 3)):
        far.append(lowest)
    if highest in SENTINELS and lowest >= 0 and highest - last_but_one > WIDEST_GAP:
        far.append(highest)
    return far


def refuse_odd_labels(columns: Mapping[str, Labelled]) -> None:
    """Raise an InputError if cells hold several labels, or numbers with a decimal comma alone."""
    for name, column in columns.items():
        cells = dict.fromkeys(column.labels, 1)
        commas = bool(cells) and all(DECIMAL_COMMA.fullmatch(str(label)) for label in cells)
        problem = find_lists(cells) or (find_other_numbers(cells) if commas else None)
        if problem is not None:
            raise InputError(problem[1], problem[2], column=name, change=problem[3])


def find_lists(cells: Cells) -> Problem | None:
    """Find a cell with several labels."""
    for label in cells:
        if str(label).startswith("[") and len(list_of(label)) != 1:
            return (
                label,
                f"{str(label)[:40]!r} is a list: an item has several labels",
                "compare sets of labels (sets=True), or make each label a column of yes and no",
                {},
            )
    return None


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
            found = json.loads(form)
        except ValueError:
            continue
        return found if isinstance(found, list) else [found]
    return [text]


def find_written_around(cells: Cells) -> Problem | None:
    """Find labels with signs or words around another label, as [[A]] and Answer: A."""
    by_core: dict[str, list[Label]] = {}
    for label in cells:
        core = AROUND_LABEL.sub("", str(label).casefold())
        if core:
            by_core.setdefault(core, []).append(label)
    several = {core: labels for core, labels in by_core.items() if len(labels) > 1}
    if not several:
        return None
    pairs = []
    for labels in several.values():
        plain = min(labels, key=lambda one: (len(str(one)), str(one)))
        pairs += [f"{label}={plain}" for label in labels if label != plain]
    first = next(iter(several.values()))
    return (
        first[0],
        f"the labels {', '.join(f'{str(label)!r}' for label in first)} look like one category",
        f"say what is which (labels={','.join(pairs)!r}), or {NAME_ALL}",
        {"labels": tuple(pairs)},
    )


def find_other_numbers(cells: Cells) -> Problem | None:
    """Find numbers that are written as 1,7 or 4/5 or 3-4."""
    for label in cells:
        if DECIMAL_COMMA.fullmatch(str(label)):
            what = f"{str(label)!r} is a number with a decimal comma"
            return label, what, f"say so (decimal=','), or {NAME_ALL}", {"decimal": ","}
    several = [label for label in cells if SEVERAL_NUMBERS.fullmatch(str(label))]
    if several and len(several) < len(cells):
        what = f"{str(several[0])!r} holds two numbers, where others hold one label"
        remedy = f"say which category it is (labels='{several[0]}=…'), or {NAME_ALL}"
        return several[0], what, remedy, {}
    return None


def find_no_categories(cells: Cells) -> Problem | None:
    """Find scores and texts."""
    what = no_categories(cells)
    if not what:
        return None
    cut = "cut them into few categories (cut=…)" if "numbers" in what else "join them (labels=…)"
    problem, remedy = f"the ratings are {what}, not categories", f"{cut}, or {NAME_ALL}"
    return next(iter(cells)), problem, remedy, {}


def no_categories(cells: Cells) -> str:
    """Describe the labels if they are certainly not categories; else the text is empty.

    Examples
    --------
    >>> no_categories({f"{i}.5%": 2 for i in range(300)})
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


PROBLEMS: tuple[Callable[[Cells], Problem | None], ...] = (
    find_spellings,
    find_placeholder,
    find_lists,
    find_written_around,
    find_other_numbers,
    find_no_categories,
)
