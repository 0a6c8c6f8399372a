"""Read ratings: from a file to a table, to roles, to coded columns, to ratings."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lehner.core.errors import InputError
from lehner.data.checks import role_of
from lehner.data.columns import Table, join_columns, require_columns, table_of
from lehner.data.ratings import Ratings
from lehner.data.reading import Reading
from lehner.data.tables import add_gold_labels, build
from lehner.reading.files import read_file
from lehner.reading.formats import is_file
from lehner.reading.position_bias import join_orders
from lehner.reading.presets import Preset, apply_preset, find_preset, keep_rows, split_column
from lehner.reading.roles import are_people, expand, find_roles, propose_columns

MOST_CHANGES = 8
ADDED_UP = ("missing", "labels", "system", "leave_out")
"""Options whose proposals add up."""


def read_ratings(
    source: Any, *, reading: Reading | str | Path | None = None, **options: Any
) -> Ratings:
    r"""Read ratings from a CSV, Excel, JSON or Parquet file, or from a table in memory.

    A column's role is declared, or certain, else the table is refused with the columns to choose
    from. A table has a row per rating if columns for rater or rating are named, or have usual names
    (`rater`, `annotator`, `judge`, …; `rating`, `label`, `verdict`, …) and items occur more than
    once. Any other table has a row per item, and a column per rater. Columns (where a row is a
    rating, a rater) named `system`, and columns named `item`, `truth`, `count` and `occasion` have
    these roles.

    Parameters
    ----------
    source : str, Path, pandas.DataFrame, pyarrow.Table or mapping of columns
        The table, or its file: CSV, Excel, JSON, JSON Lines, Parquet, Stata or SPSS, told apart by
        how it begins, else by its ending. It may be a pipe, compressed by gzip, bzip2 or xz, or a
        folder of such files. Nested JSON is flattened: names are joined by dots, and lists of
        records become rows. Files of many tools are known.
    reading : Reading, str or Path, optional
        Options together, or a TOML file of them. Those that are named here come first.
    **options
        The parameters of `lehner.Reading`, each of which is described there: the roles of columns
        (`system`, `truth`, `item`, `rater`, `rating`, `raters`, `items`, `counts`, `cluster`,
        `order`, `pair`, `occasion`, …), the meaning of labels (`categories`, `ordered`, `missing`,
        `labels`, `cut`, …), and how the file is read (`where`, `split`, `header`, `sheet`,
        `encoding`, `preset`, …).

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
    declared = Reading(**options)
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
            table, reading = _stack_items(table, reading)
        if reading.pair:
            table, reading = _join_pair(table, reading)
        if len(reading.item) > 1:
            require_columns(table, reading.item)
            name = " and ".join(reading.item)
            joined = join_columns([table[part] for part in reading.item], name)
            table = table.without(reading.item).having({name: joined})
            reading = replace(reading, item=(name,))
    return table, reading


@contextmanager
def locating(table: Table) -> Iterator[None]:
    """Name in the errors of a block the place in the file."""
    try:
        yield
    except InputError as error:
        table.locate(error)
        raise


def _stack_items(table: Table, reading: Reading) -> tuple[Table, Reading]:
    """Make a row per rating of a table in which each row is a rater, and columns are items."""
    if reading.rater is None:
        raise InputError("items are columns, so that each row is a rater", "name them (rater=…)")
    items = expand(reading.items, table)
    require_columns(table, [reading.rater, *items])
    n_rows = table.n_rows

    def place(error: InputError) -> None:
        number, error.row = divmod(error.row or 0, n_rows)
        error.column = items[number] if error.column == "rating" else error.column
        table.locate(error)

    cells = {
        "item": np.repeat(np.array(items, dtype=object), n_rows),
        "rating": np.concatenate([table[item].values for item in items]),
    }
    rows = np.tile(np.arange(n_rows), len(items))
    stacked = replace(table.without(items).take(rows).having(cells), place=place)
    return stacked, replace(reading, items=(), item=("item",), rating="rating")


def _join_pair(table: Table, reading: Reading) -> tuple[Table, Reading]:
    """Name the pair whoever stands first, and call the answers of swapped pairs by position."""
    if len(reading.pair) != 2:
        raise InputError(f"pair is {', '.join(reading.pair)}", "name two columns")
    require_columns(table, [*reading.item, *reading.pair])
    first, second = (table[name].refuse_blank().texts for name in reading.pair)
    swapped = first > second
    pairs = [" ".join(sorted(pair)) for pair in zip(first, second, strict=True)]
    order = np.where(swapped, "swapped", "original").astype(object)
    table = table.without(reading.pair).having({"pair": pairs, "order": order})
    repeated = reading.repeated or "vote"
    item = (*reading.item, "pair")
    return table, replace(reading, pair=(), item=item, order="order", repeated=repeated)


def make_ratings(opened: Table, declared: Reading) -> Ratings:
    """Make ratings of a table that was opened, or raise an InputError."""
    table, reading, gold = opened.without(declared.leave_out), declared, None
    with locating(table):
        truth = reading.truth
        if isinstance(truth, str | Path) and truth not in table and is_file(truth):
            gold, reading = Path(truth), replace(reading, truth=None)
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
        ratings = build(Ratings, table, roles)
    if gold is not None:
        ratings = add_gold(ratings, gold, declared)
    notes = [*ratings.noticed]
    if roles.item and roles.rater is None and roles.item != reading.item:
        if role_of(roles.item[0]) != "item":
            notes.append(f"{roles.item[0]} names the items: each row has another label there")
    items = ratings.items if roles.item else ratings.items + 1
    notes += table.notes
    return ratings._replace(items=items, noticed=tuple(notes), source=(opened, roles))


def add_gold(ratings: Ratings, path: Path, reading: Reading | None = None) -> Ratings:
    """Add gold labels of a file, with columns item and truth, to ratings."""
    reading = reading or Reading()
    plain = Reading(encoding=reading.encoding, preset="none")
    with read_columns(path, plain) as table:
        roles = find_roles(table, replace(plain, raters=("truth",)))
        item, truth = (*roles.item, "item")[0], roles.truth or "truth"
        return add_gold_labels(ratings, table, item, truth, reading)


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


def propose(source: Any, reading: Reading) -> tuple[Ratings, Reading, list[str]]:
    """Read a file as it may be meant, where it is refused: proposals for the user to confirm.

    Parameters
    ----------
    source : object
        As `lehner.read_ratings` takes it.
    reading : Reading
        What is declared.

    Returns
    -------
    ratings : Ratings
    reading : Reading
        What is declared, and what was proposed: with it the file is read.
    reasons : list of str
        Why the file is refused without each proposal; empty if it is read as it is.

    Raises
    ------
    InputError
        If there is no proposal for what is wrong.
    """
    reasons: list[str] = []
    while True:
        table: Table | None = None
        try:
            table, opened = open_table(source, reading)
            return make_ratings(table, opened), reading, reasons
        except InputError as error:
            changed = _follow_remedy(reading, error)
            if changed is None and table is not None:
                changed = propose_columns(table, reading)
            if changed in (None, reading) or len(reasons) >= MOST_CHANGES:
                raise
            reasons.append(error.problem)
            reading = changed


def _follow_remedy(reading: Reading, error: InputError) -> Reading | None:
    """Change a reading by the remedy of an error."""
    changes = dict(error.change or {})
    for name, value in changes.items():
        if name in ADDED_UP:
            changes[name] = (*getattr(reading, name), *value)
        elif name in ("truth", "counts") and isinstance(value, tuple):
            (changes[name],) = value
    return replace(reading, **changes) if changes else None
