"""Labels: columns of category names, converted to codes and names, and their spellings."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Integers
from lehner.core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


type Label = str | int

MISSING = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>"})
"""Texts that are read as a missing rating; not `None`, which is a common category."""

_BOOL = (bool, np.bool_)
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.0+)?")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]+)?")
INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
NUMBER = re.compile(r"[-+]?[0-9]{1,15}([.,][0-9]{1,15})?")
THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+")


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column: a code for each row, and the label of each code.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        x
    labels : tuple
        The labels, none twice.
    declared : bool
        Whether `labels` is a list that the user fixed (a pandas categorical), not those that occur.
    ordered : bool
        Whether the labels are in a meaningful order.
    """

    codes: Integers
    labels: tuple[Any, ...]
    declared: bool = False
    ordered: bool = False


def encode(values: Any, name: str = "") -> Column:
    """Turn a column of labels into codes.

    Parameters
    ----------
    values : pandas.Series, pyarrow.ChunkedArray or array_like, shape (n_rows,)
        Strings, whole numbers or booleans; `None`, NaN, blanks and `MISSING` texts are missing.
    name : str
        The column's name, for the error.

    Returns
    -------
    Column

    Raises
    ------
    InputError
        If the values are not labels.

    Examples
    --------
    >>> encode(["yes", None, "no", "yes"]).labels
    ('yes', 'no')
    """
    codes, raw, declared, ordered = raw_codes(values, name)
    codes, labels = merge_labels(codes, raw)
    return Column(codes=codes, labels=labels, declared=declared, ordered=ordered)


def raw_codes(values: Any, name: str) -> tuple[Integers, NDArray[Any], bool, bool]:
    """Code a column as it stands.

    Parameters
    ----------
    values : column
        As in `encode`.
    name : str
        The column's name, for the error.

    Returns
    -------
    codes : ndarray of int, shape (n_rows,)
        -1 where missing.
    raw : ndarray
        Values, used or not.
    declared, ordered : bool
        Whether the user fixed the values, and whether in a meaningful order.

    Raises
    ------
    InputError
        If the values are not labels.
    """
    try:
        if str(getattr(values, "type", "")).startswith("dictionary<values=string,"):
            if values.null_count == 0:
                return *_arrow_codes(values), False, False
        import pandas as pd

        series = _as_series(values)
        if isinstance(series.dtype, pd.CategoricalDtype):
            categories = np.asarray(series.cat.categories)
            # Arrow's dictionaries save memory; they do not show that someone declared the labels.
            declared = not hasattr(values, "to_pandas")
            return series.cat.codes.to_numpy(), categories, declared, bool(series.cat.ordered)
        codes, uniques = pd.factorize(series)
        return codes, np.asarray(uniques), False, False
    except (TypeError, ValueError):
        # Text in a damaged file fails only when it is looked at.
        raise InputError(
            "it holds something else than labels", "give one label a row", column=name
        ) from None


def _arrow_codes(values: Any) -> tuple[Integers, NDArray[Any]]:
    """Codes of dictionary-encoded text, as from `read_csv`, and the texts."""
    if len(values) == 0:
        return np.empty(0, np.int64), np.empty(0, dtype=object)
    chunks = values.unify_dictionaries().chunks
    # Arrow's own way to NumPy imports pandas, which takes longer than most files to read.
    codes = np.concatenate([np.from_dlpack(chunk.indices) for chunk in chunks])
    return codes.astype(np.int64), np.array(chunks[0].dictionary.to_pylist(), dtype=object)


def _as_series(values: Any) -> "pd.Series":
    import pandas as pd

    if hasattr(values, "to_pandas"):
        return values.to_pandas()
    series = pd.Series(values)
    if series.dtype == object and "mixed" in pd.api.types.infer_dtype(series, skipna=True):
        # Else True and 1 would be one label.
        series = series.map(lambda value: str(value) if isinstance(value, _BOOL) else value)
    return series


def merge_labels(codes: ArrayLike, raw: Any) -> tuple[Integers, tuple[Any, ...]]:
    """Strip labels, drop missing ones and merge those that became the same.

    Parameters
    ----------
    codes : array_like of int, shape (n_rows,)
        Index into `raw`; -1 where missing.
    raw : sequence
        Labels; None means a missing rating.

    Returns
    -------
    codes : ndarray of int, shape (n_rows,)
    labels : tuple
    """
    position: dict[Any, int] = {}
    lookup = np.empty(len(raw) + 1, dtype=np.int64)
    lookup[-1] = -1
    for i, value in enumerate(raw):
        label = plain_label(value)
        lookup[i] = -1 if label is None else position.setdefault(label, len(position))
    return lookup[np.asarray(codes, dtype=np.int64)], tuple(position)


def plain_label(value: Any) -> Any:
    """Label as Python text, int or float; None if it means a missing rating."""
    try:
        if value is None or value != value:
            return None
    except (TypeError, ValueError):  # pandas.NA, or something that is not a label
        return None
    if isinstance(value, _BOOL):
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
