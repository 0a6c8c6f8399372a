"""Tables: columns by name, and errors that name what is wrong in a table, and where."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.errors import InputError, suggest
from lehner.data.categories import MISSING, Column, encode, raw_codes
from lehner.data.flat import MOST_ITEMS
from lehner.data.numbering import number_by_appearance


def columns_of(data: Any, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Columns of a table by name.

    Parameters
    ----------
    data : pandas.DataFrame, pyarrow.Table, mapping of columns or ndarray
    names : sequence of str, optional
        Names for the columns of an array; by default "1", "2", ….

    Returns
    -------
    dict of str to column
    """
    if isinstance(data, np.ndarray):
        return _array_columns(data, names)
    if hasattr(data, "itercolumns"):
        names, columns = data.column_names, data.itercolumns()
    else:
        names = list(data if isinstance(data, Mapping) else getattr(data, "columns", ()))
        columns = (data[name] for name in names)
    header = [str(name).strip() for name in names]
    if not header:
        raise InputError("it is not a table with columns", "give a DataFrame or columns by name")
    refuse_repeated_names(header)
    table = dict(zip(header, (list(c) if isinstance(c, str) else c for c in columns), strict=True))
    if not all(hasattr(values, "__len__") for values in table.values()) or (
        len({len(values) for values in table.values()}) != 1
    ):
        raise InputError("columns differ in length", "give each column a value a row")
    return table


def refuse_repeated_names(names: Sequence[str], **where: Any) -> None:
    """Raise an InputError, with its place in a file if it is known, if two columns have a name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            remedy = "give each column its own name"
            raise InputError(f"two columns are named {name!r}", remedy, **where)
        seen.add(name)


def _array_columns(data: NDArray[Any], names: Sequence[str] | None) -> dict[str, Any]:
    n_columns = data.shape[1] if data.ndim == 2 else 0
    labels = [str(j + 1) for j in range(n_columns)] if names is None else [str(n) for n in names]
    if data.ndim != 2 or len(set(labels)) != n_columns:
        raise InputError(
            f"the array has shape {data.shape}" + (f" for raters {labels}" if names else ""),
            "give an array (item, rater) and a name per column",
        )
    return {name: data[:, j] for j, name in enumerate(labels)}


def require_columns(columns: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise an InputError unless all the named columns exist, each with one role."""
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, Hashable) or name not in columns:
            raise InputError(f"there is no column {name!r}", suggest(name, columns))
        if name in seen:
            raise InputError(f"the column {name!r} is named for two roles", "name it for one")
        seen.add(name)


def require_complete(column: Column, name: str) -> Column:
    """Raise an InputError if a column is blank in a row."""
    _refuse_blank(column.codes < 0, name)
    return column


def _refuse_blank(blank: Booleans, name: str) -> None:
    if blank.any():
        raise InputError(
            f"the {name} is blank",
            "fill it in or delete the row",
            row=int(np.argmax(blank)),
            column=name,
        )


def encode_items(values: Any, name: str) -> tuple[Integers, NDArray[Any]]:
    """Encode the items of a column, of which there may be millions, in order of appearance.

    Parameters
    ----------
    values : column
    name : str
        The column's name, for the error.

    Returns
    -------
    index : ndarray of int, shape (n_rows,)
    names : ndarray, shape (n_items,)
        Whole numbers if all names are, else text.
    """
    codes, raw, *_ = raw_codes(values, name)
    known = codes >= 0
    index = np.full(len(codes), -1)
    index[known], first = number_by_appearance(codes[known])
    names = _whole_numbers_or_text(raw[codes[known][first]])
    blank = np.isin(names, ["", *MISSING]) if names.dtype == object else np.zeros(len(names), bool)
    _refuse_blank(~known | np.append(blank, True)[index], name)
    distinct = dict.fromkeys(names.tolist())
    if len(distinct) == len(names):
        return index, names
    # Names that differed only in spaces or type are now equal.
    position = {one: number for number, one in enumerate(distinct)}
    merged = np.array([position[one] for one in names.tolist()])
    return merged[index], np.array(list(distinct), dtype=names.dtype)


