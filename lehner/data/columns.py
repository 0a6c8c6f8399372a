"""Columns and tables: each column is coded once, when it is first used."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.errors import InputError, suggest
from lehner.data.categories import BOOLEANS, MISSING, NUMBER, fold, plain_label, value_or_folded
from lehner.data.flat import MOST_ITEMS
from lehner.data.numbering import number_by_appearance

LEAST_PROBABILITY = 1e-6
"""With which an item was chosen: an item of less would count as more than a million."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """A column: a code for each row, and the value of each code.

    Parameters
    ----------
    name : str
    raw_codes : ndarray of int, shape (n_rows,)
        Index into `raw`, -1 where missing.
    raw : ndarray
        The values as they stand.
    declared : bool
        Whether `raw` is a list that the user fixed (a pandas categorical), not those that occur.
    ordered : bool
        Whether the values are in a meaningful order.
    """

    name: str
    raw_codes: Integers
    raw: NDArray[Any]
    declared: bool = False
    ordered: bool = False

    def __len__(self) -> int:
        return len(self.raw_codes)

    @cached_property
    def _merged(self) -> tuple[Integers, tuple[Any, ...]]:
        return merge_labels(self.raw_codes, self.raw)

    @property
    def codes(self) -> Integers:
        """Index into `labels` of each row, -1 where missing, shape (n_rows,)."""
        return self._merged[0]

    @property
    def labels(self) -> tuple[Any, ...]:
        """Distinct labels as text, int or float, without spaces around them."""
        return self._merged[1]

    @property
    def texts(self) -> NDArray[Any]:
        """Label of each row as text, "" where missing, shape (n_rows,)."""
        return np.array([*map(str, self.labels), ""], dtype=object)[self.codes]

    def take(self, rows: Integers) -> "Column":
        """Select rows; values that no longer occur are dropped, unless they were declared."""
        codes, raw = self.raw_codes[rows], self.raw
        if not self.declared:
            used = np.unique(codes[codes >= 0])
            place = np.full(len(raw) + 1, -1)
            place[used] = np.arange(len(used))
            codes, raw = place[codes], raw[used]
        return replace(self, raw_codes=codes, raw=raw)

    @cached_property
    def items(self) -> tuple[Integers, NDArray[Any]]:
        """Index of each row's item, in order of appearance, and the items' names.

        There may be millions. Names are whole numbers if all are, else text.

        Raises
        ------
        InputError
            If an item is blank, or two differ only in how they are written.
        """
        known = self.raw_codes >= 0
        index = np.full(len(self), -1)
        index[known], first = number_by_appearance(self.raw_codes[known])
        names = _whole_numbers_or_text(self.raw[self.raw_codes[known][first]])
        text = names.dtype == object
        blank = np.isin(names, ["", *MISSING]) if text else np.zeros(len(names), bool)
        self.refuse_blank(~known | np.append(blank, True)[index])
        distinct = dict.fromkeys(names.tolist())
        if len(distinct) < len(names):  # names that differed in spaces or type are now equal
            position = {name: number for number, name in enumerate(distinct)}
            index = np.array([position[name] for name in names.tolist()])[index]
            names = np.array(list(distinct), dtype=names.dtype)
        if text:
            self._refuse_spellings(index, names)
        return index, names

    def refuse_blank(self, blank: Booleans | None = None) -> "Column":
        """Raise an InputError if a row is blank."""
        blank = self.codes < 0 if blank is None else blank
        if blank.any():
            raise InputError(
                f"the {self.name} is blank",
                "fill it in or delete the row",
                row=int(np.argmax(blank)),
                column=self.name,
            )
        return self

    def _refuse_spellings(self, index: Integers, names: NDArray[Any]) -> None:
        """Raise an InputError for items such as 1 and 1.0, or q1 and Q1."""
        seen: dict[str, str] = {}
        for name in names.tolist():
            decimal = ("." in name or "," in name) and NUMBER.fullmatch(name)
            key = value_or_folded(name) if decimal else fold(name)
            other = seen.setdefault(key, name)
            if other != name:
                raise InputError(
                    f"the items {other!r} and {name!r} differ only in how they are written",
                    "write the name of each item alike",
                    row=int(np.argmax(names[index] == name)),
                    column=self.name,
                )


def encode(values: Any, name: str = "") -> Column:
    """Code a column of labels; a column that is already coded is given back.

    Parameters
    ----------
    values : pandas.Series, pyarrow.ChunkedArray or array_like, shape (n_rows,)
        Strings, whole numbers or booleans; `None`, NaN, blanks and `MISSING` texts are missing.
    name : str
        The column's name.

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
    if isinstance(values, Column):
        return values
    try:
        if str(getattr(values, "type", "")).startswith("dictionary<values=string,"):
            if values.null_count == 0:
                codes, raw = _arrow_codes(values)
                return Column(name=name, raw_codes=codes, raw=raw)
        import pandas as pd

        series = _as_series(values)
        if isinstance(series.dtype, pd.CategoricalDtype):
            # Arrow's dictionaries save memory; they do not show that someone declared the labels.
            declared, ordered = not hasattr(values, "to_pandas"), bool(series.cat.ordered)
            codes, raw = series.cat.codes.to_numpy(), np.asarray(series.cat.categories)
            codes = codes.astype(np.int64)
            return Column(name=name, raw_codes=codes, raw=raw, declared=declared, ordered=ordered)
        codes, uniques = pd.factorize(series)
        return Column(name=name, raw_codes=codes, raw=np.asarray(uniques))
    except (TypeError, ValueError):
        # Text in a damaged file fails only when it is looked at.
        raise InputError(
            "it holds something else than labels", "give one label a row", column=name
        ) from None


