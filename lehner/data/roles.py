"""The role of each column: as it is declared, else where name and content leave one possibility."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from lehner.core.errors import InputError, suggest
from lehner.core.text import counted, first_few
from lehner.data import checks
from lehner.data.columns import Column, Table, find_declared, join_columns, require_columns
from lehner.data.labels import fold, load_words, unify
from lehner.data.reading import Reading

# A table of fewer rows is too short to judge its columns by their labels.
FEWEST_ROWS = 5
FEWEST_RATERS, MANY_LABELS, MOST_SHOWN = 2, 10, 8
# With so many raters, and so many times as many raters as items, rows are raters.
MANY_RATERS, TIMES_MORE_RATERS = 100, 10
# A column that is filled less than the first, where most are more than the second, is doubtful.
LEAST_FILLED, MOSTLY_FILLED = 0.5, 0.8
# Columns that have a role by this name alone, in any case.
BY_NAME_ALONE = {"truth": "truth", "counts": "count", "occasion": "occasion"}
# Names that come before others for a role.
USUAL = {"rater": ("rater", "worker"), "rating": ("rating", "label"), "item": ("item", "task")}
# Roles of one column.
SINGLE = ("truth", "truth_probability", "counts", "cluster", "order", "occasion", "rater", "rating")
# The name of a column that names who answered a survey: each row is a rater, however many.
RESPONDENT = re.compile("respondent|response ?id|e-?mail", re.IGNORECASE)
# No decimals, dates or sentences.
NUMBER_OR_WORD = re.compile(r"[0-9]+|[^\W\d_]\S*( [0-9]+)?")
# Two entries of a record, as REDCap names them.
TWO_NAMES = re.compile(r"(?P<item>.+)--(?P<rater>.+)")
NAME_RATERS = "name the raters' columns (raters=…)"
NAME_COLUMNS = (
    f"{NAME_RATERS} or the items' column (item=…), or code all raters alike; if each row is a "
    "rating, name its columns (rater=…, rating=…)"
)


def list_names() -> dict[str, Any]:
    """List the names by which the role of a column is known, as `names.toml` has them."""
    return load_words("names.toml")


@cache
def role_of(name: str) -> str | None:
    """Role of a column by its name, as `names.toml` lists them; None if the name has none.

    Examples
    --------
    >>> role_of("label_true"), role_of("annotatorID"), role_of("verdict"), role_of("Ann")
    ('truth', 'rater', 'rating', None)
    """
    if re.fullmatch(r"\w+(\.\w+)+", name):
        name = name.rpartition(".")[2]  # of a nested file
    for words in map(_words, (name, re.sub("(?<=[a-z])(?=[A-Z])", " ", name))):
        for role, names in list_names().items():
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
    if not reading.category_counts:
        long = _find_long(table, reading)
        if long is not None:
            return _find_system(table, long, system)
        if system and not reading.system and system not in reading.raters:
            if _shares_labels(table, system, reading):  # else it names systems
                reading = replace(reading, system=(system,))
    return replace(reading, item=reading.item or find_items(table, reading))


def are_people(raters: Sequence[str], table: Table) -> bool:
    """Whether names and patterns of raters are those of no column, but of raters in a column."""
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
    """Whether a row or a column of this name sums up others."""
    return fold(name) in load_words()["totals"]


def _list_free(table: Table, reading: Reading, *beside: str | None) -> list[str]:
    """Columns without a role."""
    taken = {*reading.item, *reading.system, *reading.raters, *reading.pair, *beside}
    single = [getattr(reading, role) for role in SINGLE]
    taken |= {name for name in single if isinstance(name, str)}  # what is none is told later
    return [name for name in table if name not in taken]


def _texts(column: Column) -> set[str]:
    return set(map(str, column.labels))


# A row per rating


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
        models = [name for name in _list_free(table, reading) if role_of(name) == "system"]
        if len(models) == 1 and items and ratings and _is_crossed(table, items[0], models[0]):
            remedy = f"say so (rater={models[0]!r}), or {NAME_RATERS}"
            problem = f"{models[0]!r} seems to name who gave the rating in each row"
            raise InputError(problem, remedy, change={"rater": models[0]})
        return None
    require_columns(table, [name for name in (reading.rater, reading.rating) if name])
    rater = _choose(table, reading, raters, "rater", *ratings[:1])
    rating = _choose(table, reading, ratings, "rating", rater)
    if not reading.item:
        if len(items) != 1:
            free = _list_free(table, reading, rater, rating)
            likely = items or [name for name in free if role_of(name) in (None, "item")]
            items = [name for name in likely if _is_crossed(table, name, rater)] or items
        reading = replace(reading, item=(_choose(table, reading, items, "item", rater, rating),))
    people = expand(reading.raters, map(str, table[rater].labels))
    return replace(reading, rater=rater, rating=rating, raters=people)


def _is_long(
    table: Table, reading: Reading, raters: list[str], ratings: list[str], items: list[str]
) -> bool:
    """Whether columns that are named as raters and ratings are these, and not two raters."""
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
    people = _texts(table[raters[0]])
    others = ratings[:1] or _list_free(table, reading, raters[0])
    repeated = bool(ratings) or 2 <= len(people) <= table.n_rows / 2
    return repeated and not any(people & _texts(table[name]) for name in others)


def _is_crossed(table: Table, item: str, rater: str) -> bool:
    """Whether values of a column occur in several rows, each once for a rater, as items do."""
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
    choice = list_choices(table, candidates or _list_free(table, reading, *beside), role, *beside)
    problem = f"each row is a rating, and no column {MEANS[role]} by its name"
    if candidates:
        shown = " and ".join(map(repr, candidates[:MOST_SHOWN]))
        problem = f"each of the columns {shown} may be the one that {MEANS[role]}"
    remedy = f"say which does ({role}=…): choose among {first_few(choice, MOST_SHOWN)}"
    if role == "rating" and len(choice) > 1:
        remedy += ", or, if they are criteria, name them (criteria=…)"
    raise InputError(problem, remedy, change={role: choice[0]} if len(choice) == 1 else {})


def _are_equal(table: Table, names: Sequence[str]) -> bool:
    """Whether columns tell the same rows apart, as two names of the items do."""
    codes = [table[name].codes for name in names if name in table]
    return len(codes) > 1 and all(np.array_equal(codes[0], other) for other in codes[1:])


def list_choices(table: Table, names: Sequence[str], role: str, *beside: str) -> list[str]:
    """List the columns that may have a role: no remarks, dates, or what never or always differs."""
    choice = [name for name in names if name in table and role_of(name) in (None, role)]
    if role != "item":
        choice = [name for name in choice if 1 < len(table[name].labels) < table.n_rows]
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
        raise InputError(
            f"the column {(*columns, column)[0]!r} is in a table with a row per rating",
            "give the system's answers as ratings, with the system's name as the rater",
        )
    system = tuple(name for name in people if name.lower() == "system")
    return replace(reading, system=reading.system or system[:1])


def remedy_for_repeats(table: Table, reading: Reading) -> str:
    """Say what tells a rater's ratings of an item apart, and what else may be done."""
    pair = join_columns([table[reading.item[0]], table[str(reading.rater)]], "").codes
    said = "name more columns of the item (item=…) or one that tells them apart (occasion=…)"
    where = "where=…"
    for name in list_choices(table, _list_free(table, reading), "item"):
        column, n_labels = table[name], len(table[name].labels)
        keys = pair * (n_labels + 1) + column.codes
        if 1 < n_labels <= 2 * MANY_LABELS and len(np.unique(keys)) == len(pair):
            said = f"{name} tells them apart: name it as a part of the item "
            said += f"(item='{reading.item[0]},{name}'), as the occasion (occasion={name!r}) or "
            said += f"as the order in which a judge saw answers (order={name!r})"
            where = f'where="{quote_name(name)} == {str(column.labels[0])!r}"'
            break
    counts = "or say which rating counts (repeated='vote', 'first' or 'last')"
    return f"{said}, {counts}, or read only some rows ({where})"


