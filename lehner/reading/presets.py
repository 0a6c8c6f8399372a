"""Rows and columns as they are meant: conditions, parts of texts, and presets of tools.

A preset, which says what the columns of a tool's file mean, is a row of `presets.toml`, no code.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from lehner.core.arrays import Booleans
from lehner.core.errors import InputError, find
from lehner.core.lazy import pd
from lehner.core.text import counted, first_few
from lehner.data.checks import list_of
from lehner.data.columns import (
    Column,
    Table,
    encode,
    join_columns,
    refuse_first,
    require_columns,
)
from lehner.data.reading import Reading

ROLES = ("item", "rater", "rating", "truth")
OPTIONS = ("labels", "missing", "cut", "pair")
"""Fields of a preset that are options of reading as they stand."""
NAME_COLUMNS = "name the columns (item=…, rater=…, rating=…)"
MOST_SHOWN = 8
LOOKED_AT = 50
TASK = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT")
"""The name of a file of samples of lm-evaluation-harness."""


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
    maps: list[str] = field(default_factory=list)
    best: list[str] = field(default_factory=list)
    parse: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    cut: list[float] = field(default_factory=list)
    where: str = ""
    gold: str = ""
    systems: str = ""
    repeats: str = ""
    one_of: str = ""
    number: bool = False

    @property
    def columns(self) -> list[str]:
        """All columns that it names."""
        named = [*self.item, *self.rater, *self.rating, *self.truth, *self.pair, *self.has]
        named += filter(None, (self.systems, self.one_of, self.repeats))
        named += re.findall("`([^`]+)`", f"{self.where} {self.gold}")
        return [part for one in named for part in one.split("|")]


@cache
def list_presets() -> dict[str, Preset]:
    """List the tools whose files are known."""
    text = files("lehner.reading").joinpath("presets.toml").read_text(encoding="utf-8")
    return {tool: Preset(tool=tool, **row) for tool, row in tomllib.loads(text).items()}


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
    fitting = (one for one in presets.values() if all(_has(content, path) for path in one.has))
    return next(fitting, None)


def _has(content: Any, path: str) -> bool:
    """Whether there is something at a path, in one of the first records."""
    if isinstance(content, list):
        return any(_has(one, path) for one in content[:LOOKED_AT])
    if not isinstance(content, dict | set):
        return False
    if path in content or isinstance(content, set):
        return path in content
    first, _, rest = path.partition(".")
    return bool(rest) and first in content and _has(content[first], rest)


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
    if reading.where is None:
        if preset.where:
            table = keep_rows(table, preset.where)
        if preset.one_of in table:
            _refuse_criteria(table[preset.one_of])
    parts = {role: getattr(preset, role) for role in ROLES if not getattr(reading, role)}
    if parts.get("truth") and not _find_names(table, parts["truth"][0]):
        del parts["truth"]
    made = {role: _join(table, preset, names) for role, names in parts.items() if names}
    changes: dict[str, Any] = {role: role for role in made}
    if "item" in made and preset.repeats in table and len(table[preset.repeats].labels) > 1:
        made["cluster"] = _coalesce(table, preset, preset.item[0])
        changes["cluster"] = reading.cluster or "cluster"
    if "rater" in made:
        made["rater"] = _plain(made["rater"])
    used = [x for role in made for part in parts.get(role, ()) for x in part.split("|")]
    table = table.without([x for x in used if "." not in x and x not in made]).having(made)
    if preset.gold and "rating" in made:
        table, changes = _split_gold(table, preset.gold, changes)
    if preset.systems in table:
        changes["system"] = table[preset.systems].labels
    if preset.number:
        table = table.having({"rater": _number(table)})
    changes |= {name: getattr(preset, name) for name in OPTIONS}
    return table, reading.over(Reading(**changes))


def _refuse_criteria(column: Column) -> None:
    if len(column.labels) > 1:
        name = column.name if column.name.isidentifier() else f"`{column.name}`"
        condition = f"{name} == {str(column.labels[0])!r}"
        raise InputError(
            f"there are ratings of several criteria: {first_few(column.labels, MOST_SHOWN)}",
            f'choose one (where="{condition}")',
            column=column.name,
            change={"where": condition},
        )


def _find_names(table: Table, alternatives: str) -> list[str]:
    """Columns that names or patterns stand for, but for those that are blank."""
    fitting = [x for part in alternatives.split("|") for x in table if fnmatchcase(x, part)]
    return [name for name in fitting if len(table[name].labels)]


def _coalesce(table: Table, preset: Preset, alternatives: str) -> Column:
    """Give the first of some columns that is not blank in each row."""
    first, names = alternatives.split("|")[0], _find_names(table, alternatives)
    below = [name for name in table if name.startswith(f"{first}.")]
    exact = [name for name in names if name in alternatives.split("|")]
    if len(names) > 1 and not exact:
        shown = first_few(names, MOST_SHOWN)
        raise InputError(f"{preset.tool} has several columns {first}: {shown}", NAME_COLUMNS)
    if below and (not names or alternatives in preset.rating):
        raise InputError(
            f"{first} holds several values: {first_few(below, MOST_SHOWN)}",
            f"say which is the rating (rating={below[0]!r})",
            change={"rating": below[0]},
        )
    if not names:
        remedy = f"{NAME_COLUMNS}, or say that it is no such file (preset='none')"
        raise InputError(f"this file of {preset.tool} has no {first}", remedy)
    names = exact or names
    values = table[names[-1]].values
    for column in (table[name] for name in reversed(names[:-1])):
        values = np.where(column.codes >= 0, column.values, values)
    return table[names[0]] if len(names) == 1 else encode(values, names[0])


def _join(table: Table, preset: Preset, parts: Sequence[str]) -> Column:
    """Join columns into one, without those that are the same in all rows but for the first."""
    first = _coalesce(table, preset, parts[0])
    others = [_coalesce(table, preset, part) for part in parts[1:] if _find_names(table, part)]
    differing = [column for column in others if len(column.labels) > 1]
    return join_columns([first, *differing], first.name) if differing else first


def _plain(column: Column) -> Column:
    """Write names that are lists as texts: gpt-4 pair-v2."""
    if not any(str(label).startswith("[") for label in column.labels):
        return column
    names = [" ".join(map(str, list_of(label))) for label in column.labels]
    return encode(column.lookup(names, None), column.name)


def _split_gold(
    table: Table, condition: str, changes: dict[str, Any]
) -> tuple[Table, dict[str, Any]]:
    """Take some rows' ratings as gold labels; who gave these alone is no rater."""
    is_gold, rating = query(table, condition), table["rating"]
    codes = {"rating": np.where(is_gold, -1, rating.codes)}
    codes["truth"] = np.where(is_gold, rating.codes, -1)
    columns = {x: Column(name=x, codes=codes[x], labels=rating.labels) for x in codes}
    rated = table["rater"].texts[codes["rating"] >= 0]
    truth = {"truth": "truth"} if is_gold.any() else {}
    return table.having(columns), changes | truth | {"raters": tuple(dict.fromkeys(rated))}


