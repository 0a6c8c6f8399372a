"""Rows of a table: those that fulfil a condition, and columns made of a text in each."""

import re
from typing import Any

import numpy as np

from lehner.core.arrays import Booleans
from lehner.core.errors import InputError
from lehner.core.lazy import pd
from lehner.core.text import counted, first_few
from lehner.data.columns import Column, Table, encode, require_columns

MOST_SHOWN = 8


def query(table: Table, condition: str) -> Booleans:
    """Find the rows for which a condition holds."""
    frame = pd.DataFrame(
        {name: _typed(table[name]) for name in table if name in condition},
        index=range(table.n_rows),
    )
    try:
        found = frame.eval(condition, engine="python", local_dict={}, global_dict={})
        return np.asarray(pd.Series(found, index=frame.index).fillna(False), dtype=bool)
    except Exception as error:  # whatever pandas raises for what is typed
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        known = first_few(table, MOST_SHOWN)
        raise InputError(
            f"the condition {condition!r} cannot be read ({reason})",
            f"give one such as \"column == 'value'\", with names such as `a b` in backticks; the "
            f"columns are {known}",
        ) from None


def _typed(column: Column) -> Any:
    """Values of a column as numbers or booleans if all are, else as text."""
    labels = [*column.labels, None]
    if set(labels) <= {"True", "False", None}:
        labels = [None if one is None else one == "True" for one in labels]
        return np.array(labels, dtype=object)[column.codes]
    values = pd.Series(np.array(labels, dtype=object)[column.codes])
    numbers = pd.to_numeric(values, errors="coerce")
    return (
        numbers
        if (numbers.isna() == values.isna()).all()
        else values.astype("str").where(values.notna())
    )


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
    name, equals, expression = pattern.partition("=")
    require_columns(table, [name])
    try:
        compiled = re.compile(expression)
    except re.error as error:
        raise InputError(f"split is {pattern!r} ({error})", "give a regular expression") from None
    if not equals or not compiled.groupindex:
        remedy = 'name its groups, as in "id=(?P<item>.+)--(?P<rater>.+)"'
        raise InputError(f"split is {pattern!r}", remedy)
    column = table[name]
    found = [compiled.fullmatch(str(label)) for label in column.labels]
    if None in found:
        label = found.index(None)
        row = int(np.argmax(column.codes == label))
        problem = f"{str(column.labels[label])!r} is not like {expression!r}"
        raise InputError(problem, "mend the pattern (split=…)", row=row, column=name)
    made = {
        group: encode([*(match[group] for match in found if match), None], group).take(
            np.where(column.codes < 0, len(found), column.codes)
        )
        for group in compiled.groupindex
    }
    return table.without([name]).having(made)
