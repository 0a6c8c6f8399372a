"""Labels of categories: their plain form, their spellings, and what means a missing rating."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from string import ascii_uppercase
from typing import Any

import numpy as np

from lehner.core.errors import InputError

type Label = str | int

MISSING = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>"})
"""Texts that are read as a missing rating; not `None`, which is a common category."""

BOOLEANS = (bool, np.bool_)
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.0+)?")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]+)?")
INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
NUMBER = re.compile(r"[-+]?[0-9]{1,15}([.,][0-9]{1,15})?")
THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+")


def plain_label(value: Any) -> Any:
    """Label as Python text, int or float; None if it means a missing rating."""
    try:
        if value is None or value != value:
            return None
    except (TypeError, ValueError):  # pandas.NA, or something that is not a label
        return None
    if isinstance(value, BOOLEANS):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return int(value) if float(value).is_integer() else float(value)
    text = str(value).strip()
    return None if text in MISSING else text


def unify(labels: Iterable[Any]) -> dict[Any, Label]:
    """Map each label to the name it is kept under: all whole numbers, or all text.

    Ratings 1 and 1.0 are one category: tools write the second for the first in a column that
    has missing values or decimals.

    Parameters
    ----------
    labels : iterable
        Labels of all the columns that share categories.

    Returns
    -------
    dict

    Examples
    --------
    >>> unify(["1", "2.0"])
    {'1': 1, '2.0': 2}
    >>> unify(["1", "B"])
    {'1': '1', 'B': 'B'}
    >>> unify(["0.5", "1.0"])
    {'0.5': '0.5', '1.0': '1'}
    """
    distinct = list(dict.fromkeys(labels))
    if all(_INTEGER.fullmatch(str(label)) for label in distinct):
        return {label: int(str(label).split(".")[0]) for label in distinct}
    if all(_DECIMAL.fullmatch(str(label)) for label in distinct):
        return {label: re.sub(r"\.0+$", "", str(label)) for label in distinct}
    return {label: str(label) for label in distinct}


def as_numbers(categories: Sequence[Label]) -> list[float] | None:
    """Numbers of categories, whole or decimal; None if one is not a number.

    Examples
    --------
    >>> as_numbers(["0.5", "1"]), as_numbers(["1", "B"])
    ([0.5, 1.0], None)
    """
    texts = [str(category) for category in categories]
    if not texts or not all(map(_DECIMAL.fullmatch, texts)):
        return None
    return [float(text) for text in texts]


def category_names(n_categories: int) -> tuple[Label, ...]:
    """Name categories A, B, C, …, or 1, 2, 3, … if there are more than letters.

    Examples
    --------
    >>> category_names(3)
    ('A', 'B', 'C')
    """
    if n_categories <= len(ascii_uppercase):
        return tuple(ascii_uppercase[:n_categories])
    return tuple(range(1, n_categories + 1))


def check_categories(categories: Sequence[Any]) -> tuple[Label, ...]:
    """Raise an InputError unless the categories are distinct names that a table can hold.

    Parameters
    ----------
    categories : sequence of str or int

    Returns
    -------
    tuple of str or int
    """
    named = tuple(plain_label(category) for category in categories)
    if not all(isinstance(c, str | int | float | np.generic) for c in categories) or None in named:
        raise InputError(
            f"the categories {list(categories)} are not all names",
            "give text or whole numbers, none of them blank",
        )
    names = unify(named)
    if len(set(names.values())) < len(named):
        raise InputError(f"the categories {list(categories)} repeat", "name each once")
    return tuple(names[name] for name in named)


def fold(label: Any) -> str:
    r"""Label in lower case, one kind of white space and one Unicode form.

    Numbers stay as they are written: 1,000, 1 and 1.0 are three labels, and 10\u00b2 is not 102.

    Parameters
    ----------
    label : str, int or float

    Returns
    -------
    str

    Examples
    --------
    >>> fold(" Not\u00a0 Sure"), fold("\uff2e\uff2f"), fold("1,000")
    ('not sure', 'no', '1,000')
    """
    text = str(label)
    if text.isascii():
        return " ".join(text.casefold().split())
    text = _one_form(text.translate(INVISIBLE)).casefold()
    return _one_form(" ".join(text.split()))


def _one_form(text: str) -> str:
    """Text in one Unicode form, powers and fractions as they are."""
    plain = (
        c if c.isnumeric() and not c.isdecimal() else unicodedata.normalize("NFKC", c) for c in text
    )
    return unicodedata.normalize("NFC", "".join(plain))


def value_or_folded(label: Any) -> str:
    """Text that is equal for labels which may be one: numbers by their value, others folded.

    Examples
    --------
    >>> value_or_folded("2.0"), value_or_folded("02"), value_or_folded("2,0")
    ('2', '2', '2')
    >>> value_or_folded("1,000"), value_or_folded(" Yes")
    ('1000', 'yes')
    """
    text = fold(label)
    if THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    return f"{float(text.replace(',', '.')):.15g}" if NUMBER.fullmatch(text) else text
