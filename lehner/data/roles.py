"""The role of each column: as it is declared, else where name and labels leave one possibility."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import combinations, product
from typing import Any, NoReturn

import numpy as np

from lehner.core.errors import InputError, Message, compose, list_few, suggest
from lehner.core.text import pluralise
from lehner.data import checks
from lehner.data.columns import (
    Column,
    Table,
    find_declared,
    fold,
    fold_label,
    load_words,
    require_columns,
    to_numbers,
)
from lehner.data.reading import Reading

# A table of fewer rows is too short to judge its columns by their labels.
FEWEST_ROWS, FEWEST_RATERS, FEWEST_ITEMS, MANY_LABELS = 5, 2, 20, 10
MOST_SHOWN, LONGEST_SHOWN = 8, 60
# A column that is filled less than the first, where most are more than the second, is doubtful.
LEAST_FILLED, MOSTLY_FILLED = 0.5, 0.8
# Gold labels of such a share of the items tell how accurate a system is without raters.
MOST_LABELLED = 0.5
# A column of groups has labels of its own in so many cells.
LEAST_OF_OWN = 0.1
# An agreement that is so many standard errors above that of chance is no chance.
BEYOND_CHANCE = 2
# Of pairs of raters, so many agree beyond chance.
LEAST_AGREEING = 0.25
# With so many raters, and so many times as many raters as items, rows are raters.
MANY_RATERS, TIMES_MORE_RATERS = 100, 10
# Roles of one column.
SINGLE = ("truth", "truth_probability", "counts", "cluster", "order", "occasion", "rater", "rating")
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
# An identifier has no decimals, dates or sentences, and does not join two names, as REDCap does.
NUMBER_OR_WORD = re.compile(r"[0-9]+|(?!.*--)[^\W\d_]\S*( [0-9]+)?")
JOINED = re.compile(r"\w+--\w+")
# The name of a column that names who answered a survey: each row is a rater, however many.
RESPONDENT = re.compile("respondent|response ?id|e-?mail|participant", re.IGNORECASE)
NO_RATER = ", so it is probably not a rater"
SAY_SO = "say so ({}), or name the raters' columns ({raters})"
MAY_BE_SYSTEMS = "if these are the raters, say so ({}); name what else is a system ({system})"
NAME_RATERS = compose("name the raters' columns ({raters})")
NAME_COLUMNS = compose(
    "{} or the items' column ({item}), or code all raters alike; if each row is a rating, name its "
    "columns ({rater}, {rating})",
    NAME_RATERS,
)


# What names say


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
    for words in map(list_words, (name, re.sub("(?<=[a-z])(?=[A-Z])", " ", name))):
        for role, names in load_words("names.toml").items():
            first = names["of"].split()
            allowed = [*first, *names.get("with", "").split(), *names.get("forms", ())]
            fits = re.compile("|".join(allowed)).fullmatch
            is_like = re.fullmatch(names.get("like", "(?!)"), " ".join(words))
            if is_like or (not set(first).isdisjoint(words) and all(map(fits, words))):
                return str(role)
    return None if name else "item"  # the index that pandas writes


def list_words(name: str) -> list[str]:
    """List the words and numbers in a name, in lower case."""
    return re.findall(r"[0-9]+|[^\s0-9_.,;:/()#?-]+", name.casefold())


def may_be(role: str, name: str) -> bool:
    """Tell whether a name has a word that gold labels or systems have, and raters may have, too."""
    words = list_words(name)
    has_word = not set(words).isdisjoint(load_words("names.toml")[role]["maybe"].split())
    is_rater = role == "truth" and (role_of(name) == "rater" or any(map(str.isdigit, words)))
    return has_word and not is_rater


def are_alike(names: Sequence[str]) -> bool:
    """Tell whether names differ in a number or a letter, as those of raters often do."""
    if all(map(str.isdigit, names)):
        return False  # they are the numbers of columns
    stems = {re.sub(r"([ _.-]?[A-Za-z]|[0-9]+)$", "", name) for name in names}
    return len(stems) == 1 or all(role_of(name) == "rater" for name in names)


def tell_raters(raters: Sequence[str], systems: Sequence[str]) -> bool:
    """Tell whether names say who is a rater: they are alike, and those of systems are not.

    Examples
    --------
    >>> tell_raters(["R1", "R2"], ["Acme"]), tell_raters(["Bolt", "Civis"], ["Acme"])
    (True, False)
    >>> tell_raters(["Ann", "Bo"], ["system"])
    True
    """
    if {*map(role_of, raters)} == {"rater"} or {*map(role_of, systems)} == {"system"}:
        return True
    names = [re.sub("[0-9]+", "", name) for name in (*raters, *systems)]
    return len(raters) > 1 and are_alike(names[: len(raters)]) and not are_alike(names)


def list_other_names(names: Sequence[str]) -> dict[str, str]:
    """Give the roles of names that are no raters' by their names, unless all are systems."""
    roles = {name: role_of(name) or "rater" for name in names}
    raters = {"rater", "rating"} | ({"system"} if {*roles.values()} == {"system"} else set())
    return {name: role for name, role in roles.items() if role not in raters}


