"""The role of each column: as it is declared, else where name and labels leave one possibility."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import product
from typing import Any, NoReturn

import numpy as np

from lehner.core.errors import InputError, Message, compose, suggest
from lehner.core.text import list_few, pluralise
from lehner.data import checks
from lehner.data.classify import (
    FEWEST_RATERS,
    FEWEST_ROWS,
    MANY_LABELS,
    Evidence,
    are_alike,
    are_fixed,
    classify,
    describes_items,
    group_by_labels,
    is_crossed,
    list_free,
    list_other_names,
    list_words,
    may_be,
    role_of,
    shares_labels,
)
from lehner.data.columns import Column, Table, fold, join_columns, load_words, require_columns
from lehner.data.reading import Reading, join_conditions, write_name

MOST_SHOWN = 8
# With so many raters, and so many times as many raters as items, rows are raters.
MANY_RATERS, TIMES_MORE_RATERS = 100, 10
# Columns that have a role by this name alone, in any case.
BY_NAME_ALONE = {"truth": "truth", "counts": "count", "occasion": "occasion"}
BY_NAME_ALONE |= {"truth_probability": "truth_probability"}
# Columns without evidence, or with that of these roles, may hold ratings.
RATED = ("", "truth", "system", "rater")
# Columns with such a last word are numbers, which no rater gave.
NUMBERED = (["id"], ["idx"], ["seq"])
# Names that come before others for a role.
USUAL = {"rater": ("rater", "worker"), "rating": ("rating", "label"), "item": ("item", "task")}
MEANS = {"rater": "names the raters", "rating": "holds the ratings", "item": "names the items"}
# An identifier has no decimals, dates or sentences.
NUMBER_OR_WORD = re.compile(r"[0-9]+|[^\W\d_]\S*( [0-9]+)?")
# The name of a column that names who answered a survey: each row is a rater, however many.
RESPONDENT = re.compile("respondent|response ?id|e-?mail|participant", re.IGNORECASE)
NAME_RATERS = compose("name the raters' columns ({raters})")
NAME_COLUMNS = compose(
    "{} or the items' column ({item}), or code all raters alike; if each row is a rating, name its "
    "columns ({rater}, {rating})",
    NAME_RATERS,
)


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
    >>> from lehner.data.columns import make_table
    >>> table = make_table({"task": [1, 1], "annotator": ["Ann", "Bo"], "answer": ["yes", "no"]})
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
        if role != "truth_probability" or reading.truth or "truth" in by_fold
    }
    reading, system = replace(reading, **certain), by_fold.get("system")
    if not reading.category_counts:
        long = _find_long(table, reading)
        if long is not None:
            return _find_system(table, long, system)
        if system and not reading.system and system not in reading.raters:
            if shares_labels(table, system, reading):  # else it names systems
                reading = replace(reading, system=(system,))
    return replace(reading, item=reading.item or find_items(table, reading))


def are_people(raters: Sequence[str], table: Table) -> bool:
    """Tell whether names and patterns of raters are of raters in a column, and of no column."""
    patterns = [name for name in raters if name not in table]
    columns = {(x, name) for x in patterns if "*" in x for name in _match(x, table)}
    # A pattern such as 'w*' may be like the column `worker`, and like w1 and w2 in it.
    columns = {x for x in columns if not _match(x[0], map(str, table[x[1]].labels))}
    return len(patterns) == len(raters) and not columns


def expand(names: Iterable[str], columns: Iterable[str]) -> tuple[str, ...]:
    """Give the columns that names and patterns such as 'Q*' stand for.

    Examples
    --------
    >>> expand(["Q*", "Bo"], ["id", "Q1", "Q2"])
    ('Q1', 'Q2', 'Bo')
    """
    expanded: dict[str, None] = {}
    columns = dict.fromkeys(columns)
    for name in names:
        matching = [name] if name in columns or "*" not in name else _match(name, columns)
        if not matching:
            raise InputError(f"no column is like {name!r}", suggest(name, columns))
        expanded |= dict.fromkeys(matching)
    return tuple(expanded)


def _match(pattern: str, columns: Iterable[str]) -> list[str]:
    return [column for column in columns if fnmatchcase(column, pattern.replace("[", "[[]"))]


def is_total(name: object) -> bool:
    """Tell whether a row or a column has exactly the name of a sum of others, as Total."""
    return fold(name) in load_words()["totals"]


# A row per rating


def _find_long(table: Table, reading: Reading) -> Reading | None:
    """Find the columns of a table with a row per rating; None if it is another table."""
    declared = reading.rater is not None or reading.rating is not None
    if not declared and (reading.counts or any(name in table for name in reading.raters)):
        return None
    found = {role: _list_candidates(table, reading, role) for role in ("item", "rater")}
    found["rating"] = _list_candidates(table, reading, "rating", *found["item"][:1])
    if not declared and not _is_long(table, reading, **found):
        _refuse_models(table, reading, **found)
        return None
    named = (reading.rater, reading.rating, reading.counts)
    require_columns(table, [name for name in named if name])
    for role in ("rater", "rating", "item"):
        if not getattr(reading, role):
            name = _choose(table, reading, found, role)
            reading = replace(reading, **{role: name})
    rater = str(reading.rater)
    return replace(reading, raters=expand(reading.raters, map(str, table[rater].labels)))


def _list_candidates(table: Table, reading: Reading, role: str, *items: str) -> list[str]:
    """List the declared column, else that of the usual name, else all with names of a role."""
    if declared := getattr(reading, role):
        return [declared] if isinstance(declared, str) else list(declared)
    names = [name for name in list_free(table, reading) if role_of(name) == role]
    names = [name for name in names if table[name].labels]
    if role == "rater" and table.n_rows >= FEWEST_ROWS:  # nobody rates only once
        names = [name for name in names if len(table[name].labels) < table.n_rows]
    for item in (item for item in items if item in table):
        names = [name for name in names if not describes_items(table, name, item)]
    by_fold = {name.casefold(): name for name in reversed(names)}
    usual = [by_fold[name] for name in USUAL[role] if name in by_fold]
    return usual[:1] or names


def _is_long(
    table: Table, reading: Reading, item: list[str], rater: list[str], rating: list[str]
) -> bool:
    """Tell whether columns that are named as raters and ratings are these, and not two raters."""
    if not rater:
        return False
    found = zip((rater, rating, item), USUAL.values(), strict=True)
    if all({name.casefold() for name in names} & {*usual} for names, usual in found):
        return True
    items = [name for name in item if name in table]
    if any(is_crossed(table, name, rater[0]) for name in items):
        return True
    if items and rating and len(table[items[0]].labels) < table.n_rows:
        return True
    # Raters would share labels with other columns.
    people = table[rater[0]].label_set
    rest = rating[:1] or list_free(table, replace(reading, truth=None), rater[0])
    repeated = 2 <= len(people) <= table.n_rows / 2 or bool(rating and not items)
    return repeated and not any(people & table[name].label_set for name in rest)


def _refuse_models(
    table: Table, reading: Reading, item: list[str], rater: list[str], rating: list[str]
) -> None:
    """Raise an InputError if models seem to give the ratings in rows."""
    models = [name for name in list_free(table, reading) if role_of(name) == "system"]
    if len(models) == 1 and item and rating and is_crossed(table, item[0], models[0]):
        problem = f"{models[0]!r} seems to name who gave the rating in each row"
        change = {"rater": models[0]}
        remedy = compose("say so ({}), or {}", change, NAME_RATERS)
        raise InputError(problem, remedy, change=change)


def _choose(table: Table, reading: Reading, found: Mapping[str, list[str]], role: str) -> Any:
    """Give the one column that may have a role, or raise an InputError that names them."""
    likely = [names[0] for other, names in found.items() if other != role and names]
    candidates, free = found[role], list_free(table, reading, *likely)
    rater = reading.rater or ""
    if role == "item" and len(candidates) != 1:
        free = [name for name in free if role_of(name) in (None, "item")]
        crossed = [name for name in candidates or free if is_crossed(table, name, rater)]
        candidates = crossed or candidates
    if len(candidates) == 1 or (role == "item" and _are_equal(table, candidates)):
        return (candidates[0],) if role == "item" else candidates[0]
    choice = list_choices(table, candidates or list_free(table, reading, *likely), role)
    if role == "rating":
        rated = [name for name in choice if not is_crossed(table, name, rater)]
        items = [name for name in found["item"][:1] if name in table]
        rated = [x for x in rated if not any(describes_items(table, x, item) for item in items)]
        choice = rated or choice
    problem = f"each row is a rating, and no column {MEANS[role]} by its name"
    if candidates:
        shown = " and ".join(map(repr, candidates[:MOST_SHOWN]))
        problem = f"each of the columns {shown} may be the one that {MEANS[role]}"
    shown = list_few(choice, MOST_SHOWN)
    remedy = compose("say which does ({}): choose among {}", {role: None}, shown)
    if role == "rating" and len(choice) > 1:
        remedy = compose("{}, or, if they are criteria, name them ({criteria})", remedy)
    raise InputError(problem, remedy, change={role: choice[0]} if len(choice) == 1 else {})


def _are_equal(table: Table, names: Sequence[str]) -> bool:
    """Tell whether columns tell the same rows apart, as two names of the items do."""
    codes = [table[name].codes for name in names if name in table]
    return len(codes) > 1 and all(np.array_equal(codes[0], other) for other in codes[1:])


def list_choices(table: Table, names: Sequence[str], role: str) -> list[str]:
    """List the columns that may have a role: no remarks, dates, or what never or always differs."""
    choice = [name for name in names if name in table and role_of(name) in (None, role)]
    choice = [name for name in choice if len(table[name].labels) > 1]
    if role != "item":
        choice = [name for name in choice if len(table[name].labels) < table.n_rows]
        choice = [name for name in choice if checks.describe(table[name]) != "dates"]
    return choice or list(names)


def _find_system(table: Table, reading: Reading, column: str | None) -> Reading:
    """Take the rater named `system` as the system, unless others are named."""
    people = list(map(str, table[str(reading.rater)].labels))
    columns = [name for name in reading.system if name in table and name not in people]
    answers = set(table[column].labels) & set(table[str(reading.rating)].labels) if column else ()
    if columns or answers:
        problem = f"the column {(*columns, column)[0]!r} is in a table with a row per rating"
        remedy = "give the system's answers as ratings, with the system's name as the rater"
        raise InputError(problem, remedy)
    system = tuple(name for name in people if name.lower() == "system")
    return replace(reading, system=reading.system or system[:1])


def refuse_other_names(raters: Sequence[str]) -> None:
    """Raise an InputError if a rater in a table with a row per rating is named like another role.

    Parameters
    ----------
    raters : sequence of str
        Their names.
    """
    for name, role in list_other_names(raters):
        if role in ("truth", "system"):
            what = load_words("names.toml")[role]["what"]
            change = {role: (name,) if role == "system" else name}
            remedy = compose("say so ({}), or {}", change, NAME_RATERS)
            problem = f"there is a rater {name!r}, whose name is that of {what}"
            raise InputError(problem, remedy, change=change)


def remedy_for_repeats(table: Table, reading: Reading) -> Message:
    """Say what tells a rater's ratings of an item apart, and what else may be done."""
    pair = join_columns([table[reading.item[0]], table[str(reading.rater)]], "").codes
    said = compose(
        "name more columns of the item ({item}) or one that tells them apart ({occasion})"
    )
    condition = None
    for name in list_choices(table, list_free(table, reading), "item"):
        column, n_labels = table[name], len(table[name].labels)
        keys = pair * (n_labels + 1) + column.codes
        if 1 < n_labels <= 2 * MANY_LABELS and len(np.unique(keys)) == len(pair):
            ways = {"item": (reading.item[0], name)}, {"occasion": name}, {"order": name}
            said = compose(
                "{} tells them apart: name it as a part of the item ({}), as the occasion ({}) "
                "or as the order in which a judge saw answers ({})",
                name,
                *ways,
            )
            part = f"{write_name(name)} == {str(column.labels[0])!r}"
            condition = join_conditions("and", [reading.where, part])
            break
    return compose(
        "{}, or say which rating counts ({repeated=vote}, 'first' or 'last'), or read only some "
        "rows ({})",
        said,
        {"where": condition},
    )


