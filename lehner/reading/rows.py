"""Rows of a table: those that fulfil a condition, tables one below another, and texts in parts."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lehner.core.arrays import Booleans
from lehner.core.errors import InputError
from lehner.core.lazy import pd
from lehner.core.text import counted, first_few
from lehner.data.columns import (
    Column,
    Table,
    encode,
    join_columns,
    refuse_first,
    require_columns,
)
from lehner.data.reading import Reading
from lehner.reading.roles import expand

MOST_SHOWN = 8


def query(table: Table, condition: str) -> Booleans:
    """Find the rows for which a condition holds."""
    named = {name: _typed(table[name]) for name in table if name in condition}
    frame = pd.DataFrame(named, index=range(table.n_rows))
    try:
        fulfilled = frame.eval(condition, engine="python", local_dict={}, global_dict={})
        return np.asarray(pd.Series(fulfilled, index=frame.index).fillna(False), dtype=bool)
    except Exception as error:  # whatever pandas raises for what is typed
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(
            f"the condition {condition!r} cannot be read ({reason})",
            f"give one such as \"column == 'value'\", with names such as `a b` in backticks; the "
            f"columns are {first_few(table, MOST_SHOWN)}",
        ) from None


def _typed(column: Column) -> Any:
    """Values of a column as numbers or booleans if all are, else as text."""
    if set(column.labels) <= {"True", "False"}:
        return column.lookup([label == "True" for label in column.labels], None)
    values = pd.Series(column.values)
    numbers = pd.to_numeric(values, errors="coerce")
    if (numbers.isna() == values.isna()).all():
        return numbers
    return values.astype("str").where(values.notna())


def keep_rows(table: Table, condition: str) -> Table:
    """Keep the rows for which a condition holds, and say how many these are."""
    kept = np.flatnonzero(query(table, condition))
    if not len(kept):
        raise InputError(f"no row fulfils the condition {condition!r}", "give another (where=…)")
    if len(kept) == table.n_rows:
        return table
    note = f"{len(kept)} of {counted(table.n_rows, 'row')} are read, where {condition}"
    return table.take(kept, note)


def split_column(table: Table, pattern: str) -> Table:
    """Make columns of the named groups of a regular expression that fits the text of a column."""
    name, _, expression = pattern.partition("=")
    require_columns(table, [name])
    try:
        compiled = re.compile(expression)
    except re.error as error:
        raise InputError(f"split is {pattern!r} ({error})", "give a regular expression") from None
    if not compiled.groupindex:
        remedy = 'name its groups, as in "id=(?P<item>.+)--(?P<rater>.+)"'
        raise InputError(f"split is {pattern!r}", remedy)
    column = table[name]
    matches = [compiled.fullmatch(str(label)) for label in column.labels]
    bad = column.lookup([match is None for match in matches], False).astype(bool)
    refuse_first(bad, column, f"{{value}} is not like {expression!r}", "mend the pattern (split=…)")
    made = {
        group: encode(column.lookup([match[group] for match in matches if match], None), group)
        for group in compiled.groupindex
    }
    return table.without([name]).having(made)


def concat(tables: Mapping[str, Table], name: str) -> Table:
    """Put tables one below the other, with a column that says which.

    Parameters
    ----------
    tables : mapping of str to Table
    name : str
        The new column, unless there is one of this name.

    Returns
    -------
    Table
    """
    names = dict.fromkeys(column for table in tables.values() for column in table)
    columns: dict[str, Any] = {
        column: np.concatenate(
            [
                table[column].values if column in table else np.full(table.n_rows, None, object)
                for table in tables.values()
            ]
        )
        for column in names
    }
    sizes = [table.n_rows for table in tables.values()]
    columns.setdefault(name, np.repeat(np.array(list(tables), dtype=object), sizes))
    starts = np.cumsum([0, *sizes])

    def place(error: InputError) -> None:
        part = int(np.searchsorted(starts, error.row or 0, side="right")) - 1
        error.row = (error.row or 0) - int(starts[part])
        list(tables.values())[part].locate(error)

    notes = dict.fromkeys(note for table in tables.values() for note in table.notes)
    return Table(columns, notes=list(notes), place=place)


def stack_items(table: Table, reading: Reading) -> tuple[Table, Reading]:
    """Make a row per rating of a table in which each row is a rater, and columns are items."""
    if reading.rater is None:
        raise InputError("items are columns, so that each row is a rater", "name them (rater=…)")
    items = expand(reading.items, table)
    require_columns(table, [reading.rater, *items])
    stacked = table.stack(items, [reading.rater], "item", "rating")
    return stacked, replace(reading, items=(), item=("item",), rating="rating")


def join_items(table: Table, reading: Reading) -> tuple[Table, Reading]:
    """Join several columns of items into one, and a pair of answers into the item."""
    names = list(reading.item)
    require_columns(table, [*names, *reading.pair])
    if reading.pair:
        table, reading = _join_pair(table, reading)
        names += ["pair"]
    if len(names) < 2:
        return table, reading
    name = " and ".join(names)
    joined = join_columns([table[part] for part in names], name)
    return table.without(names).having({name: joined}), replace(reading, item=(name,))


def _join_pair(table: Table, reading: Reading) -> tuple[Table, Reading]:
    """Name the pair whoever stands first, and call the answers of swapped pairs by position."""
    if len(reading.pair) != 2:
        raise InputError(f"pair is {', '.join(reading.pair)}", "name two columns")
    first, second = (table[name].refuse_blank().texts for name in reading.pair)
    swapped = first > second
    pairs = [" ".join(sorted(pair)) for pair in zip(first, second, strict=True)]
    order = np.where(swapped, "swapped", "original").astype(object)
    table = table.without(reading.pair).having({"pair": pairs, "order": order})
    return table, replace(reading, pair=(), order="order", repeated=reading.repeated or "vote")
