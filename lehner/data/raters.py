"""The raters of a table with a row per item: all columns without another role, if certain."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from lehner.core.errors import InputError, Message, compose
from lehner.core.text import list_few, pluralise
from lehner.data import checks, roles
from lehner.data.columns import Column, Table, fold, load_words, unify
from lehner.data.reading import Reading
from lehner.data.roles import (
    FEWEST_ROWS,
    NAME_RATERS,
    are_alike,
    list_free,
    may_be_truth,
    role_of,
    texts_of,
)

FEWEST_RATERS, MANY_LABELS = 2, 10
# With so many raters, and so many times as many raters as items, rows are raters.
MANY_RATERS, TIMES_MORE_RATERS = 100, 10
# A column that is filled less than the first, where most are more than the second, is doubtful.
LEAST_FILLED, MOSTLY_FILLED = 0.5, 0.8
# The name of a column that names who answered a survey: each row is a rater, however many.
RESPONDENT = re.compile("respondent|response ?id|e-?mail|participant", re.IGNORECASE)
# Two entries of a record, as REDCap names them.
TWO_NAMES = re.compile(r"(?P<item>.+)--(?P<rater>.+)")
NAME_COLUMNS = compose(
    "{} or the items' column ({item}), or code all raters alike; if each row is a rating, name its "
    "columns ({rater}, {rating})",
    NAME_RATERS,
)


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
        labels = set().union(*(texts_of(table[name]) for name in (*systems, reading.truth)))
        names = names if any(labels & texts_of(table[name]) for name in names) else []
    answers = {name: table[name] for name in (*names, *systems)}
    for refuse in SIGNS + LABEL_SIGNS * (not roles.are_fixed(answers, reading)):
        refuse(table, names, reading)
    return tuple(names)


def _find_rated(table: Table, names: Sequence[str]) -> list[str]:
    """Find columns half of whose labels are in most of those that share labels."""
    names = [x for x in names if role_of(x) not in ("item", "counts", "remark", "group")]
    names = [name for name in names if checks.describe(table[name]) != "dates"]
    labels = {name: frozenset(texts_of(table[name])) for name in names}
    holders = Counter(label for own in labels.values() for label in own)
    shared = {label for label, n in holders.items() if n > 1 and 2 * n > max(holders.values())}
    rated = {name: own for name, own in labels.items() if 2 * len(own & shared) >= len(own) > 0}
    unlike = _find_unlike(rated)
    return [name for name, own in rated.items() if 2 * len(unlike[own]) < len(rated)]


def _find_unlike(labels: Mapping[str, frozenset[Any]]) -> dict[frozenset[Any], list[str]]:
    """Find columns that share labels with one another, but none with some labels and those like it.

    They are found once for the same labels, which very many columns may have.
    """
    unlike = {}
    for own in set(labels.values()):
        like = own.union(*(other for other in labels.values() if other & own))
        others = {name: other for name, other in labels.items() if not other & like}
        holders = Counter(label for other in others.values() for label in other)
        unlike[own] = [x for x in others if any(holders[label] > 1 for label in others[x])]
    return unlike


def _propose(table: Table, reading: Reading) -> tuple[Message, dict[str, Any]]:
    """Propose raters, systems and gold labels of a table with a row per item, as a remedy.

    A column holds ratings if half of its labels are in most of the columns that share labels. Of
    these, one that is named like gold labels or a system is proposed as such, as is one named like
    an expert if it is mostly blank; the others are raters.

    Raises
    ------
    InputError
        If the raters that would be proposed are probably something else.
    """
    free = [name for name in list_free(table, reading) if name not in reading.leave_out]
    rated = _find_rated(table, free)
    sparse = [name for name in rated if (table[name].codes < 0).mean() > LEAST_FILLED]
    truths = [name for name in rated if role_of(name) == "truth"]
    truths = truths or [name for name in sparse if may_be_truth(name)]
    systems = list(reading.system) or [name for name in rated if role_of(name) == "system"]
    raters = [name for name in rated if name not in (*systems, *truths)]
    if len(raters) < FEWEST_RATERS:  # systems are each other's raters
        raters, systems = [*raters, *(name for name in systems if name in rated)], []
    cells = Counter(label for name in raters for label in table[name].texts.tolist() if label)
    identified = any(len(table[name].labels) == table.n_rows for name in (*free, *reading.item))
    repeated = [x for x in free if x not in rated and 1 < len(table[x].labels) < table.n_rows]
    # Else each row may be a rating, by one of these columns of another.
    certain = len(repeated) < 2 or identified or are_alike(raters)
    few = not FEWEST_RATERS <= len(raters) <= table.n_rows
    if few or not certain or checks.describe_no_categories(cells):
        return NAME_COLUMNS, {}
    _refuse_criteria(table, raters, reading)
    _refuse_gold_labels(table, raters, reading)
    _refuse_counts(table, free, reading)
    truth = reading.truth or next(iter(truths), None)
    change = {"raters": tuple(raters), "system": tuple(systems), "truth": truth}
    change = {name: value for name, value in change.items() if value}
    return compose("name the raters' columns ({})", change), change


# Signs that columns are no raters, or rows no items


def _refuse_cross_table(table: Table, names: Sequence[str], reading: Reading) -> None:
    """Raise an InputError if rows and columns are the same categories, and cells are counts."""
    first, *others = table
    if reading.counts or len(others) < FEWEST_RATERS or len(table[first].labels) > len(table):
        return
    rows = {fold(label) for label in table[first].labels if not roles.is_total(label)}
    columns = {fold(name) for name in others if not roles.is_total(name)}
    if rows == columns and all(_are_counts(table[name]) for name in others):
        problem = "rows and columns are the same categories, and cells are numbers: it is a table "
        problem += "of the answers of two raters"
        remedy = compose("say so ({cross_table=True})")
        raise InputError(problem, remedy, change={"cross_table": True})


def _refuse_rows_of_raters(table: Table, names: Sequence[str], reading: Reading) -> None:
    """Raise an InputError if each row is a rater, as in a survey, and each column an item."""
    names = [*names, *reading.system]
    different = [name for name in table if len(table[name].labels) == table.n_rows]
    people = [name for name in different if role_of(name) == "rater"]
    # A survey may have nothing but the time.
    remarks = [name for name in different if role_of(name) == "remark"]
    people += [name for name in remarks if checks.describe(table[name]) == "dates"]
    filled = [name for name in names if table[name].labels and name not in people]
    named = any(role_of(name) == "rater" for name in filled)
    more = len(names) > table.n_rows or (not named and any(map(RESPONDENT.search, people[:1])))
    if len(names) < max(MANY_RATERS, TIMES_MORE_RATERS * table.n_rows) and not (people and more):
        return
    others = [name for name in names if name not in people]
    starts = Counter(re.split(r"[0-9\[]", name)[0] for name in others)
    start, n_alike = max(starts.items(), key=lambda pair: pair[1], default=("", 0))
    items = tuple(_find_rated(table, others))
    if start and 2 * n_alike > len(others) and len(roles.expand([f"{start}*"], table)) == n_alike:
        items = (f"{start}*",)
    problem = f"each of {pluralise(table.n_rows, 'row')} is probably a rater, and each of "
    problem += f"{pluralise(len(roles.expand(items, table)), 'column')} an item"
    options = {"rater": people[0] if people else None, "items": items if people else None}
    remedy = compose("say so ({}), or {}", options, NAME_RATERS)
    raise InputError(problem, remedy, change=options if people else {})


def _refuse_other_names(table: Table, names: Sequence[str], reading: Reading) -> None:
    """Raise an InputError if a column has the name of something else."""
    for name, role in roles.list_other_names(names):
        running = (np.diff(np.sort(table[name].numbers)) == 1).all()
        role = "item" if role == "counts" and running and table.n_rows >= FEWEST_ROWS else role
        what = load_words("names.toml")[role]["what"]
        if role == "system":
            if len(table[name].labels) < 2:
                continue  # it says of which system all rows are
            what = "another system" if reading.system else what
        change: dict[str, Any] = {role: name if role in ("truth", "counts") else (name,)}
        remedy = compose("say what it is ({}) or {}", change, NAME_RATERS)
        if role == "system" and not roles.shares_labels(table, name, reading):
            change = {"leave_out": (name,)}
            remedy = compose("leave it out ({}) if it names systems, or code all alike", change)
        elif role in ("remark", "group") or (role == "item" and reading.item):
            remedy, change = _propose(table, reading)
        problem = f"its name is that of {what}, and it would count as a rater"
        raise InputError(problem, remedy, column=name, change=change)


def _refuse_strays(table: Table, names: Sequence[str], reading: Reading) -> None:
    """Raise an InputError if a column is an identifier, a date or a note.

    It has no labels in common with others (or less than half of its labels, if it has many); or it
    has a different label in each row, while others have at most half as many labels; or it is named
    after another, as R1_conf after R1, and has other labels.
    """
    columns = {name: table[name] for name in (*names, *reading.system)}
    if len(columns) < FEWEST_RATERS or table.n_rows < FEWEST_ROWS:
        return
    for column in columns.values() if reading.decimal is None else ():
        checks.refuse_numbers_and_lists(column)
    many_cells = (dict.fromkeys(columns[name].labels, MANY_LABELS) for name in names)
    if all(map(checks.describe_no_categories, many_cells)):
        return  # all are scores or texts, of which another check tells
    same = unify(label for column in columns.values() for label in column.labels)
    spelled = {fold(label): label for label in reversed(same.values())}  # another check tells
    labels = {
        name: frozenset(spelled[fold(same[label])] for label in column.labels)
        for name, column in columns.items()
    }
    holders = Counter(label for own in labels.values() for label in own)
    unlike = _find_unlike(labels)
    *_, second, most = sorted(map(len, labels.values()))
    for name in names:
        own = labels[name]
        alone = {label for label in own if holders[label] == 1}
        many, apart = len(own) >= MANY_LABELS, tuple(unlike[own])
        like = tuple(x for x in labels if labels[x] & own) if apart else ()
        before = [name[: end.start()] for end in re.finditer(r"[ _.:-]", name)]
        others = [other for other in before if labels.get(other, own) != own]
        if others:
            problem = f"it is named after the column {others[0]!r} and has other labels"
        elif alone and (alone == own or (many and 2 * len(alone) > len(own))):
            problem = f"labels such as {_show(alone)} occur in no other column"
            elsewhere = set(holders) - alone
            problem += f", where they are {_show(elsewhere)}" * (alone == own and bool(elsewhere))
        elif len(apart) >= len(like) > 1:
            problem = f"{list_few(like, 4)} share no label with {list_few(apart, 4)}"
            remedy = compose("name the raters ({} or {})", {"raters": like}, {"raters": apart})
            raise InputError(f"{problem}, so not all are raters", remedy)
        elif many and len(own) == table.n_rows >= 2 * (second if len(own) == most else most):
            problem = "it has a different label in each row"
        else:
            continue
        pairs = [match for label in own if (match := TWO_NAMES.fullmatch(str(label)))]
        if len(pairs) == table.n_rows > len({match["item"] for match in pairs}):
            problem, change = "it names items and raters", {"split": f"{name}={TWO_NAMES.pattern}"}
            raise InputError(problem, compose("say so ({})", change), column=name, change=change)
        remedy, proposal = _propose(table, reading)
        problem = f"{problem}, so it is probably not a rater"
        raise InputError(problem, remedy, column=name, change=proposal)


def _refuse_criteria(table: Table, names: Sequence[str], reading: Reading) -> None:
    """Raise an InputError if columns are two raters, or more, by two criteria, or more."""
    for split, mark in product((str.partition, str.rpartition), "_ .-:"):
        parts = {name: split(name, mark) for name in names if mark in name}
        first, second = (list(dict.fromkeys(x[place] for x in parts.values())) for place in (0, 2))
        if min(len(first), len(second)) < 2 or len(first) * len(second) != len(names):
            continue
        groups = [
            tuple(name for name in parts if parts[name][place] == value)
            for place, values in ((2, second), (0, first))
            for value in values
        ]
        alike = [x for x in groups if set.intersection(*(texts_of(table[name]) for name in x))]
        problem = f"the columns combine {list_few(first, 4)} with {list_few(second, 4)}: they "
        problem += "are probably raters by criteria, or at several times"
        options = {"raters": [*alike, groups[0]][0]}
        remedy = compose("name the raters' columns of one of these ({}), or all", options)
        raise InputError(problem, remedy)


def _refuse_counts(table: Table, names: Sequence[str], reading: Reading) -> None:
    """Raise an InputError if cells are numbers of raters: all rows have the same sum."""
    names = [x for x in names if x not in reading.item and table[x].labels]
    names = [name for name in names if _are_counts(table[name])]
    few = len(names) < FEWEST_RATERS or table.n_rows < FEWEST_ROWS or reading.counts is not None
    if few or {label for name in names for label in texts_of(table[name])} <= {"0", "1"}:
        return
    cells = np.nan_to_num([table[name].numbers for name in names])
    sums = cells.sum(axis=0)
    if (sums == sums[0]).all() and len(np.unique(cells, axis=1).T) > 2:
        totals = tuple(x for x, own in zip(names, cells, strict=True) if (2 * own == sums).all())
        problem = f"all rows have the sum {sums[0]:.0f}, so that each column is probably a category"
        problem += ", and each cell a number of raters"
        change = {"category_counts": True} | ({"leave_out": totals} if totals else {})
        raise InputError(problem, compose("say so ({}), or {}", change, NAME_RATERS), change=change)


def _are_counts(column: Column) -> bool:
    return all(str(label).isascii() and str(label).isdigit() for label in column.labels)


def _refuse_gold_labels(table: Table, names: Sequence[str], reading: Reading) -> None:
    """Raise an InputError if a column may hold gold labels, by its name or its blanks."""
    if len(names) <= FEWEST_RATERS or table.n_rows < FEWEST_ROWS:
        return
    filled = {name: int((table[name].codes >= 0).sum()) for name in names}
    full = float(np.median(list(filled.values()))) >= MOSTLY_FILLED * table.n_rows
    for name in names:
        sparse = full and filled[name] < LEAST_FILLED * table.n_rows
        if sparse or (may_be_truth(name) and not are_alike(names)):
            problem = f"it is filled in {filled[name]} of {table.n_rows} rows, where others are "
            problem = f"{problem}full: " * sparse + "it may hold gold labels, or be a rater"
            others = tuple(other for other in names if other != name)
            options = {"truth": name}, {"raters": others}, {"raters": tuple(names)}
            remedy = compose("say so ({}), or name the raters ({} or {})", *options)
            raise InputError(problem, remedy, column=name)


def _show(labels: Iterable[object]) -> str:
    return list_few(sorted(map(str, labels)), 3)


SIGNS = (_refuse_cross_table, _refuse_rows_of_raters, _refuse_other_names)
# Signs in the labels, which are believed where all categories are declared.
LABEL_SIGNS = (_refuse_strays, _refuse_criteria, _refuse_counts, _refuse_gold_labels)