def _arrow_codes(values: Any) -> tuple[Integers, NDArray[Any]]:
    """Codes of dictionary-encoded text, as from a CSV file, and the texts."""
    if len(values) == 0:
        return np.empty(0, np.int64), np.empty(0, dtype=object)
    chunks = values.unify_dictionaries().chunks
    codes = np.concatenate([np.from_dlpack(chunk.indices) for chunk in chunks])
    return codes.astype(np.int64), np.array(chunks[0].dictionary.to_pylist(), dtype=object)


def _as_series(values: Any) -> Any:
    import pandas as pd

    if hasattr(values, "to_pandas"):
        return values.to_pandas()
    series = pd.Series(values)
    if series.dtype == object and "mixed" in pd.api.types.infer_dtype(series, skipna=True):
        # Else True and 1 would be one label.
        series = series.map(lambda value: str(value) if isinstance(value, BOOLEANS) else value)
    return series


def merge_labels(codes: Any, raw: Any) -> tuple[Integers, tuple[Any, ...]]:
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


type Place = Callable[[InputError], None]
"""Names file and line in an error whose row is the index of a row of data."""


class Table(Mapping[str, Column]):
    """A table: columns by name, each coded when it is first used.

    Parameters
    ----------
    columns : mapping of str to column
        Of equal length.
    notes : sequence of str
        What is to be said of the table.
    place : callable, optional
        Names file and line in an error whose row is an index into the rows as they were read.
    origin : ndarray of int, shape (n_rows,), optional
        The row as it was read of each row; by default these are the rows as they were read.
    cells : sequence of str, length n_rows, optional
        The column as it was read in which each rating stood.
    n_rows : int, optional
        By default the length of the first column.
    """

    def __init__(
        self,
        columns: Mapping[str, Any],
        *,
        notes: Sequence[str] = (),
        place: Place | None = None,
        origin: Integers | None = None,
        cells: Sequence[str] | None = None,
        n_rows: int | None = None,
    ) -> None:
        self._columns = dict(columns)
        self.notes, self.place = tuple(notes), place
        self.origin, self.cells = origin, cells
        self.n_rows = n_rows if n_rows is not None else len(next(iter(self._columns.values()), ()))

    def __getitem__(self, name: str) -> Column:
        values = self._columns[name]
        self._columns[name] = values() if callable(values) else encode(values, name)
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def having(self, columns: Mapping[str, Any], *notes: str) -> "Table":
        """Add columns, or put them in place of those of the same name, and add notes."""
        return self._like(self._columns | dict(columns), self.origin, self.cells, notes)

    def without(self, names: Sequence[str]) -> "Table":
        """Leave columns out."""
        kept = {name: values for name, values in self._columns.items() if name not in names}
        return self._like(kept, self.origin, self.cells)

    def take(self, rows: Integers, *notes: str) -> "Table":
        """Select rows."""
        origin = rows if self.origin is None else self.origin[rows]
        cells = None if self.cells is None else [self.cells[row] for row in rows]
        columns = {name: partial(_take, self, name, rows) for name in self}
        return self._like(columns, origin, cells, notes)

    def stack(
        self, names: Sequence[str], once: Mapping[str, Any], name: str, value: str
    ) -> "Table":
        """Make a row of each cell of some columns, one column after the other.

        Parameters
        ----------
        names : sequence of str
            The columns.
        once : mapping of str to column
            Columns that are repeated for each.
        name, value : str
            The new columns of names and of values.
        """
        n, copies = self.n_rows, len(names)
        tiled = np.tile(np.arange(n), copies)
        columns: dict[str, Any] = {
            one: encode(values, one).take(tiled) for one, values in once.items()
        }
        columns[name] = np.repeat(np.array(names, dtype=object), n)
        columns[value] = np.concatenate(
            [np.array([*self[one].labels, None], dtype=object)[self[one].codes] for one in names]
        )
        origin = tiled if self.origin is None else self.origin[tiled]
        return self._like(columns, origin, columns[name].tolist())

    def _like(
        self,
        columns: dict[str, Any],
        origin: Integers | None,
        cells: Sequence[str] | None,
        notes: Sequence[str] = (),
    ) -> "Table":
        notes = (*self.notes, *notes)
        n_rows = self.n_rows if origin is None else len(origin)
        place = self.place
        return Table(columns, notes=notes, place=place, origin=origin, cells=cells, n_rows=n_rows)

    def locate(self, error: InputError) -> None:
        """Name in an error the place in the file, in place of the index of a row here."""
        if error.file is not None or error.row is None:
            return
        if self.cells is not None and error.column not in self.cells:
            error.column = self.cells[error.row]
        if self.origin is not None:
            error.row = int(self.origin[error.row])
        if self.place is not None:
            self.place(error)


