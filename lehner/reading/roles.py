"""The role of each column: as it is declared, else where name and content leave one possibility."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from lehner.core.errors import InputError, suggest
from lehner.core.text import counted, first_few
from lehner.data.checks.columns import role_of
from lehner.data.columns import Column, Table, require_columns
from lehner.data.reading import Reading

FEWEST_ROWS = 5
MOST_SHOWN = 8
NUMBER_OR_WORD = r"[0-9]+|[^\W\d_]\S*( [0-9]+)?"
"""No decimals, dates or sentences."""
BY_NAME_ALONE = {"truth": "truth", "counts": "count", "occasion": "occasion"}
"""Columns that have a role by this name alone, in any case."""
USUAL = {"rater": ("rater", "worker"), "rating": ("rating", "label"), "item": ("item", "task")}
"""Names that come before others for a role."""


def find_roles(table: Table, reading: Reading) -> Reading:
    """Find the roles that are not declared, where there is one possibility.

    A table has a row per rating if columns for the rater or the rating are declared; or if columns
    have names of these (see `names.toml`), and items occur more than once. Any other has a row per
    item: if no column has a name of items, the one that has another whole number or word in each
    row names them.

    Parameters
    ----------
    table : Table
    reading : Reading
        The roles that are declared.

    Returns
    -------
    Reading
        With `rater` and `rating` if a row is a rating.

    Raises
    ------
    InputError
        If several columns may have a role that is needed, or none does. The error names them.

    Examples
    --------
    >>> table = Table({"task": [1, 1], "annotator": ["Ann", "Bo"], "answer": ["yes", "no"]})
    >>> roles = find_roles(table, Reading())
    >>> roles.item, roles.rater, roles.rating
    (('task',), 'annotator', 'answer')
    """
    if not are_people(reading.raters, table):
        reading = replace(reading, raters=expand(reading.raters, table))
    by_fold = {name.casefold(): name for name in reversed(list(table))}
    certain: dict[str, Any] = {
        role: by_fold[name]
        for role, name in BY_NAME_ALONE.items()
        if name in by_fold and not getattr(reading, role)
        if role != "counts" or reading.rater is None
    }
    reading = replace(reading, **certain)
    system = by_fold.get("system")
    if not reading.category_counts:
        long = _find_long(table, reading)
        if long is not None:
            return _find_system(table, long, system)
        if system and not reading.system and system not in reading.raters:
            if _shares_labels(table, system, reading):
                reading = replace(reading, system=(system,))
            elif not reading.raters:
                raise InputError(
                    f"no other column has its labels ({first_few(table[system].labels, 3)})",
                    f"if it names systems, leave it out (leave_out=[{system!r}]); if it holds the "
                    "system's answers, code all columns alike",
                    column=system,
                    change={"leave_out": (system,)},
                )
    return replace(reading, item=reading.item or find_items(table, reading))


def are_people(raters: Sequence[str], table: Table) -> bool:
    """Whether names and patterns of raters are those of no column, but of raters in a column."""
    return not any(fnmatchcase(column, name) for name in raters for column in table)


def expand(names: Sequence[str], columns: Iterable[str]) -> tuple[str, ...]:
    """Give the columns that names and patterns such as 'Q*' stand for.

    Examples
    --------
    >>> expand(["Q*", "Bo"], ["id", "Q1", "Q2"])
    ('Q1', 'Q2', 'Bo')
    """
    expanded: list[str] = []
    columns = list(columns)
    for name in names:
        fitting = [column for column in columns if fnmatchcase(column, name)]
        if name in columns or not re.search(r"[*?]", name):
            fitting = [name]
        elif not fitting:
            raise InputError(f"no column is like {name!r}", suggest(name, columns))
        expanded += fitting
    return tuple(dict.fromkeys(expanded))


def _list_free(table: Table, reading: Reading, *beside: str | None) -> list[str]:
    """Columns without a role."""
    taken = [*reading.item, *reading.system, *reading.raters, *reading.pair, *beside]
    taken += [reading.truth, reading.truth_probability, reading.counts, reading.cluster]
    taken += [reading.order, reading.occasion, reading.rater, reading.rating]
    return [name for name in table if name not in taken]


def _list_candidates(
    table: Table, reading: Reading, role: str, *beside: str | None
) -> list[str | None]:
    """Columns that may have a role by their names: that with the usual name, else all."""
    names = [x for x in _list_free(table, reading, *beside) if role_of(x) == role]
    usual = [name for word in USUAL[role][:1] for name in names if name.casefold() == word]
    usual = usual or [name for name in names if name.casefold() in USUAL[role]]
    return [*usual[:1]] or [*names]


def _find_long(table: Table, reading: Reading) -> Reading | None:
    """Find the columns of a table with a row per rating; None if it is another table."""
    declared = reading.rater is not None or reading.rating is not None
    if not declared and (reading.counts or any(name in table for name in reading.raters)):
        return None
    raters = [reading.rater] if reading.rater else _list_candidates(table, reading, "rater")
    ratings = [reading.rating]
    if reading.rating is None:
        ratings = _list_candidates(table, reading, "rating", *raters[:1])
    items: list[str | None] = list(reading.item)
    items = items or _list_candidates(table, reading, "item", *raters[:1], *ratings[:1])
    if not declared and not _is_long(table, raters, ratings, items, reading):
        return None
    require_columns(table, [name for name in (reading.rater, reading.rating) if name])
    free = _list_free(table, reading, *ratings[:1])
    rater = _choose(table, raters, "names the raters", "rater", free)
    free = _list_free(table, reading, rater)
    rating = _choose(table, ratings, "holds the ratings", "rating", free)
    if not reading.item:
        free = _list_free(table, reading, rater, rating)
        items = _repeated_items(table, items or free, rater, named=bool(items))
        reading = replace(reading, item=(_choose(table, items, "names the items", "item", free),))
    people = expand(reading.raters, map(str, table[rater].labels))
    return replace(reading, rater=rater, rating=rating, raters=people)


def _is_long(
    table: Table,
    raters: Sequence[str | None],
    ratings: Sequence[str | None],
    items: Sequence[str | None],
    reading: Reading,
) -> bool:
    """Whether columns that are named as raters and ratings are these, and not two raters."""
    if not raters:
        return False
    names_of_roles = zip((raters, ratings, items), USUAL, strict=True)
    if all({str(name).casefold() for name in x} & {*USUAL[role]} for x, role in names_of_roles):
        return True
    rater = str(raters[0])
    people = set(map(str, table[rater].labels))
    if not ratings:
        # Raters would share labels with other columns, and items would not occur again.
        others = _list_free(table, reading, rater)
        shared = any(people & set(map(str, table[name].labels)) for name in others)
        again = 2 <= len(people) <= table.n_rows / 2
        return not shared and (again or _are_rows(table, rater, others))
    if items:
        name = str(items[0])
        return name in table and len(np.unique(table[name].codes)) < table.n_rows
    return not people & set(map(str, table[str(ratings[0])].labels))


def _are_rows(table: Table, rater: str, others: Sequence[str]) -> bool:
    """Raise an InputError if each row is a rater."""
    if len(table[rater].labels) < table.n_rows or len(others) <= table.n_rows:
        return False
    stem = re.sub("[0-9]+$", "", others[0])
    alike = stem and all(re.fullmatch(re.escape(stem) + "[0-9]+", name) for name in others)
    items = (f"{stem}*",) if alike else tuple(others)
    raise InputError(
        f"the column {rater!r} names another rater in each of {counted(table.n_rows, 'row')}, and "
        f"there are {len(others)} other columns, so that each column is probably an item",
        f"say so (rater={rater!r}, items={','.join(items)!r}), or name the raters' columns "
        "(raters=…)",
        change={"rater": rater, "items": items},
    )


def _choose(
    table: Table, candidates: Sequence[str | None], what: str, role: str, free: Sequence[str]
) -> str:
    """Give the one column that may have a role, or raise an InputError that names them."""
    if len(candidates) == 1:
        return str(candidates[0])
    names = list(map(str, candidates or free))
    if candidates:
        shown = " and ".join(map(repr, names[:MOST_SHOWN]))
        problem = f"each of the columns {shown} may be the one that {what}"
    else:
        problem = f"each row is a rating, and no column {what} by its name"
    # No remarks, and no ratings or raters that never or always differ.
    choice = [name for name in names if name in table and role_of(name) in (None, role)]
    if role != "item":
        choice = [name for name in choice if 1 < len(table[name].labels) < table.n_rows]
    raise InputError(
        problem,
        f"say which does ({role}=…): choose among {first_few(choice or names, MOST_SHOWN)}",
        change={role: choice[0]} if len(choice) == 1 else {},
    )


def _repeated_items(
    table: Table, candidates: Sequence[str | None], rater: str, *, named: bool
) -> list[str | None]:
    """Columns whose values occur in several rows, each once for a rater, as items do."""
    if named and len(candidates) == 1:
        return list(candidates)
    repeated: list[str | None] = []
    people = table[rater].codes
    for name in candidates:
        if not named and role_of(str(name)) not in (None, "item"):
            continue
        codes = table[str(name)].codes
        pairs = codes * (people.max(initial=0) + 1) + people
        once = len(np.unique(pairs)) == len(pairs) and codes.min(initial=0) >= 0
        if once and len(np.unique(codes)) < len(codes):
            repeated.append(name)
    return repeated or (list(candidates) if named else [])


def _find_system(table: Table, reading: Reading, column: str | None) -> Reading:
    """Take the rater named `system` as the system, unless others are named."""
    declared = next((name for name in reading.system if name in table), None)
    answers = set(table[column].labels) & set(table[str(reading.rating)].labels) if column else ()
    if declared or answers:
        raise InputError(
            f"the column {declared or column!r} is in a table with a row per rating",
            "give the system's answers as ratings, with the system's name as the rater",
        )
    people = map(str, table[str(reading.rater)].labels)
    system = tuple(name for name in people if name.lower() == "system")
    return replace(reading, system=reading.system or system[:1])


def _shares_labels(table: Table, name: str, reading: Reading) -> bool:
    """Whether a column has labels that others have, and not, say, names of systems."""
    others = reading.raters or _list_free(table, reading, name)
    labels = set(map(str, table[name].labels))
    known = [table[one].labels for one in others if one in table] + [reading.categories]
    return any(labels & set(map(str, one)) for one in known) or table.n_rows < FEWEST_ROWS


def find_items(table: Table, reading: Reading) -> tuple[str, ...]:
    """Find the column of items of a table with a row per item; none if there is none."""
    if any(name not in table for name in reading.raters):
        return ()  # which is an error, or another table
    free = _list_free(table, reading)
    named = [name for name in free if role_of(name) == "item"]
    distinct = [name for name in named if len(table[name].labels) == table.n_rows] or named
    distinct.sort(key=lambda name: name.casefold() != "item")
    if distinct or reading.raters:
        return tuple(distinct[:1])
    numbered = [name for name in free if role_of(name) is None and _is_numbered(table[name])]
    if len(numbered) != 1 or len(free) < 2:
        return ()
    labels = {name: set(map(str, table[name].labels)) for name in free}
    own = labels.pop(numbered[0])
    few = 2 * max(map(len, labels.values())) <= len(own)
    return tuple(numbered) if few or not own & set().union(*labels.values()) else ()


def _is_numbered(column: Column) -> bool:
    """Whether a column has another whole number or word in each row, as no rater has."""
    labels = column.labels
    if len(labels) < max(len(column), FEWEST_ROWS):
        return False
    return all(re.fullmatch(NUMBER_OR_WORD, str(label)) for label in labels)