def is_total(name: object) -> bool:
    """Tell whether a row or a column has exactly the name of a sum of others, as Total."""
    return fold(name) in load_words()["totals"]


def list_free(table: Table, reading: Reading, *taken: str | None) -> list[str]:
    """List the columns without a role."""
    single = [getattr(reading, role) for role in SINGLE]
    roles = {name for name in single if isinstance(name, str)}  # another value is told later
    roles |= {*reading.item, *reading.system, *reading.raters, *reading.pair, *reading.leave_out}
    roles |= {*filter(None, taken)}
    return [name for name in table if name not in roles]


def are_fixed(columns: Mapping[str, Column], reading: Reading) -> bool:
    """Tell whether the categories were named by the user or by the type of a column."""
    return bool(reading.categories) or reading.sets or find_declared(columns) is not None


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


def are_people(raters: Sequence[str], table: Table) -> bool:
    """Tell whether names and patterns of raters are of raters in a column, and of no column."""
    patterns = [name for name in raters if name not in table]
    columns = {(x, name) for x in patterns if "*" in x for name in _match(x, table)}
    # A pattern such as 'w*' may be like the column `worker`, and like w1 and w2 in it.
    columns = {x for x in columns if not _match(x[0], map(str, table[x[1]].labels))}
    return len(patterns) == len(raters) and not columns


# What the labels of two columns say


def is_crossed(table: Table, item: str, rater: str) -> bool:
    """Tell whether values of a column occur in several rows, each once for a rater, as items do."""
    column, by = table[item], table[rater]
    pairs = column.codes.astype(np.int64) * (int(by.codes.max(initial=0)) + 1) + by.codes
    once = len(np.unique(pairs)) == len(pairs) and column.codes.min(initial=0) >= 0
    return bool(once and len(column.labels) < len(pairs) and 1 < len(by.labels) < len(pairs))


def describes_items(table: Table, name: str, items: Iterable[str]) -> bool:
    """Tell whether a column is the same in all rows of an item, and differs like their texts."""
    column = table[name]
    for by in (table[item] for item in items if item in table):
        n_labels, n_items, filled = len(column.labels), len(by.labels), column.codes >= 0
        if n_items < table.n_rows and n_labels >= MANY_LABELS and 2 * n_labels > n_items:
            pairs = by.codes[filled].astype(np.int64) * n_labels + column.codes[filled]
            return len(np.unique(pairs)) <= n_items
    return False


def shares_labels(table: Table, name: str, reading: Reading) -> bool:
    """Tell whether a column has labels of others, or of the categories, or too few rows to tell."""
    labels = table[name].label_set
    peers = [x for x in reading.raters or list_free(table, reading, name) if x in table]
    if len(labels) >= MANY_LABELS and to_numbers(table[name].labels) is not None:
        # Measurements of one name, such as blood pressures, share numbers with one another.
        peers = [x for x in peers if role_of(x) != role_of(name)]
    shared = {*map(str, reading.categories)}.union(*(table[x].label_set for x in peers))
    return bool(table.n_rows < FEWEST_ROWS or labels & shared or not labels)


