"""Nested files as tables: JSON and JSON Lines, flattened to dotted names and a row a record."""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import zip_longest
from typing import Any
from xml.etree import ElementTree

import numpy as np

from lehner.core.errors import InputError, compose
from lehner.core.text import list_few, pluralise
from lehner.data.columns import Table, make_table, number_or_nan
from lehner.data.reading import Reading
from lehner.reading.presets import Preset, get_root

OUTER, INNER = "outer", "inner"
# The column with the place of a record in its list, which may be all that names a rater.
POSITION = "position"
JSON_FORMS = (
    "give {item: {rater: rating}}, {rater: {item: rating}}, {item: rating}, {rater: [ratings]} or "
    'a list of records {"item": …, "rater": …, "rating": …}'
)
# So many records are looked at for the full names of columns.
MANY_RECORDS = 200
NAMED_BY_END = ("rater", "rating", "truth", "cluster", "order", "occasion", "truth_probability")


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
        return content
    except InputError as error:
        error.row = line
        raise
    except RecursionError:
        raise InputError("it is nested too deeply", JSON_FORMS, row=line) from None
    except ValueError as error:  # no JSON, a number of thousands of digits, half a character
        reason = getattr(error, "msg", None) or str(error)
        line = line or getattr(error, "lineno", None)
        remedy = "check that line, and save the file as UTF-8"
        raise InputError(f"it is not JSON ({reason[:200]})", remedy, row=line) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        names = [name for name, _ in pairs]
        name = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the name {name!r} occurs twice in one object", "name each once")
    return unique


