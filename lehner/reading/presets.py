"""Presets: what the columns of a tool's files mean, each a row of `presets.toml` and no code."""

import json
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
from lehner.data.reading import Reading, list_columns, rename_columns
from lehner.reading.rows import explode_lists, join_ticks, keep_rows, match_rows, refuse_criteria

ROLES = ("item", "rater", "rating", "truth")
# Fields of a preset that are options of reading as they stand.
OPTIONS = ("labels", "cut", "pair", "raters", "leave_out", "items")
MOST_SHOWN, LOOKED_AT = 8, 50


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
    number: bool = False

    @property
    def columns(self) -> list[str]:
        """All columns that it names."""
        named = [*self.has, *self.options.get("pair", ()), self.systems, self.one_of, self.repeats]
        named += [part for parts in self.roles.values() for part in parts]
        for condition in filter(None, (self.where, self.gold)):
            named += list_columns(condition)
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
        return any(_has(record, path) for record in content[:LOOKED_AT])
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
            raise InputError(
                f"its cells are not JSON ({error})", "mend them", column=name
            ) from None
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
        where = rename_columns(where, lambda name: (*_find_names(table, name), name)[0])
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
    if preset.number:
        table = table.assign({"rater": _number_again(table)})
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
        remedy = compose("say which is the rating ({})", change := {"rating": below[0]})
        raise InputError(problem, remedy, change=change)
    if not names:
        ways = compose("name the columns ({item}, {rater}, {rating}), or none ({preset=none})")
        raise InputError(f"this file of {preset.tool} has no {first}", ways)
    names = exact or names
    values = pd.DataFrame({name: table[name].values for name in names})
    return table[names[0]] if len(names) == 1 else encode(values.bfill(axis=1).iloc[:, 0], names[0])


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
    is_gold, rating = match_rows(table, condition), table["rating"]
    rated = table["rater"].texts[~is_gold & (rating.codes >= 0)]
    columns = {"rating": replace(rating, codes=np.where(is_gold, -1, rating.codes))}
    if is_gold.any():
        columns["truth"] = replace(rating, codes=np.where(is_gold, rating.codes, -1))
        changes = changes | {"truth": "truth"}
    return table.assign(columns), changes | {"raters": tuple(dict.fromkeys(rated))}


def _number_again(table: Table) -> list[str]:
    """Number a rater's further ratings of an item."""
    frame = pd.DataFrame({name: table[name].texts for name in ("item", "rater")})
    again = frame.groupby(["item", "rater"]).cumcount()
    return [f"{x} {n + 1}" if n else x for x, n in zip(frame["rater"], again, strict=True)]
