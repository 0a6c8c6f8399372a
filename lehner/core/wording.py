"""Numbers of things in words, and lists of them."""

from collections.abc import Iterable
from itertools import islice


def counted(number: float, one: str, many: str = "") -> str:
    """Write a number with its noun.

    Parameters
    ----------
    number : int or float
    one : str
        The singular.
    many : str, optional
        The plural; by default the singular with an s.

    Returns
    -------
    str

    Examples
    --------
    >>> counted(1, "item"), counted(0, "item"), counted(2, "category", "categories")
    ('1 item', '0 items', '2 categories')
    """
    shown = f"{number:.10g}" if isinstance(number, float) else str(number)
    return f"{shown} {one if number == 1 else many or one + 's'}"


def counted_categories(number: int, *, ordered: bool = False) -> str:
    """Write a number of categories.

    Examples
    --------
    >>> counted_categories(1), counted_categories(3, ordered=True)
    ('1 category', '3 ordered categories')
    """
    order = "ordered " if ordered else ""
    return counted(number, f"{order}category", f"{order}categories")


def first_few(things: Iterable[object], most: int) -> str:
    """List things, of many only the first.

    Examples
    --------
    >>> first_few("abc", 3), first_few("abcd", 3)
    ('a, b, c', 'a, b, c, …')
    """
    shown = [str(thing) for thing in islice(things, most + 1)]
    if len(shown) > most:
        shown[-1] = "…"
    return ", ".join(shown)


def rater_names(n_raters: int) -> list[str]:
    """Name raters "Rater 1", "Rater 2" and so on."""
    return [f"Rater {j + 1}" for j in range(n_raters)]
