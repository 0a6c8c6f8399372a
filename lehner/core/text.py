"""Numbers, names and lists in sentences and tables: one format, wherever they are printed."""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import islice
from math import isnan
from numbers import Integral

# Stands for a number that is not known.
DASH = "–"
# Control characters but for tab and line feed; line separators; marks that turn text around.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def to_decimal(value: float | None, digits: int = 3, *, sign: bool = False) -> str:
    """Write a number with a fixed number of decimals.

    Parameters
    ----------
    value : float or None
    digits : int
        Decimals, 0 or more.
    sign : bool
        Whether a positive number has a plus, as a difference has.

    Returns
    -------
    str
        A dash for None and NaN, ∞ for infinity. A number that rounds to zero has no sign.

    Examples
    --------
    >>> to_decimal(10.25, 2), to_decimal(-20), to_decimal(None), to_decimal(0.0304, sign=True)
    ('10.25', '-20.000', '–', '+0.030')
    >>> to_decimal(-0.0004), to_decimal(1e-17, sign=True)
    ('0.000', '0.000')
    """
    if value is None or isnan(value):
        return DASH
    text = f"{value:z.{digits}f}".replace("inf", "∞")
    return f"+{text}" if sign and value > 0 and text.strip("0.") else text


def format_number(value: float) -> str:
    """Write a count as it is, and any other number with three decimals.

    Examples
    --------
    >>> format_number(3), format_number(0.25)
    ('3', '0.250')
    """
    return str(value) if isinstance(value, Integral) else to_decimal(value)


def to_short(value: float | None, digits: int = 3) -> str:
    """Write a number as the tables of the field do, without the zero before the point.

    Parameters
    ----------
    value : float or None
    digits : int
        Decimals, 0 or more.

    Returns
    -------
    str
        As `decimal` gives it, with a true minus.

    Examples
    --------
    >>> to_short(0.25, 2), to_short(-0.0304), to_short(float("nan"))
    ('.25', '−.030', '–')
    >>> to_short(10.25, 2), to_short(-20, 2), to_short(-0.0004)
    ('10.25', '−20.00', '.000')
    """
    text = to_decimal(value, digits)
    minus, size = ("−", text[1:]) if text.startswith("-") else ("", text)
    return minus + (size[1:] if size.startswith("0.") else size)


def with_interval(
    estimate: float | None,
    lower: float | None,
    upper: float | None,
    write: Callable[[float | None], str] = to_decimal,
) -> str:
    """Write an estimate with the ends of its interval, where it has one.

    Parameters
    ----------
    estimate, lower, upper : float or None
    write : callable
        From a number to its text.

    Returns
    -------
    str

    Examples
    --------
    >>> with_interval(0.9, 0.85, 0.94), with_interval(0.9, None, None)
    ('0.900 [0.850, 0.940]', '0.900')
    """
    if estimate is None or lower is None or upper is None:
        return write(estimate)
    return f"{write(estimate)} [{write(lower)}, {write(upper)}]"


def format_p(value: float | None, digits: int = 3) -> str:
    """Write a probability or a p-value, which is never said to be 0 or 1.

    Parameters
    ----------
    value : float or None
        From 0 to 1.
    digits : int
        Decimals, 1 or more.

    Returns
    -------
    str

    Examples
    --------
    >>> format_p(0.0431), format_p(0.0004), format_p(1.0, 2)
    ('0.043', '< .001', '> .99')
    """
    least = 10.0**-digits
    if value is not None and value < least:
        return f"< {to_short(least, digits)}"
    if value is not None and value > 1 - least:
        return f"> {to_short(1 - least, digits)}"
    return to_decimal(value, digits)


def write_p(value: float) -> str:
    """Write a p-value with its letter, as it stands in a sentence.

    Examples
    --------
    >>> write_p(0.0431), write_p(1e-17)
    ('p = 0.043', 'p < .001')
    """
    shown = format_p(value)
    return f"p {shown}" if shown[0] in "<>" else f"p = {shown}"


def to_percent(proportion: float, digits: int | None = None) -> str:
    """Write a proportion in percent.

    Parameters
    ----------
    proportion : float
    digits : int, optional
        Decimals of the percentage; by default all that the number has, as the level of an interval
        must be written.

    Returns
    -------
    str
        A proportion that is neither 0 nor 1 is not rounded to them.

    Examples
    --------
    >>> to_percent(0.9), to_percent(0.995), to_percent(0.07)
    ('90%', '99.5%', '7%')
    >>> to_percent(0.254, 0), to_percent(0.004, 0), to_percent(0.9999, 1), to_percent(1, 0)
    ('25%', '< 1%', '> 99.9%', '100%')
    """
    exact = Decimal(repr(float(proportion))) * 100
    if digits is None:
        text = f"{exact:f}"
        return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"
    text, least = to_decimal(float(exact), digits), Decimal(1).scaleb(-digits)
    if proportion > 0 and float(text) == 0:
        return f"< {least}%"
    if proportion < 1 and float(text) == 100:
        return f"> {100 - least}%"
    return f"{text}%"


def pluralise(number: float, singular: str, plural: str = "") -> str:
    """Write a number with its noun.

    Parameters
    ----------
    number : int or float
    singular : str
    plural : str, optional
        By default the singular with an s.

    Returns
    -------
    str

    Examples
    --------
    >>> pluralise(1, "item"), pluralise(0, "item"), pluralise(2, "category", "categories")
    ('1 item', '0 items', '2 categories')
    """
    shown = f"{number:.10g}" if isinstance(number, float) else str(number)
    return f"{shown} {singular if number == 1 else plural or singular + 's'}"


def count_categories(number: int, *, ordered: bool = False) -> str:
    """Write a number of categories.

    Examples
    --------
    >>> count_categories(1), count_categories(3, ordered=True)
    ('1 category', '3 ordered categories')
    """
    order = "ordered " if ordered else ""
    return pluralise(number, f"{order}category", f"{order}categories")


def list_few(things: Iterable[object], most: int) -> str:
    """List things, of many only the first.

    Examples
    --------
    >>> list_few("abc", 3), list_few("abcd", 3)
    ('a, b, c', 'a, b, c, …')
    """
    shown = [str(thing) for thing in islice(things, most + 1)]
    if len(shown) > most:
        shown[-1] = "…"
    return ", ".join(shown)


def name_raters(n_raters: int) -> list[str]:
    """Name raters "Rater 1", "Rater 2" and so on."""
    return [f"Rater {j + 1}" for j in range(n_raters)]


def escape(text: str) -> str:
    r"""Write control characters as they are escaped in Python; tabs and lines stay.

    Examples
    --------
    >>> print(escape("\x1b[31mred\x1b[0m"))
    \x1b[31mred\x1b[0m
    """
    return CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def escape_line(text: str) -> str:
    r"""Write control characters, tabs and ends of lines as they are escaped in Python.

    Examples
    --------
    >>> print(escape_line("a\nb\u202ec"))
    a\nb\u202ec
    """
    return escape(text).replace("\n", "\\n").replace("\t", "\\t")
