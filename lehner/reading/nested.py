"""Nested files as tables: JSON and JSON Lines, flattened to dotted names and a row a record."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import zip_longest
from typing import Any
from xml.etree import ElementTree

import numpy as np

from lehner.core.errors import InputError, compose
from lehner.core.text import pluralise
from lehner.data.columns import Table, make_table, number_or_nan
from lehner.data.reading import Reading
from lehner.reading.rows import Preset, get_root

OUTER, INNER = "outer", "inner"
# The column with the place of a record in its list, which may be all that names a rater.
POSITION = "position"
JSON_FORMS = (
    "give {item: {rater: rating}}, {rater: {item: rating}}, {item: rating}, {rater: [ratings]} or "
    'a list of records {"item": …, "rater": …, "rating": …}'
)
# Of two lists of records beside each other, the one that is so many times as long has the items.
TIMES_AS_LONG = 10
# So many records are looked at for the full names of columns.
MANY_RECORDS = 200
NAMED_BY_END = ("rater", "rating", "truth", "cluster", "order", "occasion", "truth_probability")

type JsonRecord = dict[str, Any]


def load_json(data: bytes, *, lines: bool) -> Any:
    """Load a JSON file, or, if each line is a record, a list of what the lines hold."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("it is not UTF-8 text", "save the file as UTF-8") from None
    first = text.lstrip().split("\n", 1)[0]
    with suppress(ValueError, RecursionError):
        lines = lines or (len(first) < len(text.strip()) and isinstance(json.loads(first), dict))
    if not lines:
        return _parse(text)
    numbered = enumerate(text.split("\n"), start=1)
    return [_parse(line, number) for number, line in numbered if line.strip()]


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


def _unique(pairs: list[tuple[str, Any]]) -> JsonRecord:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise InputError(f"the name {name!r} occurs twice in one object", "name each once")
    return unique