def _take(table: Table, name: str, rows: Integers) -> Column:
    return table[name].take(rows)


def table_of(data: Any, names: Sequence[str] | None = None) -> Table:
    """Make a table of data in memory.

    Parameters
    ----------
    data : pandas.DataFrame, pyarrow.Table, mapping of columns or ndarray
    names : sequence of str, optional
        Names for the columns of an array; by default "1", "2", ….

    Returns
    -------
    Table
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, np.ndarray):
        return Table(_array_columns(data, names))
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
    return Table(table)


def refuse_repeated_names(names: Sequence[str], **where: Any) -> None:
    """Raise an InputError, with its place in a file if it is known, if two columns have a name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            remedy = "give each column its own name, or say if there are no names (header='none')"
            raise InputError(f"two columns are named {name!r}", remedy, **where)
        seen.add(name)


def _array_columns(data: NDArray[Any], names: Sequence[str] | None) -> dict[str, Any]:
    n_columns = data.shape[1] if data.ndim == 2 else 0
    labels = [str(j + 1) for j in range(n_columns)] if not names else [str(n) for n in names]
    if data.ndim != 2 or len(set(labels)) != n_columns:
        raise InputError(
            f"the array has shape {data.shape}" + (f" for raters {labels}" if names else ""),
            "give an array (item, rater) and a name per column",
        )
    return {name: data[:, j] for j, name in enumerate(labels)}


def require_columns(columns: Mapping[str, Any], names: Sequence[Any]) -> None:
    """Raise an InputError unless all the named columns exist, each with one role."""
    seen: set[Any] = set()
    for name in names:
        if not isinstance(name, Hashable) or name not in columns:
            raise InputError(f"there is no column {name!r}", suggest(name, columns))
        if name in seen:
            raise InputError(f"the column {name!r} is named for two roles", "name it for one")
        seen.add(name)


def read_counts(column: Column) -> Integers:
    """Read the number of items of each row."""
    texts = [str(label) for label in column.labels]
    good = [t.isascii() and t.isdigit() and int(t[:20]) <= MOST_ITEMS for t in texts]
    bad = ~np.array([*good, False])[column.codes]
    _refuse_first(bad, column, "a number of items", "give whole numbers, 0 or more")
    return np.array([int(t) for t in texts], dtype=np.int64)[column.codes]


def read_probabilities(column: Column) -> Floats:
    """Read a probability above 0 for each row."""
    numbers = read_numbers(column)
    bad = ~((numbers >= LEAST_PROBABILITY) & (numbers <= 1))
    what = "the probability with which an item was chosen"
    remedy = "give each item, of known truth or not, a number from 0.000001 to 1"
    _refuse_first(bad, column, what, remedy)
    return numbers


def read_numbers(column: Column) -> Floats:
    """Read a number for each row, NaN where there is none."""
    return np.append([number_or_nan(str(label)) for label in column.labels], np.nan)[column.codes]


def number_or_nan(text: str) -> float:
    """Read a number, NaN where there is none."""
    try:
        return float(text)
    except ValueError:
        return np.nan


def _refuse_first(bad: Booleans, column: Column, what: str, remedy: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        problem = f"{column.texts[row]!r} is not {what}"
        raise InputError(problem, remedy, row=row, column=column.name)


def join_columns(columns: list[Column]) -> Column:
    """Join the texts of columns, as "q1 gpt"; blank where the first is."""
    keys = np.stack([column.codes for column in columns], axis=1)
    unique, index = np.unique(keys, axis=0, return_inverse=True)
    texts = [
        " ".join(str(c.labels[k]) for c, k in zip(columns, row, strict=True) if k >= 0)
        if row[0] >= 0
        else None
        for row in unique
    ]
    return encode(np.array([*texts, None], dtype=object)[index.ravel()], columns[0].name)
