"""A file, or a folder of files, as a table."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from lehner.core.errors import InputError
from lehner.core.text import counted, first_few
from lehner.data.columns import Table, table_of
from lehner.data.reading import Reading
from lehner.reading import formats
from lehner.reading.nested import load_json, table_of_json
from lehner.reading.presets import TASK, Preset, find_preset

FILES = re.compile(r"\.(jsonl?|ndjson|csv|tsv|parquet|xlsx)(\.(gz|bz2|xz))?$|\.eval$")
"""The endings of files that are read in a folder."""
FEWEST_COLUMNS, FEWEST_ROWS = 2, 10
"""A table of fewer is too small to see that its header is data."""

type Read = tuple[Table, Preset | None, Reading]
"""A table, the tool that wrote it, and how it is read, with the full names of columns."""


def read_file(path: Path, reading: Reading) -> Read:
    """Read a file, or the files in a folder.

    Parameters
    ----------
    path : Path
    reading : Reading
        How the file is read; the roles of columns are no matter here.

    Returns
    -------
    table : Table
        It locates errors in the file.
    preset : Preset or None
    reading : Reading
    """
    try:
        if path.is_dir():
            return _read_folder(path, reading)
        return _read_content(path, *formats.read_bytes(path, reading.encoding), reading)
    except InputError as error:
        error.file = error.file or path
        raise


def _read_content(path: Path, data: bytes, name: str, reading: Reading) -> Read:
    kind, stem = formats.kind_of(data, name), Path(name).stem
    is_nested = kind in (formats.JSON, formats.JSON_LINES)
    if is_nested:
        values = load_json(data, lines=kind == formats.JSON_LINES)
        preset = find_preset(values, reading)
        table, reading = table_of_json(values, preset, reading, stem)
    else:
        table, reading = _read_columns(data, kind, reading)
        preset = find_preset(table, reading)
        if preset is not None and preset.parse:
            is_nested = True
            table, reading = table_of_json(_parse_cells(table, preset), preset, reading, stem)
    if not table or not table.n_rows:
        raise InputError("it has no rows below the header", "add ratings")
    if "" in table and not table[""].labels:  # a spreadsheet's empty last column
        table = table.without([""])
    if preset is not None:
        task = TASK.match(path.name)
        where = {"file": stem, "folder": path.parent.resolve().name}
        where |= {"task": task[1]} if task else {}
        missing = [one for one in where if one in preset.columns and one not in table]
        table = table.having({one: [where[one]] * table.n_rows for one in missing})
    place_in_sheet, content = table.place, data if path.is_fifo() else b""

    def place(error: InputError) -> None:
        error.file, row = path, error.row or 0
        if kind == formats.CSV and not is_nested:
            error.row = formats.find_line(
                content or formats.read_bytes(path, reading.encoding)[0], row, reading.header
            )
        elif place_in_sheet is not None:
            place_in_sheet(error)
        else:
            error.row = row + 1 if kind == formats.PARQUET else None

    return replace(table, place=place, file=path), preset, reading


def _read_columns(data: bytes, kind: str, reading: Reading) -> tuple[Table, Reading]:
    """Read a file whose columns have names, or one without names."""
    if kind == formats.EXCEL:
        tables, note = formats.read_excel(data, reading.sheet, reading.header)
        if reading.sheet == formats.EACH:
            reading = replace(reading, rater=reading.rater or "sheet")
            return stack_tables(tables, "sheet"), reading
        (table,) = tables.values()
        return table.note(note) if note else table, reading
    if kind != formats.CSV:
        return formats.read_typed(data, kind), reading
    table = formats.read_csv(data, reading.header)
    if reading.header is None and table.n_rows > 1:
        first = table.take(np.arange(2))
        if all(first[name].texts[1].startswith('{"ImportId"') for name in first):
            raise InputError(
                "the rows 2 and 3 are no data, but what Qualtrics says of the columns",
                "leave them out (header='1-3')",
                row=2,
                change={"header": "1-3"},
            )
    if reading.header is None and len(table) >= FEWEST_COLUMNS and table.n_rows >= FEWEST_ROWS:
        few = table.take(np.arange(min(table.n_rows, 100)))
        if sum(name in few[name].labels for name in few) >= max(len(table) - 1, 2):
            raise InputError(
                f"the names of its columns, {first_few(table, 5)}, are data",
                "add names, or say that there are none (header='none'), or that these are names "
                "(header='1')",
                row=1,
            )
    return table, reading


def _parse_cells(table: Table, preset: Preset) -> list[dict[str, Any]]:
    """Make records of rows, some of whose cells hold JSON."""
    columns: dict[str, list[Any]] = {name: table[name].texts.tolist() for name in table}
    for name in preset.parse:
        for row, text in enumerate(columns[name]):
            try:
                columns[name][row] = json.loads(text) if text else None
            except ValueError:
                raise InputError(f"{text[:40]!r} is not JSON", "mend it", column=name) from None
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, values, strict=True)) for values in rows]


def _read_folder(folder: Path, reading: Reading) -> Read:
    """Read the files in a folder, and in folders in it, as one table.

    If a tool's files are among them, others are left out; else all must have the same columns.
    """
    by_tool: dict[str, dict[Path, Read]] = {"": {}}
    failed: list[InputError] = []
    paths = [path for path in sorted(folder.rglob("*")) if FILES.search(path.name.lower())]
    for path in filter(Path.is_file, paths):
        try:
            read = read_file(path, reading)
            by_tool.setdefault(read[1].tool if read[1] else "", {})[path] = read
        except InputError as error:
            if error.row is not None:
                raise
            failed.append(error)  # a summary beside the files of a tool
    others = by_tool.pop("")
    if len(by_tool) > 1:
        remedy = "name a file, or a folder of one tool"
        raise InputError(f"this is a folder with files of {' and '.join(by_tool)}", remedy)
    if failed and not by_tool:
        raise failed[0]
    read_files = next(iter(by_tool.values()), others)
    if not read_files:
        raise InputError("this is a folder with no files of ratings", "name a file")
    tables = {path: table for path, (table, _, _) in read_files.items()}
    _, preset, reading = next(iter(read_files.values()))
    note = f"read in this folder: {counted(len(tables), 'file')}"
    if preset is None:
        _refuse_other_columns(tables)
        if reading.rater is None and not reading.raters:
            reading = replace(reading, rater="file")
    else:
        left = [str(Path(str(x)).name) for x in (*(error.file for error in failed), *others)]
        note += f" of {preset.tool}"
        note += f"; others were not: {first_few(left, 5)}" if left else ""
    by_name = {path.stem: table for path, table in tables.items()}
    if len(by_name) < len(tables):
        by_name = {str(path.relative_to(folder)): table for path, table in tables.items()}
    return replace(stack_tables(by_name, "file").note(note), file=folder), preset, reading


def _refuse_other_columns(tables: Mapping[Path, Table]) -> None:
    first, *others = tables
    for path in others:
        if set(tables[path]) != set(tables[first]):
            raise InputError(
                f"its columns are {first_few(tables[path], 5)}, and those of {first.name} "
                f"{first_few(tables[first], 5)}",
                "give files with the same columns, or name one file",
                file=path,
            )


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
    sizes = [table.n_rows for table in every]
    names = dict.fromkeys(column for table in every for column in table)
    columns: dict[str, Any] = {name: np.repeat(np.array(list(tables), dtype=object), sizes)}
    for column in names:
        parts = [
            table[column].values if column in table else np.full(table.n_rows, None, object)
            for table in every
        ]
        columns[column] = np.concatenate(parts)
    starts = np.cumsum([0, *sizes])

    def place(error: InputError) -> None:
        part = int(np.searchsorted(starts, error.row or 0, side="right")) - 1
        error.row = (error.row or 0) - int(starts[part])
        every[part].locate(error)

    notes = reduce(lambda one, other: one | dict.fromkeys(other.notes), every, dict[str, None]())
    return table_of(columns, notes=tuple(notes), place=place)