def list_sharing(table: Table, reading: Reading, labels: Iterable[object]) -> list[str]:
    """List the columns without a role that have one of these labels."""
    folded = set(map(fold_label, labels))
    return [name for name in list_free(table, reading) if folded & table[name].label_set]


def group_by_labels(columns: Mapping[str, Column]) -> list[list[str]]:
    """Group columns that share labels, with one another or with others of the group.

    Returns
    -------
    list of list of str
        The largest group first.
    """
    alike: dict[frozenset[str], list[str]] = {}
    for name, column in columns.items():
        alike.setdefault(column.label_set, []).append(name)
    groups: dict[frozenset[str], list[str]] = {}
    for labels, names in alike.items():
        near = [joined for joined in groups if joined & labels]
        joined_names = [name for joined in near for name in groups.pop(joined)]
        groups[labels.union(*near)] = [*joined_names, *names]
    in_order = [[name for name in columns if name in group] for group in map(set, groups.values())]
    return sorted(in_order, key=len, reverse=True)


# What each column of a table with a row per item may be


@dataclass(frozen=True)
class Evidence:
    """What a column of a table with a row per item may be, if it is not simply a rater.

    Parameters
    ----------
    role : str
        One of `names.toml`, as "truth"; "remark" if it is just no rating.
    reason : str
        Why, as a message says it.
    change : mapping
        The options of reading that say what it is, if that is likely.
    choices : sequence of mappings
        The options of each reading, if there are several.
    by_name : bool
        Whether the name alone says so, whatever the labels are.
    """

    role: str
    reason: str
    change: Mapping[str, Any] = field(default_factory=dict)
    choices: Sequence[Mapping[str, Any]] = ()
    by_name: bool = False


@dataclass(frozen=True)
class LabelUse:
    """Which columns, of those that may be raters, systems and gold labels, share which labels.

    Parameters
    ----------
    columns : dict of str to Column
    holders : Counter
        How many columns have each label.
    groups : list of list of str
        Columns that share labels, the largest group first.
    """

    columns: Mapping[str, Column]
    holders: Counter[str]
    groups: Sequence[list[str]]

    def show(self, labels: Iterable[str]) -> str:
        """Show a few labels as they are written, in order."""
        written = {fold_label(x): str(x) for column in self.columns.values() for x in column.labels}
        return list_few(sorted(written[label][:LONGEST_SHOWN] for label in labels), 3)

    def measure_filled(self, *names: str) -> float:
        """Give the median of the proportions of rows that columns are filled in."""
        return float(np.median([(self.columns[name].codes >= 0).mean() for name in names]))

    def measure_kappa(self, *names: str) -> float:
        """Give the kappa of two columns, 0 unless they agree more often than by chance."""
        code = {label: number for number, label in enumerate(self.holders)}
        columns = [self.columns[name] for name in names]
        first, second = (x.look_up([code[fold_label(y)] for y in x.labels], -1) for x in columns)
        rated = (first >= 0) & (second >= 0)
        n_items = max(int(rated.sum()), 1)
        counts = [np.bincount(codes[rated], minlength=len(code)) for codes in (first, second)]
        by_chance = counts[0] @ counts[1] / n_items**2
        error = np.sqrt(by_chance * (1 - by_chance) / n_items)
        gain = (first == second)[rated].sum() / n_items - by_chance
        return float(gain / (1 - by_chance)) if gain > BEYOND_CHANCE * error else 0.0

    def agrees(self, name: str, peers: Sequence[str]) -> bool:
        """Tell whether a column agrees with another; of numbers, half as much as these do."""
        kappa = max(self.measure_kappa(name, peer) for peer in peers)
        # A word of one rater alone may be a slip; a number that goes with the ratings is a group.
        if not kappa or to_numbers(self.columns[name].labels) is None:
            return kappa > 0
        pairs = combinations(peers[:MANY_LABELS], 2)
        return kappa >= max(self.measure_kappa(*pair) for pair in pairs) / 2


