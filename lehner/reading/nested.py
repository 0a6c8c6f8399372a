"""Nested files as tables: JSON and JSON Lines, flattened to dotted names and a row a record."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
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


def load_json(path: Path, *, lines: bool) -> Any:
    """Load a JSON file, or, if each line is a record, a list of what the lines hold."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("it is not UTF-8 text", "save the file as UTF-8", file=path) from None
    first = text.lstrip().split("\n", 1)[0]
    if lines or (_is_object(first) and len(first) < len(text.strip())):
        numbered = enumerate(text.split("\n"), start=1)
        return [_parse(line, path, number) for number, line in numbered if line.strip()]
    return _parse(text, path)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _parse(text: str, path: Path, line: int | None = None) -> Any:
    """Parse a text, or a line of it; an error names the line."""
    try:
        content = json.loads(text, object_pairs_hook=_unique)
        json.dumps(content, ensure_ascii=False).encode()
    except InputError as error:
        problem, remedy = error.problem, error.remedy
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
    raise InputError(problem, remedy, file=path, row=line)


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
    if isinstance(content, list) and content and all(isinstance(one, dict) for one in content):
        return _flatten(content, preset, reading)
    if not isinstance(content, dict) or not content:
        is_list = isinstance(content, list)
        problem = "it is not a list of records" if is_list else "it holds no ratings"
        raise InputError(problem, JSON_FORMS)
    values = list(content.values())
    if preset is not None or any(_is_records(value) for value in values):
        return _flatten([content], preset, reading)
    if all(isinstance(value, list) for value in values):
        if len({len(value) for value in values}) > 1 or any(
            isinstance(one, dict | list) for value in values for one in value
        ):
            raise InputError("its lists are not of equal length, or hold lists", JSON_FORMS)
        return Table(content), reading
    return _by_level(content, reading, name)


def _by_level(content: dict[str, Any], reading: Reading, name: str) -> tuple[Table, Reading]:
    nested = [isinstance(value, dict) for value in content.values()]
    if not any(nested):
        rows = [(item, name, label) for item, label in content.items()]
        return _long(rows, f"the file is read as the ratings of one rater, {name}"), reading
    if not all(nested):
        odd = list(content)[nested.index(False)]
        raise InputError(f"{odd!r} has no ratings, as others have", JSON_FORMS)
    n_inner = len({name for values in content.values() for name in values})
    level = (*reading.item, *([OUTER] if len(content) > n_inner else [INNER]))[0]
    if level not in (OUTER, INNER):
        remedy = "say which names stand for items: item='outer' or item='inner'"
        raise InputError(f"the items of a JSON file are not named by {level!r}", remedy)
    if not reading.item and len(content) == n_inner:
        raise InputError(
            f"there are {n_inner} outer and as many inner names, and either may be the items",
            "say which: item='outer' or item='inner'",
        )
    cells = [(a, b, value) for a, values in content.items() for b, value in values.items()]
    rows = cells if level == OUTER else [(b, a, value) for a, b, value in cells]
    other = INNER if level == OUTER else OUTER
    note = f"{level} names of the JSON file are items, {other} ones raters"
    without = {key: value for key, value in reading.given().items() if key != "item"}
    return _long(rows, note), Reading(**without)


def _long(rows: list[tuple[str, str, Any]], note: str) -> Table:
    if not rows:
        raise InputError("it holds no ratings", JSON_FORMS)
    for item, rater, value in rows:
        if isinstance(value, dict | list):
            shown = json.dumps(value)[:40]
            raise InputError(f"the rating of {item} by {rater} is {shown}", "give one label")
    columns = zip(("item", "rater", "rating"), zip(*rows, strict=True), strict=True)
    return Table({name: list(values) for name, values in columns}, notes=[note])


def _is_records(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict) for one in value)


def _flatten(
    records: Sequence[Any], preset: Preset | None, reading: Reading
) -> tuple[Table, Reading]:
    """Flatten records; lists of records that no named column is in stay as they are."""
    maps, best = (preset.maps, preset.best) if preset else ([], [])
    flat = Flattener(maps=maps, best=best)
    reading = flat.complete_names(records, reading)
    given = [*reading.item, *(one for one in (reading.rater, reading.rating) if one)]
    if preset is not None:
        given += preset.columns
    flat.needed = given if preset or reading.rating else None
    rows = [row for record in records for row in flat.rows(record)]
    names = dict.fromkeys(name for row in rows for name in row)
    notes = []
    if flat.left:
        left = first_few(dict.fromkeys(flat.left), MOST_SHOWN)
        notes.append(f"lists of records that are not read: {left}")
    if flat.n_empty:
        notes.append(f"{counted(flat.n_empty, 'record')} with an empty list left out")
    return Table({name: [row.get(name) for row in rows] for name in names}, notes=notes), reading