def say_truth(what: str, name: str) -> Message:
    """Say what to do if something has gold labels."""
    return compose("if {} has gold labels, say so ({})", what, {"truth": name})


def say_doubtful_names(raters: Sequence[str]) -> list[str]:
    """Name raters who may be gold labels, or one rater twice."""
    return [
        compose("{} counts as a rater; {}", repr(name), say_truth("it", name))
        for name in raters
        if may_be("truth", name)
    ] + [
        f"the raters {first!r} and {other!r} count as two; if they are one, write the name alike"
        for first, *rest in checks.group_alike(raters, fold)
        for other in rest
    ]


# A row per item


def find_items(table: Table, reading: Reading) -> tuple[str, ...]:
    """Find the column of items of a table with a row per item; none if there is none."""
    if any(name not in table for name in reading.raters):
        return ()  # which is an error, or another table
    free = list_free(table, reading)
    named = [name for name in free if role_of(name) == "item"]
    named.sort(key=lambda x: (len(table[x].labels) < table.n_rows, x.casefold() != "item"))
    if named:
        return tuple(named[:1])
    numbered = [name for name in free if role_of(name) is None and _is_numbered(table[name])]
    if len(numbered) != 1:
        return ()
    identifiers = table[numbered[0]].label_set
    labels = [table[name].label_set for name in free if name not in numbered]
    few = 2 * max(map(len, labels), default=0) <= len(identifiers)
    is_alone = bool(labels) and (few or not any(identifiers & other for other in labels))
    return tuple(numbered) if reading.raters or is_alone else ()