def classify(table: Table, names: Sequence[str], reading: Reading) -> dict[str, Evidence]:
    """Find what columns of a table with a row per item may be, other than raters.

    Parameters
    ----------
    table : Table
    names : sequence of str
        Its columns without a role.
    reading : Reading
        The roles of other columns.

    Returns
    -------
    dict of str to Evidence
        Those columns for which there is evidence: the names come first, which are sure, then what
        the labels say. A column that is not there is a rater.

    Examples
    --------
    >>> from lehner.data.columns import make_table
    >>> readers = {"A": [0, 0, 1, 1, 0, 1], "B": [0, 0, 1, 1, 1, 1]}
    >>> table = make_table(readers | {"gold": [0, 0, 1, 1, 0, 0], "said": [*"abcdef"]})
    >>> for name, evidence in classify(table, list(table), Reading()).items():
    ...     print(name, "is", evidence.role, "since", evidence.reason.split(",")[0])
    gold is truth since its name is that of gold labels
    said is remark since labels such as a
    """
    roles = list_other_names(names).items()
    found = {name: x for name, role in roles if (x := _judge_name(table, name, role, reading))}
    truth = [str(reading.truth)] if reading.truth in table else []
    columns = {name: table[name] for name in (*names, *reading.system, *truth)}
    few = len(columns) < FEWEST_RATERS or table.n_rows < FEWEST_ROWS
    cells = [dict.fromkeys(columns[name].labels, MANY_LABELS) for name in names]
    if few or all(map(checks.describe_no_categories, cells)):
        return found
    holders = Counter(label for column in columns.values() for label in column.label_set)
    use = LabelUse(columns, holders, group_by_labels(columns))
    for judge in (x for x in RULES if not truth or x is not _may_be_gold):
        left = [name for name in names if name not in found]
        found |= {name: evidence for name in left if (evidence := judge(name, left, use))}
    return found


def _judge_name(table: Table, name: str, role: str, reading: Reading) -> Evidence | None:
    """Tell what a column is by its name."""
    different = len(table[name].labels) == table.n_rows >= FEWEST_ROWS
    is_running = role == "counts" and (np.diff(np.sort(table[name].numbers)) == 1).all()
    if different and (is_running or list_words(name) == ["text"]):
        role = "item"
    what = load_words("names.toml")[role]["what"]
    change: dict[str, Any] = {role: name if role in ("truth", "counts") else (name,)}
    never = role in ("remark", "group", "criterion")
    if role == "system":
        if len(table[name].labels) < 2:
            return None  # it says of which system all rows are
        what = "another system" if reading.system else what
        if not shares_labels(table, name, reading):
            role, change = "remark", {"leave_out": (name,)}
    reason = f"its name is that of {what}, and it would count as a rater"
    sure = never or (role in ("item", "truth") and getattr(reading, role))
    return Evidence(role, reason, {} if sure else change, by_name=True)


def _is_named_after(name: str, _: Sequence[str], use: LabelUse) -> Evidence | None:
    """Tell whether a column is an identifier, or is named after another, as R1_conf after R1."""
    if list_words(name)[-1:] in NUMBERED and role_of(name) is None:
        return Evidence("remark", f"its name is that of an identifier{NO_RATER}")
    for end in re.finditer(r"[ _.:-]", name):
        other = name[: end.start()]
        if other in use.columns and use.columns[other].label_set != use.columns[name].label_set:
            reason = f"it is named after the column {other!r} and has other labels"
            return Evidence("remark", reason + NO_RATER)
    return None


def _has_other_labels(name: str, _: Sequence[str], use: LabelUse) -> Evidence | None:
    """Tell whether labels of a column are of its own, so that it is no rater."""
    column, labels, (largest, *smaller) = use.columns[name], use.columns[name].label_set, use.groups
    group = next((group for group in smaller if name in group), [])
    if len(group) > 1:
        reason = f"{list_few(largest, 4)} share no label with {list_few(group, 4)}, so not all are "
        ways = [{"raters": tuple(largest)}, {"raters": tuple(group)}]
        alike = [way for way in ways if are_alike(way["raters"])]
        likely = alike[0] if len(alike) == 1 else {}
        return Evidence("rater", f"{reason}raters", likely, ways)
    alone = {label for label in labels if use.holders[label] == 1}
    most = max(len(x.labels) for other, x in use.columns.items() if other != name)
    in_each_row = len(column.labels) == len(column) >= 2 * most
    is_text = len(labels) >= MANY_LABELS and (in_each_row or 2 * len(alone) > len(labels))
    if not labels or not (group or is_text or _groups(column, alone, use)):
        return None
    lacking = set(use.holders) - labels if len(alone) < MANY_LABELS else set()
    reason = f"labels such as {use.show(alone)} occur in no other column"
    reason = reason if alone else "it has a different label in each row"
    reason += f", and it lacks {use.show(lacking)}" if lacking else ""
    return Evidence("remark", reason + NO_RATER)