class Flattener:
    """Makes rows of nested records.

    Parameters
    ----------
    maps : sequence of str
        Paths of objects whose names are data: each becomes a record with its name as `key`.
    best : sequence of str
        Paths of lists of [log likelihood, …], of which the number of the greatest is meant.
    needed : sequence of str or None
        Columns that are needed: other lists of records make no rows. None for all.
    """

    def __init__(self, *, maps: Sequence[str] = (), best: Sequence[str] = ()) -> None:
        self.maps, self.best = maps, best
        self.needed: Sequence[str] | None = None
        self.left: dict[str, None] = {}
        self.n_empty = 0

    def rows(self, record: dict[str, Any], prefix: str = "") -> Iterator[dict[str, Any]]:
        """Yield the rows of a record: one for each record in its lists, else one."""
        flat: dict[str, Any] = {}
        lists: list[tuple[str, list[Any]]] = []
        self._gather(record, prefix, flat, lists)
        if not any(values for _, values in lists):
            if lists and self.needed is not None:
                self.n_empty += 1
            else:
                yield flat
        for path, values in lists:
            for value in values:
                for row in self.rows(value, f"{path}."):
                    yield flat | row

    def _gather(self, record: Any, prefix: str, flat: dict[str, Any], lists: list[Any]) -> None:
        for name, value in record.items():
            path = f"{prefix}{name}"
            if path in self.maps and isinstance(value, dict):
                value = [one for key, inner in value.items() for one in _entries(key, inner)]
            if isinstance(value, dict):
                self._gather(value, f"{path}.", flat, lists)
            elif _is_records(value) or (path in self.maps and isinstance(value, list)):
                records = [one for one in value if isinstance(one, dict)]
                needed = self.needed
                if needed is None or any(one.startswith(f"{path}.") for one in needed):
                    lists.append((path, records))
                else:
                    self.left[path] = None
            elif value == [] and any(one.startswith(f"{path}.") for one in self.needed or ()):
                lists.append((path, []))
            elif path in self.best:
                flat[path] = _best(value)
            else:
                flat[path] = _label(value)

    def complete_names(self, records: Sequence[Any], reading: Reading) -> Reading:
        """Give columns that are named by their end, as `correct`, their full names."""
        paths = dict.fromkeys(
            path for record in records[:MANY_RECORDS] for row in self.rows(record) for path in row
        )
        self.left.clear()
        self.n_empty = 0

        def full(name: str | None) -> str | None:
            ending = [path for path in paths if path.endswith(f".{name}")]
            return ending[0] if name not in paths and len(ending) == 1 else name

        names = ("rater", "rating", "truth", "cluster", "order", "occasion", "truth_probability")
        changes: dict[str, Any] = {name: full(getattr(reading, name)) for name in names}
        changes["item"] = tuple(str(full(name)) for name in reading.item)
        return Reading(**(reading.given() | {k: v for k, v in changes.items() if v}))


MANY_RECORDS = 200


def _entries(key: str, inner: Any) -> list[dict[str, Any]]:
    """Make records of what stands under a name that is data."""
    values = inner if _is_records(inner) else [inner]
    return [{"key": key, **(one if isinstance(one, dict) else {"value": one})} for one in values]


def _label(value: Any) -> Any:
    """Give the label of a list of one; a longer list as text."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False) if value else None
    return value


def _best(responses: Any) -> Any:
    """Give the number of the most probable choice, or the text of a response."""
    if not isinstance(responses, list):
        return responses
    if all(isinstance(one, list) and len(one) == 2 for one in responses):
        numbers = [one[0] for one in responses]
        if all(isinstance(number, int | float) for number in numbers):
            if len(numbers) < 2:
                raise InputError("a likelihood of one choice is no answer", "give choices or texts")
            return str(numbers.index(max(numbers)))
    return _label(responses[:1])