def table_of_json(
    content: Any, preset: Preset | None, reading: Reading, name: str
) -> tuple[Table, Reading]:
    """Make a table of what a JSON file holds.

    A list of records is flattened: names are joined by dots, and each list of records within a
    record makes a row of each. Without records, `{rater: [ratings]}` or `{item: [ratings]}` has
    lists, of which the shorter are those of items;
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
    if preset is not None:
        content = get_root(content, preset)
    if _is_records(content) and all(isinstance(record, dict) for record in content):
        return _flatten(content, preset, reading)
    if not isinstance(content, dict) or not content:
        is_list = isinstance(content, list)
        problem = "it is not a list of records" if is_list else "it holds no ratings"
        raise InputError(problem, JSON_FORMS)
    values = list(content.values())
    if preset is None and len(values) > 1 and all(map(_is_records, values)):
        if len({tuple(records[0]) for records in values}) == 1:
            rows = [{"rater": key} | row for key, records in content.items() for row in records]
            return _flatten(rows, preset, reading)
    if preset is not None or any(map(_is_records, values)):
        return _flatten([content], preset, reading)
    if all(isinstance(value, list) for value in values):
        n_places = max(map(len, values))
        level = OUTER if len(content) > n_places else INNER
        if level == INNER and len(set(map(len, values))) > 1:
            raise InputError("its lists are not of equal length", JSON_FORMS)
        content = {key: dict(enumerate(value, 1)) for key, value in content.items()}
        reading = replace(reading, item=reading.item or (level,))
        return _read_levels(content, reading, name)
    if all(isinstance(value, dict) and any(map(_is_records, value.values())) for value in values):
        return _flatten([{"key": key} | value for key, value in content.items()], preset, reading)
    return _read_levels(content, reading, name)


def _read_levels(content: dict[str, Any], reading: Reading, name: str) -> tuple[Table, Reading]:
    """Read {item: rating}, or raters in items, or items in raters."""
    is_object = {key: isinstance(value, dict) for key, value in content.items()}
    if not any(is_object.values()):
        content, is_items = {name: content}, False
        note = f"the file is read as the ratings of one rater, {name}"
    elif not all(is_object.values()):
        key = next(key for key in content if not is_object[key])
        raise InputError(f"{key!r} has no ratings, as others have", JSON_FORMS)
    else:
        n_inner = len({key for values in content.values() for key in values})
        remedy = compose("say which names stand for items: {item=outer} or {item=inner}")
        level = (*reading.item, OUTER if len(content) > n_inner else INNER)[0]
        if level not in (OUTER, INNER):
            raise InputError(f"the items of a JSON file are not named by {level!r}", remedy)
        if not reading.item and len(content) == n_inner:
            problem = f"there are {n_inner} outer and as many inner names"
            raise InputError(f"{problem}, and either may be the items", remedy)
        is_items, other = level == OUTER, INNER if level == OUTER else OUTER
        note = f"{level} names of the JSON file are items, {other} ones raters"
        reading = replace(reading, item=())
    cells = [(a, b, label) for a, values in content.items() for b, label in values.items()]
    if not cells:
        raise InputError("it holds no ratings", JSON_FORMS)
    cells = cells if is_items else [(b, a, label) for a, b, label in cells]
    for item, rater, label in cells:
        if isinstance(label, dict | list):
            shown = json.dumps(label)[:40]
            raise InputError(f"the rating of {item} by {rater} is {shown}", "give one label")
    columns = dict(zip(("item", "rater", "rating"), zip(*cells, strict=True), strict=True))
    return make_table(columns, notes=(note,)), reading


def read_tags(data: bytes) -> Table:
    """Read the tags of images in an XML file of CVAT; several tags of an image are a list."""
    try:
        images = list(ElementTree.fromstring(data).iter("image"))
    except ElementTree.ParseError as error:
        raise InputError(f"it is no XML ({error})", "export it again") from None
    tags = [[tag.get("label") for tag in image.iter("tag")] for image in images]
    if not any(tags):
        raise InputError("it has shapes, and no tags of images", "annotate images by tags")
    return make_table({"image": [x.get("name") for x in images], "label": list(map(_label, tags))})


def read_tokens(data: bytes) -> Table:
    """Read the labels of tokens in a TSV file of WebAnno or INCEpTION, of which each is a row."""
    lines = data.decode("utf-8-sig").splitlines()
    layers = [line.partition("=")[2].split("|") for line in lines if re.match("#T_..=", line)]
    names = [f"{layer.rpartition('.')[2]}.{x}" for layer, *features in layers for x in features]
    rows = [line.split("\t") for line in lines if re.match(r"\d+-\d+\t", line)]
    if not rows or not names:
        raise InputError("it has no labels of tokens", "export a layer of labels")
    cells = list(zip_longest(*rows, fillvalue=""))
    columns: dict[str, Any] = {"token": cells[0], "text of the token": cells[2]}
    for name, values in zip(names, cells[3:], strict=False):
        labels = [re.sub(r"\[\d+\]$", "", value) for value in values]
        if {*labels} - {"_", "*", ""}:
            columns[name] = ["none" if label == "_" else label for label in labels]
    return make_table(columns)


def _is_records(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(entry, dict) for entry in value)


@dataclass(kw_only=True)
class _Flattener:
    """Makes rows of nested records; lists of records that hold no needed column stay as they are.

    Parameters
    ----------
    preset : Preset or None
        Whose `maps` are paths of objects whose names are data: each becomes a record with its name
        as `key`; and whose `best` are paths of lists of [log likelihood, …], of which the number
        of the greatest is meant.
    needed : collection of str, optional
        The columns that are needed, by default all.
    """

    preset: Preset | None
    needed: Collection[str] | None = None
    left: dict[str, None] = field(default_factory=dict)
    n_empty: int = 0

    def rows(self, record: dict[str, Any], prefix: str = "") -> Iterator[dict[str, Any]]:
        """Yield the rows of a record: one for each record in its lists, else one."""
        flat: dict[str, Any] = {}
        lists: dict[str, list[Any]] = {}
        self._gather(record, prefix, flat, lists)
        if not any(lists.values()):
            if lists and self.needed is not None:
                self.n_empty += 1
            else:
                yield flat
        for path, records in lists.items():
            for number, inner in enumerate(records, 1):
                for row in self.rows(inner, f"{path}."):
                    yield {**flat, f"{path}.{POSITION}": number, **row}

    def _gather(
        self, record: dict[str, Any], prefix: str, flat: dict[str, Any], lists: dict[str, list[Any]]
    ) -> None:
        """Gather the values of a record by path, and its lists of records."""
        maps, best = (self.preset.maps, self.preset.best) if self.preset else ((), ())
        for name, value in record.items():
            path = f"{prefix}{name}"
            is_needed = any(column.startswith(f"{path}.") for column in self.needed or ())
            if path in maps and isinstance(value, dict):
                value = [entry for key, inner in value.items() for entry in _entries(key, inner)]
            if isinstance(value, dict):
                self._gather(value, f"{path}.", flat, lists)
            elif _is_records(value) and (self.needed is None or is_needed):
                lists[path] = [entry for entry in value if isinstance(entry, dict)]
            elif _is_records(value):
                self.left[path] = None
            elif value == [] and (is_needed or path in maps):
                lists[path] = []
            else:
                flat[path] = _number_of_best(value) if path in best else _label(value)


def _flatten(
    records: list[dict[str, Any]], preset: Preset | None, reading: Reading
) -> tuple[Table, Reading]:
    """Flatten records; columns that are named by their end, as `correct`, get their full names."""
    if preset and preset.lists:
        records = [row for record in records for row in _unzip(record, preset.lists)]
    flattener = _Flattener(preset=preset)
    few = records[:MANY_RECORDS]
    paths = dict.fromkeys(path for record in few for row in flattener.rows(record) for path in row)

    def complete(name: str | None) -> str | None:
        ending = [path for path in paths if path.endswith(f".{name}")]
        return ending[0] if name not in paths and len(ending) == 1 else name

    changes: dict[str, Any] = {name: complete(getattr(reading, name)) for name in NAMED_BY_END}
    reading = replace(reading, item=tuple(str(complete(name)) for name in reading.item), **changes)
    flattener = _Flattener(preset=preset)
    if preset or reading.rating:
        needed = [*reading.item, *filter(None, (reading.rater, reading.rating))]
        flattener.needed = [*needed, *(preset.columns if preset else ())]
    rows = [row for record in records for row in flattener.rows(record)]
    notes = []
    if flattener.left:
        notes.append(f"lists of records that are not read: {list_few(flattener.left, 5)}")
    if flattener.n_empty:
        notes.append(f"{pluralise(flattener.n_empty, 'record')} with an empty list left out")
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    if not columns:
        raise InputError("it has no rows below the header", "add ratings")
    return make_table(columns, notes=tuple(notes)), reading


def _unzip(record: dict[str, Any], patterns: list[str]) -> Iterator[dict[str, Any]]:
    """Make a record of each place in lists that belong together, if there are."""
    lists = {
        name: value
        for name, value in record.items()
        if isinstance(value, list) and any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    for values in zip_longest(*lists.values()) if lists else [()]:
        yield record | dict(zip(lists, values, strict=True))


def _entries(key: str, inner: Any) -> list[dict[str, Any]]:
    """Make records of what stands under a name that is data."""
    entries = inner if _is_records(inner) else [inner]
    return [
        {"key": key, **(entry if isinstance(entry, dict) else {"value": entry})}
        for entry in entries
    ]


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
    pairs = [x for x in responses if isinstance(x, list) and len(x) == 2]
    numbers = [number_or_nan(str(likelihood)) for likelihood, _ in pairs]  # some write them as text
    if len(pairs) < len(responses) or np.isnan(numbers).any():
        return _label(responses[:1])
    if len(numbers) < 2:
        raise InputError("a likelihood of one choice is no answer", "give choices or texts")
    return str(numbers.index(max(numbers)))