def _groups(column: Column, alone: set[str], use: LabelUse) -> bool:
    """Tell whether a column has other codes than raters, and agrees less than they do."""
    group = next(group for group in use.groups if column.name in group)
    peers = [name for name in group if name != column.name]
    lacking = set[str]().union(*(use.columns[x].label_set for x in peers)) - column.label_set
    enough = len(peers) >= FEWEST_RATERS and len(column) >= FEWEST_ITEMS
    if not enough or not lacking or use.measure_filled(column.name) < MOSTLY_FILLED:
        return False
    of_own = column.look_up([fold_label(label) in alone for label in column.labels], False).mean()
    return bool(of_own >= LEAST_OF_OWN and not use.agrees(column.name, peers))


def _is_named_apart(name: str, names: Sequence[str], use: LabelUse) -> Evidence | None:
    """Tell whether others are named alike but for a number, so that a column may be no rater."""
    stems = {x: re.sub("[0-9]+", "#", x) for x in names}
    (stem, n_alike), *_ = Counter(stems.values()).most_common(1) or [("", 0)]
    if "#" not in stem or n_alike <= FEWEST_RATERS or stems[name] == stem:
        return None
    if may_be("system", stem):
        return None  # these are systems, and the others people
    alike = tuple(x for x in names if stems[x] == stem)
    reason = f"{list_few(alike, 3)} are named alike, and it is not: it may be a rater, hold gold "
    reason += "labels, or say something of the items"
    ways = {"raters": alike}, {"truth": name, "raters": alike}, {"raters": tuple(names)}
    return Evidence("truth", reason, choices=ways)


def _may_be_gold(name: str, names: Sequence[str], use: LabelUse) -> Evidence | None:
    """Tell whether a column may hold gold labels, by its name or its blanks."""
    peers = tuple(other for other in names if other != name)
    if not peers or are_alike(names):
        return None
    filled, n_rows = use.measure_filled(name), len(use.columns[name])
    sparse = filled < LEAST_FILLED and use.measure_filled(*peers) >= MOSTLY_FILLED
    several, is_named = len(peers) >= FEWEST_RATERS, may_be("truth", name)
    if not sparse and not (is_named and several):
        return None
    reason = f"it is filled in {round(filled * n_rows)} of {n_rows} rows, where others are full: "
    reason = reason * sparse + "it may hold gold labels, or be a rater"
    truth, others, everybody = {"truth": name}, {"raters": peers}, {"raters": tuple(names)}
    if several:
        likely = truth if sparse and is_named else {}
        return Evidence("truth", reason, likely, [truth, others, everybody])
    # A judge and labels, or two coders, of whom one coded less.
    is_gold = may_be("system", peers[0]) or is_named
    return Evidence("truth", reason, truth if is_gold else everybody, [truth, everybody])


# What each column is judged by, if its name does not say what it is; the first that fits counts.
RULES = (_is_named_after, _has_other_labels, _may_be_gold, _is_named_apart)


def list_needless(table: Table, reading: Reading, n_labelled: int) -> list[str]:
    """List the columns that are no matter where gold labels tell how accurate systems are.

    They are all columns without a role if none shares a label with the systems. If so many items
    are labelled that nobody need be a rater, they are those that are probably none.
    """
    free = list_free(table, reading)
    columns = [*reading.system, *([reading.truth] if reading.truth else [])]
    if not list_sharing(table, reading, [x for name in columns for x in table[name].labels]):
        return free
    enough = n_labelled >= MOST_LABELLED * table.n_rows
    return list(classify(table, free, reading)) if enough else []


