"""What a reading and the preset of a tool do with the rows of a table, before roles are found.

A preset says what the columns of a tool's files mean: it is a row of `presets.toml` and no code.
"""

import ast
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from itertools import permutations, zip_longest
from operator import eq
from typing import Any

import numpy as np

from lehner.core.arrays import Booleans, Floats
from lehner.core.errors import InputError, compose, find, list_few
from lehner.core.lazy import pd
from lehner.core.text import pluralise, to_percent
from lehner.data import reading as conditions
from lehner.data.checks import list_of
from lehner.data.columns import (
    Column,
    Table,
    encode,
    fold,
    join_columns,
    load_words,
    make_table,
    number_or_nan,
    refuse_first,
    require_columns,
)
from lehner.data.reading import Reading, join_conditions, write_name
from lehner.data.roles import MANY_LABELS, expand, role_of

LOOKED_AT, FEWEST_ROWS, MOST_RECORDS = 20, 5, 50
# Lists belong together if so many are of the same length in both columns.
MOST = 0.75
MOST_SHOWN = 8
# A judge who chooses less often the same answer in both orders may have named answers.
LEAST_SAME = 0.5
# The name of a column that says by which criterion each row was rated.
CRITERION = re.compile("(criteri(a|on)|metric|aspect|dimension)([ _]?(id|name))?", re.IGNORECASE)
# A cell without these signs holds one label.
SEPARATED = re.compile(r"[\[,;|]")
# Labels that are neither of the two answers, where these are found by what is left.
TIE = re.compile(r"(tied?|draw|equal|neither|both|same|none|no)(?![a-z])|both", re.IGNORECASE)
ROLES = ("item", "rater", "rating", "truth")
# Fields of a preset that are options of reading as they stand.
OPTIONS = ("labels", "cut", "pair", "raters", "leave_out", "items")


def shape_rows(table: Table, reading: Reading) -> tuple[Table, Reading]:
    """Do with rows what a reading says: keep some, split texts, and make a row of each rating.

    Parameters
    ----------
    table : Table
    reading : Reading

    Returns
    -------
    table : Table
    reading : Reading
        For the new table.
    """
    if reading.items:
        table, reading = _stack_items(table, reading)
    if reading.pair:
        table, reading = _join_pair(table, reading)
    if reading.rating is not None and reading.rating not in table and {*"*,"} & {*reading.rating}:
        names = expand(reading.rating.split(","), table)
        require_columns(table, names)
        ticks = join_ticks([table[name] for name in names])
        if ticks is None:
            problem = f"not just one of the columns {list_few(names, 4)} is ticked in each row"
            remedy = compose("name one ({rating}), or each as a criterion ({criteria})")
            raise InputError(problem, remedy)
        table = table.without(names).assign({"rating": ticks})
        reading = replace(reading, rating="rating")
    for name in (x.removesuffix(".*") for x in reading.raters if x.endswith(".*")):
        if name in table and not any(x.startswith(f"{name}.") for x in table):
            table = _spread_lists(table, table[name])
    if len(reading.item) > 1:
        require_columns(table, reading.item)
        _refuse_rows_of_truth(table, reading)
        name = " and ".join(reading.item)
        joined = join_columns([table[part] for part in reading.item], name)
        # Those that group items, or name their clusters, are needed further on.
        kept = (*reading.leave_out, reading.cluster)
        table = table.without([x for x in reading.item if x not in kept]).assign({name: joined})
        reading = replace(reading, item=(name,))
    both = [name for name in (reading.rater, reading.rating) if name is not None and name in table]
    if len(both) == 2 and not reading.sets:
        table = explode_lists(table, both)
    return table, reading


def _refuse_rows_of_truth(table: Table, reading: Reading) -> None:
    """Raise an InputError if one of the columns that name an item marks rows of gold labels."""
    for name in reading.item:
        few = table[name].labels if len(table[name].labels) < MANY_LABELS else ()
        for label in (x for x in map(str, few) if role_of(x) == "truth"):
            problem = f"rows with {label!r} seem to be gold labels, and their rater would count"
            condition = f"{write_name(name)} != {label!r}"
            change = {"where": join_conditions("and", [reading.where, condition])}
            remedy = compose("leave them out ({}); gold labels can be a file ({truth})", change)
            raise InputError(problem, remedy, column=name, change=change)


# Conditions