def _is_numbered(column: Column) -> bool:
    """Tell whether a column has another whole number or word in each row, as no rater has."""
    if len(column.labels) < max(len(column), FEWEST_ROWS):
        return False
    return all(NUMBER_OR_WORD.fullmatch(str(label)) for label in column.labels)


def find_raters(table: Table, reading: Reading) -> tuple[str, ...]:
    """Find the raters of a table with a row per item: all columns without another role, if certain.

    Parameters
    ----------
    table : Table
    reading : Reading
        The roles of other columns.

    Returns
    -------
    tuple of str

    Raises
    ------
    InputError
        If a column is probably no rater, or a row no item. The error names the raters that are
        likely, where there are.
    """
    names, systems = list_free(table, reading), reading.system
    if systems and reading.truth:  # a system and its gold labels need no raters
        labels = set().union(*(table[x].label_set for x in (*systems, reading.truth)))
        names = names if any(labels & table[name].label_set for name in names) else []
    columns = {name: table[name] for name in (*names, *systems)}
    _refuse_cross_table(table, reading)
    _refuse_rows_of_raters(table, list(columns))
    for start in {name.rpartition(".")[0] for name in names} - {""}:  # of a nested file
        _refuse_counts(table, [x for x in names if x.rpartition(".")[0] == start], reading)
    fixed = are_fixed(columns, reading)
    few = len(columns) < FEWEST_RATERS or table.n_rows < FEWEST_ROWS
    for column in () if fixed or few or reading.decimal else columns.values():
        checks.refuse_numbers_and_lists(column)
    evidence = classify(table, names, reading)
    doubtful = [name for name, found in evidence.items() if found.by_name or not fixed]
    if doubtful:
        _refuse_columns(table, doubtful, evidence, reading)
    if not fixed:
        _refuse_criteria(table, names)
        _refuse_counts(table, names, reading)
    return tuple(names)


