"""Read ratings files: wide, long or grouped; CSV or Parquet."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lehner.errors import InputError
from lehner.labels import Label, encode
from lehner.ratings import Ratings

ITEM = ("item", "task", "case", "unit", "subject", "id", "index", "")
LONG = {"item": ITEM, "rater": ("rater", "worker"), "rating": ("rating", "label")}
LONGEST_LINE = 1_000_000
DELIMITERS = (",", "\t", ";")


def read_ratings(
    path: str | Path,
    *,
    system: str | None = None,
    truth: str | None = None,
    item: str | None = None,
    raters: Sequence[str] | None = None,
    counts: str | None = None,
    categories: Sequence[Label] | None = None,
    ordered: bool = False,
) -> Ratings:
    r"""Read ratings from a CSV or Parquet file.

    A table with columns `item`, `rater` and `rating` (or crowd-kit's `task`, `worker`, `label`)
    is long, a row per rating; with an `occasion` column an item may be rated repeatedly by a
    rater. Any other table is wide, a row per item and a column per rater; with a `count` column
    it is grouped, and a row stands for that many items. Columns named `item`, `system`, `truth`
    and `count` are recognised in any case of letters.

    Parameters
    ----------
    path : str or Path
        The file; `.parquet` is read as Parquet, anything else as UTF-8 CSV.
    system : str, optional
        Column (in a long table, rater) that is the system.
    truth : str, optional
        Column of known truths, blank where unknown.
    item : str, optional
        Column that names the items.
    raters : sequence of str, optional
        In a wide table, the raters' columns; by default all that have no other part.
    counts : str, optional
        Column with the number of items a row stands for.
    categories : sequence, optional
        All categories in order; by default those that occur, sorted.
    ordered : bool
        Whether the order of the categories means something.

    Returns
    -------
    Ratings

    Raises
    ------
    InputError
        Naming file, row, column, value and remedy.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ratings.csv"
    >>> _ = file.write_text("item,Ann,Bo,system\n1,yes,no,yes\n2,no,no,no\n")
    >>> read_ratings(file, system="system")
    Ratings: 2 items, 2 raters, 4 ratings, 2 categories (no, yes), system
    """
    path = Path(path)
    try:
        table = _read_parquet(path) if path.suffix == ".parquet" else _read_csv(path)
        columns = {str(name).strip(): table[name] for name in table.column_names}
        if table.num_rows == 0:
            raise InputError("it has no rows below the header", "add ratings")
        if "" in columns and not encode(columns[""]).labels:
            del columns[""]
        roles = _Roles(columns, system=system, truth=truth, item=item, counts=counts)
        options = {"categories": categories, "ordered": ordered}
        if raters is None and counts is None and roles.long:
            return _read_long(columns, roles, options)
        return _read_wide(columns, roles, raters, options)
    except InputError as error:
        raise _located(error, path) from None


class _Roles:
    """The part each column has: as the user says, else by its name."""

    def __init__(self, columns: dict[str, Any], **given: str | None) -> None:
        self._by_lower_case = {name.lower(): name for name in reversed(columns)}
        self.system = given["system"] or self._named("system")
        self.truth = given["truth"] or self._named("truth")
        self.counts = given["counts"] or self._named("count")
        self.item = given["item"] or self._named(*ITEM)
        self.rater = self._named(*LONG["rater"])
        self.rating = self._named(*LONG["rating"])
        self.occasion = self._named("occasion")
        self.long = None not in (self.item, self.rater, self.rating)

    def _named(self, *names: str) -> str | None:
        return next((self._by_lower_case[n] for n in names if n in self._by_lower_case), None)


def _read_long(columns: dict[str, Any], roles: _Roles, options: dict[str, Any]) -> Ratings:
    if roles.system in columns:
        raise InputError(
            f"the column {roles.system!r} stands in a table with a row per rating",
            "give the system's answers as ratings, with the system's name as the rater",
        )
    ratings = Ratings.from_long(
        columns,
        item=roles.item or "",
        rater=roles.rater or "",
        rating=roles.rating or "",
        truth=roles.truth,
        occasion=roles.occasion,
        **options,
    )
    return ratings if roles.system is None else ratings.with_system(roles.system)


def _read_wide(
    columns: dict[str, Any],
    roles: _Roles,
    raters: Sequence[str] | None,
    options: dict[str, Any],
) -> Ratings:
    special = (roles.item, roles.system, roles.truth, roles.counts)
    if raters is None:
        raters = [name for name in columns if name not in special]
        _refuse_stray_columns(columns, raters, roles.system)
    ratings = Ratings.from_wide(
        columns,
        raters=list(raters),
        item=roles.item,
        system=roles.system,
        truth=roles.truth,
        counts=roles.counts,
        **options,
    )
    if roles.item is None:
        ratings.items = ratings.items + 1
    return ratings


def _refuse_stray_columns(
    columns: dict[str, Any], raters: Sequence[str], system: str | None
) -> None:
    """Raise an InputError where a column shares no label with any other: hardly a rater."""
    names = [*raters, *([system] if system in columns else [])]
    labels = {name: set(map(str, encode(columns[name]).labels)) for name in names}
    if len(names) < 2 or len(columns[names[0]]) < 5:
        return
    for name in raters:
        others = set().union(*(labels[other] for other in names if other != name))
        if labels[name] and not labels[name] & others:
            raise InputError(
                f"its labels ({', '.join(sorted(labels[name])[:3])}, …) occur in no other column, "
                "so it is hardly a rater",
                "name the raters' columns (--raters) or the items' column (--item)",
                column=name,
            )


def _read_parquet(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        return pyarrow.parquet.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, error, "give a Parquet file") from None


def _read_csv(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.csv

    header, delimiter = _read_header(path)
    text = pa.dictionary(pa.int32(), pa.string())
    try:
        return pyarrow.csv.read_csv(
            path,
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(header, text), strings_can_be_null=False
            ),
        )
    except (OSError, pa.ArrowException) as error:
        raise _explain(path, delimiter, error) from None


def _read_header(path: Path) -> tuple[list[str], str]:
    try:
        with path.open("rb") as file:
            line = file.readline(LONGEST_LINE + 1)
    except OSError as error:
        raise _unreadable(path, error, "check the name") from None
    if len(line) > LONGEST_LINE:
        raise _long_line(path, 1)
    try:
        text = re.split("[\r\n]", line.decode("utf-8-sig"))[0]
    except UnicodeDecodeError as error:
        raise _not_utf8(path, 1, error) from None
    if not text.strip() or "\x00" in text:
        raise InputError("the first line has no column names", "give a CSV file with a header")
    delimiter = max(DELIMITERS, key=text.count)
    header = next(csv.reader([text], delimiter=delimiter))
    repeated = next((name for i, name in enumerate(header) if name in header[:i]), None)
    if repeated is not None:
        raise InputError(
            f"two columns are named {repeated!r}",
            "give each column its own name",
            file=path,
            row=1,
        )
    return header, delimiter


def _explain(path: Path, delimiter: str, error: Exception) -> InputError:
    """Find the place where a CSV file is broken."""
    lines = path.open("rb")
    with lines:
        for number, line in enumerate(iter(lambda: lines.readline(LONGEST_LINE + 1), b""), 1):
            if len(line) > LONGEST_LINE:
                return _long_line(path, number)
            try:
                line.decode()
            except UnicodeDecodeError as problem:
                return _not_utf8(path, number, problem)
    expected = 0
    for number, fields in _records(path, delimiter):
        expected = expected or len(fields)
        if len(fields) != expected:
            return InputError(
                f"{len(fields)} fields where the header has {expected}",
                "give every row as many fields as the header",
                file=path,
                row=number,
            )
    return _unreadable(path, error, "give a UTF-8 CSV file with a header")


def _records(path: Path, delimiter: str) -> Any:
    """Yield the line on which each record ends and its fields, blank lines left out."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
        try:
            for fields in reader:
                if fields:
                    yield reader.line_num, fields
        except csv.Error:
            return


def _located(error: InputError, path: Path) -> InputError:
    """Add the file to an error, and turn the position of a row into its line."""
    if error.file is not None:
        return error
    row = None if error.row is None else _line_of(path, error.row)
    return InputError(error.problem, error.remedy, file=path, row=row, column=error.column)


def _line_of(path: Path, position: int) -> int:
    if path.suffix == ".parquet":
        return position + 1
    _, delimiter = _read_header(path)
    lines = (number for number, _ in _records(path, delimiter))
    return next((line for i, line in enumerate(lines) if i == position + 1), position + 2)


def _unreadable(path: Path, error: Exception, remedy: str) -> InputError:
    if not path.exists():
        return InputError("there is no such file", "check the name, or see `lehner datasets`")
    if path.is_dir():
        return InputError("this is a folder", "name a file in it")
    reason = getattr(error, "strerror", None) or str(error).splitlines()[0][:200]
    return InputError(f"it cannot be read ({reason})", remedy)


def _long_line(path: Path, number: int) -> InputError:
    return InputError(
        f"the line is longer than {LONGEST_LINE:,} bytes",
        "check for missing line ends or an unclosed quote",
        file=path,
        row=number,
    )


def _not_utf8(path: Path, number: int, error: UnicodeDecodeError) -> InputError:
    return InputError(
        f"byte 0x{error.object[error.start]:02x} at position {error.start + 1} is not UTF-8",
        "save the file as UTF-8",
        file=path,
        row=number,
    )