def keep_rows(table: Table, condition: str) -> Table:
    """Keep the rows for which a condition holds, and say how many these are."""
    kept = np.flatnonzero(match_rows(table, condition))
    if not len(kept):
        remedy = compose("give another ({where})")
        raise InputError(f"no row fulfils the condition {condition!r}", remedy)
    if len(kept) == table.n_rows:
        return table
    rows = pluralise(table.n_rows, "row")
    return table.take(kept).note(f"{len(kept)} of {rows} are read, where {condition}")


def match_rows(table: Table, condition: str) -> Booleans:
    """Find the rows for which a condition holds; a blank cell differs from everything.

    Parameters
    ----------
    table : Table
    condition : str

    Returns
    -------
    ndarray of bool, shape (n_rows,)

    Raises
    ------
    InputError
        If there is no such column, or texts and numbers are put in one order.
    """
    require_columns(table, conditions.list_columns(condition))
    return _match_node(table, conditions.parse_condition(condition))


def _match_node(table: Table, node: Any) -> Booleans:
    """Find the rows for which a part of a condition holds."""
    if isinstance(node, ast.UnaryOp):
        return ~_match_node(table, node.operand)
    if isinstance(node, ast.BoolOp):
        parts = [_match_node(table, part) for part in node.values]
        return np.all(parts, axis=0) if isinstance(node.op, ast.And) else np.any(parts, axis=0)
    column, operator = table[node.left.id], node.ops[0]
    compare, holds = conditions.OPERATORS[type(operator)], np.zeros(table.n_rows, bool)
    for value in conditions.read_constants(node.comparators[0]):
        holds |= column.look_up(_compare_labels(column, compare, value), False)
    return holds != isinstance(operator, ast.NotEq | ast.NotIn)


def _compare_labels(column: Column, compare: Any, value: Any) -> list[bool]:
    """Compare labels with a text as they are written, and with a number by their values."""
    labels = list(map(str, column.labels))
    numbers = list(map(number_or_nan, labels))
    texts = [label for label, number in zip(labels, numbers, strict=True) if np.isnan(number)]
    if compare is not eq and isinstance(value, str) and labels and not texts:
        problem = f"the numbers of {column.name!r} are compared with the text {value!r}"
        raise InputError(problem, "write the number without quotation marks", column=column.name)
    if compare is not eq and not isinstance(value, str) and texts:
        problem = f"{texts[0]!r} is compared with the number {value}"
        raise InputError(problem, "leave such rows out first, or compare with a text in quotes")
    if isinstance(value, str):
        return [compare(label, value) for label in labels]
    words = [isinstance(value, bool) and fold(label) == fold(value) for label in labels]
    return [word or compare(x, value) for word, x in zip(words, numbers, strict=True)]


def refuse_criteria(table: Table, names: Sequence[str], where: str = "") -> None:
    """Raise an InputError that names the criteria, if there are several, and proposes one."""
    if not names or len(table[names[0]].labels) < 2:
        return
    column = table[names[0]]
    criterion = str(column.labels[int(np.argmax(column.count_labels()))])
    condition = join_conditions("or", [f"{write_name(x)} == {criterion!r}" for x in names])
    # A condition that is typed replaces that of the preset.
    change = {"where": join_conditions("and", [condition, where])}
    problem = f"there are ratings of several criteria: {list_few(column.labels, MOST_SHOWN)}"
    raise InputError(problem, "choose one ({})", column=column.name, change=change)


# Columns made of texts, and rows made of columns


def _spread_lists(table: Table, column: Column) -> Table:
    """Make a column of each place in the lists that a column holds."""
    places = zip_longest(*(list_of(label) for label in column.labels))
    columns = {f"{column.name}.{n}": column.look_up(x, None) for n, x in enumerate(places, 1)}
    return table.without([column.name]).assign(columns)


def explode_lists(table: Table, names: Sequence[str]) -> Table:
    """Make a row of each place in the lists of columns, if these hold lists that belong together.

    Examples
    --------
    >>> table = make_table({"who": ["Ann, Bo"], "said": ["[1, 0]"]})
    >>> explode_lists(table, ["who", "said"])["said"].values.tolist()
    [1, 0]
    """
    lists = {name: [list_of(label) for label in table[name].labels] for name in names}
    if not all(any(len(x) > 1 for x in several) for several in lists.values()):
        return table
    sizes = [table[name].look_up(list(map(len, lists[name])), 0) for name in names]
    belong = (np.array(sizes) == sizes[:1]).all(axis=0)
    if belong.mean() < MOST:
        return table
    problem = f"the list {{value}} is not as long as that of {names[0]!r}"
    refuse_first(~belong, table[names[1]], problem, "give each label its rater")
    rows = np.repeat(np.arange(table.n_rows), sizes[0])
    columns = {
        name: [x for code in table[name].codes for x in lists[name][code] if code >= 0]
        for name in names
    }
    return table.take(rows).assign(columns)