def _refuse_columns(
    table: Table, names: Sequence[str], evidence: Mapping[str, Evidence], reading: Reading
) -> NoReturn:
    """Raise an InputError at columns that are probably no raters, or may be something else.

    It proposes the options for all of those that have one role; if there are none, it says the
    readings of the first.
    """
    sure = [name for name in names if len(evidence[name].ways) < 2]
    name, *more = sure or names
    found, change = evidence[name], dict[str, Any]()
    if not sure:
        choices: Any = found.ways[0]
        for way in found.ways[1:]:
            choices = compose("{}, or {}", choices, way)
        remedy = compose("say which is meant ({})", choices)
        raise InputError(found.reason, remedy, column=name, change=found.change)
    for option, value in (pair for x in sure for pair in evidence[x].change.items()):
        change[option] = (*change.get(option, ()), *value) if isinstance(value, tuple) else value
    remedy, raters = NAME_COLUMNS, dict[str, Any]()
    if not all(evidence[x].ways for x in sure):
        raters = _propose_raters(table, evidence, reading)
        change = change | raters if raters else {}
    if raters:
        remedy = compose("name the raters' columns ({})", change)
    elif list(change) == ["leave_out"]:
        remedy = compose("leave it out ({}) if it names systems, or code all alike", change)
    elif change:
        it_is = "they are" if more else "it is"
        remedy = compose("say what {} ({}) or {}", it_is, change, NAME_RATERS)
    others = f"; these are probably no raters either: {list_few(more, 4)}" if more else ""
    raise InputError(found.reason + others, remedy, column=name, change=change)


