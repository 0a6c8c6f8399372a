"""Checks of the labels in a table: spellings of one category, missing ratings, scores, texts."""

import re
from collections.abc import Iterable, Mapping

import numpy as np

from lehner.core.errors import InputError
from lehner.core.text import counted
from lehner.data.categories import MISSING, Column, Label, fold, value_or_folded

SCORE = re.compile(r"[-+]?[0-9]*[.,]?[0-9]+([eE][-+]?[0-9]+)?\s*%?")
WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")
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
    *("not applicable", "no answer", "no response", "no rating", "not rated"),
}
"""Texts, in lower case, that may be a category."""
SENTINELS = (9, 77, 88, 97, 98, 99, 777, 888, 998, 999, 7777, 8888, 9999)
WIDEST_GAP = 3


def check_found_categories(
    columns: Mapping[str, Column], names: Mapping[object, Label], *, refuse: bool
) -> tuple[str, ...]:
    """Raise an InputError if categories are probably a mistake, and name those that look odd.

    Parameters
    ----------
    columns : mapping of str to Column
        The columns of raters, systems and truths.
    names : mapping
        From label as found to category.
    refuse : bool
        Whether to raise errors; else there are only warnings, for example if the categories of all
        columns were declared (a pandas categorical).

    Returns
    -------
    tuple of str
        What looks odd, one sentence for each point.

    Raises
    ------
    InputError
        Naming row and column.
    """
    cells = _count_cells(columns, names)
    problem = _problem(cells)
    sentences = []
    if problem is not None:
        label, what, remedy = problem
        for name, column in columns.items() if refuse else ():
            mine = [code for code, one in enumerate(column.labels) if names[one] == label]
            rows = np.flatnonzero(np.isin(column.codes, mine))
            if rows.size:
                raise InputError(what, remedy, row=int(rows[0]), column=name)
        sentences.append(f"{what}; {remedy}")
    sentences += [
        f"{str(label)!r} ({counted(cells[label], 'cell')}) counts as a category; if it means a "
        f"missing rating, read it as one (missing=[{str(label)!r}])"
        for label in likely_placeholders(cells)
    ]
    if sum(bool(WHOLE_NUMBER.fullmatch(str(label))) for label in cells) > MANY_NUMBERS:
        sentences.append(
            f"there are {len(cells)} categories, which are numbers; if they are scores, cut them "
            "into few categories"
        )
    return tuple(sentences)


def _count_cells(columns: Mapping[str, Column], names: Mapping[object, Label]) -> dict[Label, int]:
    cells: dict[Label, int] = {}
    for column in columns.values():
        uses = np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels))
        for label, n in zip(column.labels, uses.tolist(), strict=True):
            cells[names[label]] = cells.get(names[label], 0) + n
    return {label: n for label, n in cells.items() if n}


def _problem(cells: Mapping[Label, int]) -> tuple[Label, str, str] | None:
    """Find a label that is a mistake, what is wrong with it, and the remedy."""
    same = same_spelling(cells)
    if same:
        spellings = ["/".join(f"{str(one)!r}" for one in labels) for labels in same]
        counts = ["/".join(str(cells[one]) for one in labels) for labels in same]
        # Folding makes one category of some spellings, as it does not of numbers.
        foldable = any(len({fold(label) for label in labels}) < len(labels) for labels in same)
        one = " read them as one (fold_case=True)," if foldable else ""
        return (
            same[0][0],
            f"the categories {', '.join(spellings)} (in {', '.join(counts)} cells) differ only "
            "in how they are written",
            f"write them alike,{one} or, if they are several, name all categories (categories=…)",
        )
    for sure in sure_placeholders(cells):
        return (
            sure,
            f"{str(sure)!r} ({counted(cells[sure], 'cell')}) would count as a category",
            f"read it as no rating (missing=[{str(sure)!r}]) or, if it is one, name all "
            "categories (categories=…)",
        )
    what = no_categories(cells)
    if what:
        return (
            next(iter(cells)),
            f"the ratings are {what}, not categories",
            "cut them into few categories, or name all categories (categories=…)",
        )
    return None


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


def sure_placeholders(labels: Iterable[Label]) -> list[Label]:
    """Labels that mean a missing rating unless the user names them as categories."""
    plain = {label: str(label).casefold() for label in labels}
    signs = any(set(text) == {"+"} for text in plain.values())  # then - is a result too
    return [
        label
        for label, text in plain.items()
        if text in SURE_PLACEHOLDERS and not (signs and set(text) == {"-"})
    ]


def likely_placeholders(labels: Iterable[Label]) -> list[Label]:
    """Labels that may mean a missing rating: words, and numbers far from the others.

    Examples
    --------
    >>> likely_placeholders(["yes", "no", "unknown"]), likely_placeholders([1, 2, 3, 99])
    (['unknown'], [99])
    >>> likely_placeholders([-1, 0, 1]), likely_placeholders([0, 1, 2, 3, -9])
    ([], [-9])
    """
    likely = list(labels)
    words = [label for label in likely if str(label).casefold() in LIKELY_PLACEHOLDERS]
    words += [label for label in likely if _is_none(label, likely)]
    numbers = [label for label in likely if isinstance(label, int)]
    return words + _far_numbers(numbers) if len(numbers) == len(likely) else words


def _is_none(label: Label, labels: list[Label]) -> bool:
    """Whether "none" means no rating: it does among numbers, or, as Python's None, among words."""
    others = [str(other) for other in labels if other != label]
    if not others or str(label).casefold() != "none":
        return False
    numbers = all(other.lstrip("-").isdigit() for other in others)
    return numbers or (label == "None" and all(other == other.lower() for other in others))


def _far_numbers(numbers: list[int]) -> list[Label]:
    """Find a negative number below others, and one such as 99 far above them."""
    if len(numbers) < 3:
        return []
    in_order = sorted(numbers)
    lowest, second, last_but_one, highest = (in_order[j] for j in (0, 1, -2, -1))
    far: list[Label] = []
    if lowest < 0 <= second and -lowest != highest >= 2 and (lowest == -1 or second - lowest > 3):
        far.append(lowest)
    if highest in SENTINELS and lowest >= 0 and highest - last_but_one > WIDEST_GAP:
        far.append(highest)
    return far


def no_categories(cells: Mapping[Label, int]) -> str:
    """Describe the labels if they are certainly not categories.

    Parameters
    ----------
    cells : mapping
        How often each label occurs.

    Returns
    -------
    str
        The description; empty if they may be categories.

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
