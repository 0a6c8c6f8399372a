"""The share of items that mislead raters and system alike: a number, or a Beta prior of it."""

import numpy as np

from lehner.core.errors import InputError

type SharedMistakes = float | tuple[float, float]


def read_shared_mistakes(text: str) -> SharedMistakes:
    """Read a share, as in "0.1", or the two numbers of its Beta prior, as in "0.5,4.5".

    Examples
    --------
    >>> read_shared_mistakes("0.1"), read_shared_mistakes("0.5,4.5")
    (0.1, (0.5, 4.5))
    """
    remedy = "give a share between 0 and 1, as in 0.1, or a Beta prior of it, as in 0.5,4.5"
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) == 1 and 0 <= numbers[0] <= 1:
        return numbers[0]
    if len(numbers) == 2 and all(0 < number < np.inf for number in numbers):
        return numbers[0], numbers[1]
    raise InputError(f"--shared-mistakes is {text}", remedy)


def describe_shared_mistakes(shared_mistakes: SharedMistakes) -> str:
    """Name a share or its prior.

    Examples
    --------
    >>> describe_shared_mistakes(0.1), describe_shared_mistakes((0.5, 4.5))
    ('10% of the items', 'Beta(0.5, 4.5) of the items, 10% on average')
    """
    if not isinstance(shared_mistakes, tuple):
        return f"{100 * shared_mistakes:.3g}% of the items"
    a, b = shared_mistakes
    return f"Beta({a:g}, {b:g}) of the items, {100 * a / (a + b):.3g}% on average"
