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
from lehner.data.columns import Column, Table, join_columns, require_columns
from lehner.data.reading import Reading

FEWEST_ROWS = 5
MOST_SHOWN = 8
NUMBER_OR_WORD = r"[0-9]+|[^\W\d_]\S*( [0-9]+)?"
"""No decimals, dates or sentences."""
EXACT = {"system": "system", "truth": "truth", "counts": "count", "occasion": "occasion"}
"""Columns that have a role by this name alone, in any case."""


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
    exact = {role: _named(table, name) for role, name in EXACT.items()}
    found: dict[str, Any] = {"occasion": reading.occasion or exact["occasion"]}
    if reading.truth is None:
        found["truth"] = exact["truth"]
    if reading.counts is None and reading.rater is None:
        found["counts"] = exact["counts"]
    reading = replace(reading, **{name: value for name, value in found.items() if value})
    if reading.category_counts:
        return replace(reading, item=reading.item or find_items(table, reading))
    long = _find_long(table, reading)
    if long is not None:
        return _with_system(table, long)
    system = exact["system"]
    if system and not reading.system and _shares_labels(table, system, reading):
        reading = replace(reading, system=(system,))
    return replace(reading, item=reading.item or find_items(table, reading))


def expand(names: Sequence[str], columns: Iterable[str]) -> tuple[str, ...]:
    """Give the columns that names and patterns such as 'Q*' stand for.

    Examples
    --------
    >>> expand(["Q*", "Bo"], ["id", "Q1", "Q2"])
    ('Q1', 'Q2', 'Bo')
    """
    found: list[str] = []
    known = list(columns)
    for name in names:
        fitting = [one for one in known if fnmatchcase(one, name)]
        if name in known or not re.search(r"[*?]", name):
            fitting = [name]
        elif not fitting:
            raise InputError(f"no column is like {name!r}", suggest(name, known))
        found += fitting
    return tuple(dict.fromkeys(found))


def _named(table: Iterable[str], *names: str) -> str | None:
    """First column with one of the names, in any case."""
    by_name = {name.casefold(): name for name in reversed(list(table))}
    return next((by_name[name] for name in names if name in by_name), None)


def _free(table: Table, reading: Reading, *beside: str | None) -> list[str]:
    """Columns without a role."""
    taken = [*reading.item, *reading.system, *reading.raters, *reading.pair, *beside]
    taken += [reading.truth, reading.truth_probability, reading.counts, reading.cluster]
    taken += [reading.order, reading.occasion, reading.rater, reading.rating]
    return [name for name in table if name not in taken]


def _with_role(table: Table, reading: Reading, role: str, *beside: str | None) -> list[str]:
    return [name for name in _free(table, reading, *beside) if role_of(name) == role]


def _find_long(table: Table, reading: Reading) -> Reading | None:
    """Find the columns of a table with a row per rating; None if it is another table."""
    declared = reading.rater is not None or reading.rating is not None
    if not declared and (reading.counts or any(name in table for name in reading.raters)):
        return None
    raters, ratings = ([reading.rater], [reading.rating])
    if reading.rater is None:
        raters = _one(table, reading, "rater", ("rater", "worker"))
    if reading.rating is None:
        ratings = _one(table, reading, "rating", ("rating", "label"), *raters[:1])
    items = list(reading.item) or _one(table, reading, "item", ("item",), *raters[:1], *ratings[:1])
    if not declared and not _is_long(table, raters, ratings, items, reading):
        return None
    require_columns(table, [name for name in (reading.rater, reading.rating) if name])
    rater = _only(table, raters, "names the raters", "rater", _free(table, reading, *ratings[:1]))
    free = _free(table, reading, rater)
    rating = _only(table, ratings, "holds the ratings", "rating", free)
    if not reading.item:
        free = _free(table, reading, rater, rating)
        items = _repeated_items(table, items or free, rater, bool(items))
        item = _only(table, items, "names the items", "item", free)
        reading = replace(reading, item=(str(item),))
    people = map(str, table[str(rater)].labels)
    return replace(reading, rater=rater, rating=rating, raters=expand(reading.raters, people))


def are_people(raters: Sequence[str], table: Table) -> bool:
    """Whether names and patterns of raters are those of no column, but of raters in a column."""
    return not any(fnmatchcase(column, name) for name in raters for column in table)


def _one(
    table: Table, reading: Reading, role: str, exact: tuple[str, ...], *beside: str | None
) -> list[str | None]:
    """Columns that may have a role by their names: that with the name itself, else all."""
    candidates = _with_role(table, reading, role, *beside)
    named = _named(candidates, *exact)
    return [named] if named is not None else list(candidates)


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
    plain = [{str(name).casefold() for name in names} for names in (raters, ratings, items)]
    if all(names & {"rater", "rating", "item", "worker", "label", "task"} for names in plain):
        return True
    if raters[0] is None:
        return False
    people = table[raters[0]]
    if not ratings:
        # Raters would share labels with other columns, and items would not occur again.
        others = _free(table, reading, raters[0])
        shared = any(set(people.labels) & set(table[name].labels) for name in others)
        again = 2 <= len(people.labels) <= table.n_rows / 2
        return not shared and (again or _are_rows(table, raters[0], others))
    if items:
        name = str(items[0])
        return name in table and len(np.unique(table[name].codes)) < table.n_rows
    return not set(map(str, people.labels)) & set(map(str, table[str(ratings[0])].labels))


