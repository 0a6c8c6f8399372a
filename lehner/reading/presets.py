"""Presets: what the columns of a tool's files mean, each a row of `presets.toml` and no code."""

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from lehner.core.errors import InputError, compose, find
from lehner.core.lazy import pd
from lehner.core.text import list_few
from lehner.data.checks import list_of
from lehner.data.columns import Column, Table, encode, join_columns
from lehner.data.reading import (
    Comparison,
    Condition,
    Name,
    Reading,
    join_conditions,
    list_columns,
    parse_condition,
    rename_columns,
)
from lehner.reading.rows import join_ticks, keep_rows, match_rows

ROLES = ("item", "rater", "rating", "truth")
# Fields of a preset that are options of reading as they stand.
OPTIONS = ("labels", "cut", "pair", "raters", "leave_out", "items")
NAME_COLUMNS = compose("name the columns ({item}, {rater}, {rating})")
MOST_SHOWN, LOOKED_AT = 8, 50
# The name of a file of samples of lm-evaluation-harness.
TASK = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT")


@dataclass(frozen=True, kw_only=True)
class Preset:
    """What the columns of a tool's files mean; see `presets.toml`."""

    tool: str
    has: list[str]
    says: str
    item: list[str] = field(default_factory=list)
    rater: list[str] = field(default_factory=list)
    rating: list[str] = field(default_factory=list)
    truth: list[str] = field(default_factory=list)
    pair: list[str] = field(default_factory=list)
    raters: list[str] = field(default_factory=list)
    leave_out: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    maps: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    best: list[str] = field(default_factory=list)
    parse: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    cut: list[float] = field(default_factory=list)
    within: str = "(.*)"
    root: str = ""
    where: Condition | None = None
    gold: Condition | None = None
    systems: str = ""
    repeats: str = ""
    one_of: str = ""
    number: bool = False

    @property
    def columns(self) -> list[str]:
        """All columns that it names."""
        named = [*self.item, *self.rater, *self.rating, *self.truth, *self.pair, *self.has]
        named += filter(None, (self.systems, self.one_of, self.repeats))
        named += [x for rows in (self.where, self.gold) if rows for x in list_columns(rows)]
        return [part for name in named for part in name.split("|")]


@cache
def list_presets() -> dict[str, Preset]:
    """List the tools whose files are known."""
    text = files("lehner.reading").joinpath("presets.toml").read_text(encoding="utf-8")
    presets = tomllib.loads(text)
    for row in presets.values():
        row |= {name: parse_condition(row[name]) for name in ("where", "gold") if name in row}
    return {tool: Preset(tool=tool, **row) for tool, row in presets.items()}


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
    if isinstance(content, Table):
        content = set(content)
    matching = (
        preset
        for preset in presets.values()
        if all(_has(get_root(content, preset), path) for path in preset.has)
    )
    return next(matching, None)


def get_root(content: Any, preset: Preset) -> Any:
    """Give the records of a file of a tool, in what a JSON file holds."""
    root = content
    for name in filter(None, preset.root.split(".")):
        root = root.get(name) if isinstance(root, dict) else None
    return content if root is None else root


def _has(content: Any, path: str) -> bool:
    """Tell whether there is something at a path, in one of the first records."""
    if isinstance(content, list):
        return any(_has(record, path) for record in content[:LOOKED_AT])
    if not isinstance(content, dict | set):
        return False
    if path in content or isinstance(content, set):
        return path in content
    first, _, rest = path.partition(".")
    return bool(rest) and first in content and _has(content[first], rest)


def parse_cells(table: Table, preset: Preset) -> list[dict[str, Any]]:
    """Make records of rows, some of whose cells hold JSON, as text or within a text."""
    columns: dict[str, list[Any]] = {name: table[name].texts.tolist() for name in table}
    for name in preset.parse:
        for row, text in enumerate(columns[name]):
            match = re.search(preset.within, text)
            try:
                inner = match[1].replace('"=>', '":') if match else ""
                columns[name][row] = json.loads(inner) if inner else None
            except ValueError:
                raise InputError(f"{text[:40]!r} is not JSON", "mend it", column=name) from None
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, values, strict=True)) for values in rows]


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
    reading = replace(reading, preset=preset.tool)
    if preset.says:
        table = table.note(f"the file is read as an export of {preset.tool}: {preset.says}")
    if reading.where is None:
        if preset.where:
            table = keep_rows(table, _find_columns(preset.where, table))
        criteria = [name for name in preset.one_of.split("|") if name in table]
        if criteria and len(table[criteria[0]].labels) > 1:
            _refuse_criteria(table, preset, criteria)
    parts = {role: getattr(preset, role) for role in ROLES if not getattr(reading, role)}
    if parts.get("truth") and not _find_names(table, parts["truth"][0]):
        del parts["truth"]
    columns = {role: _join(table, preset, names) for role, names in parts.items() if names}
    changes: dict[str, Any] = {role: role for role in columns}
    if "item" in columns and preset.repeats in table and len(table[preset.repeats].labels) > 1:
        columns["cluster"] = _coalesce(table, preset, preset.item[0])
        changes["cluster"] = reading.cluster or "cluster"
    if "rater" in columns:
        columns["rater"] = _write_plainly(columns["rater"])
    used = [x for role in columns for part in parts.get(role, ()) for x in part.split("|")]
    used += [column.name for column in columns.values()]
    table = table.without([x for x in used if "." not in x and x not in columns]).assign(columns)
    if preset.gold and "rating" in columns:
        table, changes = _split_gold(table, preset.gold, changes)
    if preset.systems in table:
        changes["system"] = table[preset.systems].labels
    if preset.number:
        table = table.assign({"rater": _number_again(table)})
    changes |= {name: getattr(preset, name) for name in OPTIONS}
    return table, reading.combine_first(Reading(**changes))