def table_of_json(
    content: Any, preset: Preset | None, reading: Reading, name: str
) -> tuple[Table, Reading]:
    """Make a table of what a JSON file holds.

    A list of records is flattened: names are joined by dots, and each list of records within a
    record makes a row of each. So are `{rater: [records]}` and `{item: record}`, of whose records
    some fields are lists or objects and others are not. Without records, `{rater: [ratings]}` or
    `{item: [ratings]}` has lists, of which the shorter are those of items; `{a: {b: label}}` is
    peerannot's `{item: {rater: label}}` or AltTest's `{rater: {item: label}}`, where the level with
    more names is assumed to be the items; `{item: label}` is one rater's.

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
    content = _find_longest(content) if preset is None else get_root(content, preset)
    records = find_records(content, known=preset is not None)
    if records:
        return _flatten(records, preset, reading)
    if not isinstance(content, dict) or not content:
        is_list = isinstance(content, list)
        problem = "it is not a list of records" if is_list else "it holds no ratings"
        raise InputError(problem, JSON_FORMS)
    if all(isinstance(value, list) for value in content.values()):
        lengths = set(map(len, content.values()))
        level = OUTER if len(content) > max(lengths) else INNER
        if level == INNER and len(lengths) > 1:
            raise InputError("its lists are not of equal length", JSON_FORMS)
        content = {key: dict(enumerate(value, 1)) for key, value in content.items()}
        reading = replace(reading, item=reading.item or (level,))
    return _read_levels(content, reading, name)


def _find_longest(content: Any) -> Any:
    """Give the longest list of records, where the others, as of the metrics, are much shorter."""
    lists = list(filter(_is_records, content.values())) if isinstance(content, dict) else []
    *others, longest = sorted(lists, key=len) or [[]]
    much_longer = others and len(longest) >= TIMES_AS_LONG * len(others[-1])
    return longest if much_longer else content


def find_records(content: Any, *, known: bool = False) -> list[JsonRecord]:
    """Find the records in what a JSON file holds; there may be none.

    Examples
    --------
    >>> find_records({"a": [{"said": 1}], "b": [{"said": 2}]})
    [{'rater': 'a', 'said': 1}, {'rater': 'b', 'said': 2}]
    >>> find_records({"q1": {"text": "…", "votes": {"Ann": 1}}})
    [{'item': 'q1', 'text': '…', 'votes': {'Ann': 1}}]
    >>> find_records({"q1": {"Ann": 1}})
    []
    """
    if isinstance(content, list):
        return content if content and all(isinstance(x, dict) for x in content) else []
    if not isinstance(content, dict) or not content:
        return []
    values = list(content.values())
    if not known and len(values) > 1 and all(map(_is_records, values)):
        if len({tuple(records[0]) for records in values}) == 1:
            return [{"rater": key} | row for key, records in content.items() for row in records]
    if known or any(map(_is_records, values)):
        return [content]
    if not all(isinstance(value, dict) for value in values):
        return []
    of_lists = all(any(map(_is_records, value.values())) for value in values)
    shared = [name for name in values[0] if all(name in value for value in values)]
    fields = [[isinstance(value[name], dict) for value in values] for name in shared]
    of_both = any(map(all, fields)) and not all(map(any, fields))
    return [{"item": key} | row for key, row in content.items()] if of_lists or of_both else []


def _read_levels(content: JsonRecord, reading: Reading, name: str) -> tuple[Table, Reading]:
    """Read {item: rating}, or raters in items, or items in raters."""
    is_object = {key: isinstance(value, dict) for key, value in content.items()}
    if not any(is_object.values()):
        content, level = {name: content}, INNER
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
        other = INNER if level == OUTER else OUTER
        note = f"{level} names of the JSON file are items, {other} ones raters"
        reading = replace(reading, item=())
    cells = [(outer, inner, x) for outer, values in content.items() for inner, x in values.items()]
    if not cells:
        raise InputError("it holds no ratings", JSON_FORMS)
    outer, inner, ratings = zip(*cells, strict=True)
    items, raters = (outer, inner) if level == OUTER else (inner, outer)
    for item, rater, label in zip(items, raters, ratings, strict=True):
        if isinstance(label, dict | list):
            shown = json.dumps(label)[:40]
            raise InputError(f"the rating of {item} by {rater} is {shown}", "give one label")
    return make_table({"item": items, "rater": raters, "rating": ratings}, notes=(note,)), reading


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
    text = data.decode("utf-8-sig")
    layers = [line.split("|") for line in re.findall(r"^#T_..=(.*)", text, re.MULTILINE)]
    names = [f"{layer.rpartition('.')[2]}.{x}" for layer, *features in layers for x in features]
    rows = [line.split("\t") for line in re.findall(r"^\d+-\d+\t.*", text, re.MULTILINE)]
    if not rows or not names:
        raise InputError("it has no labels of tokens", "export a layer of labels")
    token, _, word, *cells = zip_longest(*rows, fillvalue="")
    columns: JsonRecord = {"token": token, "text of the token": word}
    for name, values in zip(names, cells, strict=False):
        labels = [re.sub(r"\[\d+\]$", "", value) for value in values]
        if {*labels} - {"_", "*", ""}:
            columns[name] = ["none" if label == "_" else label for label in labels]
    return make_table(columns)


def _is_records(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(entry, dict) for entry in value)


def _flatten(
    records: list[JsonRecord], preset: Preset | None, reading: Reading
) -> tuple[Table, Reading]:
    """Flatten records; columns that are named by their end, as `correct`, get their full names."""
    few = records[:MANY_RECORDS]
    paths = dict.fromkeys(path for x in few for row in flatten_record(x, preset) for path in row)

    def complete(name: str | None) -> str | None:
        ending = [path for path in paths if path.endswith(f".{name}")]
        return ending[0] if name not in paths and len(ending) == 1 else name

    changes: JsonRecord = {name: complete(getattr(reading, name)) for name in NAMED_BY_END}
    reading = replace(reading, item=tuple(str(complete(name)) for name in reading.item), **changes)
    needed = None
    if preset or reading.rating:
        needed = [*reading.item, *filter(None, (reading.rater, reading.rating))]
        needed += preset.columns if preset else ()
    rows = [row for record in records for row in flatten_record(record, preset, needed)]
    n_empty = rows.count({})
    notes = [f"{pluralise(n_empty, 'record')} with an empty list left out"] if n_empty else []
    rows = [row for row in rows if row]
    names = dict.fromkeys(name for row in rows for name in row)
    if not names:
        raise InputError("it has no rows below the header", "add ratings")
    columns = {name: [row.get(name) for row in rows] for name in names}
    return make_table(columns, notes=tuple(notes)), reading


def flatten_record(
    record: JsonRecord,
    preset: Preset | None = None,
    needed: Collection[str] | None = None,
    prefix: str = "",
) -> Iterator[JsonRecord]:
    """Yield the rows of a record: one for each record in its lists, else one.

    Parameters
    ----------
    record : dict
    preset : Preset, optional
        Whose `maps` are paths of objects whose names are data: each becomes a record with its name
        as `key`; and whose `best` are paths of lists of [log likelihood, …], of which the number
        of the greatest is meant.
    needed : collection of str, optional
        The columns that are needed, by default all: a list of records that holds none of them is
        blank, and a record whose list is empty has an empty row.
    prefix : str
        What the names of columns begin with.

    Examples
    --------
    >>> list(flatten_record({"id": 1, "by": [{"name": "a"}, {"name": "b"}]}))[1]
    {'id': 1, 'by.position': 2, 'by.name': 'b'}
    """
    maps, best = (preset.maps, preset.best) if preset else ((), ())
    flat, lists = dict[str, Any](), dict[str, list[JsonRecord]]()
    entries = [(f"{prefix}{name}", value) for name, value in record.items()]
    while entries:
        path, value = entries.pop(0)
        is_needed = any(column.startswith(f"{path}.") for column in needed or ())
        if path in maps and isinstance(value, dict):
            value = [entry for key, inner in value.items() for entry in _entries(key, inner)]
        if isinstance(value, dict):
            entries = [(f"{path}.{name}", inner) for name, inner in value.items()] + entries
        elif _is_records(value) and (needed is None or is_needed):
            lists[path] = [entry for entry in value if isinstance(entry, dict)]
        elif value == [] and (is_needed or path in maps):
            lists[path] = []
        elif _is_records(value):
            flat[path] = None
        else:
            flat[path] = _number_of_best(value) if path in best else _label(value)
    if not any(lists.values()):
        yield {} if lists and needed is not None else flat
    for path, records in lists.items():
        for number, inner in enumerate(records, 1):
            for row in flatten_record(inner, preset, needed, f"{path}."):
                yield {**flat, f"{path}.{POSITION}": number, **row} if row else row


def _entries(key: str, inner: Any) -> list[JsonRecord]:
    """Make records of what stands under a name that is data."""
    entries = inner if _is_records(inner) else [inner]
    return [{"key": key} | (x if isinstance(x, dict) else {"value": x}) for x in entries]


def _label(value: Any) -> Any:
    """Give the label of a list of one; a longer list as text."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False) if value else None
    return value


def _number_of_best(responses: Any) -> Any:
    """Give the number of the most probable choice, or the text of a response."""
    pairs = responses if isinstance(responses, list) else [responses]
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        return _label(pairs[:1])
    if len(pairs) < 2:
        raise InputError("a likelihood of one choice is no answer", "give choices or texts")
    numbers = [number_or_nan(str(likelihood)) for likelihood, _ in pairs]  # some write them as text
    return _label(pairs[:1]) if np.isnan(numbers).any() else str(int(np.argmax(numbers)))