def _are_rows(table: Table, rater: str, others: Sequence[str]) -> bool:
    """Raise an InputError if each row is a rater."""
    if len(table[rater].labels) < table.n_rows or len(others) <= table.n_rows:
        return False
    raise InputError(
        f"the column {rater!r} names another rater in each of {counted(table.n_rows, 'row')}, and "
        f"there are {len(others)} other columns, so that each column is probably an item",
        f"say so (rater={rater!r}, items={pattern_of(others)!r}), or name the raters' columns "
        "(raters=…)",
        change={"rater": rater, "items": (pattern_of(others),)},
    )


def pattern_of(names: Sequence[str]) -> str:
    """Write columns as one pattern if they begin alike, else as names.

    Examples
    --------
    >>> pattern_of(["text1", "text2"]), pattern_of(["a", "b"])
    ('text*', 'a,b')
    """
    stem = re.sub("[0-9]+$", "", names[0])
    alike = stem and all(re.fullmatch(re.escape(stem) + "[0-9]+", name) for name in names)
    return f"{stem}*" if alike else ",".join(names)


def _only(
    table: Table, found: Sequence[str | None], what: str, role: str, free: Sequence[str]
) -> str | None:
    """Give the one column that may have a role, or raise an InputError that names them."""
    if len(found) == 1:
        return found[0]
    if found:
        shown = " and ".join(map(repr, found[:MOST_SHOWN]))
        problem, choice = f"each of the columns {shown} may be the one that {what}", found
    else:
        problem, choice = f"each row is a rating, and no column {what} by its name", free
    choice = [one for one in choice if _may_be(table, str(one), role)] or list(choice)
    raise InputError(
        problem,
        f"say which does ({role}=…): choose among {first_few(choice, MOST_SHOWN)}",
        change={role: choice[0]} if len(choice) == 1 else {},
    )


def _may_be(table: Table, name: str, role: str) -> bool:
    """Whether a column may have a role: no remarks, and no ratings that never or always differ."""
    if name not in table or role_of(name) not in (None, role):
        return False
    return role == "item" or 1 < len(table[name].labels) < table.n_rows


def _repeated_items(
    table: Table, candidates: Sequence[str | None], rater: str | None, named: bool
) -> list[str | None]:
    """Columns whose values occur in several rows, each once for a rater, as items do."""
    if named and len(candidates) == 1:
        return list(candidates)
    found: list[str | None] = []
    people = table[str(rater)].codes
    for name in candidates:
        if not named and role_of(str(name)) not in (None, "item"):
            continue
        codes = table[str(name)].codes
        pairs = codes * (people.max(initial=0) + 1) + people
        once = len(np.unique(pairs)) == len(pairs) and codes.min(initial=0) >= 0
        if once and len(np.unique(codes)) < len(codes):
            found.append(name)
    return found or (list(candidates) if named else [])


def _with_system(table: Table, reading: Reading) -> Reading:
    """Take the rater named `system` as the system, unless others are named."""
    wide = next((name for name in reading.system if name in table), None)
    column = wide or _named(table, "system")
    if column is not None and (wide or _is_answer(table, column, str(reading.rating))):
        raise InputError(
            f"the column {column!r} is in a table with a row per rating",
            "give the system's answers as ratings, with the system's name as the rater",
        )
    called = [
        str(name) for name in table[str(reading.rater)].labels if str(name).lower() == "system"
    ]
    return reading if reading.system else replace(reading, system=tuple(called[:1]))


def _is_answer(table: Table, name: str, rating: str) -> bool:
    """Whether a column has labels of ratings, and not, say, names of systems."""
    return bool(set(table[name].labels) & set(table[rating].labels))


def _shares_labels(table: Table, name: str, reading: Reading) -> bool:
    """Whether a column has labels that others have."""
    others = reading.raters or _free(table, reading, name)
    mine = set(map(str, table[name].labels))
    if table.n_rows < FEWEST_ROWS:
        return True
    return any(mine & set(map(str, table[one].labels)) for one in others if one in table)


def find_items(table: Table, reading: Reading) -> tuple[str, ...]:
    """Find the column of items of a table with a row per item; none if there is none."""
    if any(name not in table for name in reading.raters):
        return ()  # which is an error, or another table
    candidates = _with_role(table, reading, "item")
    if len(candidates) > 1:
        distinct = [name for name in candidates if len(table[name].labels) == table.n_rows]
        candidates = [str(_named(distinct, "item") or (distinct or candidates)[0])]
    if candidates or reading.raters:
        return tuple(candidates[:1])
    free = _free(table, reading)
    found = [name for name in free if role_of(name) is None and _is_numbered(table[name])]
    if len(found) != 1 or len(free) < 2:
        return ()
    labels = {name: set(map(str, table[name].labels)) for name in free}
    own = labels.pop(found[0])
    few = 2 * max(map(len, labels.values())) <= len(own)
    return (found[0],) if few or not own & set().union(*labels.values()) else ()


def _is_numbered(column: Column) -> bool:
    """Whether a column has another whole number or word in each row, as no rater has."""
    labels = column.labels
    if len(labels) < max(len(column), FEWEST_ROWS):
        return False
    return all(re.fullmatch(NUMBER_OR_WORD, str(label)) for label in labels)


def stack_items(table: Table, reading: Reading) -> tuple[Table, Reading]:
    """Make a row per rating of a table in which each row is a rater, and columns are items."""
    if reading.rater is None:
        raise InputError("items are columns, so that each row is a rater", "name them (rater=…)")
    items = expand(reading.items, table)
    require_columns(table, [reading.rater, *items])
    stacked = table.stack(items, {reading.rater: table[reading.rater]}, "item", "rating")
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
    joined = replace(join_columns([table[one] for one in names]), name=name)
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