def quote_name(name: str) -> str:
    """Write the name of a column as it stands in a condition."""
    return name if name.isidentifier() else f"`{name}`"


# A row per item


def _shares_labels(table: Table, name: str, reading: Reading) -> bool:
    """Whether a column has labels of others, or of the categories, or too few rows to tell."""
    labels = _texts(table[name])
    others = [x for x in reading.raters or _list_free(table, reading, name) if x in table]
    shared = labels & {*map(str, reading.categories)}.union(*(_texts(table[x]) for x in others))
    return bool(table.n_rows < FEWEST_ROWS or shared or not labels)


def find_items(table: Table, reading: Reading) -> tuple[str, ...]:
    """Find the column of items of a table with a row per item; none if there is none."""
    if any(name not in table for name in reading.raters):
        return ()  # which is an error, or another table
    free = _list_free(table, reading)
    named = [name for name in free if role_of(name) == "item"]
    distinct = [name for name in named if len(table[name].labels) == table.n_rows] or named
    distinct.sort(key=lambda name: name.casefold() != "item")
    if distinct:
        return tuple(distinct[:1])
    numbered = [name for name in free if role_of(name) is None and _is_numbered(table[name])]
    if len(numbered) != 1 or reading.raters:
        return tuple(numbered) if len(numbered) == 1 else ()
    labels = {name: _texts(table[name]) for name in free}
    own = labels.pop(numbered[0])
    few = 2 * max(map(len, labels.values()), default=0) <= len(own)
    separate = not any(own & other for other in labels.values())
    return tuple(numbered) if labels and (few or separate) else ()


