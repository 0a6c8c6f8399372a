"""Labels, columns and tables: each column is coded once, when it is first used."""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.errors import InputError, compose, suggest
from lehner.core.lazy import load, pa, pd
from lehner.data.counts import MOST_ITEMS, factorize

pc = load("pyarrow.compute")

type Label = str | int

# Texts that are read as a missing rating; not `None`, which is a common category.
MISSING = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>"})

# Cells that are looked at before all are.
LOOKED_AT = 100
BOOLEANS = (bool, np.bool_)
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.0+)?")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]+)?")
INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
NUMBER = re.compile(r"[-+]?[0-9]{1,15}([.,][0-9]{1,15})?")
# Characters of names that cannot differ only in how they are written.
PLAIN = bytes({*range(32, 127)} - {*f"{ascii_uppercase}.,".encode()})
THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+")


@cache
def load_words(file: str = "words.toml") -> dict[str, Any]:
    """Load lists of words, or what the names of columns mean, from a file of this folder."""
    return tomllib.loads(files("lehner.data").joinpath(file).read_text(encoding="utf-8"))


def to_label(value: Any) -> Any:
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


def to_numbers(categories: Sequence[Label]) -> list[float] | None:
    """Give the numbers of categories, whole or decimal; None if one is not a number.

    Examples
    --------
    >>> to_numbers(["0.5", "1"]), to_numbers(["1", "B"])
    ([0.5, 1.0], None)
    """
    texts = [str(category) for category in categories]
    if not texts or not all(map(_DECIMAL.fullmatch, texts)):
        return None
    return [float(text) for text in texts]