def refuse_parallel_lists(table: Table) -> None:
    """Raise an InputError if a column holds lists of names, and another their ratings."""
    sizes, repeat = dict[str, list[int]](), dict[str, bool]()
    for name in table if table.n_rows >= FEWEST_ROWS else ():
        column = table[name]
        codes = column.codes[:LOOKED_AT].tolist()
        texts = [str(column.labels[code]) if code >= 0 else "" for code in codes]
        lists = [list_of(text) if SEPARATED.search(text) else [text] * bool(text) for text in texts]
        if any(len(x) > 1 for x in lists):
            sizes[name] = list(map(len, lists))
            repeat[name] = any(len(set(map(str, x))) < len(x) for x in lists)
    for name, other in permutations(sizes, 2):
        if sizes[name] == sizes[other] and repeat[other] and not repeat[name]:
            problem = f"{name!r} and {other!r} hold lists that belong together: they probably "
            problem += "name raters and their ratings"
            raise InputError(problem, "say so ({})", change={"rater": name, "rating": other})


def stack_tables(tables: Mapping[str, Table], name: str) -> Table:
    """Put tables one below the other, with a column that says which, unless there is one.

    Parameters
    ----------
    tables : mapping of str to Table
    name : str
        The new column.

    Returns
    -------
    Table
    """
    every = list(tables.values())
    parts = [
        pd.DataFrame({name: key, **{x: table[x].values for x in table}}, np.arange(table.n_rows))
        for key, table in tables.items()
    ]
    starts = np.cumsum([0, *(table.n_rows for table in every)])

    def place(error: InputError) -> None:
        part = int(np.searchsorted(starts, error.row or 0, side="right")) - 1
        error.row = (error.row or 0) - int(starts[part])
        every[part].locate(error)

    notes = tuple(dict.fromkeys(note for table in every for note in table.notes))
    return make_table(pd.concat(parts, ignore_index=True), notes=notes, place=place)


