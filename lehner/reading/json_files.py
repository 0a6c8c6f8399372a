"""JSON files of ratings: peerannot's, AltTest's, one rater's, lists of records, and logs."""

import json
import re
from pathlib import Path
from typing import Any

from lehner.core.errors import InputError
from lehner.core.text import counted, first_few
from lehner.reading.evaluation_logs import MEANING, is_summary, read_logs, tool_of
from lehner.reading.file_kinds import JSON_LINES, kind_of, plain_file

OUTER, INNER = "outer", "inner"
JSON_FORMS = (
    "give {item: {rater: rating}}, {rater: {item: rating}}, {item: rating} or a list of records "
    '{"item": …, "rater": …, "rating": …}'
)
OF_RATINGS = {"item", "task", "rater", "worker", "rating", "label", "truth", "system"}
LOG_ENDING = re.compile(r"\.(jsonl?|ndjson)(\.(gz|bz2|xz))?$|\.eval$")
MOST_SHOWN = 5


def read_json(
    path: Path, item: str | None = None, *, lines: bool = False
) -> tuple[dict[str, list[Any]], list[str]]:
    """Read ratings from a JSON file as columns of a table with a row per rating.

    peerannot has `{task: {worker: label}}`, AltTest `{annotator: {item: label}}`. The file does not
    tell which of the two levels names items; it is assumed to be the one with more names.

    Parameters
    ----------
    path : Path
    item : {"outer", "inner"}, optional
        The level that names items, if it is not the one with more names.
    lines : bool
        Whether each line is a record (JSON Lines); a file with several objects is always read so.

    Returns
    -------
    columns : dict of str to list
        `item`, `rater` and `rating`; of a list of records, the columns of these.
    notes : list of str
        How the levels or a log were interpreted, and what was left out.

    Raises
    ------
    InputError
        If it is not such a file, or if it is unclear which level names items.

    References
    ----------
    https://peerannot.github.io (`answers.json`); https://github.com/nitaytech/AltTest (README)
    """
    content = _load(path, lines=lines)
    tool = tool_of(content)
    if tool is not None:
        note = f"the file is read as a log of {tool}: {MEANING[tool]}"
        return read_logs([(content, path)], tool), [note]
    if isinstance(content, list):
        return _records(content)
    if not isinstance(content, dict) or not content:
        raise InputError("it holds no ratings", JSON_FORMS)
    nested = [isinstance(value, dict) for value in content.values()]
    if not any(nested):
        note = f"the file is read as the ratings of one rater, {path.stem}"
        return _columns([(name, path.stem, value) for name, value in content.items()]), [note]
    if not all(nested):
        odd = list(content)[nested.index(False)]
        raise InputError(f"{odd!r} has no ratings, as others have", JSON_FORMS)
    level = _level_of_items(content, item)
    cells = [(a, b, value) for a, values in content.items() for b, value in values.items()]
    rows = cells if level == OUTER else [(b, a, value) for a, b, value in cells]
    other = INNER if level == OUTER else OUTER
    return _columns(rows), [f"{level} names of the JSON file are items, {other} ones raters"]


def read_folder(folder: Path) -> tuple[dict[str, list[Any]], list[str]]:
    """Read the logs of an evaluation tool in a folder, and in folders in it, as one table.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    columns : dict of str to list
        As of one log, see `lehner.reading.evaluation_logs.read_logs`.
    notes : list of str
        How they were interpreted.

    Raises
    ------
    InputError
        If it holds no logs, logs of several tools, or one that cannot be read.
    """
    logs: dict[str, list[tuple[Any, Path]]] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or not LOG_ENDING.search(path.name.lower()):
            continue
        try:
            with plain_file(path) as file:
                content = _load(file, lines=kind_of(file) == JSON_LINES)
        except InputError as error:
            error.file = path
            raise
        tool = tool_of(content)
        if tool is not None and not is_summary(content):
            logs.setdefault(tool, []).append((content, path))
    if len(logs) != 1:
        found = f"logs of {' and '.join(logs)}" if logs else "no logs of evaluation tools"
        raise InputError(f"this is a folder with {found}", "name a file, or a folder of one tool")
    ((tool, found_logs),) = logs.items()
    note = f"read in this folder: {counted(len(found_logs), 'log')} of {tool}; {MEANING[tool]}"
    return read_logs(found_logs, tool), [note]


def _load(path: Path, *, lines: bool) -> Any:
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


def _records(content: list[Any]) -> tuple[dict[str, list[Any]], list[str]]:
    """Columns of records, without those that hold lists or objects and are not named as ratings."""
    if not content or not all(isinstance(record, dict) for record in content):
        raise InputError("it is not a list of records", JSON_FORMS)
    names = dict.fromkeys(name for record in content for name in record)
    nested: dict[str, None] = {}
    for number, record in enumerate(content, start=1):
        for name, value in record.items():
            if isinstance(value, dict | list):
                nested[name] = None
                if name.lower() in OF_RATINGS or len(nested) == len(names):
                    _require_label(value, f"{name!r} of record {number}")
    columns = {name: [record.get(name) for record in content] for name in names}
    note = f"ignored, because they hold lists or objects: {first_few(nested, MOST_SHOWN)}"
    return {name: columns[name] for name in names if name not in nested}, [note] if nested else []


def _level_of_items(content: dict[str, dict[str, Any]], item: str | None) -> str:
    if item is not None:
        if item not in (OUTER, INNER):
            raise InputError(
                f"the items of a JSON file are not named by {item!r}",
                "say which names stand for items: item='outer' or item='inner'",
            )
        return item
    n_outer = len(content)
    n_inner = len({name for values in content.values() for name in values})
    if n_outer == n_inner:
        raise InputError(
            f"there are {n_outer} outer and as many inner names, and either may be the items",
            "say which: item='outer' or item='inner'",
        )
    return OUTER if n_outer > n_inner else INNER


def _columns(rows: list[tuple[str, str, Any]]) -> dict[str, list[Any]]:
    if not rows:
        raise InputError("it holds no ratings", JSON_FORMS)
    for item, rater, value in rows:
        _require_label(value, f"the rating of {item} by {rater}")
    items, raters, ratings = ([row[place] for row in rows] for place in range(3))
    return {"item": items, "rater": raters, "rating": ratings}


def _require_label(value: Any, what: str) -> None:
    if isinstance(value, dict | list):
        raise InputError(f"{what} is {json.dumps(value)[:40]}", "give one label")
