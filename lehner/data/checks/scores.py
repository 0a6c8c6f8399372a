"""Labels that are not categories: scores, percentages, free text."""

import re
from collections.abc import Mapping

from lehner.data.categories import Label

SCORE = re.compile(r"[-+]?[0-9]*[.,]?[0-9]+([eE][-+]?[0-9]+)?\s*%?")
WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")
MOST_DECIMALS = 20
MANY_NUMBERS = 20
MOST_WHOLE_NUMBERS = 100
FEWEST_TEXTS = 20


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


def many_numbers(cells: Mapping[Label, int]) -> bool:
    """Whether there are so many numbers that they may be scores."""
    return sum(bool(WHOLE_NUMBER.fullmatch(str(label))) for label in cells) > MANY_NUMBERS
