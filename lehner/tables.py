"""Tables: columns by name, with the errors that say where a table is wrong."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lehner.errors import InputError
from lehner.labels import Column, encode

if TYPE_CHECKING:
    import pandas as pd

    from lehner.ratings import Ratings


def columns_of(data: Any, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Give the columns of a table by name.

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
    header = getattr(data, "column_names", None)
    if header is None:
        header = list(data.keys() if isinstance(data, Mapping) else data.columns)
    table = {str(name): data[name] for name in header}
    table = {name: list(v) if isinstance(v, str) else v for name, v in table.items()}
    if len(table) < len(header) or len({len(values) for values in table.values()}) > 1:
        raise InputError(
            "columns share a name or differ in length", "give a table with one name per column"
        )
    return table


def _array_columns(data: NDArray[Any], names: Sequence[str] | None) -> dict[str, Any]:
    n_columns = data.shape[1] if data.ndim == 2 else 0
    labels = [str(j + 1) for j in range(n_columns)] if names is None else [str(n) for n in names]
    if data.ndim != 2 or len(labels) != n_columns:
        raise InputError(
            f"the array has shape {data.shape}" + (f" for raters {labels}" if names else ""),
            "give an array (item, rater) and a name per column",
        )
    return {name: data[:, j] for j, name in enumerate(labels)}


def require_columns(columns: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise an InputError unless all the named columns are there."""
    for name in names:
        if name not in columns:
            raise InputError(
                f"there is no column {name!r}", f"choose among {', '.join(columns) or 'none'}"
            )


def require_complete(column: Column, name: str) -> Column:
    """Raise an InputError where a column is blank."""
    blank = column.codes < 0
    if blank.any():
        raise InputError(
            f"the {name} is blank",
            "fill it in or delete the row",
            row=int(np.argmax(blank)),
            column=name,
        )
    return column


def encode_items(values: Any, name: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
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
    import pandas as pd

    series = values.to_pandas() if hasattr(values, "to_pandas") else pd.Series(values)
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.cat.remove_unused_categories()
    index, uniques = pd.factorize(series)
    names = np.asarray(uniques)
    blank = (index < 0) | np.isin(index, np.flatnonzero(names == ""))
    if blank.any():
        row = int(np.argmax(blank))
        raise InputError(
            f"the {name} is blank", "fill it in or delete the row", row=row, column=name
        )
    return index.astype(np.int64), _whole_numbers(names)


def _whole_numbers(names: NDArray[Any]) -> NDArray[Any]:
    try:
        numbers = names.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        return names.astype(str).astype(object)
    same = numbers == names if names.dtype.kind in "iuf" else numbers.astype(str) == names
    return numbers if np.all(same) else names.astype(str).astype(object)


def unique_items(values: Any, name: str) -> NDArray[Any]:
    """Give the item names of a table with a row per item; none may occur twice."""
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


def count_column(values: Any, name: str) -> NDArray[np.int64]:
    """Read how many items each row stands for."""
    column = encode(values)
    good = [str(label).isascii() and str(label).isdigit() for label in column.labels]
    bad = ~np.array([*good, False])[column.codes]
    if bad.any():
        row = int(np.argmax(bad))
        value = "" if column.codes[row] < 0 else column.labels[column.codes[row]]
        raise InputError(
            f"{value!r} is not a number of items",
            "give whole numbers, 0 or more",
            row=row,
            column=name,
        )
    return np.array([int(n) for n in column.labels], dtype=np.int64)[column.codes]


def refuse_duplicates(
    item: NDArray[np.int64],
    rater: Column,
    occasion: NDArray[np.int64] | None,
    rating: NDArray[np.int64],
) -> None:
    """Raise an InputError where a rater rates an item twice on one occasion."""
    import pandas as pd

    rows = np.flatnonzero(rating >= 0)
    key = item[rows] * len(rater.labels) + rater.codes[rows]
    if occasion is not None:
        key = key * (int(occasion.max(initial=0)) + 1) + occasion[rows]
    duplicated = pd.Series(key).duplicated().to_numpy()
    if duplicated.any():
        row = int(rows[np.argmax(duplicated)])
        raise InputError(
            f"rater {str(rater.labels[rater.codes[row]])!r} rates the item a second time",
            "delete one rating, or tell repeated ratings apart in a column 'occasion'",
            row=row,
            column="rating",
        )


def truth_per_item(
    item: NDArray[np.int64], truth: NDArray[np.int64], n_items: int, name: str
) -> NDArray[np.int64]:
    """Gather the known truth of each item from a table with a row per rating."""
    known = truth >= 0
    per_item = np.full(n_items, -1)
    per_item[item[known]] = truth[known]
    conflict = known & (per_item[item] != truth)
    if conflict.any():
        raise InputError(
            "the item has another truth in a later row",
            "give each item one truth",
            row=int(np.argmax(conflict)),
            column=name,
        )
    return per_item


def wide_frame(ratings: "Ratings") -> "pd.DataFrame":
    """Give a table with a row per item and a column per rater, blanks where missing."""
    import pandas as pd

    codes = ratings.codes
    frame = {"item": ratings.items}
    frame |= {str(r): _categorical(ratings, codes[:, j]) for j, r in enumerate(ratings.raters)}
    if ratings.system is not None:
        frame["system"] = _categorical(ratings, ratings.system)
    if ratings.truth is not None:
        frame["truth"] = _categorical(ratings, ratings.truth)
    if ratings.counts is not None:
        frame["count"] = ratings.counts
    return pd.DataFrame(frame)


def long_frame(ratings: "Ratings") -> "pd.DataFrame":
    """Give a table with a row per rating, the system as one more rater."""
    import pandas as pd

    if ratings.grouped:
        raise InputError("grouped ratings have no row per item", "use to_wide()")
    flat = ratings.flat
    item, rater, code = flat.item_index, flat.rater_index, flat.category_index
    names = np.array([str(name) for name in ratings.raters], dtype=object)[rater]
    occasion = np.arange(len(item)) - _start_of_pair(item, rater) + 1
    if ratings.system is not None:
        answered = np.flatnonzero(ratings.system >= 0)
        item = np.concatenate([item, answered])
        names = np.concatenate([names, np.full(len(answered), "system", dtype=object)])
        occasion = np.concatenate([occasion, np.ones(len(answered), dtype=np.int64)])
        code = np.concatenate([code, ratings.system[answered]])
    columns = {"item": ratings.items[item], "rater": names, "occasion": occasion}
    columns["rating"] = _categorical(ratings, code)
    if ratings.truth is not None:
        columns["truth"] = _categorical(ratings, ratings.truth[item])
    return pd.DataFrame(columns)


def _start_of_pair(item: NDArray[np.int64], rater: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the position where the ratings of the same item by the same rater begin."""
    position = np.arange(len(item))
    new = (np.diff(item, prepend=-1) != 0) | (np.diff(rater, prepend=-1) != 0)
    return np.maximum.accumulate(np.where(new, position, 0))


def _categorical(ratings: "Ratings", codes: NDArray[np.int64]) -> Any:
    import pandas as pd

    return pd.Categorical.from_codes(codes, list(ratings.categories), ordered=ratings.ordered)
