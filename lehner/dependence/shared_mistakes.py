"""The share of items that mislead raters and system alike: a number, or a Beta prior."""

type SharedMistakes = float | tuple[float, float]


def describe_shared_mistakes(shared_mistakes: SharedMistakes) -> str:
    """Write a share or its prior in words.

    Examples
    --------
    >>> describe_shared_mistakes(0.1), describe_shared_mistakes((0.5, 4.5))
    ('10% of the items', 'Beta(0.5, 4.5) of the items, 10% on average')
    """
    if not isinstance(shared_mistakes, tuple):
        return f"{100 * shared_mistakes:.3g}% of the items"
    a, b = shared_mistakes
    return f"Beta({a:g}, {b:g}) of the items, {100 * a / (a + b):.3g}% on average"
