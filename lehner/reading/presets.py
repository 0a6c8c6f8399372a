"""What the columns of a tool's file mean: a preset is a row of `presets.toml`, and no code."""

import re
import tomllib
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from lehner.core.errors import InputError, find
from lehner.core.text import first_few
from lehner.data.checks.labels import list_of
from lehner.data.columns import Column, Table, encode, join_columns
from lehner.data.reading import Reading
from lehner.reading.rows import keep_rows, query

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
    truth: str | None = None
    maps: list[str] = field(default_factory=list)
    best: list[str] = field(default_factory=list)
    parse: list[str] = field(default_factory=list)
    pair: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    cut: list[float] = field(default_factory=list)
    where: str | None = None
    gold: str | None = None
    systems: str | None = None
    repeats: str | None = None
    one_of: str | None = None
    number: bool = False

    @property
    def columns(self) -> list[str]:
        """All columns that it names."""
        named = [*self.item, *self.rater, *self.rating, *self.pair, *self.has]
        named += [one for one in (self.truth, self.systems, self.one_of, self.repeats) if one]
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
    known = (one for one in presets.values() if all(_has(content, path) for path in one.has))
    return next(known, None)


def _has(content: Any, path: str) -> bool:
    """Whether there is something at a path, in one of the first records."""
    if isinstance(content, list):
        return any(_has(one, path) for one in content[:LOOKED_AT])
    if not isinstance(content, dict | Table):
        return False
    if path in content:
        return True
    if isinstance(content, Table):
        return any(fnmatchcase(name, path) for name in content) if "*" in path else False
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
        table = table.having({}, f"the file is read as an export of {preset.tool}: {preset.says}")
    if preset.where is not None and reading.where is None:
        table = keep_rows(table, preset.where)
    if preset.one_of is not None and preset.one_of in table and reading.where is None:
        _refuse_criteria(table[preset.one_of])
    made: dict[str, Any] = {}
    changes: dict[str, Any] = {}
    if preset.rating and reading.rating is None:
        made["rating"], changes["rating"] = _coalesce(table, preset.rating[0], preset), "rating"
    if preset.item and not reading.item:
        made["item"], changes["item"] = _join(table, preset.item, preset), ("item",)
        if preset.repeats in table and len(table[str(preset.repeats)].labels) > 1:
            made["cluster"] = _coalesce(table, preset.item[0], preset)
            changes["cluster"] = reading.cluster or "cluster"
    if preset.rater and reading.rater is None:
        made["rater"], changes["rater"] = _plain(_join(table, preset.rater, preset)), "rater"
    if preset.truth is not None and reading.truth is None and _names(table, preset.truth):
        made["truth"], changes["truth"] = _coalesce(table, preset.truth, preset), "truth"
    names = {"item": preset.item, "rater": preset.rater, "rating": preset.rating}
    changes |= {name: getattr(preset, name) for name in ("labels", "missing", "cut", "pair")}
    changes = {name: value for name, value in changes.items() if value}
    used = [
        one for role in names for name in names[role] if role in made for one in name.split("|")
    ]
    table = table.without([name for name in used if "." not in name and name not in made])
    table = table.having(made)
    if preset.gold is not None and "rating" in made:
        known = query(table, preset.gold)
        rating, blank = made["rating"], np.where(known, -1, made["rating"].raw_codes)
        truth = np.where(known, rating.raw_codes, -1)
        table = table.having(
            {
                "rating": replace(rating, raw_codes=blank, name="rating"),
                "truth": replace(rating, raw_codes=truth, name="truth"),
            }
        )
        if known.any():
            changes["truth"] = "truth"
        # The raters of gold labels alone are no raters.
        changes["raters"] = tuple(dict.fromkeys(table["rater"].texts[~known & (blank >= 0)]))
    if preset.systems in table and not reading.system:
        changes["system"] = tuple(map(str, table[str(preset.systems)].labels))
    if preset.number:
        table = table.having({"rater": _number(table)})
    return table, reading.over(Reading(**changes))


def _refuse_criteria(column: Column) -> None:
    if len(column.labels) > 1:
        first = f"`{column.name}`" if not column.name.isidentifier() else column.name
        raise InputError(
            f"there are ratings of several criteria: {first_few(column.labels, MOST_SHOWN)}",
            f'choose one (where="{first} == {str(column.labels[0])!r}")',
            column=column.name,
            change={"where": f"{first} == {str(column.labels[0])!r}"},
        )


def _names(table: Table, pattern: str) -> list[str]:
    """Columns that a name or pattern stands for, but for those that are blank."""
    fitting = (
        [name for name in table if fnmatchcase(name, pattern)] if "*" in pattern else [pattern]
    )
    return [name for name in fitting if name in table and len(table[name].labels)]


def _coalesce(table: Table, alternatives: str, preset: Preset) -> Column:
    """Give the first of some columns that is not blank in each row."""
    names = []
    for pattern in alternatives.split("|"):
        fitting = _names(table, pattern)
        if len(fitting) > 1:
            raise InputError(
                f"{preset.tool} has several columns {pattern}: {first_few(fitting, MOST_SHOWN)}",
                "say which holds the ratings (rating=…) or names the items (item=…)",
            )
        names += fitting
    below = [name for name in table if name.startswith(f"{alternatives.split('|')[0]}.")]
    if not names or alternatives in preset.rating:
        if below:
            raise InputError(
                f"{alternatives.split('|')[0]} holds several values: "
                f"{first_few(below, MOST_SHOWN)}",
                f"say which is the rating (rating={below[0]!r})",
                change={"rating": below[0]},
            )
    if not names:
        raise InputError(
            f"this file of {preset.tool} has no {alternatives.split('|')[0]}",
            "name the columns (item=…, rater=…, rating=…), or say that it is no such file "
            "(preset='none')",
        )
    first = table[names[0]]
    if len(names) == 1:
        return first
    values = np.full(table.n_rows, None, dtype=object)
    for name in reversed(names):
        column = table[name]
        filled = column.codes >= 0
        labels = np.array([*column.labels, None], dtype=object)[column.codes]
        values[filled] = labels[filled]
    return encode(values, names[0])


def _plain(column: Column) -> Column:
    """Write names that are lists as texts: gpt-4 pair-v2."""
    if not any(str(label).startswith("[") for label in column.labels):
        return column
    names = [" ".join(map(str, list_of(label))) for label in column.labels]
    return encode(np.array([*names, None], dtype=object)[column.codes], column.name)


def _join(table: Table, parts: list[str], preset: Preset) -> Column:
    """Join columns into one, without those that are the same in all rows but for the first."""
    first, *others = [
        _coalesce(table, part, preset)
        for number, part in enumerate(parts)
        if number == 0 or any(_names(table, one) for one in part.split("|"))
    ]
    differing = [one for one in others if len(one.labels) > 1]
    return join_columns([first, *differing]) if differing else first


def _number(table: Table) -> list[str | None]:
    """Number a rater's further ratings of an item."""
    import pandas as pd

    frame = pd.DataFrame({name: table[name].texts for name in ("item", "rater")})
    again = frame.groupby(["item", "rater"]).cumcount()
    return [
        f"{rater} {n + 1}" if n else rater for rater, n in zip(frame["rater"], again, strict=True)
    ]