def name_categories(n_categories: int) -> tuple[Label, ...]:
    """Name categories A, B, C, …, or 1, 2, 3, … if there are more than letters.

    Examples
    --------
    >>> name_categories(3)
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
    named = tuple(to_label(category) for category in categories)
    if not all(isinstance(c, str | int | float | np.generic) for c in categories) or None in named:
        problem = f"the categories {list(categories)} are not all names"
        raise InputError(problem, "give text or whole numbers, none of them blank")
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
    text = _normalise(text.translate(INVISIBLE)).casefold()
    return _normalise(" ".join(text.split()))


def _normalise(text: str) -> str:
    """Give the text in one Unicode form, powers and fractions as they are."""
    plain = (
        c if c.isnumeric() and not c.isdecimal() else unicodedata.normalize("NFKC", c) for c in text
    )
    return unicodedata.normalize("NFC", "".join(plain))


def fold_label(label: Any) -> str:
    """Write labels that may be one alike: numbers by their value, others folded.

    Examples
    --------
    >>> fold_label("2.0"), fold_label("02"), fold_label("2,0")
    ('2', '2', '2')
    >>> fold_label("1,000"), fold_label(" Yes")
    ('1000', 'yes')
    """
    text = fold(label)
    if THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    return f"{float(text.replace(',', '.')):.15g}" if NUMBER.fullmatch(text) else text


# With which an item was chosen: an item of less would count as more than a million.
LEAST_PROBABILITY = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """A column of labels: a code for each row, and the label of each code.

    Parameters
    ----------
    name : str
    codes : ndarray of int, shape (n_rows,)
        Index into `labels`, -1 where missing.
    labels : sequence
        Distinct labels as text, int or float, without spaces around them.
    declared : bool
        Whether `labels` is a list that the user fixed (a pandas categorical), not those that occur.
    ordered : bool
        Whether the labels are in a meaningful order.
    """

    name: str
    codes: Integers
    labels: Sequence[Any]
    declared: bool = False
    ordered: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    def look_up(self, values: Sequence[Any], missing: Any) -> NDArray[Any]:
        """Give each row the value of its label, and `missing` where there is none."""
        plain = isinstance(missing, bool | int | float | np.integer)
        kind = np.array([missing]).dtype if plain else object
        return np.array([*values, missing], dtype=kind)[self.codes]

    @property
    def values(self) -> NDArray[Any]:
        """Label of each row, None where missing, shape (n_rows,)."""
        return self.look_up(self.labels, None)

    @property
    def texts(self) -> NDArray[Any]:
        """Label of each row as text, "" where missing, shape (n_rows,)."""
        return self.look_up(list(map(str, self.labels)), "")

    @cached_property
    def label_set(self) -> frozenset[str]:
        """Its labels, those that differ only in how they are written as one."""
        return frozenset(map(fold_label, self.labels))

    @property
    def numbers(self) -> Floats:
        """Number in each row, NaN where there is none, shape (n_rows,)."""
        return self.look_up([number_or_nan(str(label)) for label in self.labels], np.nan)

    def count_labels(self) -> Integers:
        """Count the rows that have each label, shape (n_labels,)."""
        return np.bincount(self.codes + 1, minlength=len(self.labels) + 1)[1:]

    def take(self, rows: Integers) -> "Column":
        """Select rows; labels that no longer occur are dropped, unless they were declared."""
        codes = self.codes[rows]
        if self.declared:
            return replace(self, codes=codes)
        used, code_of = np.unique(codes[codes >= 0]), np.full(len(self.labels) + 1, -1)
        code_of[used] = np.arange(len(used))
        return replace(self, codes=code_of[codes], labels=[self.labels[k] for k in used])

    def gather(self, index: Integers, n_items: int, what: str) -> Integers:
        """Gather the code that each item has in its rows, -1 where all are blank, (n_items,).

        Parameters
        ----------
        index : ndarray of int, shape (n_rows,)
            The item of each row.
        n_items : int
        what : str
            What the column holds, as "truth", for the error.

        Returns
        -------
        ndarray of int

        Raises
        ------
        InputError
            If an item has two labels.
        """
        filled = np.flatnonzero(self.codes >= 0)
        per_item = np.full(n_items, -1)
        per_item[index[filled[::-1]]] = self.codes[filled[::-1]]
        for row in filled[per_item[index[filled]] != self.codes[filled]]:
            first, second = (self.labels[k] for k in (per_item[index[row]], self.codes[row]))
            problem = f"the item's {what} is {str(second)!r} here and {str(first)!r}"
            problem += " in an earlier row"
            raise InputError(problem, f"give each item one {what}", row=int(row), column=self.name)
        return per_item

    @cached_property
    def items(self) -> tuple[Integers, NDArray[Any]]:
        """Index of each row's item, in order of appearance, and the items' names.

        There may be millions. Names are whole numbers if all are, else text.

        Raises
        ------
        InputError
            If an item is blank, or two differ only in how they are written.
        """
        self.refuse_blank()
        codes, names = self.codes, np.fromiter(self.labels, object, len(self.labels))
        kind = pd.api.types.infer_dtype(names)
        if kind != "string":
            names = np.fromiter(map(str, self.labels), object, len(self.labels))
        if kind.startswith("mixed"):  # 1 and "1" are one item
            numbers, names = pd.factorize(names)
            codes = numbers[codes]
        index, first = factorize(codes)
        with suppress(ValueError, IndexError):
            int(names[0])  # else a cast would fail slowly
            texts = pa.array(names, pa.string())
            numbers = texts.cast(pa.int64())
            if numbers.cast(pa.string()).equals(texts):
                return index, numbers.to_numpy()[codes[first]]
        joined = "|".join(names)
        names = names[codes[first]]
        if "  " in joined or joined.encode("utf-8", "surrogatepass").translate(None, PLAIN):
            self._refuse_spellings(index, names)
        return index, names

    def refuse_blank(self) -> "Column":
        """Raise an InputError if a row is blank."""
        remedy = "fill it in (in each row, where cells are merged) or delete the row"
        if (self.codes < 0).any():
            row = int(np.argmin(self.codes))
            raise InputError(f"the {self.name} is blank", remedy, row=row, column=self.name)
        return self

    def _refuse_spellings(self, index: Integers, names: NDArray[Any]) -> None:
        """Raise an InputError for items such as 1 and 1.0, or q1 and Q1."""
        seen: dict[str, str] = {}
        for name in names.tolist():
            decimal = ("." in name or "," in name) and NUMBER.fullmatch(name)
            other = seen.setdefault(fold_label(name) if decimal else fold(name), name)
            if other != name:
                problem = f"the items {other!r} and {name!r} differ only in how they are written"
                row, remedy = int(np.argmax(names[index] == name)), "write each item's name alike"
                raise InputError(problem, remedy, row=row, column=self.name)


def refuse_first(bad: Booleans, column: Column, problem: str, remedy: str) -> None:
    """Raise an InputError at the first row that is bad, whose value takes the place of {value}."""
    if bad.any():
        row = int(np.argmax(bad))
        code = column.codes[row]
        value = repr(str(column.labels[code]) if code >= 0 else "")
        # Data that follow it may have the same text.
        text = problem.replace("{value}", value, 1)
        raise InputError(text, remedy, row=row, column=column.name)


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
        if hasattr(values, "combine_chunks"):
            codes, different = _code_cells(values.combine_chunks())
            if different.type == pa.string() and _are_plain(different):
                return Column(name=name, codes=codes, labels=tuple(different.to_pylist()))
            return merge_labels(name, codes, different.to_pylist())
        series = pd.Series(values)
        if isinstance(series.dtype, pd.CategoricalDtype):
            codes = series.cat.codes.to_numpy().astype(np.int64)
            column = merge_labels(name, codes, series.cat.categories.tolist())
            return replace(column, declared=True, ordered=bool(series.cat.ordered))
        if series.dtype == object and "mixed" in pd.api.types.infer_dtype(series, skipna=True):
            # Else True and 1 would be one label.
            series = series.map(lambda value: str(value) if isinstance(value, BOOLEANS) else value)
        codes, different = pd.factorize(series)
        return merge_labels(name, codes, np.asarray(different).tolist())
    except (TypeError, ValueError, NotImplementedError):
        # Text in a damaged file fails only when it is looked at.
        problem = "it holds something else than labels"
        raise InputError(problem, "give one label a row", column=name) from None


def _code_cells(cells: "pa.Array") -> tuple[Integers, "pa.Array"]:
    """Code cells, and give the different ones; those that are in order need no hashing."""
    is_text = cells.type == pa.string() and cells.null_count == 0 < len(cells)
    if is_text and _are_in_order(cells[:LOOKED_AT]) and _are_in_order(cells):
        changes = pc.not_equal(cells[1:], cells[:-1]).to_numpy(zero_copy_only=False)
        first = np.append(0, np.flatnonzero(changes) + 1)
        times = np.diff(first, append=len(cells))
        return np.repeat(np.arange(len(first), dtype=np.int32), times), cells.take(first)
    coded = cells.dictionary_encode()
    codes = coded.indices.fill_null(-1) if coded.null_count else coded.indices
    return codes.to_numpy(), coded.dictionary


def _are_in_order(texts: "pa.Array") -> bool:
    """Tell whether texts are in order, shorter ones first, as numbers are."""
    lengths = pc.binary_length(texts)
    longer = pc.less(lengths[:-1], lengths[1:])
    after = pc.less_equal(texts[:-1], texts[1:])
    in_order = pc.or_(longer, pc.and_(pc.equal(lengths[:-1], lengths[1:]), after))
    return bool(pc.all(in_order).as_py())


def _are_plain(texts: "pa.Array") -> bool:
    """Tell whether no text is missing or has space around it."""
    missing = pc.any(pc.is_in(texts, value_set=pa.array(MISSING))).as_py()
    return not missing and pc.utf8_trim_whitespace(texts).equals(texts)


def find_declared(columns: Mapping[str, Column]) -> Column | None:
    """Find the first column whose labels the user fixed, if they include those of all."""
    declared = next((column for column in columns.values() if column.declared), None)
    if declared is None or not all(set(c.labels) <= set(declared.labels) for c in columns.values()):
        return None
    return declared


def merge_labels(name: str, codes: Integers, values: list[Any]) -> Column:
    """Strip values, drop missing ones and merge those that became the same."""
    kinds = set(map(type, values))
    if kinds != {int}:
        values = list(map(str.strip if kinds == {str} else to_label, values))
    labels = dict.fromkeys(values)
    for missing in (None, *MISSING):
        labels.pop(missing, None)
    if len(labels) < len(values):
        position = {label: code for code, label in enumerate(labels)}
        codes = np.array([*(position.get(value, -1) for value in values), -1])[codes]
    return Column(name=name, codes=codes, labels=tuple(labels))


# Names file and line in an error whose row is the index of a row of data.
type Place = Callable[[InputError], None]


@dataclass(eq=False)
class Table(Mapping[str, Column]):
    """A table: columns by name, each coded when it is first used; see `make_table`.

    Parameters
    ----------
    cells : dict
        For each column a list of one: its `Column`, or the values or the function that it is made
        of when it is first used. Tables with the same column share the list.
    n_rows : int
    notes : tuple of str
        What is to be said of the table.
    place : callable, optional
        Names file and line in an error whose row is an index into the rows.
    file : Path, optional
        Where it was read.
    """

    cells: dict[str, list[Any]]
    n_rows: int
    notes: tuple[str, ...] = ()
    place: Place | None = field(default=None, repr=False)
    file: Path | None = None

    def __getitem__(self, name: str) -> Column:
        cell = self.cells[name]
        cell[0] = cell[0]() if callable(cell[0]) else encode(cell[0], name)
        return cell[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def note(self, *notes: str) -> "Table":
        """Add notes."""
        return replace(self, notes=(*self.notes, *notes))

    def assign(self, columns: Mapping[str, Any]) -> "Table":
        """Add columns, or put them in place of those of the same name."""
        return replace(self, cells=self.cells | {name: [x] for name, x in columns.items()})

    def without(self, names: Sequence[str]) -> "Table":
        """Leave columns out."""
        left = set(names)
        return replace(self, cells={x: cell for x, cell in self.cells.items() if x not in left})

    def take(self, rows: Integers) -> "Table":
        """Select rows."""

        def place(error: InputError) -> None:
            error.row = int(rows[error.row or 0])
            self.locate(error)

        cells = {name: [lambda name=name: self[name].take(rows)] for name in self}
        return replace(self, cells=cells, n_rows=len(rows), place=place)

    def locate(self, error: InputError) -> None:
        """Name in an error the place in the file, in place of the index of a row here."""
        if error.file is None and error.row is not None and self.place is not None:
            self.place(error)
        error.file = error.file or self.file


def make_table(data: Any, **details: Any) -> Table:
    """Make a table of data in memory.

    Parameters
    ----------
    data : pandas.DataFrame, pyarrow.Table or mapping of columns
    **details
        Other fields of the table.

    Returns
    -------
    Table
    """
    if isinstance(data, Table):
        return data
    if hasattr(data, "itercolumns"):
        header, columns = data.column_names, data.itercolumns()
    else:
        header = list(data if isinstance(data, Mapping) else getattr(data, "columns", ()))
        # Columns are taken after names are checked, as pandas gives a table for a repeated name.
        columns = (data[name] for name in header)
    if not header:
        raise InputError("it is not a table with columns", "give a DataFrame or columns by name")
    header = [str(name).strip() for name in header]
    refuse_repeated_names(header)
    columns = [list(values) if isinstance(values, str) else values for values in columns]
    lengths = {len(values) if hasattr(values, "__len__") else -1 for values in columns}
    if len(lengths) > 1 or -1 in lengths:
        raise InputError("columns differ in length", "give each column a value a row")
    cells = {name: [values] for name, values in zip(header, columns, strict=True)}
    return Table(cells, lengths.pop(), **details)


def refuse_repeated_names(names: Sequence[str], **where: Any) -> None:
    """Raise an InputError, with its place in a file if it is known, if two columns have a name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            remedy = compose("name each otherwise, or say if there are no names ({header=none})")
            raise InputError(f"two columns are named {name!r}", remedy, **where)
        seen.add(name)


