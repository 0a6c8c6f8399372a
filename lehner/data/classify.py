"""What each column of a table may be: the evidence of its name and of its labels, found once."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.text import list_few
from lehner.data import checks
from lehner.data.columns import Column, Table, find_declared, fold_label, load_words, to_numbers
from lehner.data.reading import Reading

# A table of fewer rows is too short to judge its columns by their labels.
FEWEST_ROWS, FEWEST_RATERS, MANY_LABELS = 5, 2, 10
LONGEST_SHOWN = 60
# A column that is filled less than the first, where most are more than the second, is doubtful.
LEAST_FILLED, MOSTLY_FILLED = 0.5, 0.8
# A column of groups has labels of its own in so many cells, if there are so many items.
LEAST_OF_OWN, FEWEST_ITEMS = 0.1, 20
# An agreement that is so many standard errors above that of chance is no chance.
BEYOND_CHANCE = 2
NO_RATER = ", so it is probably not a rater"
# Two entries of a record, as REDCap names them.
TWO_NAMES = re.compile(r"(?P<item>.+)--(?P<rater>.+)")
# Roles of one column.
SINGLE = ("truth", "truth_probability", "counts", "cluster", "order", "occasion", "rater", "rating")


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


def list_other_names(names: Sequence[str]) -> list[tuple[str, str]]:
    """List names that are those of other roles, unless all are those of systems."""
    roles = {name: role_of(name) or "rater" for name in names}
    raters = {"rater", "rating"} | ({"system"} if {*roles.values()} == {"system"} else set())
    return [(name, role) for name, role in roles.items() if role not in raters]


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


# Rows of items and raters


def is_crossed(table: Table, item: str, rater: str) -> bool:
    """Tell whether values of a column occur in several rows, each once for a rater, as items do."""
    column, by = table[item], table[rater]
    pairs = column.codes * (int(by.codes.max(initial=0)) + 1) + by.codes
    once = len(np.unique(pairs)) == len(pairs) and column.codes.min(initial=0) >= 0
    return bool(once and len(column.labels) < len(pairs) and 1 < len(by.labels) < len(pairs))


def describes_items(table: Table, name: str, item: str) -> bool:
    """Tell whether a column is the same in all rows of an item, and differs like their texts."""
    column, by = table[name], table[item]
    n_labels, n_items = len(column.labels), len(by.labels)
    if not n_items < table.n_rows or n_labels < MANY_LABELS or 2 * n_labels <= n_items:
        return False
    filled = column.codes >= 0
    pairs = by.codes[filled] * n_labels + column.codes[filled]
    return len(np.unique(pairs)) <= n_items


# Rows of items


@dataclass(frozen=True)
class Evidence:
    """What a column of a table with a row per item may be, if it is not simply a rater.

    Parameters
    ----------
    role : str
        One of `names.toml`, as "truth"; "remark" if it is just no rating.
    reason : str
        Why, as a message says it.
    ways : tuple of mappings
        The options of reading that say what it is, those of each reading if there are several.
    likely : int, optional
        Which of the ways is likely; None if none is.
    by_name : bool
        Whether the name alone says so, whatever the labels are.
    """

    role: str
    reason: str
    ways: tuple[Mapping[str, Any], ...] = ()
    likely: int | None = 0
    by_name: bool = False

    @property
    def change(self) -> Mapping[str, Any]:
        """The options that are likely; none if no reading is."""
        return {} if self.likely is None or not self.ways else self.ways[self.likely]


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
    weights : ndarray, shape (n_rows,)
        The number of items of each row.
    """

    columns: Mapping[str, Column]
    holders: Counter[str]
    groups: Sequence[list[str]]
    weights: Floats

    def list_alone(self, name: str) -> set[str]:
        """List the labels that one column alone has."""
        return {label for label in self.columns[name].label_set if self.holders[label] == 1}

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
        weights = np.where((first >= 0) & (second >= 0), self.weights, 0)
        n_items = max(weights.sum(), 1)
        shares = [np.bincount(codes + 1, weights, len(code) + 1) for codes in (first, second)]
        by_chance = shares[0] @ shares[1] / n_items**2
        gain = weights[first == second].sum() / n_items - by_chance
        error = np.sqrt(by_chance * (1 - by_chance) / n_items)
        return float(gain / (1 - by_chance)) if gain > BEYOND_CHANCE * error else 0.0


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
    roles = list_other_names(names)
    found = {name: x for name, role in roles if (x := _judge_name(table, name, role, reading))}
    truth = [str(reading.truth)] if reading.truth in table else []
    columns = {name: table[name] for name in (*names, *reading.system, *truth)}
    few = len(columns) < FEWEST_RATERS or table.n_rows < FEWEST_ROWS
    cells = [dict.fromkeys(columns[name].labels, MANY_LABELS) for name in names]
    if few or all(map(checks.describe_no_categories, cells)):
        return found
    counts = table[str(reading.counts)].numbers if reading.counts in table else np.array(1.0)
    holders = Counter(label for column in columns.values() for label in column.label_set)
    weights = np.broadcast_to(np.nan_to_num(counts), table.n_rows)
    use = LabelUse(columns, holders, group_by_labels(columns), weights)
    for judge in CRITERIA:
        if truth and judge is _may_be_gold:
            continue
        left = [name for name in names if name not in found]
        found |= {name: evidence for name in left if (evidence := judge(name, left, use))}
    return found