# All roles


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


# A row per rating


def _find_long(table: Table, reading: Reading) -> Reading | None:
    """Find the columns of a table with a row per rating; None if it is another table."""
    declared = reading.rater is not None or reading.rating is not None
    if not declared and (reading.counts or any(name in table for name in reading.raters)):
        return None
    found = {role: _list_candidates(table, reading, role) for role in ("item", "rater")}
    found["rating"] = _list_candidates(table, reading, "rating", *found["item"][:1])
    if not declared and not _is_long(table, reading, **found):
        return None
    require_columns(table, [x for x in (reading.rater, reading.rating, reading.counts) if x])
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
    names = [x for x in names if table[x].labels and not describes_items(table, x, items)]
    if role == "rater" and table.n_rows >= FEWEST_ROWS:  # nobody rates only once
        names = [name for name in names if len(table[name].labels) < table.n_rows]
    by_fold = {name.casefold(): name for name in reversed(names)}
    usual = [by_fold[name] for name in USUAL[role] if name in by_fold]
    return usual[:1] or names


def _is_long(
    table: Table, reading: Reading, item: list[str], rater: list[str], rating: list[str]
) -> bool:
    """Tell whether columns that are named as raters and ratings are these, and not two raters."""
    items = [name for name in item if name in table]
    if not rater:
        _refuse_models(table, reading, items[:1] if rating else [])
        return False
    found = zip((rater, rating, item), USUAL.values(), strict=True)
    if all({name.casefold() for name in names} & {*usual} for names, usual in found):
        return True
    crossed = any(is_crossed(table, name, rater[0]) for name in items)
    if crossed or (items and rating and len(table[items[0]].labels) < table.n_rows):
        return True
    # Raters would share labels with other columns.
    people = table[rater[0]].label_set
    rest = rating[:1] or list_free(table, replace(reading, truth=None), rater[0])
    repeated = 2 <= len(people) <= table.n_rows / 2 or bool(rating and not items)
    return repeated and not any(people & table[name].label_set for name in rest)


def _refuse_models(table: Table, reading: Reading, items: Sequence[str]) -> None:
    """Raise an InputError if models seem to give the ratings in rows."""
    models = [name for name in list_free(table, reading) if role_of(name) == "system"]
    if len(models) == 1 and any(is_crossed(table, item, models[0]) for item in items):
        problem = f"{models[0]!r} seems to name who gave the rating in each row"
        raise InputError(problem, SAY_SO, change={"rater": models[0]})


def _choose(table: Table, reading: Reading, found: Mapping[str, list[str]], role: str) -> Any:
    """Give the one column that may have a role, or raise an InputError that names them."""
    likely = [names[0] for other, names in found.items() if other != role and names]
    candidates, free, rater = found[role], list_free(table, reading, *likely), reading.rater or ""
    if role == "item" and len(candidates) != 1:
        names = candidates or [name for name in free if role_of(name) in (None, "item")]
        candidates = [name for name in names if is_crossed(table, name, rater)] or candidates
        codes = [table[name].codes for name in candidates if name in table]
        if all(np.array_equal(codes[0], other) for other in codes):
            candidates = candidates[:1]  # two names of the items tell the same rows apart
    if len(candidates) == 1:
        return candidates[0]
    choice = list_choices(table, candidates or free, role)
    if role == "rating":
        rated = [name for name in choice if not is_crossed(table, name, rater)]
        rated = [x for x in rated if not describes_items(table, x, found["item"][:1])]
        choice = rated or choice
    problem = f"each row is a rating, and the names leave open which column {MEANS[role]}"
    remedy = compose("say which ({}): choose among {}", {role: None}, list_few(choice, MOST_SHOWN))
    if role == "rating" and len(choice) > 1:
        remedy = compose("{}, or, if they are criteria, name them ({criteria})", remedy)
    raise InputError(problem, remedy, change={role: choice[0]} if len(choice) == 1 else {})


