"""Read ratings files: wide, long or grouped; CSV, Excel, JSON, JSON Lines or Parquet."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from lehner.core.errors import InputError
from lehner.data.categories import Label, encode
from lehner.data.columns import columns_of, require_columns
from lehner.data.fields import SYSTEM
from lehner.data.options import ReadingOptions, options_of
from lehner.data.ratings import Ratings
from lehner.data.tables import read_long, read_wide
from lehner.reading.both_orders import join_orders, stack_orders
from lehner.reading.column_roles import ITEM_COLUMNS, find_roles, named
from lehner.reading.csv_files import line_of, read_csv
from lehner.reading.excel import read_excel
from lehner.reading.file_kinds import CSV, EXCEL, JSON, JSON_LINES, PARQUET, kind_of, plain_file
from lehner.reading.json_files import INNER, OUTER, read_folder, read_json


def read_ratings(
    source: Any,
    *,
    system: str | Sequence[str] | None = None,
    truth: str | None = None,
    truth_probability: str | None = None,
    item: str | None = None,
    cluster: str | None = None,
    raters: Sequence[str] | None = None,
    counts: str | None = None,
    repeated: bool = False,
    categories: Sequence[Label] | None = None,
    ordered: bool = False,
    missing: Sequence[Label] = (),
    fold_case: bool = False,
    order: str | None = None,
    swapped_back: bool = False,
    leave_out: Sequence[str] = (),
) -> Ratings:
    r"""Read ratings from a CSV, Excel, JSON or Parquet file, or from a table in memory.

    A table with columns `item`, `rater` and `rating` (or crowd-kit's `task`, `worker`, `label`) is
    long: it has a row per rating. So is a table in which items occur more than once and these
    columns have other usual names, such as `annotator` and `answer`. With an `occasion` column a
    rater may rate an item repeatedly, and still has one vote for it: the most frequent rating, or
    none where two tie (see `Ratings`). Any other table is wide: it has a row per item and a column
    per rater; with a `count` column it is grouped, and a row represents that many items. Columns
    (in a long table, a rater) named `system`, and columns named `item`, `truth` and `count`, are
    recognised in any case.

    Parameters
    ----------
    source : str, Path, pandas.DataFrame, pyarrow.Table or mapping of columns
        The table, or its file: Parquet, Excel (its first sheet, if openpyxl is installed), JSON,
        JSON Lines, or UTF-8 CSV, told apart by how the file begins, else by its ending. It may be
        a pipe, or compressed by gzip, bzip2 or xz. JSON holds peerannot's
        `{item: {rater: rating}}`, AltTest's `{rater: {item: rating}}` (the level with more names is
        the items, unless `item` is "outer" or "inner") or a list of records; JSON Lines have a
        record in each line. Logs of Inspect, lm-evaluation-harness and promptfoo are read, one or
        all in a folder.
    system : str or sequence of str, optional
        Column (in a long table, rater) that is the system, or several.
    truth : str, optional
        Column of known truths, blank where unknown.
    truth_probability : str, optional
        Column of the probability with which each item, of known truth or not, was chosen to have
        its truth found out, above 0: corrections then weight known truths by its inverse.
    item : str, optional
        Column that names the items.
    cluster : str, optional
        Column of the cluster of each item, as the patient of a lesion or the conversation of an
        answer: intervals then allow for items of a cluster that are alike.
    raters : sequence of str, optional
        In a wide table, the raters' columns; by default all that have no other role. In a long one
        the raters who are read; by default all.
    counts : str, optional
        Column with the number of items of each row.
    repeated : bool
        Whether a rater may rate an item more than once in a long table without `occasion`.
    categories : sequence, optional
        All categories in order; by default those that occur, sorted.
    ordered : bool
        Whether the order of the categories is meaningful.
    missing : sequence of str
        Labels of missing ratings, besides blanks, NA, NaN and null.
    fold_case : bool
        Whether labels that differ only in case, white space or Unicode form are merged.
    order : str, optional
        In a table of choices between two answers, A or B, or a tie, that were shown in both orders:
        the column of the order (AB or BA, original or swapped, …, or the answer shown first). In a
        wide table it may be the endings of the raters' columns, as in "AB,BA" for `gpt_AB` and
        `gpt_BA`. Choices of swapped pairs are swapped back, the two orders are read as repeated
        ratings, and `notes` give the position bias of each rater. A rater who prefers different
        answers in the two orders has no vote.
    swapped_back : bool
        With `order`, whether the file names the answer, whatever its position, so that nothing has
        to be swapped back.
    leave_out : sequence of str
        Columns that do not belong to the ratings, such as a column of groups of items.

    Returns
    -------
    Ratings
        The ratings, with `notes` that tell how each column was interpreted.

    Raises
    ------
    InputError
        If there is no such file or no such table in it, or if the data are probably a mistake (see
        `Ratings.from_wide`). The error names file, row, column, value and remedy. Data that only
        look odd give a `DataWarning` and an entry in `notes`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ratings.csv"
    >>> _ = file.write_text("item,Ann,Bo,system\n1,yes,no,yes\n2,no,no,no\n")
    >>> read_ratings(file, system="system")
    Ratings: 2 items, 2 raters, 4 ratings, 2 categories (no, yes), system
    >>> read_ratings({"Ann": ["yes", "no"], "Bo": ["no", "no"], "gpt": ["yes", "no"]}, system="gpt")
    Ratings: 2 items, 2 raters, 4 ratings, 2 categories (no, yes), system
    """
    return read_with(source, options_of(locals()))


def read_with(source: Any, options: ReadingOptions) -> Ratings:
    """Read ratings as `read_ratings` does."""
    if not isinstance(source, str | Path):
        return _read_columns(columns_of(source), options)
    with _located(Path(source)) as file:
        return _read_columns(*_read_file(file, options))


def _read_columns(
    columns: dict[str, Any], options: ReadingOptions, notes: Sequence[str] = ()
) -> Ratings:
    require_columns(columns, options.leave_out)
    columns = {name: column for name, column in columns.items() if name not in options.leave_out}
    roles = find_roles(columns, options)
    if roles.item not in (None, options.item, named(columns, *ITEM_COLUMNS)):
        notes = [*notes, f"{roles.item} names the items: each row has another label there"]
    if roles.rater is None and roles.order is not None:
        n_rows = len(next(iter(columns.values())))
        columns, roles, sources, told = stack_orders(columns, roles)
        try:
            return _read_long(columns, roles, [*notes, *told])
        except InputError as error:
            if error.row is not None:
                error.column, error.row = sources[error.row // n_rows], error.row % n_rows
            raise
    if roles.rater is not None:
        return _read_long(columns, roles, notes)
    if roles.repeated:
        raise InputError(
            "repeated ratings need a table with a row per rating, and this is another table "
            "(repeated=True)",
            "give a table with columns item, rater and rating, or leave that out",
        )
    ratings = read_wide(Ratings, columns, roles)
    numbered = ratings if roles.item is not None else ratings.with_items(ratings.items + 1)
    return numbered._note(*notes)


def _read_long(
    columns: dict[str, Any], roles: ReadingOptions, notes: Sequence[str] = ()
) -> Ratings:
    if roles.order is not None:
        columns, roles, told = join_orders(columns, roles)
        notes = [*notes, *told]
    return read_long(Ratings, columns, _with_system(columns, roles))._note(*notes)


def _with_system(columns: dict[str, Any], roles: ReadingOptions) -> ReadingOptions:
    """Take the rater named `system` as the system, unless others are named."""
    wide = next((name for name in roles.system if name in columns), None)
    if wide is not None:
        raise InputError(
            f"the column {wide!r} is in a table with a row per rating",
            "give the system's answers as ratings, with the system's name as the rater",
        )
    raters = map(str, encode(columns[str(roles.rater)]).labels)
    called = [rater for rater in raters if rater.lower() == SYSTEM]
    return roles if roles.system else replace(roles, system=tuple(called[:1]))


@contextmanager
def read_columns(path: Path) -> Iterator[dict[str, Any]]:
    """Read the columns of a file by name; errors in the block are located in the file."""
    with _located(path) as file:
        yield _read_file(file, ReadingOptions())[0]


@contextmanager
def _located(path: Path) -> Iterator[Path]:
    """Open a file; errors in the block name it, and its line in place of the index of a row."""
    try:
        with plain_file(path) as file:
            try:
                yield file
            except InputError as error:
                if error.file is None and error.row is not None:
                    error.row = _line(file, error.row)
                raise
    except InputError as error:
        if not path.is_dir() or error.file is None:
            error.file = path
        raise


def _line(file: Path, row: int) -> int | None:
    """Find the number of a row of data as the file's own program counts, if it has one."""
    if file.is_dir():
        return None
    kind = kind_of(file)
    return line_of(file, row) if kind == CSV else {PARQUET: row + 1, EXCEL: row + 2}.get(kind)