def _is_numbered(column: Column) -> bool:
    """Whether a column has another whole number or word in each row, as no rater has."""
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
    names, systems = _list_free(table, reading), reading.system
    if systems and reading.truth:  # a system and its gold labels need no raters
        labels = set().union(*(_texts(table[name]) for name in (*systems, reading.truth)))
        names = names if any(labels & _texts(table[name]) for name in names) else []
    answers = {name: table[name] for name in (*names, *systems)}
    signs = SIGNS + LABEL_SIGNS * (not are_fixed(answers, reading))
    _refuse_signs(signs, table, names, reading)
    return tuple(names)


def are_fixed(columns: Mapping[str, Column], reading: Reading) -> bool:
    """Whether the categories were named by the user or by the type of a column."""
    return bool(reading.categories) or reading.sets or find_declared(columns) is not None


# A column that is no rater (none if rows are no items), the problem, the remedy and options.
type Sign = tuple[str | None, str, str, Mapping[str, Any]]


def _refuse_signs(
    signs: Sequence[Callable[[Table, Sequence[str], Reading], Iterator[Sign]]],
    table: Table,
    names: Sequence[str],
    reading: Reading,
) -> None:
    """Raise an InputError at the first sign that the columns are no raters."""
    for sign in signs:
        for column, problem, remedy, change in sign(table, names, reading):
            raise InputError(problem, remedy, column=column, change=change)


def _propose(table: Table, reading: Reading) -> tuple[str, dict[str, Any]]:
    """Propose raters, systems and gold labels of a table with a row per item, as a remedy.

    A column holds ratings if half of its labels are in most of the columns that share labels. Of
    these, one that is named like gold labels or a system is proposed as such, as is one named like
    an expert if it is mostly blank; the others are raters.

    Raises
    ------
    InputError
        If the raters that would be proposed are probably something else.
    """
    free = [name for name in _list_free(table, reading) if name not in reading.leave_out]
    rated = _find_rated(table, free)
    truths = [name for name in rated if role_of(name) == "truth"] or [
        name
        for name in rated
        if _may_be_truth(name) and (table[name].codes < 0).mean() > LEAST_FILLED
    ]
    systems = list(reading.system) or [name for name in rated if role_of(name) == "system"]
    raters = [name for name in rated if name not in (*systems, *truths)]
    if len(raters) < FEWEST_RATERS:  # systems are each other's raters
        raters, systems = [*raters, *(name for name in systems if name in rated)], []
    cells = Counter(label for name in raters for label in table[name].texts.tolist() if label)
    identified = any(len(table[name].labels) == table.n_rows for name in (*free, *reading.item))
    repeated = [x for x in free if x not in rated and 1 < len(table[x].labels) < table.n_rows]
    # Else each row may be a rating, by one of these columns of another.
    certain = len(repeated) < 2 or identified or _are_alike(raters)
    few = not FEWEST_RATERS <= len(raters) <= table.n_rows
    if few or not certain or checks.describe_no_categories(cells):
        return NAME_COLUMNS, {}
    _refuse_signs((_find_criteria, _find_gold_labels), table, raters, reading)
    _refuse_signs((_find_counts,), table, free, reading)
    items = reading.item or find_items(table, replace(reading, raters=tuple(raters)))
    change = {
        "raters": tuple(raters),
        "system": tuple(systems),
        "truth": reading.truth or next(iter(truths), None),
        "item": tuple(filter(None, items)),
    }
    remedy = f"name the raters' columns (raters={_as_value(raters)})"
    return remedy, {name: value for name, value in change.items() if value}