def _find_columns(condition: Condition, table: Table) -> Condition:
    """Put the columns that patterns stand for in place of the patterns of a condition."""

    def find_column(pattern: str) -> str:
        return next((name for name in table if fnmatchcase(name, pattern)), pattern)

    return rename_columns(condition, find_column)


def _refuse_criteria(table: Table, preset: Preset, names: Sequence[str]) -> None:
    """Raise an InputError that names the criteria, and proposes the most frequent."""
    column = table[names[0]]
    criterion = column.labels[int(np.argmax(np.bincount(column.codes[column.codes >= 0])))]
    condition = join_conditions("or", [Comparison(Name(x), "==", str(criterion)) for x in names])
    if preset.where:  # which a condition that is typed replaces
        condition = join_conditions("and", [condition, _find_columns(preset.where, table)])
    problem = f"there are ratings of several criteria: {list_few(column.labels, MOST_SHOWN)}"
    change = {"where": condition}
    remedy = compose("choose one ({})", change)
    raise InputError(problem, remedy, column=column.name, change=change)


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
        shown = list_few(names, MOST_SHOWN)
        name_rating = compose("say which is the rating ({rating})")
        remedy = name_rating if first in preset.rating else NAME_COLUMNS
        raise InputError(f"{preset.tool} has several columns {first}: {shown}", remedy)
    if below and (not names or alternatives in preset.rating):
        problem = f"{first} holds several values: {list_few(below, MOST_SHOWN)}"
        remedy = compose("say which is the rating ({})", change := {"rating": below[0]})
        raise InputError(problem, remedy, change=change)
    if not names:
        remedy = compose("{}, or say that it is no such file ({preset=none})", NAME_COLUMNS)
        raise InputError(f"this file of {preset.tool} has no {first}", remedy)
    names = exact or names
    values = table[names[-1]].values
    for column in (table[name] for name in reversed(names[:-1])):
        values = np.where(column.codes >= 0, column.values, values)
    return table[names[0]] if len(names) == 1 else encode(values, names[0])


def _join(table: Table, preset: Preset, parts: Sequence[str]) -> Column:
    """Join columns into one, without those that are the same in all rows but for the first."""
    first = _coalesce(table, preset, parts[0])
    columns = [_coalesce(table, preset, part) for part in parts[1:] if _find_names(table, part)]
    differing = [column for column in columns if len(column.labels) > 1]
    return join_columns([first, *differing], first.name) if differing else first


def _write_plainly(column: Column) -> Column:
    """Write names that are lists as texts: gpt-4 pair-v2."""
    if not any(str(label).startswith("[") for label in column.labels):
        return column
    names = [" ".join(map(str, list_of(label))) for label in column.labels]
    return encode(column.look_up(names, None), column.name)


def _split_gold(
    table: Table, condition: Condition, changes: dict[str, Any]
) -> tuple[Table, dict[str, Any]]:
    """Take some rows' ratings as gold labels; who gave these alone is no rater."""
    is_gold, rating = match_rows(table, condition), table["rating"]
    codes = {"rating": np.where(is_gold, -1, rating.codes)}
    if is_gold.any():
        codes["truth"] = np.where(is_gold, rating.codes, -1)
    columns = {x: Column(name=x, codes=codes[x], labels=rating.labels) for x in codes}
    rated = table["rater"].texts[codes["rating"] >= 0]
    truth = {role: role for role in codes if role == "truth"}
    return table.assign(columns), changes | truth | {"raters": tuple(dict.fromkeys(rated))}


def _number_again(table: Table) -> list[str]:
    """Number a rater's further ratings of an item."""
    frame = pd.DataFrame({name: table[name].texts for name in ("item", "rater")})
    again = frame.groupby(["item", "rater"]).cumcount()
    return [f"{x} {n + 1}" if n else x for x, n in zip(frame["rater"], again, strict=True)]
