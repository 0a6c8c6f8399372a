"""Read ratings files: wide, long or grouped; CSV or Parquet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lehner.core.errors import InputError
from lehner.data.categories import Label, encode
from lehner.data.columns import columns_of
from lehner.data.csv_files import line_of, read_csv
from lehner.data.ratings import SYSTEM, Ratings
from lehner.data.table import names_of

ITEM = ("item", "task", "case", "unit", "subject", "id", "index", "")
RATER = ("rater", "worker")
RATING = ("rating", "label")


def read_ratings(
    path: str | Path,
    *,
    system: str | Sequence[str] | None = None,
    truth: str | None = None,
    item: str | None = None,
    raters: Sequence[str] | None = None,
    counts: str | None = None,
    categories: Sequence[Label] | None = None,
    ordered: bool = False,
    missing: Sequence[Label] = (),
    fold_case: bool = False,
) -> Ratings:
    r"""Read ratings from a CSV or Parquet file.

    A table with columns `item`, `rater` and `rating` (or crowd-kit's `task`, `worker`, `label`)
    is long, a row per rating; with an `occasion` column an item may be rated repeatedly by a
    rater. Any other table is wide, a row per item and a column per rater; with a `count` column
    it is grouped, and a row stands for that many items. Columns (in a long table, a rater) named
    `system`, and columns named `item`, `truth` and `count`, are recognised in any case.

    Parameters
    ----------
    path : str or Path
        The file; `.parquet` is read as Parquet, anything else as UTF-8 CSV.
    system : str or sequence of str, optional
        Column (in a long table, rater) that is the system, or several.
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
    missing : sequence of str
        Labels that stand for no rating, besides blanks, NA, NaN and null.
    fold_case : bool
        Whether labels that differ only in case, white space or Unicode form are one.

    Returns
    -------
    Ratings
        What was read, with `notes` that say which column was taken for what.

    Raises
    ------
    InputError
        If there is no such file or no such table in it, or if the data are probably not meant as
        they stand (see `Ratings.from_wide`). The error names file, row, column, value and remedy.
        What only looks odd is a `DataWarning`, and stands in `notes`.

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
        columns = read_columns(path)
        roles = _Roles(columns, names_of(system), truth=truth, item=item, counts=counts)
        options = {
            "categories": categories,
            "ordered": ordered,
            "missing": missing,
            "fold_case": fold_case,
        }
        if raters is None and counts is None and roles.long:
            return _read_long(columns, roles, options)
        return _read_wide(columns, roles, raters, options)
    except InputError as error:
        raise locate(error, path) from None


def read_columns(path: Path) -> dict[str, Any]:
    """Read the columns of a CSV or Parquet file by name."""
    try:
        if not path.exists():
            raise InputError("there is no such file", "check the name, or see `lehner datasets`")
        if path.is_dir():
            raise InputError("this is a folder", "name a file in it")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"this is no file name ({error})", "check the name") from None
    table = _read_parquet(path) if path.suffix == ".parquet" else read_csv(path)
    columns = columns_of(table)
    if len(table) == 0:
        raise InputError("it has no rows below the header", "add ratings")
    # A spreadsheet's empty last column.
    if "" in columns and not encode(columns[""]).labels:
        del columns[""]
    return columns


def _read_parquet(path: Path) -> Any:
    import pandas as pd
    import pyarrow as pa

    try:
        return pd.read_parquet(path)
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise InputError(f"it cannot be read ({reason})", "give a Parquet file") from None


class _Roles:
    """The part each column has: as the user says, else by its name."""

    def __init__(
        self, columns: dict[str, Any], systems: Sequence[str], **given: str | None
    ) -> None:
        self._by_lower_case = {name.lower(): name for name in reversed(columns)}
        self.systems = tuple(systems) or names_of(self._named(SYSTEM))
        self.truth = given["truth"] or self._named("truth")
        self.counts = given["counts"] or self._named("count")
        self.item = given["item"] or self._named(*ITEM)
        self.rater = self._named(*RATER)
        self.rating = self._named(*RATING)
        self.occasion = self._named("occasion")
        self.long = None not in (self.item, self.rater, self.rating)

    def _named(self, *names: str) -> str | None:
        return next((self._by_lower_case[n] for n in names if n in self._by_lower_case), None)


def _read_long(columns: dict[str, Any], roles: _Roles, options: dict[str, Any]) -> Ratings:
    wide = next((name for name in roles.systems if name in columns), None)
    if wide is not None:
        raise InputError(
            f"the column {wide!r} stands in a table with a row per rating",
            "give the system's answers as ratings, with the system's name as the rater",
        )
    named = [label for label in encode(columns[str(roles.rater)]).labels if _is_system(label)]
    return Ratings.from_long(
        columns,
        item=str(roles.item),
        rater=str(roles.rater),
        rating=str(roles.rating),
        truth=roles.truth,
        occasion=roles.occasion,
        system=roles.systems or [str(label) for label in named[:1]],
        **options,
    )


def _is_system(label: Any) -> bool:
    return str(label).lower() == SYSTEM


def _read_wide(
    columns: dict[str, Any],
    roles: _Roles,
    raters: Sequence[str] | None,
    options: dict[str, Any],
) -> Ratings:
    ratings = Ratings.from_wide(
        columns,
        raters=None if raters is None else list(raters),
        item=roles.item,
        system=roles.systems,
        truth=roles.truth,
        counts=roles.counts,
        **options,
    )
    if roles.item is None:
        return ratings.with_items(ratings.items + 1)
    return ratings


def locate(error: InputError, path: Path) -> InputError:
    """Add the file to an error, and turn the position of a row into its line."""
    if error.file is not None:
        return error
    row = error.row
    if row is not None:
        row = row + 1 if path.suffix == ".parquet" else line_of(path, row)
    return InputError(error.problem, error.remedy, file=path, row=row, column=error.column)