def list_choices(table: Table, names: Sequence[str], role: str) -> list[str]:
    """List the columns that may have a role: no remarks, dates, or what never or always differs."""
    likely = (None, role, "criterion")
    choice = [name for name in names if name in table and role_of(name) in likely]
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
    for name, role in list_other_names(raters).items():
        if role in ("truth", "system"):
            what = load_words("names.toml")[role]["what"]
            problem = f"there is a rater {name!r}, whose name is that of {what}"
            change = {role: (name,) if role == "system" else name}
            raise InputError(problem, SAY_SO, change=change)


def say_truth(what: str, name: str) -> Message:
    """Say what to do if something has gold labels."""
    return compose("if {} has gold labels, say so ({})", what, {"truth": name})


def say_doubtful_names(raters: Sequence[str]) -> list[str]:
    """Name raters who may be gold labels, or one rater twice."""
    golden = [name for name in raters if may_be("truth", name)]
    odd = [compose("{} counts as a rater; {}", repr(x), say_truth("it", x)) for x in golden]
    groups = checks.group_alike(raters, fold)
    pairs = [f"{first!r} and {other!r}" for first, *rest in groups for other in rest]
    remedy = "if they are one, write the name alike"
    return [*odd, *(f"the raters {pair} count as two; {remedy}" for pair in pairs)]


# A row per item