def _stack_items(table: Table, reading: Reading) -> tuple[Table, Reading]:
    """Make a row per rating of a table in which each row is a rater, and columns are items."""
    if reading.rater is None:
        problem = "items are columns, so that each row is a rater"
        raise InputError(problem, compose("name them ({rater})"))
    items, n_rows = expand(reading.items, table), table.n_rows
    require_columns(table, [reading.rater, *items])
    people = table.without(items).take(np.tile(np.arange(n_rows), len(items)))
    ratings = np.concatenate([table[name].values for name in items])

    def place(error: InputError) -> None:
        if error.column == "rating":
            error.column = items[(error.row or 0) // n_rows]
        people.locate(error)

    stacked = people.assign({"item": np.repeat(items, n_rows).astype(object), "rating": ratings})
    reading = replace(reading, items=(), item=("item",), rating="rating")
    return replace(stacked, place=place), reading


def _join_pair(table: Table, reading: Reading) -> tuple[Table, Reading]:
    """Name the pair whoever stands first, and call the answers of swapped pairs by position."""
    if len(reading.pair) != 2:
        raise InputError(f"pair is {', '.join(reading.pair)}", "name two columns")
    item = reading.item or tuple(name for name in table if role_of(name) == "item")
    if len(item) != 1 and not reading.item:
        what = f"may be named by {' and '.join(item)}" if item else "have no column of that name"
        raise InputError(f"the items that were compared {what}", compose("name them ({item})"))
    require_columns(table, [*item, *reading.pair])
    first, second = (table[name].refuse_blank().texts for name in reading.pair)
    pairs = [" ".join(sorted(pair)) for pair in zip(first, second, strict=True)]
    order = np.where(first > second, "swapped", "original").astype(object)
    table = table.without(reading.pair).assign({"pair": pairs, "order": order})
    repeated, item = reading.repeated or "vote", (*item, "pair")
    return table, replace(reading, pair=(), item=item, order="order", repeated=repeated)


def join_ticks(columns: Sequence[Column]) -> Column | None:
    """Join columns of which one is ticked in each row, or none in a blank one; else give None."""
    labels = {str(label).casefold() for column in columns for label in column.labels}
    yes, no = load_words()["ticked"], load_words()["not_ticked"]
    if labels.isdisjoint(yes) or not labels <= {*yes, *no}:
        return None
    ticked = np.array([np.isin(np.char.lower(x.texts.astype(str)), yes) for x in columns])
    if (ticked.sum(axis=0) > 1).any():
        return None
    start = columns[0].name.rpartition(".")[0] + "."  # Answer.spam. of Answer.spam.yes
    names = [column.name.removeprefix(start) for column in columns]
    codes = np.where(ticked.any(axis=0), ticked.argmax(axis=0), -1)
    return Column(name="rating", codes=codes, labels=names)


# Pairs of answers that judges saw in both orders


def join_orders(table: Table, roles: Reading) -> tuple[Table, Reading]:
    """Name the answer that was chosen in place of its position, and take orders as occasions.

    Parameters
    ----------
    table : Table
        With a row per rating.
    roles : Reading
        With `order`.

    Returns
    -------
    table : Table
        With notes of what was done and of the position bias of each judge: the proportion of
        choices of the answer shown first, "neither" as a half, and of equal choices, among items
        that the judge saw once in each order.
    roles : Reading
        With the order as the occasion, or part of it.

    Raises
    ------
    InputError
        If orders or answers are not known.
    """
    order, rating = str(roles.order), str(roles.rating)
    require_columns(table, [order])
    swapped = _read_swapped(table[order])
    (first, second), is_first = _read_positions(table[rating])
    labels = table[rating].values
    labels[swapped & (is_first == 1)], labels[swapped & (is_first == 0)] = second, first
    note = f"{first} and {second} are read as the first and the second position, and swapped back "
    note += f"where the pair was swapped according to {order} "
    who = {"judge": table[str(roles.rater)].refuse_blank().texts}
    who |= {"item": table[roles.item[0]].items[0], "swapped": swapped}
    notes = [f"{note}({pluralise(int(swapped.sum()), 'row')})", *_say_position_bias(who, is_first)]
    occasion, columns = order, {rating: encode(labels, rating)}
    if roles.occasion is not None:
        occasion = f"{roles.occasion} and {order}"
        columns[occasion] = join_columns([table[roles.occasion], table[order]], occasion)
    return table.assign(columns).note(*notes), replace(roles, occasion=occasion)


def _say_position_bias(who: Mapping[str, Any], is_first: Floats) -> Iterator[str]:
    """Say how often each judge chose the answer shown first, and the same answer in both orders."""
    choices = pd.DataFrame({**who, "first": is_first}).dropna().drop_duplicates([*who], keep=False)
    pairs = choices.pivot(index=["judge", "item"], columns="swapped", values="first")
    pairs = pairs.reindex(columns=[False, True]).dropna()
    for judge, part in pairs.groupby(level="judge"):
        # In the swapped pair the same answer is in the other position.
        same = (part.sum(axis=1) == 1).mean()
        said = f"position bias of {judge}: chooses the answer shown first in "
        said += f"{to_percent(part.to_numpy().mean(), 0)} of the choices (50% without bias), and "
        said += f"the same answer in both orders in {to_percent(same, 0)} of "
        yield said + pluralise(len(part), "item")
        if same < LEAST_SAME:
            yield compose(
                "if the file names the answers, whatever their position, read the order as an "
                "occasion only ({occasion})"
            )


def _read_swapped(order: Column) -> Booleans:
    """Tell which rows are of a swapped pair."""
    labels = [_simplify(label) for label in order.refuse_blank().labels]
    orders = load_words()["orders"]
    for original, swapped in orders:
        if set(labels) <= {original, swapped}:
            return order.look_up([label == swapped for label in labels], False).astype(bool)
    problem = f"{order.name!r} has the values {list_few(order.labels, 4)}"
    remedy = f"name the orders as one of {', '.join(map('/'.join, orders))}"
    raise InputError(problem, remedy, column=order.name)


def _read_positions(rating: Column) -> tuple[Sequence[Any], Floats]:
    """Give the labels of the two positions, and for each row 1 (first), 0 or 0.5 (a tie)."""
    by_name = {_simplify(label): label for label in rating.labels}
    named = load_words()["pairs"]
    pairs = [[by_name[a], by_name[b]] for a, b in named if {a, b} <= by_name.keys()]
    pairs.append(sorted((x for x in rating.labels if not TIE.match(str(x))), key=str))
    if len(pairs[0]) != 2:
        problem = f"the ratings {list_few(rating.labels, 6)} are not two answers, and ties"
        remedy = f"call the answers one of {', '.join(map('/'.join, named))}, and ties tie"
        raise InputError(problem, remedy, column=rating.name)
    first, second = pairs[0]
    positions = {first: 1.0, second: 0.0}
    return pairs[0], rating.look_up([positions.get(x, 0.5) for x in rating.labels], np.nan)


def _simplify(label: Any) -> str:
    return str(label).casefold().replace(" ", "")


# Presets


@dataclass(frozen=True, kw_only=True)
class Preset:
    """What the columns of a tool's files mean; see `presets.toml`.

    Parameters
    ----------
    tool, says : str
        Its name, and what is said of a file that it wrote.
    roles : dict
        The columns that are joined for item, rater, rating and truth.
    options : dict
        Options of reading.
    """

    tool: str
    says: str
    has: list[str]
    roles: dict[str, list[str]]
    options: dict[str, Any]
    maps: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    best: list[str] = field(default_factory=list)
    parse: list[str] = field(default_factory=list)
    within: str = "(.*)"
    root: str = ""
    where: str = ""
    gold: str = ""
    systems: str = ""
    repeats: str = ""
    one_of: str = ""

    @property
    def columns(self) -> list[str]:
        """All columns that it names."""
        named = [*self.has, *self.options.get("pair", ()), self.systems, self.one_of, self.repeats]
        named += [part for parts in self.roles.values() for part in parts]
        for condition in filter(None, (self.where, self.gold)):
            named += conditions.list_columns(condition)
        return [part for name in named for part in name.split("|") if part]


@cache
def list_presets() -> dict[str, Preset]:
    """List the tools whose files are known."""
    text = files("lehner.reading").joinpath("presets.toml").read_text(encoding="utf-8")
    presets = {}
    for tool, row in tomllib.loads(text).items():
        roles = {role: row.pop(role) for role in ROLES if role in row}
        options = {name: row.pop(name) for name in OPTIONS if name in row}
        presets[tool] = Preset(tool=tool, roles=roles, options=options, **row)
    return presets


def find_preset(content: Any, reading: Reading) -> Preset | None:
    """Find the tool that wrote a file.

    Parameters
    ----------
    content : object
        What a JSON file holds, or a table.
    reading : Reading
        Which may name the tool, or say that there is none.

    Returns
    -------
    Preset or None
    """
    presets = list_presets()
    if reading.preset == "none":
        return None
    if reading.preset is not None:
        return find("tool", reading.preset, presets)
    for preset in presets.values():
        root = get_root(content, preset)
        if all(_has(root, path) for path in preset.has):
            return preset
    return None


def get_root(content: Any, preset: Preset) -> Any:
    """Give the records of a file of a tool, in what a JSON file holds."""
    root = content
    for name in filter(None, preset.root.split(".")):
        root = root.get(name) if isinstance(root, dict) else None
    return content if root is None else root


def _has(content: Any, path: str) -> bool:
    """Tell whether there is something at a path, in one of the first records."""
    if isinstance(content, list):
        return any(_has(record, path) for record in content[:MOST_RECORDS])
    if not isinstance(content, dict | Table) or path in content:
        return isinstance(content, dict | Table)
    first, _, rest = path.partition(".")
    return isinstance(content, dict) and bool(rest) and _has(content.get(first), rest)


def parse_cells(table: Table, preset: Preset) -> list[dict[str, Any]]:
    """Make records of rows, some of whose cells hold JSON, as text or within a text."""
    frame = pd.DataFrame({name: table[name].texts for name in table})
    for name in preset.parse:
        inner = frame[name].str.extract(preset.within, expand=False).fillna("")
        try:
            frame[name] = [json.loads(x.replace('"=>', '":') or "null") for x in inner]
        except ValueError as error:
            problem = f"its cells are not JSON ({error})"
            raise InputError(problem, "mend them", column=name) from None
    return frame.to_dict("records")


def apply_preset(table: Table, preset: Preset, reading: Reading) -> tuple[Table, Reading]:
    """Fill in what is not declared as the preset says.

    Parameters
    ----------
    table : Table
    preset : Preset
    reading : Reading

    Returns
    -------
    table : Table
        With the columns item, rater, rating and the like that the preset makes.
    reading : Reading
        Which names these columns.

    Raises
    ------
    InputError
        If a column that is needed is missing, or several criteria are to be chosen from.
    """
    if preset.says:
        table = table.note(f"the file is read as an export of {preset.tool}: {preset.says}")
    if preset.lists:
        table = explode_lists(table, [x for part in preset.lists for x in _find_names(table, part)])
    where = preset.where
    if where:  # patterns stand for columns
        where = conditions.rename_columns(where, lambda name: (*_find_names(table, name), name)[0])
    if reading.where is None:
        table = keep_rows(table, where) if where else table
        refuse_criteria(table, [x for x in preset.one_of.split("|") if x in table], where)
    parts = {role: names for role, names in preset.roles.items() if not getattr(reading, role)}
    if "truth" in parts and not _find_names(table, parts["truth"][0]):
        del parts["truth"]
    columns = {role: _join(table, preset, names) for role, names in parts.items()}
    if "rater" in columns:
        columns["rater"] = _join_lists(columns["rater"])
    changes: dict[str, Any] = {role: role for role in columns} | preset.options
    if "item" in columns and preset.repeats in table and len(table[preset.repeats].labels) > 1:
        columns["cluster"] = _coalesce(table, preset, parts["item"][0])
        changes["cluster"] = reading.cluster or "cluster"
    used = [x for names in parts.values() for part in names for x in part.split("|")]
    used += [column.name for column in columns.values()]
    table = table.without([x for x in used if "." not in x and x not in columns]).assign(columns)
    if preset.gold and "rating" in columns:
        table, changes = _split_gold(table, preset.gold, changes)
    if preset.systems in table:
        changes["system"] = table[preset.systems].labels
    return table, replace(reading, preset=preset.tool).combine_first(Reading(**changes))


def _find_names(table: Table, alternatives: str) -> list[str]:
    """Find the columns that names or patterns stand for, but for blank ones."""
    matching = [x for part in alternatives.split("|") for x in table if fnmatchcase(x, part)]
    return [name for name in matching if len(table[name].labels)]


def _coalesce(table: Table, preset: Preset, alternatives: str) -> Column:
    """Give the first of some columns that is not blank in each row."""
    first, names = alternatives.split("|")[0], _find_names(table, alternatives)
    below = [name for name in table if name.startswith(f"{first}.")]
    exact = [name for name in names if name in alternatives.split("|")]
    if len(names) > 1 and not exact:
        ticks = join_ticks([table[name] for name in names])
        if ticks is not None:
            return ticks
        problem = f"{preset.tool} has several columns {first}: {list_few(names, MOST_SHOWN)}"
        raise InputError(problem, compose("name the columns ({item}, {rater}, {rating})"))
    if below and (not names or alternatives in preset.roles.get("rating", ())):
        problem = f"{first} holds several values: {list_few(below, MOST_SHOWN)}"
        raise InputError(problem, "say which is the rating ({})", change={"rating": below[0]})
    if not names:
        ways = compose("name the columns ({item}, {rater}, {rating}), or none ({preset=none})")
        raise InputError(f"this file of {preset.tool} has no {first}", ways)
    names = exact or names
    if len(names) == 1:
        return table[names[0]]
    values = pd.DataFrame({name: table[name].values for name in names})
    return encode(values.bfill(axis=1).iloc[:, 0], names[0])


def _join(table: Table, preset: Preset, parts: Sequence[str]) -> Column:
    """Join columns into one, without those that are the same in all rows but for the first."""
    first = _coalesce(table, preset, parts[0])
    columns = [_coalesce(table, preset, part) for part in parts[1:] if _find_names(table, part)]
    differing = [column for column in columns if len(column.labels) > 1]
    return join_columns([first, *differing], first.name) if differing else first


def _join_lists(column: Column) -> Column:
    """Write names that are lists as texts: gpt-4 pair-v2."""
    if not any(str(label).startswith("[") for label in column.labels):
        return column
    names = [" ".join(map(str, list_of(label))) for label in column.labels]
    return encode(column.look_up(names, None), column.name)


def _split_gold(
    table: Table, condition: str, changes: dict[str, Any]
) -> tuple[Table, dict[str, Any]]:
    """Take some rows' ratings as gold labels; who gave these alone is no rater."""
    is_gold, rating, rater = match_rows(table, condition), table["rating"], table["rater"]
    rated = pd.unique(rater.codes[~is_gold & (rating.codes >= 0)])
    names = [*map(str, rater.labels), ""]
    columns = {"rating": replace(rating, codes=np.where(is_gold, -1, rating.codes))}
    if is_gold.any():
        columns["truth"] = replace(rating, codes=np.where(is_gold, rating.codes, -1))
        changes = changes | {"truth": "truth"}
    return table.assign(columns), changes | {"raters": tuple(names[code] for code in rated)}