def _read_file(
    path: Path, options: ReadingOptions
) -> tuple[dict[str, Any], ReadingOptions, list[str]]:
    """Read the columns of a file, with the options that are left and notes on the file."""
    kind, notes = None if path.is_dir() else kind_of(path), list[str]()
    if kind is None:
        table, notes = read_folder(path)
    elif kind in (JSON, JSON_LINES):
        table, notes = read_json(path, options.item, lines=kind == JSON_LINES)
        if options.item in (INNER, OUTER) and options.item not in table:
            options = replace(options, item=None)  # it was the level of the items
    elif kind == EXCEL:
        table, notes = read_excel(path)
    else:
        table = _read_parquet(path) if kind == PARQUET else read_csv(path)
    columns = columns_of(table)
    if not len(next(iter(columns.values()))):
        raise InputError("it has no rows below the header", "add ratings")
    # This drops a spreadsheet's empty last column.
    if "" in columns and not encode(columns[""]).labels:
        del columns[""]
    return columns, options, notes


def _read_parquet(path: Path) -> Any:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet

    try:
        # A damaged text is found when it is looked at, which pandas does later.
        pyarrow.parquet.read_table(path).validate(full=True)
        return pd.read_parquet(path)
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise InputError(f"it cannot be read ({reason})", "give a Parquet file") from None
