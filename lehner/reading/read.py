"""Read ratings: from a file to a table, to roles, to coded columns, to ratings."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from lehner.core.errors import InputError
from lehner.data.categories import Label
from lehner.data.checks.columns import role_of
from lehner.data.columns import Table, require_columns, table_of
from lehner.data.ratings import Ratings
from lehner.data.reading import Reading, reading_of
from lehner.data.tables import Gold, add_gold_labels, build
from lehner.reading.files import read_file
from lehner.reading.kinds import is_file
from lehner.reading.position_bias import join_orders
from lehner.reading.presets import Preset, apply_preset, find_preset
from lehner.reading.roles import are_people, find_roles
from lehner.reading.rows import join_items, keep_rows, split_column, stack_items


def read_ratings(
    source: Any,
    *,
    reading: Reading | str | Path | None = None,
    system: str | Sequence[str] | None = None,
    truth: str | None = None,
    truth_probability: str | None = None,
    item: str | Sequence[str] | None = None,
    rater: str | None = None,
    rating: str | None = None,
    raters: Sequence[str] | None = None,
    items: Sequence[str] | None = None,
    counts: str | None = None,
    category_counts: bool = False,
    cluster: str | None = None,
    order: str | None = None,
    pair: Sequence[str] | None = None,
    occasion: str | None = None,
    repeated: bool | str = False,
    categories: Sequence[Label] | None = None,
    ordered: bool = False,
    missing: Sequence[Label] = (),
    fold_case: bool = False,
    labels: Mapping[str, str] | Sequence[str] | str | None = None,
    only: bool = False,
    sets: bool = False,
    cut: Sequence[float] | float | None = None,
    where: str | None = None,
    split: str | None = None,
    header: str | int | None = None,
    sheet: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    preset: str | None = None,
    leave_out: Sequence[str] = (),
) -> Ratings:
    r"""Read ratings from a CSV, Excel, JSON or Parquet file, or from a table in memory.

    A column's role is declared by these arguments, or certain, else the table is refused with the
    columns to choose from. A table has a row per rating if columns for rater or rating are named,
    or have usual names (`rater`, `annotator`, `judge`, …; `rating`, `label`, `verdict`, …) and
    items occur more than once. Any other table has a row per item, and a column per rater. Columns
    (where a row is a rating, a rater) named `system`, and columns named `item`, `truth`, `count`
    and `occasion` have these roles.

    Parameters
    ----------
    source : str, Path, pandas.DataFrame, pyarrow.Table or mapping of columns
        The table, or its file: CSV, Excel, JSON, JSON Lines, Parquet, Stata or SPSS, told apart by
        how it begins, else by its ending. It may be a pipe, compressed by gzip, bzip2 or xz, or a
        folder of such files. Nested JSON is flattened: names are joined by dots, and lists of
        records become rows. Files of many tools are known: see `preset`.
    reading : Reading, str or Path, optional
        All these options together, or a TOML file of them. Those that are named here come first.
    system : str or sequence of str, optional
        Column (where a row is a rating, rater) that is the system, or several.
    truth : str, optional
        Column of gold labels, blank where there is none; where a row is a rating, it may be a
        rater; or a file with columns item and truth.
    truth_probability : str, optional
        Column of the probability, above 0, with which each item was chosen to get its gold label:
        gold labels are then weighted by its inverse.
    item : str or sequence of str, optional
        Column that names the items. Several are joined.
    rater, rating : str, optional
        Columns of the rater and the rating, where a row is a rating.
    raters : sequence of str, optional
        The raters' columns, or patterns such as "Q*"; where a row is a rating, the raters who are
        read. By default all raters, or all columns without another role.
    items : sequence of str, optional
        The items' columns, or patterns, where a row is a rater.
    counts : str, optional
        Column with the number of items of each row.
    category_counts : bool
        Whether each column is a category, and each cell a number of raters (Fleiss' table).
    cluster : str, optional
        Column of the cluster of each item, as the patient of a lesion: intervals then allow for
        items of a cluster that are alike.
    order : str, optional
        Where judges chose between two answers, A or B, or a tie, that were shown in both orders:
        the column of the order (AB or BA, original or swapped, …). Choices of swapped pairs are
        swapped back, the two orders are repeated ratings, and `notes` give the position bias of
        each rater. A rater who prefers different answers in the two orders has no vote.
    pair : sequence of two str, optional
        The columns with the names of two answers that were compared; the item is then the pair.
    occasion : str, optional
        Column that tells a rater's repeated ratings of an item apart.
    repeated : bool or {"vote", "first", "last"}
        Whether a rater may rate an item more than once, and which rating counts: the most frequent
        ("vote", True), the first or the last.
    categories : sequence, optional
        All categories in order; by default those that occur, sorted.
    ordered : bool
        Whether the order of the categories is meaningful.
    missing : sequence of str
        Labels of missing ratings, besides blanks, NA, NaN and null.
    fold_case : bool
        Whether labels that differ only in case, white space or Unicode form are merged.
    labels : mapping or sequence of str, optional
        What is written for which category, as `{"[[A]]": "A"}` or `["[[A]]=A"]`; or a file with
        columns label and category.
    only : bool
        With `labels`, whether a label that is not listed is an error.
    sets : bool
        Whether each cell is a list of labels, as "[1, 2]": a set of them is then a category, see
        `lehner.interrater.label_sets.set_agreement`.
    cut : sequence of float, optional
        Ratings are scores that are cut into categories at these numbers.
    where : str, optional
        A condition, as for `pandas.DataFrame.query`, of the rows that are read.
    split : str, optional
        A column and a regular expression whose named groups become columns, as in
        "id=(?P<item>.+)--(?P<rater>.+)".
    header : str or int, optional
        The row with the names of the columns; "1-3" if the next two are no data; "none" if there
        are no names.
    sheet : str, optional
        The sheet of an Excel file; "each" if every sheet is a rater.
    decimal : str, optional
        "," if numbers have a decimal comma.
    encoding : str, optional
        The encoding of a text file, by default UTF-8.
    preset : str, optional
        The tool that wrote the file, by default found by its columns; "none" for no tool.
    leave_out : sequence of str
        Columns that do not belong to the ratings, such as a column of groups of items.

    Returns
    -------
    Ratings
        The ratings, with `notes` that tell how each column was interpreted.

    Raises
    ------
    InputError
        If there is no such file or no such table in it, if the role of a column is not clear, or if
        the data are probably an error (see `Ratings.from_wide`). The error names file, row,
        column, value and remedy. Data that only look odd give a `DataWarning` and an entry in
        `notes`.

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
    given = {name: value for name, value in locals().items() if name not in ("source", "reading")}
    declared = reading_of(given | {"header": None if header is None else str(header)})
    if reading is not None:
        kept = reading if isinstance(reading, Reading) else Reading.from_file(reading)
        declared = declared.over(kept)
    return read_with(source, declared)


def read_with(source: Any, reading: Reading) -> Ratings:
    """Read ratings as `read_ratings` does."""
    return make_ratings(*open_table(source, reading))


def open_table(source: Any, reading: Reading) -> tuple[Table, Reading]:
    """Open a file or a table, and do what the tool's preset and the reading do with its rows.

    Parameters
    ----------
    source : object
        As `read_ratings` takes it.
    reading : Reading

    Returns
    -------
    table : Table
    reading : Reading
        What is declared, with columns by their full names.
    """
    preset: Preset | None = None
    if isinstance(source, str | Path):
        table, preset, reading = read_file(Path(source), reading)
    else:
        table = table_of(source)
        if reading.preset is not None:  # else a table in memory is no tool's file
            preset = find_preset(table, reading)
    require_columns(table, reading.leave_out)
    if len(reading.labels) == 1 and is_file(reading.labels[0]):
        reading = replace(reading, labels=_read_labels(Path(reading.labels[0])))
    with locating(table):
        if reading.where is not None:
            table = keep_rows(table, reading.where)
        if reading.split is not None:
            table = split_column(table, reading.split)
            made = {name: name for name in ("item", "rater", "rating") if name in table}
            reading = reading.over(Reading(**made))  # type: ignore[arg-type]
        if preset is not None and not reading.items and are_people(reading.raters, table):
            table, reading = apply_preset(table, preset, reading)
        if reading.items:
            table, reading = stack_items(table, reading)
        if reading.pair or len(reading.item) > 1:
            table, reading = join_items(table, reading)
    return table, reading


@contextmanager
def locating(table: Table) -> Iterator[None]:
    """Name in the errors of a block the place in the file."""
    try:
        yield
    except InputError as error:
        table.locate(error)
        raise


def make_ratings(opened: Table, declared: Reading) -> Ratings:
    """Make ratings of a table that was opened, or raise an InputError."""
    gold, table, reading = None, opened.without(declared.leave_out), declared
    with locating(table):
        truth = reading.truth
        if isinstance(truth, str | Path) and truth not in table and is_file(truth):
            gold, reading = _read_gold(Path(truth), reading), replace(reading, truth=None)
        roles = find_roles(table, reading)
        if roles.rater is None and (roles.repeated or roles.order is not None):
            raise InputError(
                "repeated ratings and orders of presentation need a table with a row per rating, "
                "and this is another table",
                "name its columns (item=…, rater=…, rating=…), or leave that out",
            )
        if roles.order is not None:
            table, roles = join_orders(table, roles)
    with locating(table):
        ratings = build(Ratings, table, roles, gold)
    if not roles.item:
        ratings = ratings.with_items(ratings.items + 1)
    elif roles.rater is None and roles.item != reading.item and role_of(roles.item[0]) != "item":
        note = f"{roles.item[0]} names the items: each row has another label there"
        ratings = ratings._note(note)
    return ratings._note(*table.notes)._replace(source=(opened, roles))


def _read_gold(path: Path, reading: Reading) -> Gold:
    """Read gold labels of a file of their own."""
    plain = Reading(encoding=reading.encoding, decimal=reading.decimal, preset="none")
    with read_columns(path, plain) as table:
        roles = find_roles(table, replace(plain, raters=("truth",)))
        item, truth = (*roles.item, "item")[0], roles.truth or "truth"
        require_columns(table, [item, truth])
        return Gold(table=table, item=item, truth=truth)


def add_gold(ratings: Ratings, path: Path) -> Ratings:
    """Add gold labels of a file, with columns item and truth, to ratings."""
    return add_gold_labels(ratings, _read_gold(path, Reading()))


def _read_labels(path: Path) -> tuple[str, ...]:
    with read_columns(path) as table:
        require_columns(table, ["label", "category"])
        pairs = zip(table["label"].texts, table["category"].texts, strict=True)
        return tuple(f"{label}={category}" for label, category in pairs)


@contextmanager
def read_columns(path: Path, reading: Reading | None = None) -> Iterator[Table]:
    """Read the columns of a file by name; errors in the block are located in the file."""
    table, _, _ = read_file(path, reading or Reading(preset="none"))
    with locating(table):
        yield table