def _propose_raters(
    table: Table, evidence: Mapping[str, Evidence], reading: Reading
) -> dict[str, Any]:
    """Propose raters, systems and gold labels of a table with a row per item, if they are clear.

    Columns with evidence of another role are none of them, nor those that share less than half of
    their labels. What is named like gold labels or a system is proposed as such, as is what is
    named like an expert if it is mostly blank; the others are raters.

    Raises
    ------
    InputError
        If the raters that would be proposed are probably something else.
    """
    free = list_free(table, reading)
    roles = {name: evidence[name].role if name in evidence else "" for name in free}
    sure = [name for name, found in evidence.items() if not found.ways]
    rated = [x for x in free if roles[x] in RATED and x not in sure]
    rated = [x for x in rated if list_words(x)[-1:] not in NUMBERED]
    rated = [x for x in rated if checks.describe(table[x]) != "dates"]
    truth = [str(reading.truth)] if reading.truth in table else []
    holders = Counter(label for name in (*rated, *truth) for label in table[name].label_set)
    shared = {label for label, n_holders in holders.items() if n_holders > 1}
    rated = [x for x in rated if 2 * len(table[x].label_set & shared) >= len(table[x].labels) > 0]
    truths = [name for name in rated if roles[name] and "truth" in evidence[name].change]
    systems = list(reading.system) or [name for name in rated if roles[name] == "system"]
    raters = [name for name in rated if name not in (*systems, *truths)]
    if len(raters) < FEWEST_RATERS:  # systems are each other's raters
        raters, systems = [*raters, *(name for name in systems if name in rated)], []
    cells = Counter(label for name in raters for label in table[name].texts.tolist() if label)
    identified = any(len(table[name].labels) == table.n_rows for name in (*free, *reading.item))
    repeated = [x for x in free if x not in rated and 1 < len(table[x].labels) < table.n_rows]
    # Else each row may be a rating, by one of these columns of another.
    certain = len(repeated) < 2 or identified or bool(truth) or are_alike(raters)
    fewest = 1 if reading.truth or truths else FEWEST_RATERS
    few = not fewest <= len(raters) <= table.n_rows
    # A majority of one rater tells nothing of him.
    alone = [table[x].texts for x in raters] if len(raters) == 1 else []
    copied = any(np.array_equal(table[x].texts, texts) for x in truths for texts in alone)
    if few or not certain or copied or checks.describe_no_categories(cells):
        return {}
    for name in raters:
        if roles[name]:
            _refuse_columns(table, [name], evidence, reading)
    _refuse_criteria(table, raters)
    _refuse_counts(table, free, reading)
    change: dict[str, Any] = {"raters": tuple(raters), "system": tuple(systems)}
    change |= {"truth": reading.truth or next(iter(truths), None)}
    return {name: value for name, value in change.items() if value}


# Signs that a table has no row per item


def _refuse_cross_table(table: Table, reading: Reading) -> None:
    """Raise an InputError if rows and columns are the same categories, and cells are counts."""
    first, *rest = table
    if reading.counts or len(rest) < FEWEST_RATERS or len(table[first].labels) > len(table):
        return
    rows, columns = ({fold(x) for x in y if not is_total(x)} for y in (table[first].labels, rest))
    if rows == columns and all(_are_counts(table[name]) for name in rest):
        problem = "rows and columns are the same categories, and cells are numbers: it is a table "
        problem += "of the answers of two raters"
        remedy = compose("make a row of each cell, with both answers and the number ({counts})")
        raise InputError(problem, remedy)