def _find_rated(table: Table, names: Sequence[str]) -> list[str]:
    """Find columns half of whose labels are in most of those that share labels."""
    labels = {
        name: _texts(table[name])
        for name in names
        if role_of(name) not in ("item", "counts", "remark")
        and checks.describe(table[name]) != "dates"
    }
    holders = Counter(label for own in labels.values() for label in own)
    shared = {label for label, n in holders.items() if n > 1 and 2 * n > max(holders.values())}
    return [name for name, own in labels.items() if 2 * len(own & shared) >= len(own) > 0]


def _may_be_truth(name: str) -> bool:
    words = _words(name)
    numbered = any(word.isdigit() for word in words)
    return (
        not set(words).isdisjoint(load_words()["maybe_truth"])
        and role_of(name) != "rater"
        and not numbered
    )


def _as_value(names: Sequence[str]) -> str:
    """Write names as the value of an option in a remedy, if they are few and plain."""
    plain = len(names) <= MOST_SHOWN and not re.search("[,'\"]", "".join(names))
    return f"{','.join(names)!r}" if plain else "…"


def _are_alike(names: Sequence[str]) -> bool:
    """Whether names differ in a number or a letter, as those of raters often do."""
    stems = {re.sub(r"([ _.-]?[A-Za-z]|[0-9]+)$", "", name) for name in names}
    return len(stems) == 1 or all(role_of(name) == "rater" for name in names)


def _show(labels: Iterable[object]) -> str:
    return first_few(sorted(map(str, labels)), 3)


# Names that are no raters'


def _list_other_names(names: Sequence[str]) -> list[tuple[str, str]]:
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
    for name, role in _list_other_names(raters):
        if role in ("truth", "system"):
            problem = f"there is a rater {name!r}, whose name is that of "
            remedy = f"say so ({role}={name!r}), or name the raters (raters=…)"
            what = list_names()[role]["what"]
            change = {role: (name,) if role == "system" else name}
            raise InputError(problem + what, remedy, change=change)


def say_doubtful_names(raters: Sequence[str]) -> list[str]:
    """Name raters who may be gold labels, or one rater twice."""
    by_fold: dict[str, list[str]] = {}
    for name in raters:
        by_fold.setdefault(fold(name), []).append(name)
    return [
        f"{name!r} counts as a rater; if it has gold labels, say so (truth={name!r})"
        for name in raters
        if _may_be_truth(name)
    ] + [
        f"the raters {first!r} and {other!r} count as two; if they are one, write the name alike"
        for first, *others in by_fold.values()
        for other in others
    ]


# Signs that columns are no raters, or rows no items


def _find_cross_table(table: Table, names: Sequence[str], reading: Reading) -> Iterator[Sign]:
    """Rows and columns are the same categories, and cells are counts."""
    first, *others = table
    if reading.counts or len(others) < FEWEST_RATERS or len(table[first].labels) > len(table):
        return
    rows, columns = (
        {fold(name) for name in names if not is_total(name)}
        for names in (table[first].labels, others)
    )
    if rows == columns and all(_are_counts(table[name]) for name in others):
        yield (
            None,
            "rows and columns are the same categories, and cells are numbers: it is a table of the "
            "answers of two raters",
            "say so (cross_table=True)",
            {"cross_table": True},
        )