def require_columns(columns: Mapping[str, Any], names: Sequence[Any]) -> None:
    """Raise an InputError unless all the named columns exist, each with one role."""
    seen: set[Any] = set()
    for name in names:
        if not isinstance(name, Hashable) or name not in columns:
            raise InputError(f"there is no column {name!r}", suggest(name, columns))
        if name in seen:
            raise InputError(f"the column {name!r} is named for two roles", "name it for one")
        seen.add(name)


def read_counts(column: Column, blank: int = MOST_ITEMS + 1) -> Integers:
    """Read the number of items of each row; blanks are refused, or have a number of their own."""
    texts = [re.sub(r"\.0+$", "", str(label)) for label in column.labels]
    counts = [int(t[:20]) if t.isascii() and t.isdigit() else MOST_ITEMS + 1 for t in texts]
    numbers = column.look_up([min(count, MOST_ITEMS + 1) for count in counts], blank)
    problem = "{value} is not a number of items"
    refuse_first(numbers > MOST_ITEMS, column, problem, "give whole numbers, 0 or more")
    return numbers


def read_probabilities(column: Column) -> Floats:
    """Read a probability above 0 for each row."""
    numbers = column.numbers
    bad = ~((numbers >= LEAST_PROBABILITY) & (numbers <= 1))
    problem = "{value} is not the probability with which an item was chosen"
    remedy = "give each item, with a gold label or not, a number from 0.000001 to 1"
    refuse_first(bad, column, problem, remedy)
    return numbers


def number_or_nan(text: str) -> float:
    """Read a number, NaN where there is none."""
    try:
        return float(text)
    except ValueError:
        return np.nan


def join_columns(columns: Sequence[Column], name: str) -> Column:
    """Join the texts of columns, as "q1 gpt"; blank where the first is."""
    keys, index = np.unique(np.stack([c.codes for c in columns]), axis=1, return_inverse=True)
    texts = [
        " ".join(str(c.labels[k]) for c, k in zip(columns, key, strict=True) if k >= 0)
        for key in keys.T
    ]
    return merge_labels(name, np.where(columns[0].codes < 0, -1, index.ravel()), texts)