def _refuse_rows_of_raters(table: Table, names: Sequence[str]) -> None:
    """Raise an InputError if each row is a rater, as in a survey, and each column an item."""
    names = [name for name in names if table[name].labels]
    different = [name for name in table if len(table[name].labels) == table.n_rows]
    people = [name for name in different if role_of(name) == "rater"]
    # A survey may have nothing but the time.
    remarks = [name for name in different if role_of(name) == "remark"]
    people += [name for name in remarks if checks.describe(table[name]) == "dates"]
    rest = [name for name in names if name not in people]
    named = any(role_of(name) == "rater" and table[name].labels for name in rest)
    more = len(names) > table.n_rows or (not named and any(map(RESPONDENT.search, people[:1])))
    if len(names) < max(MANY_RATERS, TIMES_MORE_RATERS * table.n_rows) and not (people and more):
        return
    items = tuple(x for x in rest if x not in dict(list_other_names(rest)))
    starts = Counter(re.split(r"[0-9\[]", name)[0] for name in rest)
    for start, n_alike in starts.most_common(1):
        if start and 2 * n_alike > len(rest) and len(expand([f"{start}*"], table)) == n_alike:
            items = (f"{start}*",)
    filled = [name for name in expand(items, table) if table[name].labels]
    alike = group_by_labels({name: table[name] for name in filled})
    if people and not any(len(group) > 1 for group in alike):
        return  # answers to questions of a survey would be alike
    problem = f"each of {pluralise(table.n_rows, 'row')} is probably a rater, and each of "
    problem += f"{pluralise(len(expand(items, table)), 'column')} an item"
    change: dict[str, Any] = {"rater": people[0], "items": items} if people else {}
    remedy = compose("say so ({}), or {}", change or {"rater": None, "items": None}, NAME_RATERS)
    raise InputError(problem, remedy, change=change)


def _refuse_criteria(table: Table, names: Sequence[str]) -> None:
    """Raise an InputError if columns are two raters, or more, by two criteria, or more."""
    for split, mark in product((str.partition, str.rpartition), "_ .-:"):
        parts = {name: split(name, mark) for name in names if mark in name}
        first, second = (list(dict.fromkeys(x[side] for x in parts.values())) for side in (0, 2))
        crossed = len(first) * len(second) == len(parts) == len(names)
        if not crossed or min(len(first), len(second)) < 2:
            continue
        groups = [
            tuple(name for name in names if parts[name][side] == value)
            for side, values in ((2, second), (0, first))
            for value in values
        ]
        alike = [x for x in groups if frozenset.intersection(*(table[y].label_set for y in x))]
        problem = f"the columns combine {list_few(first, 4)} with {list_few(second, 4)}: they "
        problem += "are probably raters by criteria, or at several times"
        way = {"raters": [*alike, groups[0]][0]}
        remedy = compose("name the raters' columns of one of these ({}), or all", way)
        raise InputError(problem, remedy)


def _refuse_counts(table: Table, names: Sequence[str], reading: Reading) -> None:
    """Raise an InputError if cells are numbers of raters: all rows have the same sum."""
    counted = [x for x in names if x not in reading.item and table[x].labels]
    counted = [name for name in counted if _are_counts(table[name])]
    few = len(counted) < FEWEST_RATERS or table.n_rows < FEWEST_ROWS or reading.counts is not None
    if few or all(table[name].label_set <= {"0", "1"} for name in counted):
        return
    cells = np.nan_to_num([table[name].numbers for name in counted])
    sums = cells.sum(axis=0)
    if (sums == sums[0]).all() and len(np.unique(cells, axis=1).T) > 2:
        totals = tuple(x for x, n in zip(counted, cells, strict=True) if (2 * n == sums).all())
        problem = f"all rows have the sum {sums[0]:.0f}, so that each column is probably a category"
        problem += ", and each cell a number of raters"
        change: dict[str, Any] = {"category_counts": True}
        change |= {"leave_out": totals} if totals else {}
        if len(counted) < len(list_free(table, reading)):
            change["categories"] = tuple(x for x in counted if x not in totals)
        raise InputError(problem, compose("say so ({}), or {}", change, NAME_RATERS), change=change)


def _are_counts(column: Column) -> bool:
    return all(str(label).isascii() and str(label).isdigit() for label in column.labels)