def _find_rows_of_raters(table: Table, names: Sequence[str], reading: Reading) -> Iterator[Sign]:
    """Each row is a rater, as in a survey, and each column an item."""
    names = [*names, *reading.system]
    different = [name for name in table if len(table[name].labels) == table.n_rows]
    people = [name for name in different if role_of(name) == "rater"]
    # A survey may have nothing but the time.
    people += [
        x for x in different if role_of(x) == "remark" and checks.describe(table[x]) == "dates"
    ]
    more = len(names) > table.n_rows or any(map(RESPONDENT.search, people[:1]))
    if len(names) < max(MANY_RATERS, TIMES_MORE_RATERS * table.n_rows) and not (people and more):
        return
    others = [name for name in names if name not in people]
    starts = Counter(re.split(r"[0-9\[]", name)[0] for name in others)
    start, n_alike = max(starts.items(), key=lambda pair: pair[1], default=("", 0))
    items = tuple(_find_rated(table, others))
    if start and 2 * n_alike > len(others) and len(_match(f"{start}*", table)) == n_alike:
        items = (f"{start}*",)
    rater, n_items = (*people, "…")[0], len(expand(items, table))
    yield (
        None,
        f"each of {counted(table.n_rows, 'row')} is probably a rater, and each of "
        f"{counted(n_items, 'column')} an item",
        f"say so (rater={rater!r}, items={first_few(items, MOST_SHOWN)!r}), or {NAME_RATERS}",
        {"rater": rater, "items": items} if people else {},
    )


def _find_other_names(table: Table, names: Sequence[str], reading: Reading) -> Iterator[Sign]:
    """A column has the name of something else."""
    for name, role in _list_other_names(names):
        what = list_names()[role]["what"]
        if role == "system":
            if len(table[name].labels) < 2:
                continue  # it says of which system all rows are
            what = "another system" if reading.system else what
        remedy = f"say what it is ({role}={name!r}) or {NAME_RATERS}"
        change = {role: name if role in ("truth", "counts") else (name,)}
        if role == "system" and not _shares_labels(table, name, reading):
            remedy = f"leave it out (leave_out=[{name!r}]) if it names systems, or code all alike"
            change = {"leave_out": (name,)}
        elif role == "remark" or (role == "item" and reading.item):
            remedy, change = _propose(table, reading)
        yield name, f"its name is that of {what}, and it would count as a rater", remedy, change


def _find_strays(table: Table, names: Sequence[str], reading: Reading) -> Iterator[Sign]:
    """A column is an identifier, a date or a note.

    It has no labels in common with others (or less than half of its labels, if it has many); or it
    has a different label in each row, while others have at most half as many labels; or it is named
    after another, as R1_conf after R1, and has other labels.
    """
    columns = {name: table[name] for name in (*names, *reading.system)}
    if len(columns) < FEWEST_RATERS or table.n_rows < FEWEST_ROWS:
        return
    for name, column in columns.items() if reading.decimal is None else ():
        for problem, remedy, change in checks.find_numbers_and_lists(column):
            yield name, problem, remedy, change
    many_cells = (dict.fromkeys(columns[name].labels, MANY_LABELS) for name in names)
    if all(map(checks.describe_no_categories, many_cells)):
        return  # all are scores or texts, of which another check tells
    same = unify(label for column in columns.values() for label in column.labels)
    labels = {name: {same[label] for label in column.labels} for name, column in columns.items()}
    holders = Counter(label for own in labels.values() for label in own)
    *_, second, most = sorted(map(len, labels.values()))
    for name in names:
        own = labels[name]
        alone = {label for label in own if holders[label] == 1}
        many = len(own) >= MANY_LABELS
        before = [name[: end.start()] for end in re.finditer(r"[ _.:-]", name)]
        others = [other for other in before if labels.get(other, own) != own]
        if others:
            problem = f"it is named after the column {others[0]!r} and has other labels"
        elif alone and (alone == own or (many and 2 * len(alone) > len(own))):
            problem = f"labels such as {_show(alone)} occur in no other column"
            elsewhere = set(holders) - alone
            problem += f", where they are {_show(elsewhere)}" * (alone == own and bool(elsewhere))
        elif many and len(own) == table.n_rows >= 2 * (second if len(own) == most else most):
            problem = "it has a different label in each row"
        else:
            continue
        pairs = [match for label in own if (match := TWO_NAMES.fullmatch(str(label)))]
        if len(pairs) == table.n_rows > len({match["item"] for match in pairs}):
            split = f"{name}={TWO_NAMES.pattern}"
            yield name, "it names items and raters", f"say so (split={split!r})", {"split": split}
        remedy, change = _propose(table, reading)
        yield name, f"{problem}, so it is probably not a rater", remedy, change