def _whole_numbers_or_text(names: NDArray[Any]) -> NDArray[Any]:
    if names.dtype.kind in "iu":
        return names
    if names.dtype.kind == "f":
        whole = np.all(names == np.round(names)) and np.all(np.abs(names) < MOST_ITEMS)
        return names.astype(np.int64) if whole else names.astype(str).astype(object)
    text = np.array([str(name).strip() for name in names], dtype=object)
    try:
        numbers = text.astype(np.int64)
    except (ValueError, OverflowError):
        return text
    return numbers if np.array_equal(numbers.astype(str), text.astype(str)) else text


def unique_items(values: Any, name: str) -> NDArray[Any]:
    """Item names of a table with a row per item; none may occur twice."""
    index, names = encode_items(values, name)
    first_use = np.zeros(len(index), dtype=bool)
    first_use[np.unique(index, return_index=True)[1]] = True
    if not first_use.all():
        row = int(np.argmin(first_use))
        raise InputError(
            f"item {str(names[index[row]])!r} occurs a second time in a table with a row per item",
            "give each item one row, or use a table with a row per rating (item, rater, rating)",
            row=row,
            column=name,
        )
    return names


def count_column(values: Any, name: str) -> Integers:
    """Read the number of items of each row."""
    column = encode(values, name)
    texts = [str(label) for label in column.labels]
    good = [t.isascii() and t.isdigit() and int(t[:20]) <= MOST_ITEMS for t in texts]
    bad = ~np.array([*good, False])[column.codes]
    _refuse_first(bad, column, name, "a number of items", "give whole numbers, 0 or more")
    return np.array([int(t) for t in texts], dtype=np.int64)[column.codes]


LEAST_PROBABILITY = 1e-6
"""With which an item was chosen: an item of less would count as more than a million."""


def probability_column(values: Any, name: str) -> Floats:
    """Read a probability above 0 for each row."""
    column = encode(values, name)
    texts = [str(label) for label in column.labels]
    numbers = np.append([number_or_nan(text) for text in texts], np.nan)[column.codes]
    bad = ~((numbers >= LEAST_PROBABILITY) & (numbers <= 1))
    what = "the probability with which an item was chosen"
    remedy = "give each item, of known truth or not, a number from 0.000001 to 1"
    _refuse_first(bad, column, name, what, remedy)
    return numbers


def number_or_nan(text: str) -> float:
    """Read a number, NaN where there is none."""
    try:
        return float(text)
    except ValueError:
        return np.nan


def _refuse_first(bad: Booleans, column: Column, name: str, what: str, remedy: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        value = "" if column.codes[row] < 0 else str(column.labels[column.codes[row]])
        raise InputError(f"{value!r} is not {what}", remedy, row=row, column=name)


def refuse_duplicates(
    item: Integers, rater: Column, occasion: Integers | None, rating: Integers, name: str
) -> None:
    """Raise an InputError, for the column of this name, where a rater rates an item twice."""
    rows = np.flatnonzero(rating >= 0)
    key = item[rows] * len(rater.labels) + rater.codes[rows]
    if occasion is not None:
        key = key * (int(occasion.max(initial=0)) + 1) + occasion[rows]
    order = np.argsort(key, kind="stable")
    again = rows[order[1:][key[order[1:]] == key[order[:-1]]]]
    if again.size:
        row = int(again.min())
        raise InputError(
            f"rater {str(rater.labels[rater.codes[row]])!r} rates the item a second time",
            "delete one rating, number repeated ratings in a column 'occasion', or accept them as "
            "repeated ratings (repeated=True)",
            row=row,
            column=name,
        )


def one_per_item(
    item: Integers, truth: Integers, n_items: int, name: str, labels: Any, what: str = "truth"
) -> Integers:
    """Gather what each item has once, as its known truth, from a table with a row per rating."""
    known = np.flatnonzero(truth >= 0)
    per_item = np.full(n_items, -1)
    per_item[item[known[::-1]]] = truth[known[::-1]]
    conflict = known[per_item[item[known]] != truth[known]]
    if conflict.size:
        row = int(conflict[0])
        first, second = labels[per_item[item[row]]], labels[truth[row]]
        raise InputError(
            f"the item's {what} is {str(second)!r} here and {str(first)!r} in an earlier row",
            f"give each item one {what}",
            row=row,
            column=name,
        )
    return per_item
