"""A file, or a folder of files, as a table."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from lehner.core.errors import InputError
from lehner.core.lazy import load, pa, pd
from lehner.core.text import counted, first_few
from lehner.data.columns import Table, table_of
from lehner.data.reading import Reading
from lehner.reading.csv_files import line_of, read_csv
from lehner.reading.excel import EACH, read_excel
from lehner.reading.kinds import (
    CSV,
    EXCEL,
    JSON,
    JSON_LINES,
    PARQUET,
    STATA,
    Content,
    read_content,
)
from lehner.reading.nested import load_json, table_of_json
from lehner.reading.presets import TASK, Preset, find_preset
from lehner.reading.rows import concat

pq = load("pyarrow.parquet")
FILES = re.compile(r"\.(jsonl?|ndjson|csv|tsv|parquet|xlsx)(\.(gz|bz2|xz))?$|\.eval$")
"""The endings of files that are read in a folder."""
FEWEST_COLUMNS, FEWEST_ROWS = 2, 10

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
        return _read_content(read_content(path, reading.encoding), reading)
    except InputError as error:
        error.file = error.file or path
        raise


def _read_content(content: Content, reading: Reading) -> Read:
    path, kind = content.path, content.kind
    flattened = kind in (JSON, JSON_LINES)
    if flattened:
        values = load_json(content.data, lines=kind == JSON_LINES)
        preset = find_preset(values, reading)
        table, reading = table_of_json(values, preset, reading, Path(content.name).stem)
    else:
        table, reading = _read_columns(content, kind, reading)
        preset = find_preset(table, reading)
        if preset is not None and preset.parse:
            flattened, (table, reading) = True, _parse_cells(table, preset, reading)
    if not table or not table.n_rows:
        raise InputError("it has no rows below the header", "add ratings")
    if "" in table and not table[""].labels:  # a spreadsheet's empty last column
        table = table.without([""])
    if preset is not None:
        where = {"file": Path(content.name).stem, "folder": path.parent.resolve().name}
        task = TASK.match(path.name)
        where |= {"task": task[1]} if task else {}
        missing = {name for name in where if name in preset.columns and name not in table}
        table = table.having({name: [where[name]] * table.n_rows for name in missing})
    row_in_sheet, unread = table.place, content.data if path.is_fifo() else b""

    def place(error: InputError) -> None:
        if flattened or kind not in (CSV, EXCEL, PARQUET):
            error.row = None
        elif kind == CSV:
            data = unread or read_content(path, reading.encoding).data
            error.row = line_of(data, error.row or 0, reading.header)
        elif row_in_sheet is not None:
            row_in_sheet(error)
        else:
            error.row = (error.row or 0) + 1
        error.file = path

    return table.change(place=place, file=path), preset, reading


def _read_columns(content: Content, kind: str, reading: Reading) -> tuple[Table, Reading]:
    """Read a file whose columns have names, or one without names."""
    if kind == CSV:
        table = read_csv(content.data, reading.header)
        if reading.header is None and len(table) >= FEWEST_COLUMNS and table.n_rows >= FEWEST_ROWS:
            few = table.take(np.arange(min(table.n_rows, 100)))
            like_data = [name for name in few if name in few[name].texts]
            if len(like_data) >= max(len(table) - 1, 2):
                raise InputError(
                    f"the names of its columns, {first_few(table, 5)}, are data",
                    "add names, or say that there are none (header='none'), or that these are "
                    "names (header='1')",
                    row=1,
                )
        return table, reading
    if kind == EXCEL:
        tables, note = read_excel(content.data, reading.sheet, reading.header)
        if reading.sheet == EACH:
            reading = replace(reading, rater=reading.rater or "sheet")
            return concat(tables, "sheet"), reading
        (table,) = tables.values()
        return table.having({}, *([note] if note else [])), reading
    try:
        if kind == PARQUET:
            # A damaged text is found when it is looked at, which pandas does later.
            pq.read_table(pa.BufferReader(content.data)).validate(full=True)
            return table_of(pd.read_parquet(BytesIO(content.data))), reading
        if kind == STATA:
            frame = pd.read_stata(BytesIO(content.data), convert_categoricals=False)
            return table_of(frame), reading
        with NamedTemporaryFile(suffix=".sav") as file:
            file.write(content.data)
            file.flush()
            return table_of(pd.read_spss(file.name, convert_categoricals=False)), reading
    except ImportError:
        raise InputError(
            "reading SPSS files needs the package pyreadstat, which is not installed",
            "install it by `pip install pyreadstat`, or save the data as CSV",
        ) from None
    except InputError:
        raise
    except Exception as error:  # pandas and its readers raise errors of many types
        if isinstance(error, MemoryError):
            raise
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise InputError(f"it cannot be read ({reason})", f"give a {kind} file") from None


def _parse_cells(table: Table, preset: Preset, reading: Reading) -> tuple[Table, Reading]:
    """Flatten the JSON in cells of a table."""
    columns: dict[str, list[Any]] = {name: table[name].texts.tolist() for name in table}
    for name in preset.parse:
        for row, text in enumerate(columns[name]):
            try:
                columns[name][row] = json.loads(text) if text else None
            except ValueError:
                raise InputError(f"{text[:40]!r} is not JSON", "mend it", column=name) from None
    records = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    return table_of_json(records, preset, reading, "")


def _read_folder(folder: Path, reading: Reading) -> Read:
    """Read the files in a folder, and in folders in it, as one table.

    If a tool's files are among them, others are left out; else all must have the same columns.
    """
    by_tool: dict[str, dict[Path, Read]] = {"": {}}
    failed: list[InputError] = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or not FILES.search(path.name.lower()):
            continue
        try:
            read = read_file(path, reading)
        except InputError as error:
            if error.row is not None:
                raise
            failed.append(error)  # a summary beside the files of a tool
            continue
        by_tool.setdefault(read[1].tool if read[1] else "", {})[path] = read
    others = by_tool.pop("")
    if len(by_tool) > 1:
        remedy = "name a file, or a folder of one tool"
        raise InputError(f"this is a folder with files of {' and '.join(by_tool)}", remedy)
    if failed and not by_tool:
        raise failed[0]
    files = next(iter(by_tool.values()), others)
    if not files:
        raise InputError("this is a folder with no files of ratings", "name a file")
    tables = {path: table for path, (table, _, _) in files.items()}
    (_, preset, reading) = next(iter(files.values()))
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
    return concat(by_name, "file").change(note, file=folder), preset, reading


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
