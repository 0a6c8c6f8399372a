"""A file, or a folder of files, as a table."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lehner.core.errors import InputError
from lehner.core.text import counted, first_few
from lehner.data.columns import Table, table_of
from lehner.data.reading import Reading
from lehner.reading.csv_files import line_of, read_csv
from lehner.reading.excel import EACH, other_sheets, read_excel
from lehner.reading.kinds import CSV, EXCEL, JSON, JSON_LINES, PARQUET, kind_of, plain_file
from lehner.reading.nested import load_json, table_of_json
from lehner.reading.presets import TASK, Preset, find_preset

FILES = re.compile(r"\.(jsonl?|ndjson|csv|tsv|parquet|xlsx)(\.(gz|bz2|xz))?$|\.eval$")
"""The endings of files that are read in a folder."""
FEWEST_COLUMNS, FEWEST_ROWS = 2, 10

type Read = tuple[Table, Preset | None, Reading]
"""A table, the tool that wrote it, and how it is read, with the full names of columns."""


@contextmanager
def read_file(path: Path, reading: Reading) -> Iterator[Read]:
    """Read a file, or the files in a folder; errors in the block are located in the file.

    Parameters
    ----------
    path : Path
    reading : Reading
        How the file is read; the roles of columns are no matter here.

    Yields
    ------
    table : Table
    preset : Preset or None
    reading : Reading
    """
    table = Table({})
    try:
        if path.is_dir():
            found = _read_folder(path, reading)
            table = found[0]
            yield found
            return
        with plain_file(path, reading.encoding) as file:
            found = _read_one(file, path, reading)
            table = found[0]
            try:
                yield found
            except InputError as error:
                table.locate(error)
                raise
    except InputError as error:
        if path.is_dir():
            table.locate(error)
        if not path.is_dir() or error.file is None:
            # A copy that was decompressed has another name.
            own = error.file is not None and Path(error.file).name not in (path.name, path.stem)
            error.file = error.file if own else path
        raise


def _read_one(file: Path, path: Path, reading: Reading) -> Read:
    """Read a file; errors that name it call it `path`."""
    kind = kind_of(file)
    preset: Preset | None = None
    if kind in (JSON, JSON_LINES):
        content = load_json(file, lines=kind == JSON_LINES)
        preset = find_preset(content, reading)
        table, reading = table_of_json(content, preset, reading, path.stem)
        place: Any = lambda error: _in_file(error, path, None)  # noqa: E731
        table = Table(
            {name: table._columns[name] for name in table}, notes=table.notes, place=place
        )
    elif kind == EXCEL:
        table, reading = _read_sheets(file, reading)
    else:
        if kind == CSV:
            table = _named(read_csv(file, reading.header), file, reading)
        else:
            table = table_of(_read_binary(file, kind))
            table.place = lambda error: _in_file(
                error, path, (error.row or 0) + 1 if kind == PARQUET else None
            )
        preset = find_preset(table, reading)
        if preset is not None and preset.parse:
            table, reading = _parse_cells(table, preset, reading)
    if not table or not table.n_rows:
        raise InputError("it has no rows below the header", "add ratings")
    # This drops a spreadsheet's empty last column.
    if "" in table and not table[""].labels:
        table = table.without([""])
    if preset is not None:
        where = {"file": path.stem, "folder": path.parent.resolve().name}
        task = TASK.match(path.name)
        where |= {"task": task[1]} if task else {}
        named = {name for one in (*preset.rater, *preset.item) for name in one.split("|")}
        added = {name: [text] * table.n_rows for name, text in where.items() if name in named}
        table = table.having({name: values for name, values in added.items() if name not in table})
    return table, preset, reading


def _in_file(error: InputError, path: Path, row: int | None) -> None:
    error.file, error.row = path, row


def _named(columns: Any, file: Path, reading: Reading) -> Table:
    """Make a table of a CSV file, unless its first row is probably data."""
    table = table_of(columns)
    table.place = lambda error: _in_file(error, file, line_of(file, error.row or 0, reading.header))
    if reading.header is None and len(table) >= FEWEST_COLUMNS and table.n_rows >= FEWEST_ROWS:
        like = [name for name in table if name in set(map(str, table[name].raw[:100]))]
        if len(like) >= max(len(table) - 1, 2):
            raise InputError(
                f"the names of its columns, {first_few(table, 5)}, are data",
                "add names, or say that there are none (header='none'), or that these are names "
                "(header='1')",
                row=1,
                file=file,
            )
    return table


def _read_sheets(file: Path, reading: Reading) -> tuple[Table, Reading]:
    tables = read_excel(file, reading.sheet, reading.header)
    if reading.sheet == EACH:
        table = concat(list(tables.values()), "sheet", list(tables))
        return table, replace(reading, rater=reading.rater or "sheet")
    ((name, table),) = tables.items()
    note = other_sheets(file, name, reading.header) if reading.sheet is None else ""
    return table.having({}, *([note] if note else [])), reading


def _read_binary(path: Path, kind: str) -> Any:
    import pandas as pd
    import pyarrow.parquet

    try:
        if kind == PARQUET:
            # A damaged text is found when it is looked at, which pandas does later.
            pyarrow.parquet.read_table(path).validate(full=True)
            return pd.read_parquet(path)
        if kind == "Stata":
            return pd.read_stata(path, convert_categoricals=False)
        return pd.read_spss(path, convert_categoricals=False)
    except ImportError:
        raise InputError(
            "reading SPSS files needs the package pyreadstat, which is not installed",
            "install it by `pip install pyreadstat`, or save the data as CSV",
        ) from None
    except Exception as error:  # pandas and its readers raise errors of many types
        if isinstance(error, MemoryError):
            raise
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise InputError(f"it cannot be read ({reason})", f"give a {kind} file") from None


def _parse_cells(table: Table, preset: Preset, reading: Reading) -> tuple[Table, Reading]:
    """Flatten the JSON in cells of a table."""
    columns = {name: table[name].texts.tolist() for name in table}
    for name in preset.parse:
        for row, text in enumerate(columns[name]):
            try:
                columns[name][row] = json.loads(text) if text else None
            except ValueError:
                problem = f"{text[:40]!r} is not JSON"
                raise InputError(problem, "mend it", row=row, column=name) from None
    records = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    flat, reading = table_of_json(records, preset, reading, "")
    return Table({name: flat._columns[name] for name in flat}, notes=table.notes), reading


def concat(tables: Sequence[Table], name: str, values: Sequence[str]) -> Table:
    """Put tables one below the other, with a column that says which.

    Parameters
    ----------
    tables : sequence of Table
    name : str
        The new column.
    values : sequence of str
        Its value for each table.

    Returns
    -------
    Table
    """
    names = dict.fromkeys(column for table in tables for column in table)
    columns: dict[str, Any] = {}
    for column in names:
        parts = [
            np.array([*table[column].labels, None], dtype=object)[table[column].codes]
            if column in table
            else np.full(table.n_rows, None, dtype=object)
            for table in tables
        ]
        columns[column] = np.concatenate(parts)
    sizes = [table.n_rows for table in tables]
    columns.setdefault(name, np.repeat(np.array(values, dtype=object), sizes))
    starts = np.cumsum([0, *sizes])

    def place(error: InputError) -> None:
        part = int(np.searchsorted(starts, error.row or 0, side="right")) - 1
        error.row = (error.row or 0) - int(starts[part])
        tables[part].locate(error)

    notes = dict.fromkeys(note for table in tables for note in table.notes)
    return Table(columns, notes=list(notes), place=place)


def _read_folder(folder: Path, reading: Reading) -> Read:
    """Read the files in a folder, and in folders in it, as one table.

    If a tool's files are among them, others are left out; else all must have the same columns.
    """
    found: list[tuple[Path, Read]] = []
    failed: list[InputError] = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or not FILES.search(path.name.lower()):
            continue
        try:
            with plain_file(path, reading.encoding) as file:
                found.append((path, _read_one(file, path, reading)))
        except InputError as error:
            damaged, error.file = error.file is not None, path
            if damaged:
                raise
            failed.append(error)  # a summary beside the files of a tool
    by_tool: dict[str, list[tuple[Path, Read]]] = {}
    for path, read in found:
        by_tool.setdefault("" if read[1] is None else read[1].tool, []).append((path, read))
    others = by_tool.pop("", [])
    if len(by_tool) > 1:
        remedy = "name a file, or a folder of one tool"
        raise InputError(f"this is a folder with files of {' and '.join(by_tool)}", remedy)
    read_files = next(iter(by_tool.values()), others)
    if failed and not by_tool:
        raise failed[0]
    if not read_files:
        raise InputError("this is a folder with no files of ratings", "name a file")
    tables = [table for _, (table, _, _) in read_files]
    if not by_tool:
        _refuse_other_columns([path for path, _ in read_files], tables)
    preset, reading = read_files[0][1][1:]
    table = concat(tables, "file", [path.stem for path, _ in read_files])
    what = counted(len(tables), "file") + (f" of {preset.tool}" if preset else "")
    names = [str(error.file) for error in failed] + [str(path) for path, _ in others if preset]
    left = f"; others were not: {first_few([Path(one).name for one in names], 5)}" if names else ""
    if preset is None and reading.rater is None and not reading.raters:
        reading = replace(reading, rater="file")
    return table.having({}, f"read in this folder: {what}{left}"), preset, reading


def _refuse_other_columns(paths: Sequence[Path], tables: Sequence[Table]) -> None:
    for path, table in zip(paths, tables, strict=True):
        if set(table) != set(tables[0]):
            raise InputError(
                f"its columns are {first_few(table, 5)}, and those of {paths[0].name} "
                f"{first_few(tables[0], 5)}",
                "give files with the same columns, or name one file",
                file=path,
            )