def _judge_name(table: Table, name: str, role: str, reading: Reading) -> Evidence | None:
    """Tell what a column is by its name."""
    what = load_words("names.toml")[role]["what"]
    is_running = (np.diff(np.sort(table[name].numbers)) == 1).all()
    if role == "counts" and is_running and table.n_rows >= FEWEST_ROWS:
        role = "item"
    change: dict[str, Any] = {role: name if role in ("truth", "counts") else (name,)}
    if role == "system":
        if len(table[name].labels) < 2:
            return None  # it says of which system all rows are
        what = "another system" if reading.system else what
        change = change if shares_labels(table, name, reading) else {"leave_out": (name,)}
    reason = f"its name is that of {what}, and it would count as a rater"
    sure = role in ("remark", "group") or (role in ("item", "truth") and getattr(reading, role))
    return Evidence(role, reason, () if sure else (change,), by_name=True)


def shares_labels(table: Table, name: str, reading: Reading) -> bool:
    """Tell whether a column has labels of others, or of the categories, or too few rows to tell."""
    labels = table[name].label_set
    peers = [x for x in reading.raters or list_free(table, reading, name) if x in table]
    shared = {*map(str, reading.categories)}.union(*(table[x].label_set for x in peers))
    return bool(table.n_rows < FEWEST_ROWS or labels & shared or not labels)


def _names_two(name: str, _: Sequence[str], use: LabelUse) -> Evidence | None:
    """Tell whether a column names items and raters, as REDCap names two entries of a record."""
    labels = use.columns[name].labels
    pairs = [match for label in labels if (match := TWO_NAMES.fullmatch(str(label)))]
    if not len(pairs) == len(use.weights) > len({match["item"] for match in pairs}):
        return None
    reason = "it names items and raters, as q1--Ann: make a column of each"
    return Evidence("item", reason + NO_RATER)


def _identifies(name: str, _: Sequence[str], use: LabelUse) -> Evidence | None:
    """Tell whether a column has the name of an identifier of something else than items."""
    is_identifier = list_words(name)[-1:] in (["id"], ["seq"]) and role_of(name) is None
    reason = f"its name is that of an identifier{NO_RATER}"
    return Evidence("remark", reason) if is_identifier else None


def _is_named_after(name: str, _: Sequence[str], use: LabelUse) -> Evidence | None:
    """Tell whether a column is named after another, as R1_conf after R1, and has other labels."""
    for end in re.finditer(r"[ _.:-]", name):
        other = name[: end.start()]
        if other in use.columns and use.columns[other].label_set != use.columns[name].label_set:
            reason = f"it is named after the column {other!r} and has other labels"
            return Evidence("remark", reason + NO_RATER)
    return None