def find_items(table: Table, reading: Reading) -> tuple[str, ...]:
    """Find the column of items of a table with a row per item; none if there is none."""
    if any(name not in table for name in reading.raters):
        return ()  # which is an error, or another table
    free = list_free(table, reading)
    named = [name for name in free if role_of(name) == "item"]
    if named:
        named.sort(key=lambda x: (len(table[x].labels) < table.n_rows, x.casefold() != "item"))
        return (named[0],)
    # No rater has another whole number or word in each row.
    numbered = [
        name
        for name in free
        if role_of(name) is None and len(table[name].labels) >= max(table.n_rows, FEWEST_ROWS)
        if all(NUMBER_OR_WORD.fullmatch(str(label)) for label in table[name].labels)
    ]
    if len(numbered) != 1:
        return ()
    identifiers = table[numbered[0]].label_set
    rest = (name for name in (*free, *reading.system) if name in table and name not in numbered)
    labels = [table[name].label_set for name in rest]
    few = 2 * max(map(len, labels), default=0) <= len(identifiers)
    is_alone = bool(labels) and (few or not any(identifiers & other for other in labels))
    return tuple(numbered) if reading.raters or is_alone else ()


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
    if systems and reading.truth:
        ignored = list_needless(table, reading, int((table[reading.truth].codes >= 0).sum()))
        names = [name for name in names if name not in ignored]
    columns = {name: table[name] for name in (*names, *systems)}
    fixed = are_fixed(columns, reading)
    _refuse_cross_table(table, reading)
    _refuse_rows_of_raters(table, list(columns))
    for start in {name.rpartition(".")[0] for name in names} - {""}:  # of a nested file
        _refuse_counts(table, [x for x in names if x.rpartition(".")[0] == start], reading)
    for column in () if fixed or reading.decimal else columns.values():
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
    sure = [name for name in names if not evidence[name].choices]
    name, *more = sure or names
    found, change = evidence[name], dict[str, Any]()
    if found.choices:
        ways = compose("{}", found.choices[0])
        for choice in found.choices[1:]:
            ways = compose("{}, or {}", ways, choice)
        remedy = compose("say which is meant ({})", ways)
        raise InputError(found.reason, remedy, column=name, change=found.change)
    for option, value in (pair for x in sure for pair in evidence[x].change.items()):
        change[option] = (*change.get(option, ()), *value) if isinstance(value, tuple) else value
    if not all(evidence[x].change for x in sure):
        raters = _propose_raters(table, evidence, reading)
        change = change | raters if raters else {}
    others = f"; these are probably no raters either: {list_few(more, 4)}" if more else ""
    text = SAY_SO if change else NAME_COLUMNS
    if reading.system and not tell_raters(change.get("raters", ("rater",)), reading.system):
        text = MAY_BE_SYSTEMS
    raise InputError(found.reason + others, text, column=name, change=change)


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
    rated = [x for x in free if not roles[x] or evidence[x].change or evidence[x].choices]
    rated = [x for x in rated if roles[x] in RATED and checks.describe(table[x]) != "dates"]
    truth = [str(reading.truth)] if reading.truth in table else []
    holders = Counter(label for name in (*rated, *truth) for label in table[name].label_set)
    shared = {label for label, n_holders in holders.items() if n_holders > 1}
    rated = [x for x in rated if 2 * len(table[x].label_set & shared) >= len(table[x].labels) > 0]
    truths = [name for name in rated if roles[name] and "truth" in evidence[name].change]
    systems = list(reading.system) or [name for name in rated if roles[name] == "system"]
    raters = [name for name in rated if name not in (*systems, *truths)]
    # Gold labels of many items tell how accurate systems are; else these are each other's raters.
    filled = max(((table[name].codes >= 0).mean() for name in (*truth, *truths)), default=0)
    by_labels = bool(systems) and not raters and filled >= MOST_LABELLED
    if len(raters) < FEWEST_RATERS and not by_labels:
        raters, systems = [*raters, *(name for name in systems if name in rated)], []
    identified = any(len(table[name].labels) == table.n_rows for name in (*free, *reading.item))
    repeated = [x for x in free if x not in rated and 1 < len(table[x].labels) < table.n_rows]
    # Else each row may be a rating, by one of these columns of another.
    certain = len(repeated) < 2 or identified or bool(truth) or are_alike(raters)
    # Rows may be of two people who entered a record of REDCap, as 101--1 and 101--2.
    certain &= not any(JOINED.fullmatch(str(x)) for name in free for x in table[name].labels[:1])
    fewest = 0 if by_labels else 1 if reading.truth or truths else FEWEST_RATERS
    few = not fewest <= len(raters) <= table.n_rows
    # A majority of one rater tells nothing of him.
    alone = [table[x].texts for x in raters] if len(raters) == 1 else []
    copied = any(np.array_equal(table[x].texts, texts) for x in truths for texts in alone)
    # Criteria and domains have the same labels, and seldom agree.
    use = LabelUse({name: table[name] for name in raters}, holders, ())
    pairs = list(combinations(raters[:MANY_LABELS], 2))
    judged = len(pairs) > 1 and table.n_rows >= FEWEST_ITEMS
    judged = judged and use.measure_filled(*raters) >= MOSTLY_FILLED
    n_agreeing = sum(use.measure_kappa(*pair) > 0 for pair in pairs) if judged else len(pairs)
    if few or copied or not certain or n_agreeing < LEAST_AGREEING * len(pairs):
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
    named = any(role_of(name) == "rater" for name in rest)
    more = len(names) > table.n_rows or (not named and any(map(RESPONDENT.search, people[:1])))
    if len(names) < max(MANY_RATERS, TIMES_MORE_RATERS * table.n_rows) and not (people and more):
        return
    others = list_other_names(rest)
    items = tuple(name for name in rest if name not in others)
    starts = Counter(re.split(r"[0-9\[]", name)[0] for name in rest)
    for start, n_alike in starts.most_common(1):
        if start and 2 * n_alike > len(rest) and len(expand([f"{start}*"], table)) == n_alike:
            items = (f"{start}*",)
    filled = [name for name in expand(items, table) if table[name].labels]
    alike = group_by_labels({name: table[name] for name in filled})
    n_alike = max(map(len, alike), default=0)
    if people and n_alike < 2:
        return  # answers to questions of a survey would be alike
    problem = f"each of {pluralise(table.n_rows, 'row')} is probably a rater, and each of "
    problem += f"{pluralise(len(expand(items, table)), 'column')} an item"
    if people and 2 * n_alike >= len(filled):
        raise InputError(problem, SAY_SO, change={"rater": people[0], "items": items})
    remedy = compose("say so ({rater}, {items}), or {}", NAME_RATERS)
    raise InputError(problem, remedy)


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
        raise InputError(problem, SAY_SO, change=change)


def _are_counts(column: Column) -> bool:
    return all(str(label).isascii() and str(label).isdigit() for label in column.labels)