def _number(table: Table) -> list[str]:
    """Number a rater's further ratings of an item."""
    frame = pd.DataFrame({name: table[name].texts for name in ("item", "rater")})
    again = frame.groupby(["item", "rater"]).cumcount()
    return [f"{x} {n + 1}" if n else x for x, n in zip(frame["rater"], again, strict=True)]


def query(table: Table, condition: str) -> Booleans:
    """Find the rows for which a condition holds."""
    named = {name: _typed(table[name]) for name in table if name in condition}
    frame = pd.DataFrame(named, index=range(table.n_rows))
    try:
        fulfilled = frame.eval(condition, engine="python", local_dict={}, global_dict={})
        return np.asarray(pd.Series(fulfilled, index=frame.index).fillna(False), dtype=bool)
    except Exception as error:  # whatever pandas raises for what is typed
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(
            f"the condition {condition!r} cannot be read ({reason})",
            f"give one such as \"column == 'value'\", with names such as `a b` in backticks; the "
            f"columns are {first_few(table, 8)}",
        ) from None


def _typed(column: Column) -> Any:
    """Values of a column as numbers or booleans if all are, else as text."""
    if set(column.labels) <= {"True", "False"}:
        return column.lookup([label == "True" for label in column.labels], None)
    values = pd.Series(column.values)
    numbers = pd.to_numeric(values, errors="coerce")
    if (numbers.isna() == values.isna()).all():
        return numbers
    return values.astype("str").where(values.notna())


def keep_rows(table: Table, condition: str) -> Table:
    """Keep the rows for which a condition holds, and say how many these are."""
    kept = np.flatnonzero(query(table, condition))
    if not len(kept):
        raise InputError(f"no row fulfils the condition {condition!r}", "give another (where=…)")
    if len(kept) == table.n_rows:
        return table
    rows = counted(table.n_rows, "row")
    return table.take(kept).note(f"{len(kept)} of {rows} are read, where {condition}")


def split_column(table: Table, pattern: str) -> Table:
    """Make columns of the named groups of a regular expression that fits the text of a column."""
    name, _, expression = pattern.partition("=")
    require_columns(table, [name])
    try:
        compiled = re.compile(expression)
    except re.error as error:
        raise InputError(f"split is {pattern!r} ({error})", "give a regular expression") from None
    if not compiled.groupindex:
        remedy = 'name its groups, as in "id=(?P<item>.+)--(?P<rater>.+)"'
        raise InputError(f"split is {pattern!r}", remedy)
    column = table[name]
    matches = [compiled.fullmatch(str(label)) for label in column.labels]
    bad = column.lookup([match is None for match in matches], False)
    refuse_first(bad, column, f"{{value}} is not like {expression!r}", "mend the pattern (split=…)")
    groups = {
        group: encode(column.lookup([match[group] for match in matches if match], None), group)
        for group in compiled.groupindex
    }
    return table.without([name]).having(groups)