def _find_criteria(table: Table, names: Sequence[str], reading: Reading) -> Iterator[Sign]:
    """Columns are two raters, or more, by two criteria, or more."""
    for split, mark in product((str.partition, str.rpartition), "_ .-:"):
        parts = [split(name, mark) for name in names]
        first, second = (list(dict.fromkeys(part[k] for part in parts)) for k in (0, 2))
        if min(len(first), len(second)) < 2 or not all(part[1] for part in parts):
            continue
        if len(first) * len(second) == len(names):
            groups = [
                [name for name, part in zip(names, parts, strict=True) if part[k] == value]
                for k, values in ((2, second), (0, first))
                for value in values
            ]
            alike = [x for x in groups if set.intersection(*(_texts(table[name]) for name in x))]
            yield (
                None,
                f"the columns combine {first_few(first, 4)} with {first_few(second, 4)}: they are "
                "probably raters by criteria, or at several times",
                "name the raters' columns of one of these "
                f"(raters={_as_value([*alike, groups[0]][0])}), or all",
                {},
            )


def _find_counts(table: Table, names: Sequence[str], reading: Reading) -> Iterator[Sign]:
    """Columns are categories, and cells numbers of raters: all rows have one sum."""
    names = [x for x in names if x not in reading.item and table[x].labels]
    names = [name for name in names if _are_counts(table[name])]
    few = len(names) < FEWEST_RATERS or table.n_rows < FEWEST_ROWS or reading.counts is not None
    if few or {label for name in names for label in _texts(table[name])} <= {"0", "1"}:
        return
    cells = np.nan_to_num([table[name].numbers for name in names])
    sums = cells.sum(axis=0)
    if (sums == sums[0]).all() and len(np.unique(cells, axis=1).T) > 2:
        totals = tuple(x for x, own in zip(names, cells, strict=True) if (2 * own == sums).all())
        leave = f", leave_out={list(totals)}" if totals else ""
        yield (
            None,
            f"all rows have the sum {sums[0]:.0f}, so that each column is probably a category, "
            "and each cell a number of raters",
            f"say so (category_counts=True{leave}), or {NAME_RATERS}",
            {"category_counts": True} | ({"leave_out": totals} if totals else {}),
        )


def _are_counts(column: Column) -> bool:
    return all(str(label).isascii() and str(label).isdigit() for label in column.labels)


def _find_gold_labels(table: Table, names: Sequence[str], reading: Reading) -> Iterator[Sign]:
    """A column may hold gold labels: by its name, or as it is blank where others are full."""
    if len(names) <= FEWEST_RATERS or table.n_rows < FEWEST_ROWS:
        return
    filled = {name: float((table[name].codes >= 0).mean()) for name in names}
    full = float(np.median(list(filled.values()))) >= MOSTLY_FILLED
    for name in names:
        sparse = full and filled[name] < LEAST_FILLED
        if sparse or (_may_be_truth(name) and not _are_alike(names)):
            n_filled = round(filled[name] * table.n_rows)
            problem = f"it is filled in {n_filled} of {table.n_rows} rows, where others are full: "
            problem = problem * sparse + "it may hold gold labels, or be a rater"
            others = _as_value([other for other in names if other != name])
            remedy = f"say so (truth={name!r}), or name the raters (raters={others} or all)"
            yield name, problem, remedy, {}


SIGNS = (_find_cross_table, _find_rows_of_raters, _find_other_names)
# Signs in the labels, which are believed where all categories are declared.
LABEL_SIGNS = (_find_strays, _find_criteria, _find_counts, _find_gold_labels)
