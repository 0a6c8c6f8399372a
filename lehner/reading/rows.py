"""Rows of a table: those that fulfil a condition, and columns made of parts of a text."""

import re
from typing import Any

import numpy as np

from lehner.core.arrays import Booleans
from lehner.core.errors import InputError
from lehner.core.lazy import pd
from lehner.core.text import counted, first_few
from lehner.data.columns import Column, Table, encode, refuse_first, require_columns


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
            f"columns are {first_few(table, 8)}",
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
    rows = counted(table.n_rows, "row")
    return table.take(kept).note(f"{len(kept)} of {rows} are read, where {condition}")


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
    bad = column.lookup([match is None for match in matches], False)
    refuse_first(bad, column, f"{{value}} is not like {expression!r}", "mend the pattern (split=…)")
    groups = {
        group: encode(column.lookup([match[group] for match in matches if match], None), group)
        for group in compiled.groupindex
    }
    return table.without([name]).having(groups)
