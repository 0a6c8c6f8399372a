"""The role of each column: as it is declared, else where name and content leave one possibility."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from lehner.core.errors import InputError, suggest
from lehner.core.text import first_few
from lehner.data.checks import MAYBE_TRUTH, refuse_rows_of_raters, role_of
from lehner.data.columns import Column, Table, require_columns
from lehner.data.labels import fold
from lehner.data.reading import Reading

FEWEST_ROWS = 5
FEWEST_RATERS = 2
MOST_SHOWN = 8
NUMBER_OR_WORD = re.compile(r"[0-9]+|[^\W\d_]\S*( [0-9]+)?")
"""No decimals, dates or sentences."""
BY_NAME_ALONE = {"truth": "truth", "counts": "count", "occasion": "occasion"}
"""Columns that have a role by this name alone, in any case."""
USUAL = {"rater": ("rater", "worker"), "rating": ("rating", "label"), "item": ("item", "task")}
"""Names that come before others for a role."""
SINGLE = ("truth", "truth_probability", "counts", "cluster", "order", "occasion", "rater", "rating")


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
    >>> from lehner.data.columns import table_of
    >>> table = table_of({"task": [1, 1], "annotator": ["Ann", "Bo"], "answer": ["yes", "no"]})
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
    reading, system = replace(reading, **certain), by_fold.get("system")
    if reading.category_counts:
        return replace(reading, item=reading.item or find_items(table, reading))
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
    expanded: dict[str, None] = {}
    columns = list(columns)
    for name in names:
        fitting = [name]
        if name not in columns and re.search(r"[*?]", name):
            fitting = [column for column in columns if fnmatchcase(column, name)]
            if not fitting:
                raise InputError(f"no column is like {name!r}", suggest(name, columns))
        expanded |= dict.fromkeys(fitting)
    return tuple(expanded)


def _list_free(table: Table, reading: Reading, *beside: str | None) -> list[str]:
    """Columns without a role."""
    taken = [*reading.item, *reading.system, *reading.raters, *reading.pair, *beside]
    taken += [getattr(reading, role) for role in SINGLE]
    return [name for name in table if name not in taken]


def _list_candidates(table: Table, reading: Reading, role: str, *beside: str | None) -> list[str]:
    """The column that is declared, else columns with names of a role: the usual one, else all."""
    declared = getattr(reading, role)
    if declared:
        return [declared] if isinstance(declared, str) else list(declared)
    names = [name for name in _list_free(table, reading, *beside) if role_of(name) == role]
    by_fold = {name.casefold(): name for name in reversed(names)}
    usual = [by_fold[name] for name in USUAL[role] if name in by_fold]
    return usual[:1] or names


def _find_long(table: Table, reading: Reading) -> Reading | None:
    """Find the columns of a table with a row per rating; None if it is another table."""
    declared = reading.rater is not None or reading.rating is not None
    if not declared and (reading.counts or any(name in table for name in reading.raters)):
        return None
    raters = _list_candidates(table, reading, "rater")
    ratings = _list_candidates(table, reading, "rating", *raters[:1])
    items = _list_candidates(table, reading, "item", *raters[:1], *ratings[:1])
    if not declared and not _is_long(table, reading, raters, ratings, items):
        models = [x for x in _list_free(table, reading) if role_of(x) == "system"]
        if (
            len(models) == 1
            and ratings
            and items
            and _is_repeated(table[items[0]], table[models[0]])
        ):
            raise InputError(
                f"{models[0]!r} seems to name who gave the rating in each row",
                f"say so (rater={models[0]!r}), or name the raters' columns (raters=…)",
                change={"rater": models[0]},
            )
        return None
    require_columns(table, [name for name in (reading.rater, reading.rating) if name])
    free = _list_free(table, reading, *ratings[:1])
    rater = _choose(table, raters, "names the raters", "rater", free)
    rating = _choose(
        table, ratings, "holds the ratings", "rating", _list_free(table, reading, rater)
    )
    if not reading.item:
        free = _list_free(table, reading, rater, rating)
        if len(items) != 1:
            named = items or [name for name in free if role_of(name) in (None, "item")]
            items = [x for x in named if _is_repeated(table[x], table[rater])] or items
        reading = replace(reading, item=(_choose(table, items, "names the items", "item", free),))
    people = expand(reading.raters, map(str, table[rater].labels))
    return replace(reading, rater=rater, rating=rating, raters=people)


def _is_long(
    table: Table,
    reading: Reading,
    raters: Sequence[str],
    ratings: Sequence[str],
    items: Sequence[str],
) -> bool:
    """Whether columns that are named as raters and ratings are these, and not two raters."""
    if not raters:
        return False
    names_of_roles = zip((raters, ratings, items), USUAL.values(), strict=True)
    if all({name.casefold() for name in names} & {*usual} for names, usual in names_of_roles):
        return True
    rater, people = raters[0], set(map(str, table[raters[0]].labels))
    if not ratings:
        # Raters would share labels with other columns, and items would not occur again.
        others = _list_free(table, reading, rater)
        shared = any(people & set(map(str, table[name].labels)) for name in others)
        if shared or 2 <= len(people) <= table.n_rows / 2:
            return not shared
        if len(people) == table.n_rows:
            refuse_rows_of_raters(others, table.n_rows, rater)
        return False
    if items:
        return items[0] in table and len(np.unique(table[items[0]].codes)) < table.n_rows
    return not people & set(map(str, table[ratings[0]].labels))


def _choose(
    table: Table, candidates: Sequence[str], what: str, role: str, free: Sequence[str]
) -> str:
    """Give the one column that may have a role, or raise an InputError that names them."""
    if len(candidates) == 1:
        return candidates[0]
    names = candidates or free
    problem = f"each row is a rating, and no column {what} by its name"
    if candidates:
        shown = " and ".join(map(repr, names[:MOST_SHOWN]))
        problem = f"each of the columns {shown} may be the one that {what}"
    # No remarks, and no ratings or raters that never or always differ.
    choice = [name for name in names if name in table and role_of(name) in (None, role)]
    if role != "item":
        choice = [name for name in choice if 1 < len(table[name].labels) < table.n_rows]
    raise InputError(
        problem,
        f"say which does ({role}=…): choose among {first_few(choice or names, MOST_SHOWN)}",
        change={role: choice[0]} if len(choice) == 1 else {},
    )


def _is_repeated(column: Column, rater: Column) -> bool:
    """Whether values of a column occur in several rows, each once for a rater, as items do."""
    pairs = column.codes * (rater.codes.max(initial=0) + 1) + rater.codes
    once = len(np.unique(pairs)) == len(pairs) and column.codes.min(initial=0) >= 0
    return bool(once and len(column.labels) < len(pairs))


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
    lists = [table[other].labels for other in others if other in table] + [reading.categories]
    return any(labels & set(map(str, one)) for one in lists) or table.n_rows < FEWEST_ROWS


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
    return all(NUMBER_OR_WORD.fullmatch(str(label)) for label in labels)


def propose_columns(table: Table, reading: Reading) -> Reading | None:
    """Propose raters, systems and gold labels of a table with a row per item.

    A column holds ratings if half of its labels are in most of the columns that share labels. Of
    these, one that is named like gold labels or a system is proposed as such, as is one named like
    an expert if it is mostly blank; the others are raters.

    Parameters
    ----------
    table : Table
    reading : Reading
        What is declared.

    Returns
    -------
    Reading or None
        None if no two columns hold ratings.

    Examples
    --------
    >>> from lehner.data.columns import table_of
    >>> table = {"id": [1, 2], "Ann": ["no", "yes"], "Bo": ["no", "no"], "gold": ["no", ""]}
    >>> proposed = propose_columns(table_of(table | {"site": ["north", "south"]}), Reading())
    >>> proposed.raters, proposed.truth
    (('Ann', 'Bo'), 'gold')
    """
    if reading.raters or reading.rater or reading.rating or reading.order or reading.items:
        return None
    free = [name for name in _list_free(table, reading) if name not in reading.leave_out]
    free = [name for name in free if role_of(name) not in ("item", "remark", "counts")]
    labels = {name: set(map(str, table[name].labels)) for name in free}
    for name in free:
        others = set().union(*(labels[other] for other in free if other != name))
        if role_of(name) == "rater" and not labels[name] & others:
            return None  # each row is a rating or a rater
    holders = Counter(label for own in labels.values() for label in own)
    shared = {label for label, n in holders.items() if 2 * n > max(holders.values())}
    rated = [name for name in free if 2 * len(labels[name] & shared) >= len(labels[name]) > 0]
    blank = {name for name in rated if (table[name].codes < 0).mean() > 0.5}
    truths = [name for name in rated if role_of(name) == "truth"]
    truths = truths or [name for name in rated if fold(name) in MAYBE_TRUTH and name in blank]
    systems = list(reading.system) or [name for name in rated if role_of(name) == "system"]
    raters = [name for name in rated if name not in (*systems, *truths)]
    if len(raters) < FEWEST_RATERS:  # systems are each other's raters
        raters, systems = [*raters, *(name for name in systems if name in rated)], []
    if len(raters) < FEWEST_RATERS:
        return None
    return replace(
        reading,
        raters=tuple(raters),
        system=tuple(systems),
        truth=reading.truth or next(iter(truths), None),
        item=reading.item or find_items(table, reading),
    )
