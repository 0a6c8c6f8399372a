"""The role of each column: as it is declared, else where name and content leave one possibility."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from lehner.core.errors import InputError, Message, compose, suggest
from lehner.core.text import list_few
from lehner.data import checks
from lehner.data.columns import (
    Column,
    Table,
    find_declared,
    fold,
    join_columns,
    load_words,
    require_columns,
)
from lehner.data.conditions import Comparison, Name, join_conditions
from lehner.data.reading import Reading

# A table of fewer rows is too short to judge its columns by their labels.
FEWEST_ROWS = 5
MANY_LABELS, MOST_SHOWN = 10, 8
# Columns that have a role by this name alone, in any case.
BY_NAME_ALONE = {"truth": "truth", "counts": "count", "occasion": "occasion"}
# Names that come before others for a role.
USUAL = {"rater": ("rater", "worker"), "rating": ("rating", "label"), "item": ("item", "task")}
# Roles of one column.
SINGLE = ("truth", "truth_probability", "counts", "cluster", "order", "occasion", "rater", "rating")
# No decimals, dates or sentences.
NUMBER_OR_WORD = re.compile(r"[0-9]+|[^\W\d_]\S*( [0-9]+)?")
NAME_RATERS = compose("name the raters' columns ({raters})")


@cache
def role_of(name: str) -> str | None:
    """Find the role of a column by its name, as `names.toml` has it; None if the name has none.

    Examples
    --------
    >>> role_of("label_true"), role_of("annotatorID"), role_of("verdict"), role_of("Ann")
    ('truth', 'rater', 'rating', None)
    """
    if re.fullmatch(r"\w+(\.\w+)+", name):
        name = name.rpartition(".")[2]  # of a nested file
    for words in map(_words, (name, re.sub("(?<=[a-z])(?=[A-Z])", " ", name))):
        for role, names in load_words("names.toml").items():
            of, forms = names["of"], [*names["of"], *names["with"], *names.get("forms", ())]
            fits = re.compile("|".join(forms)).fullmatch
            is_like = re.fullmatch(names.get("like", "(?!)"), " ".join(words))
            if is_like or (not set(of).isdisjoint(words) and all(map(fits, words))):
                return str(role)
    return None if name else "item"  # the index that pandas writes


def _words(name: str) -> list[str]:
    return re.findall(r"[0-9]+|[^\s0-9_.,;:/()#?-]+", name.casefold())


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
    return len(patterns) == len(raters) and not any(
        _match(pattern, table) for pattern in patterns if "*" in pattern
    )


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
    form = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
    return [column for column in columns if form.fullmatch(column)]


def is_total(name: object) -> bool:
    """Tell whether a row or a column has exactly the name of a sum of others, as Total."""
    return fold(name) in load_words()["totals"]


def list_free(table: Table, reading: Reading, *beside: str | None) -> list[str]:
    """List the columns without a role."""
    taken = {*reading.item, *reading.system, *reading.raters, *reading.pair, *beside}
    single = [getattr(reading, role) for role in SINGLE]
    taken |= {name for name in single if isinstance(name, str)}  # what is none is told later
    return [name for name in table if name not in taken]


def texts_of(column: Column) -> set[str]:
    """Give the labels of a column as texts."""
    return set(map(str, column.labels))


# A row per rating


def _list_candidates(table: Table, reading: Reading, role: str, *beside: str | None) -> list[str]:
    """List the declared column, else that of the usual name, else all with names of a role."""
    declared = getattr(reading, role)
    if declared:
        return [declared] if isinstance(declared, str) else list(declared)
    names = [name for name in list_free(table, reading, *beside) if role_of(name) == role]
    if role == "rater" and table.n_rows >= FEWEST_ROWS:  # nobody rates only once
        names = [name for name in names if len(table[name].labels) < table.n_rows]
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
        models = [name for name in list_free(table, reading) if role_of(name) == "system"]
        if len(models) == 1 and items and ratings and _is_crossed(table, items[0], models[0]):
            problem = f"{models[0]!r} seems to name who gave the rating in each row"
            change = {"rater": models[0]}
            remedy = compose("say so ({}), or {}", change, NAME_RATERS)
            raise InputError(problem, remedy, change=change)
        return None
    require_columns(table, [name for name in (reading.rater, reading.rating) if name])
    rater = _choose(table, reading, raters, "rater", *ratings[:1])
    rating = _choose(table, reading, ratings, "rating", rater)
    if not reading.item:
        if len(items) != 1:
            free = list_free(table, reading, rater, rating)
            likely = items or [name for name in free if role_of(name) in (None, "item")]
            items = [name for name in likely if _is_crossed(table, name, rater)] or items
        reading = replace(reading, item=(_choose(table, reading, items, "item", rater, rating),))
    people = expand(reading.raters, map(str, table[rater].labels))
    return replace(reading, rater=rater, rating=rating, raters=people)


def _is_long(
    table: Table, reading: Reading, raters: list[str], ratings: list[str], items: list[str]
) -> bool:
    """Tell whether columns that are named as raters and ratings are these, and not two raters."""
    if not raters:
        return False
    names_of_roles = zip((raters, ratings, items), USUAL.values(), strict=True)
    if all({name.casefold() for name in names} & {*usual} for names, usual in names_of_roles):
        return True
    items = [name for name in items if name in table]
    if any(_is_crossed(table, item, raters[0]) for item in items):
        return True
    if ratings and items:
        return len(np.unique(table[items[0]].codes)) < table.n_rows
    # Raters would share labels with other columns, and items would not occur again.
    people = texts_of(table[raters[0]])
    others = ratings[:1] or list_free(table, reading, raters[0])
    repeated = bool(ratings) or 2 <= len(people) <= table.n_rows / 2
    return repeated and not any(people & texts_of(table[name]) for name in others)


def _is_crossed(table: Table, item: str, rater: str) -> bool:
    """Tell whether values of a column occur in several rows, each once for a rater, as items do."""
    column, by = table[item], table[rater]
    pairs = column.codes * (int(by.codes.max(initial=0)) + 1) + by.codes
    once = len(np.unique(pairs)) == len(pairs) and column.codes.min(initial=0) >= 0
    return bool(once and len(column.labels) < len(pairs) and 1 < len(by.labels) < len(pairs))


MEANS = {"rater": "names the raters", "rating": "holds the ratings", "item": "names the items"}


def _choose(
    table: Table, reading: Reading, candidates: Sequence[str], role: str, *beside: str
) -> str:
    """Give the one column that may have a role, or raise an InputError that names them."""
    if len(candidates) == 1 or (role == "item" and _are_equal(table, candidates)):
        return candidates[0]
    choice = list_choices(table, candidates or list_free(table, reading, *beside), role, *beside)
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


def list_choices(table: Table, names: Sequence[str], role: str, *beside: str) -> list[str]:
    """List the columns that may have a role: no remarks, dates, or what never or always differs."""
    choice = [name for name in names if name in table and role_of(name) in (None, role)]
    choice = [name for name in choice if len(table[name].labels) > 1]
    if role != "item":
        choice = [name for name in choice if len(table[name].labels) < table.n_rows]
        choice = [name for name in choice if checks.describe(table[name]) != "dates"]
    if role == "rating" and beside:
        others = [name for name in choice if not _is_crossed(table, name, beside[0])]
        choice = others or choice
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
            part = Comparison(Name(name), "==", str(column.labels[0]))
            condition = str(join_conditions("and", [reading.where, part]))
            break
    return compose(
        "{}, or say which rating counts ({repeated=vote}, 'first' or 'last'), or read only some "
        "rows ({})",
        said,
        {"where": condition},
    )


# A row per item


def shares_labels(table: Table, name: str, reading: Reading) -> bool:
    """Tell whether a column has labels of others, or of the categories, or too few rows to tell."""
    labels = texts_of(table[name])
    others = [x for x in reading.raters or list_free(table, reading, name) if x in table]
    shared = labels & {*map(str, reading.categories)}.union(*(texts_of(table[x]) for x in others))
    return bool(table.n_rows < FEWEST_ROWS or shared or not labels)


def find_items(table: Table, reading: Reading) -> tuple[str, ...]:
    """Find the column of items of a table with a row per item; none if there is none."""
    if any(name not in table for name in reading.raters):
        return ()  # which is an error, or another table
    free = list_free(table, reading)
    named = [name for name in free if role_of(name) == "item"]
    distinct = [name for name in named if len(table[name].labels) == table.n_rows] or named
    distinct.sort(key=lambda name: name.casefold() != "item")
    if distinct:
        return tuple(distinct[:1])
    numbered = [name for name in free if role_of(name) is None and _is_numbered(table[name])]
    if len(numbered) != 1 or reading.raters:
        return tuple(numbered) if len(numbered) == 1 else ()
    labels = {name: texts_of(table[name]) for name in free}
    own = labels.pop(numbered[0])
    few = 2 * max(map(len, labels.values()), default=0) <= len(own)
    separate = not any(own & other for other in labels.values())
    return tuple(numbered) if labels and (few or separate) else ()


def _is_numbered(column: Column) -> bool:
    """Tell whether a column has another whole number or word in each row, as no rater has."""
    if len(column.labels) < max(len(column), FEWEST_ROWS):
        return False
    return all(NUMBER_OR_WORD.fullmatch(str(label)) for label in column.labels)


def are_fixed(columns: Mapping[str, Column], reading: Reading) -> bool:
    """Tell whether the categories were named by the user or by the type of a column."""
    return bool(reading.categories) or reading.sets or find_declared(columns) is not None


def may_be_truth(name: str) -> bool:
    """Tell whether a column may have gold labels, or be a rater."""
    words = _words(name)
    may_be = not set(words).isdisjoint(load_words()["maybe_truth"])
    return may_be and role_of(name) != "rater" and not any(map(str.isdigit, words))


def are_alike(names: Sequence[str]) -> bool:
    """Tell whether names differ in a number or a letter, as those of raters often do."""
    stems = {re.sub(r"([ _.-]?[A-Za-z]|[0-9]+)$", "", name) for name in names}
    return len(stems) == 1 or all(role_of(name) == "rater" for name in names)


# Names that are no raters'


def list_other_names(names: Sequence[str]) -> list[tuple[str, str]]:
    """List names that are those of other roles, unless all are those of systems."""
    roles = {name: role_of(name) or "rater" for name in names}
    others = {"rater", "rating"} | ({"system"} if {*roles.values()} == {"system"} else set())
    return [(name, role) for name, role in roles.items() if role not in others]


def refuse_other_names(raters: Sequence[str]) -> None:
    """Raise an InputError if a rater in a table with a row per rating is named like another role.

    Parameters
    ----------
    raters : sequence of str
        Their names.
    """
    for name, role in list_other_names(raters):
        if role in ("truth", "system"):
            problem = f"there is a rater {name!r}, whose name is that of "
            change = {role: (name,) if role == "system" else name}
            remedy = compose("say so ({}), or {}", change, NAME_RATERS)
            raise InputError(
                problem + load_words("names.toml")[role]["what"], remedy, change=change
            )


def say_truth(what: str, name: str) -> Message:
    """Say what to do if something has gold labels."""
    return compose("if {} has gold labels, say so ({})", what, {"truth": name})


def say_doubtful_names(raters: Sequence[str]) -> list[str]:
    """Name raters who may be gold labels, or one rater twice."""
    return [
        compose("{} counts as a rater; {}", repr(name), say_truth("it", name))
        for name in raters
        if may_be_truth(name)
    ] + [
        f"the raters {first!r} and {other!r} count as two; if they are one, write the name alike"
        for first, *others in checks.group_alike(raters, fold)
        for other in others
    ]
