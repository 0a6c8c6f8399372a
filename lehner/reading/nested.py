"""Nested files as tables: JSON and JSON Lines, flattened to dotted names and a row a record."""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lehner.core.errors import InputError
from lehner.core.text import counted, first_few
from lehner.data.columns import Table
from lehner.data.reading import Reading
from lehner.reading.presets import Preset

OUTER, INNER = "outer", "inner"
JSON_FORMS = (
    "give {item: {rater: rating}}, {rater: {item: rating}}, {item: rating}, {rater: [ratings]} or "
    'a list of records {"item": …, "rater": …, "rating": …}'
)
MOST_SHOWN = 5
MANY_RECORDS = 200


def load_json(data: bytes, *, lines: bool) -> Any:
    """Load a JSON file, or, if each line is a record, a list of what the lines hold."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("it is not UTF-8 text", "save the file as UTF-8") from None
    first = text.lstrip().split("\n", 1)[0]
    if lines or (_is_object(first) and len(first) < len(text.strip())):
        numbered = enumerate(text.split("\n"), start=1)
        return [_parse(line, number) for number, line in numbered if line.strip()]
    return _parse(text)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _parse(text: str, line: int | None = None) -> Any:
    """Parse a text, or a line of it; an error names the line."""
    try:
        content = json.loads(text, object_pairs_hook=_unique)
        json.dumps(content, ensure_ascii=False).encode()
    except InputError as error:
        error.row = line
        raise
    except json.JSONDecodeError as error:
        problem, remedy = f"it is not JSON ({error.msg})", "check that line"
        line = line or error.lineno
    except UnicodeEncodeError:
        problem, remedy = "it has half a character (a lone surrogate)", "save the file as UTF-8"
    except ValueError as error:  # a number of thousands of digits
        problem, remedy = f"it cannot be read ({error})", "give one label as a rating"
    except RecursionError:
        problem, remedy = "it is nested too deeply", JSON_FORMS
    else:
        return content
    raise InputError(problem, remedy, row=line)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique: dict[str, Any] = {}
    for name, value in pairs:
        if name in unique:
            raise InputError(f"the name {name!r} occurs twice in one object", "name each once")
        unique[name] = value
    return unique


def table_of_json(
    content: Any, preset: Preset | None, reading: Reading, name: str
) -> tuple[Table, Reading]:
    """Make a table of what a JSON file holds.

    A list of records is flattened: names are joined by dots, and each list of records within a
    record makes a row of each. Without records, `{rater: [ratings]}` has raters as columns;
    `{a: {b: label}}` is peerannot's `{item: {rater: label}}` or AltTest's `{rater: {item: label}}`,
    where the level with more names is assumed to be the items; `{item: label}` is one rater's.

    Parameters
    ----------
    content : object
    preset : Preset or None
    reading : Reading
        Whose item may be "outer" or "inner", the level that names items.
    name : str
        The name of the file, for one rater.

    Returns
    -------
    table : Table
    reading : Reading
        With the full names of columns that were named by their ends.

    References
    ----------
    https://peerannot.github.io (`answers.json`); https://github.com/nitaytech/AltTest (README)
    """
    if _is_records(content) and all(isinstance(record, dict) for record in content):
        return _flatten(content, preset, reading)
    if not isinstance(content, dict) or not content:
        is_list = isinstance(content, list)
        problem = "it is not a list of records" if is_list else "it holds no ratings"
        raise InputError(problem, JSON_FORMS)
    values = list(content.values())
    if preset is not None or any(map(_is_records, values)):
        return _flatten([content], preset, reading)
    if all(isinstance(value, list) for value in values):
        cells = [cell for value in values for cell in value]
        if len(set(map(len, values))) > 1 or any(isinstance(cell, dict | list) for cell in cells):
            raise InputError("its lists are not of equal length, or hold lists", JSON_FORMS)
        return Table(content), reading
    return _read_levels(content, reading, name)


def _read_levels(content: dict[str, Any], reading: Reading, name: str) -> tuple[Table, Reading]:
    """Read {item: rating}, or raters in items, or items in raters."""
    nested = [isinstance(value, dict) for value in content.values()]
    inner = {name for value in content.values() if isinstance(value, dict) for name in value}
    if any(nested) and not all(nested):
        problem = f"{list(content)[nested.index(False)]!r} has no ratings, as others have"
        raise InputError(problem, JSON_FORMS)
    if not any(nested):
        cells = [(item, name, label) for item, label in content.items()]
        note = f"the file is read as the ratings of one rater, {name}"
    else:
        remedy = "say which names stand for items: item='outer' or item='inner'"
        level = (*reading.item, OUTER if len(content) > len(inner) else INNER)[0]
        if level not in (OUTER, INNER):
            raise InputError(f"the items of a JSON file are not named by {level!r}", remedy)
        if not reading.item and len(content) == len(inner):
            n = len(inner)
            problem = f"there are {n} outer and as many inner names, and either may be the items"
            raise InputError(problem, remedy)
        cells = [(a, b, label) for a, values in content.items() for b, label in values.items()]
        cells = cells if level == OUTER else [(b, a, label) for a, b, label in cells]
        other = INNER if level == OUTER else OUTER
        note = f"{level} names of the JSON file are items, {other} ones raters"
        reading = replace(reading, item=())
    if not cells:
        raise InputError("it holds no ratings", JSON_FORMS)
    for item, rater, label in cells:
        if isinstance(label, dict | list):
            shown = json.dumps(label)[:40]
            raise InputError(f"the rating of {item} by {rater} is {shown}", "give one label")
    columns = zip(("item", "rater", "rating"), zip(*cells, strict=True), strict=True)
    return Table({name: list(values) for name, values in columns}, notes=[note]), reading


def _is_records(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(entry, dict) for entry in value)


@dataclass(kw_only=True)
class _Flattener:
    """Makes rows of nested records; lists of records that hold no needed column stay as they are.

    Parameters
    ----------
    maps : collection of str
        Paths of objects whose names are data: each becomes a record with its name as `key`.
    best : collection of str
        Paths of lists of [log likelihood, …], of which the number of the greatest is meant.
    needed : collection of str, optional
        The columns that are needed, by default all.
    """

    maps: Collection[str] = ()
    best: Collection[str] = ()
    needed: Collection[str] | None = None
    left: dict[str, None] = field(default_factory=dict)
    n_empty: int = 0

    def rows(self, record: dict[str, Any], prefix: str = "") -> Iterator[dict[str, Any]]:
        """Yield the rows of a record: one for each record in its lists, else one."""
        flat: dict[str, Any] = {}
        lists: list[tuple[str, list[Any]]] = []
        self._gather(record, prefix, flat, lists)
        if lists and not any(records for _, records in lists) and self.needed is not None:
            self.n_empty += 1
        elif not any(records for _, records in lists):
            yield flat
        for path, records in lists:
            for inner in records:
                for row in self.rows(inner, f"{path}."):
                    yield flat | row

    def _gather(
        self, record: dict[str, Any], prefix: str, flat: dict[str, Any], lists: list[Any]
    ) -> None:
        """Gather the values of a record by path, and its lists of records."""
        for name, value in record.items():
            path = f"{prefix}{name}"
            holds_needed = any(column.startswith(f"{path}.") for column in self.needed or ())
            if path in self.maps and isinstance(value, dict):
                value = [entry for key, inner in value.items() for entry in _entries(key, inner)]
            if isinstance(value, dict):
                self._gather(value, f"{path}.", flat, lists)
            elif _is_records(value) and (self.needed is None or holds_needed):
                lists.append((path, [entry for entry in value if isinstance(entry, dict)]))
            elif _is_records(value):
                self.left[path] = None
            elif value == [] and (holds_needed or path in self.maps):
                lists.append((path, []))
            else:
                flat[path] = _number_of_best(value) if path in self.best else _label(value)


def _flatten(
    records: Sequence[Any], preset: Preset | None, reading: Reading
) -> tuple[Table, Reading]:
    """Flatten records; columns that are named by their end, as `correct`, get their full names."""
    maps, best = (preset.maps, preset.best) if preset else ((), ())
    flattener = _Flattener(maps=maps, best=best)
    few = records[:MANY_RECORDS]
    paths = dict.fromkeys(path for record in few for row in flattener.rows(record) for path in row)

    def complete(name: str | None) -> str | None:
        ending = [path for path in paths if path.endswith(f".{name}")]
        return ending[0] if name not in paths and len(ending) == 1 else name

    names = ("rater", "rating", "truth", "cluster", "order", "occasion", "truth_probability")
    changes: dict[str, Any] = {name: complete(getattr(reading, name)) for name in names}
    reading = replace(reading, item=tuple(str(complete(name)) for name in reading.item), **changes)
    if preset or reading.rating:
        needed = [*reading.item, *filter(None, (reading.rater, reading.rating))]
        flattener = _Flattener(
            maps=maps, best=best, needed=[*needed, *(preset.columns if preset else ())]
        )
    rows = [row for record in records for row in flattener.rows(record)]
    notes = []
    if flattener.left:
        notes.append(f"lists of records that are not read: {first_few(flattener.left, MOST_SHOWN)}")
    if flattener.n_empty:
        notes.append(f"{counted(flattener.n_empty, 'record')} with an empty list left out")
    names_of_columns = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names_of_columns}
    return Table(columns, notes=notes), reading


def _entries(key: str, inner: Any) -> list[dict[str, Any]]:
    """Make records of what stands under a name that is data."""
    entries = inner if _is_records(inner) else [inner]
    return [{"key": key, **(one if isinstance(one, dict) else {"value": one})} for one in entries]


def _label(value: Any) -> Any:
    """Give the label of a list of one; a longer list as text."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False) if value else None
    return value


def _number_of_best(responses: Any) -> Any:
    """Give the number of the most probable choice, or the text of a response."""
    if not isinstance(responses, list):
        return responses
    numbers = [one[0] for one in responses if isinstance(one, list) and len(one) == 2]
    if len(numbers) < len(responses) or not all(isinstance(n, int | float) for n in numbers):
        return _label(responses[:1])
    if len(numbers) < 2:
        raise InputError("a likelihood of one choice is no answer", "give choices or texts")
    return str(numbers.index(max(numbers)))