def _has_other_labels(name: str, _: Sequence[str], use: LabelUse) -> Evidence | None:
    """Tell whether a column has no label in common with most, or few, if it has many."""
    labels, alone = use.columns[name].label_set, use.list_alone(name)
    largest, *peers = use.groups
    group = next((group for group in peers if name in group), [])
    if len(group) > 1:
        reason = f"{list_few(largest, 4)} share no label with {list_few(group, 4)}, so not all are "
        ways = {"raters": tuple(largest)}, {"raters": tuple(group)}
        alike = [are_alike(largest), are_alike(group)]
        likely = alike.index(True) if sum(alike) == 1 else None
        return Evidence("rater", f"{reason}raters", ways, likely)
    many_alone = len(labels) >= MANY_LABELS and 2 * len(alone) > len(labels)
    if not labels or not (group or many_alone):
        return None
    reason = f"labels such as {use.show(alone)} occur in no other column"
    elsewhere = f", where they are {use.show(set(use.holders) - labels)}" if group else ""
    return Evidence("remark", reason + elsewhere + NO_RATER)


def _differs_in_each_row(name: str, _: Sequence[str], use: LabelUse) -> Evidence | None:
    """Tell whether a column has many labels, all different, and others at most half as many."""
    column = use.columns[name]
    most = max(len(x.labels) for other, x in use.columns.items() if other != name)
    different = len(column.labels) == len(column) >= max(2 * most, MANY_LABELS)
    return (
        Evidence("item", f"it has a different label in each row{NO_RATER}") if different else None
    )


def _makes_groups(name: str, _: Sequence[str], use: LabelUse) -> Evidence | None:
    """Tell whether a column has other codes than raters, and agrees less than they do."""
    peers = [other for group in use.groups if name in group for other in group if other != name]
    column, alone = use.columns[name], use.list_alone(name)
    lacking = set[str]().union(*(use.columns[x].label_set for x in peers)) - column.label_set
    of_own = column.look_up([fold_label(label) in alone for label in column.labels], False).mean()
    enough = len(peers) >= FEWEST_RATERS and use.weights.sum() >= FEWEST_ITEMS
    full = enough and lacking and use.measure_filled(name) >= MOSTLY_FILLED
    if not full or of_own < LEAST_OF_OWN:
        return None
    kappa = max(use.measure_kappa(name, peer) for peer in peers)
    # A word of one rater alone may be a slip; a number that goes with the ratings may be a group.
    highest = 0.0 if to_numbers(column.labels) is None else 0.5
    pairs = combinations(peers[:MANY_LABELS], 2)
    if kappa and kappa >= highest * max(use.measure_kappa(*pair) for pair in pairs):
        return None
    reason = f"it alone has the label {use.show(alone)}, it lacks {use.show(lacking)}, and "
    return Evidence("group", f"{reason}it hardly agrees with any other column{NO_RATER}")


def _may_be_gold(name: str, names: Sequence[str], use: LabelUse) -> Evidence | None:
    """Tell whether a column may hold gold labels, by its name or its blanks."""
    peers = tuple(other for other in names if other != name)
    if not peers or are_alike(names):
        return None
    filled, n_rows = use.measure_filled(name), len(use.weights)
    sparse = filled < LEAST_FILLED and use.measure_filled(*peers) >= MOSTLY_FILLED
    several, is_named = len(peers) >= FEWEST_RATERS, may_be("truth", name)
    if not sparse and not (is_named and several):
        return None
    reason = f"it is filled in {round(filled * n_rows)} of {n_rows} rows, where others are full: "
    reason = reason * sparse + "it may hold gold labels, or be a rater"
    truth, others, everybody = {"truth": name}, {"raters": peers}, {"raters": tuple(names)}
    if several:
        likely = 0 if sparse and is_named else None
        return Evidence("truth", reason, (truth, others, everybody), likely)
    # A judge and labels, or two coders, of whom one coded less.
    likely = 0 if may_be("system", peers[0]) or is_named else 1
    return Evidence("truth", reason, (truth, everybody), likely)


# What each column is judged by, if its name does not say what it is; the first that fits counts.
CRITERIA: tuple[Callable[[str, Sequence[str], LabelUse], Evidence | None], ...] = (
    _names_two,
    _identifies,
    _is_named_after,
    _has_other_labels,
    _differs_in_each_row,
    _makes_groups,
    _may_be_gold,
)


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
