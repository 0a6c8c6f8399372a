"""Different spellings of the same category."""

from collections.abc import Mapping
from itertools import combinations

from lehner.core.wording import counted
from lehner.data.categories import Label
from lehner.data.spelling import fold

MOST_LABELS = 200
LONGEST_LABEL = 60
FEWEST_TIMES = 20
MOST_SHARE = 0.01
SHORTEST = {1: 4, 2: 7}


def same_spelling(cells: Mapping[Label, int]) -> list[list[Label]]:
    """Find categories that differ only in case, white space or Unicode form.

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
        alike.setdefault(fold(label), []).append(label)
    return [labels for labels in alike.values() if len(labels) > 1]


def likely_slips(cells: Mapping[Label, int]) -> list[tuple[Label, Label]]:
    """Find rare categories that are a letter or two away from a frequent one.

    Parameters
    ----------
    cells : mapping
        How often each category occurs.

    Returns
    -------
    list of pairs
        The rare category and the frequent one.

    Examples
    --------
    >>> likely_slips({"positiv": 1, "positive": 421, "negative": 420})
    [('positiv', 'positive')]
    >>> likely_slips({"abnormal": 1, "normal": 421, "grade I": 3, "grade II": 300})
    []
    """
    if len(cells) > MOST_LABELS:
        return []
    total = sum(cells.values())
    slips = []
    for one, other in combinations(cells, 2):
        rare, frequent = sorted((one, other), key=lambda label: cells[label])
        few = cells[rare] <= max(1, MOST_SHARE * total)
        if few and cells[frequent] >= FEWEST_TIMES * cells[rare] and _near(rare, frequent):
            slips.append((rare, frequent))
    return slips


def say_slip(cells: Mapping[Label, int], rare: Label, frequent: Label) -> str:
    """Warn that a rare category looks like a typing error."""
    return (
        f"the category {str(rare)!r} ({counted(cells[rare], 'cell')}) looks like a typing error "
        f"for {str(frequent)!r} ({counted(cells[frequent], 'cell')}); correct it, or name the "
        "categories (categories=…)"
    )


def _near(one: Label, other: Label) -> bool:
    short, long = sorted((fold(one), fold(other)), key=len)
    if len(long) > LONGEST_LABEL or len(long) - len(short) > 2 or long.endswith(short):
        return False  # a prefix makes another word: normal, abnormal
    if any(character.isdigit() for character in short + long):
        return False
    words = [(a, b) for a, b in zip(short.split(), long.split(), strict=False) if a != b]
    if len(short.split()) == len(long.split()) and len(words) == 1:
        short, long = sorted(words[0], key=len)
    return any(
        len(short) >= shortest and edit_distance(short, long) <= most
        for most, shortest in SHORTEST.items()
    )


def edit_distance(one: str, other: str) -> int:
    """Count the letters to insert, delete, replace or swap with the next one.

    Examples
    --------
    >>> edit_distance("positiv", "positive"), edit_distance("mild", "midl")
    (1, 1)
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(row[-1] + 1, before[j] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and (a, one[i - 2]) == (other[j - 2], b):
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
    return row[-1]
