"""Files by their formats: the content and its kind, and CSV, Excel and others as tables of text."""

import csv
import gzip
import logging
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import partial
from io import BytesIO, StringIO, TextIOWrapper
from itertools import islice, zip_longest
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from zipfile import ZipFile

import numpy as np

from lehner.core.errors import InputError, compose
from lehner.core.lazy import load, pa, pd
from lehner.core.text import list_few
from lehner.data.columns import (
    Place,
    Table,
    encode,
    make_table,
    number_or_nan,
    refuse_repeated_names,
)

pa_csv, pq = load("pyarrow.csv"), load("pyarrow.parquet")

CSV, EXCEL, JSON, JSON_LINES, PARQUET = "CSV", "Excel", "JSON", "JSON Lines", "Parquet"
STATA, SPSS, CVAT, WEBANNO = "Stata", "SPSS", "CVAT", "WebAnno"
ENDINGS = {
    **dict.fromkeys((".xlsx", ".xlsm"), EXCEL),
    ".json": JSON,
    **dict.fromkeys((".jsonl", ".ndjson"), JSON_LINES),
    **dict.fromkeys((".parquet", ".pq"), PARQUET),
    ".dta": STATA,
    **dict.fromkeys((".sav", ".zsav"), SPSS),
}
BEGINNINGS = {
    b"PAR1": PARQUET,
    b"PK\x03\x04": EXCEL,
    b"<stata_dta>": STATA,
    b"#FORMAT=WebAnno TSV 3": WEBANNO,
    **dict.fromkeys((b"$FL2@(#)", b"$FL3@(#)"), SPSS),
}
# Of an object with a name, or of a list of objects.
JSON_BEGINNING = re.compile(rb'(\xef\xbb\xbf)?\s*(\{\s*["}]|\[\s*[{\]])')
CVAT_BEGINNING = re.compile(rb"(\xef\xbb\xbf)?\s*<\?xml[^>]*>\s*<annotations>")
GZIP = b"\x1f\x8b"
# How texts begin that Excel calls Unicode, and of which of their first bytes are 0 without this.
MARKS = {
    **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "utf-16"),
    **dict.fromkeys((b"\xff\xfe\0\0", b"\0\0\xfe\xff"), "utf-32"),
}
NULLS = {b"x\0\0\0": "utf-32-le", b"\0\0\0x": "utf-32-be", b"\0x\0x": "utf-16-be"}
SAVE_AS_CSV = "save the table with the ratings as CSV (UTF-8)"
UNPACK = "decompress it, or compress it once, by gzip"
OTHER_BEGINNINGS = {
    b"\xd0\xcf\x11\xe0": ("an Excel file of 2003 or earlier", f"{SAVE_AS_CSV} or as .xlsx"),
    b"ARROW1": ("an Arrow (Feather) file", "save the table as Parquet or CSV"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", UNPACK),
    b"BZh": ("compressed by bzip2", UNPACK),
    b"\xfd7zXZ": ("compressed by xz", UNPACK),
    GZIP: ("compressed twice", UNPACK),
    b"%PDF": ("a PDF", "copy its table into a spreadsheet, and save that as CSV (UTF-8)"),
    **dict.fromkeys((b"<html", b"<!", b"<?xml"), ("a web page or XML", SAVE_AS_CSV)),
}
OTHER_ENDINGS = {
    **dict.fromkeys((".xls", ".xlsb", ".ods", ".numbers"), f"{SAVE_AS_CSV} or as .xlsx"),
    **dict.fromkeys((".zip", ".tar"), "unpack it"),
    ".eval": "write this log of Inspect as JSON: `inspect log dump LOG > log.json`",
}
# Columns of so many rows are coded at the same time.
MANY_ROWS = 10_000
# Rows that are looked at, and the fewest that show that the header is data.
LOOKED_AT, FEWEST_ROWS = 100, 10
DELIMITERS, SPACES = (",", "\t", ";", "|"), " "
LONGEST_LINE = 1_000_000
# Rows of a sheet among which the header is looked for.
MOST_TITLES = 20
EACH = "each"
# More than this, when it is unpacked, is said before.
LARGE = 2**30
ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")

logger = logging.getLogger(__name__)

# The texts of a row of a sheet by the number of their column, from 0; blank cells are left out.
type NumberedCells = Mapping[int, str]


def read_bytes(path: Path, encoding: str | None = None) -> tuple[bytes, str]:
    """Read a file, and decompress it.

    Parameters
    ----------
    path : Path
    encoding : str, optional
        Of the text, if it is not UTF-8.

    Returns
    -------
    data : bytes
    name : str
        The name of the file, without the ending of its compression.

    Raises
    ------
    InputError
        If there is no such file, or it cannot be read or decompressed.
    """
    try:
        if not path.exists():
            raise InputError("there is no such file", "check the name, or see `lehner datasets`")
        if not path.is_file():
            raise InputError("this is a device or a pipe, not a file", "write it into a file")
        data, name = path.read_bytes(), path.name
        if data.startswith(GZIP):
            data, name = _decompress(data), Path(name).stem
        if encoding is None:
            encoding = MARKS.get(data[:4]) or MARKS.get(data[:2])
        return data if encoding is None else data.decode(encoding).encode(), name
    except InputError:
        raise
    except (UnicodeError, LookupError):
        raise InputError(f"it is no text in {encoding}", "name its encoding") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"it cannot be read ({reason})", "check it") from None


def _decompress(data: bytes) -> bytes:
    """Decompress what gzip compressed, once; it makes a file at most 1032 times smaller."""
    if len(data) > LARGE / 1032:
        with gzip.open(BytesIO(data)) as file:
            _say_size(sum(map(len, iter(partial(file.read, 2**24), b""))))
    return gzip.decompress(data)


def _say_size(size: int) -> None:
    """Say that a file is large when it is unpacked."""
    if size > LARGE:
        text = "the file has %.1f GiB when it is unpacked, and reading it needs several times that"
        logger.warning(text, size / 2**30)


def kind_of(data: bytes, name: str) -> str:
    """Tell the kind of a table by how it begins, else by its ending in any case.

    Raises
    ------
    InputError
        If it is of a kind that cannot be read.
    """
    ending = Path(name).suffix.lower()
    if CVAT_BEGINNING.match(data[:4096]):
        return CVAT
    for beginning, (what, remedy) in OTHER_BEGINNINGS.items():
        if data.startswith(beginning):
            raise InputError(f"it is {what}, which cannot be read", remedy)
    kind = next((kind for start, kind in BEGINNINGS.items() if data.startswith(start)), None)
    if ending in OTHER_ENDINGS and (ending, kind) != (".xls", EXCEL):
        raise InputError(f"files that end in {ending} cannot be read", OTHER_ENDINGS[ending])
    if kind is None and JSON_BEGINNING.match(data[:4096]):
        kind = JSON_LINES if ENDINGS.get(ending) == JSON_LINES else JSON
    return kind or ENDINGS.get(ending, CSV)


def is_file(name: Any) -> bool:
    """Tell whether a name is that of a file, there or not, and not of a column."""
    path = Path(str(name))
    try:
        return path.is_file() or path.suffix.lower() in (".csv", ".tsv", *ENDINGS)
    except (OSError, ValueError):
        return False


def rows_of_header(header: str | None) -> tuple[int, int]:
    """Give the first and the last row of the header, (0, 0) if there are no names.

    Examples
    --------
    >>> rows_of_header(None), rows_of_header("2"), rows_of_header("1-3"), rows_of_header("none")
    ((1, 1), (2, 2), (1, 3), (0, 0))
    """
    if header == "none":
        return 0, 0
    match = re.fullmatch(r"([1-9][0-9]{0,5})(?:-([1-9][0-9]{0,5}))?", header or "1")
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (2, 1)
    if last < first:
        remedy = compose("name a row ({header=2}), 1-3 if two more rows are no data, or none")
        raise InputError(f"header is {header!r}", remedy)
    return first, last


def read_csv(data: bytes, header: str | None = None, delimiter: str | None = None) -> Table:
    """Read a CSV file, every column as text.

    Parameters
    ----------
    data : bytes
        UTF-8, with or without a byte order mark; separated by commas, tabs, semicolons, `|` or
        spaces.
    header : str, optional
        The rows of the header, see `rows_of_header`.
    delimiter : str, optional
        By default that which fits the first rows.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        If it is not such a file; the error names row and remedy.
    """
    first, last = rows_of_header(header)
    skipped = max(first - 1, 0)
    _refuse_bytes(data, header)
    data, delimiter = _separate(data, delimiter, skipped)
    quoted = b'"' in data and _quotes_lines(data)
    if quoted:
        # A quote that is never closed swallows rows, and the fast reader does not notice.
        _refuse_records(data, delimiter, skipped)
    n_rows = max(last - first + 2, LOOKED_AT)
    records = list(islice(list_records(data, delimiter, skipped), n_rows))
    names = _read_names(records, header)
    below = records[last - first + 1 if first else 0 :]
    if not below:
        raise InputError("it has no rows below the header", "add ratings")
    try:
        columns = _read_columns(data, names, below[0][0] - 1, delimiter, quoted)
    except (OSError, pa.ArrowException) as error:
        _refuse_records(data, delimiter, skipped)
        problem = f"it cannot be read ({str(error).splitlines()[0][:200]})"
        raise InputError(problem, "give a UTF-8 CSV file with a header") from None
    if len(columns[names[0]]) < MANY_ROWS:
        return make_table(columns)
    with ThreadPoolExecutor() as pool:
        coded = pool.map(encode, columns.values(), names)
        return make_table(dict(zip(names, coded, strict=True)))


def _separate(data: bytes, delimiter: str | None, skipped: int) -> tuple[bytes, str]:
    """Find the delimiter, and put tabs in place of spaces and a name above the names of rows."""
    delimiter = delimiter or find_delimiter(data, skipped)
    if delimiter == SPACES:
        before = data.decode("utf-8-sig").splitlines()[:skipped]
        rows = ["\t".join(fields) for _, fields in list_records(data, SPACES, skipped)]
        data, delimiter = "\n".join([*before, *rows]).encode(), "\t"
    if delimiter == "\t":  # R does not name the column of the names of rows
        names, *cells = [x for _, x in islice(list_records(data, "\t", skipped), LOOKED_AT)] or [[]]
        if cells and all(len(row) == len(names) + 1 and row[-1] for row in cells):
            *lines, rest = data.split(b"\n", skipped)
            data = b"\n".join([*lines, b"item\t" + rest])
    return data, delimiter


def _read_names(records: Sequence[tuple[int, Sequence[str]]], header: str | None) -> list[str]:
    """Read the names of the columns in the first of some records."""
    first, last = rows_of_header(header)
    rows = [row for _, row in records]
    if not rows or not any(map(str.strip, rows[0])):
        where = f"line {first}" if first > 1 else "first line"
        remedy = compose("start with column names, or say in which row they are ({header})")
        raise InputError(f"the {where} has no column names", remedy, row=max(first, 1))
    if header is None:
        _refuse_other_headers(records)
    names = join_names(rows[: last - first + 1])
    if first == 0:
        names = [str(number) for number in range(1, len(names) + 1)]
    refuse_repeated_names([name.strip() for name in names], row=max(first, 1))
    return names


def _read_columns(
    data: bytes, names: list[str], n_skipped: int, delimiter: str, quoted: bool
) -> dict[str, Any]:
    """Read the columns below the header as text."""
    table = pa_csv.read_csv(
        pa.BufferReader(data),
        read_options=pa_csv.ReadOptions(
            # Threads that have just started may abort a command that ends at once.
            use_threads=len(data) > LONGEST_LINE,
            # A row in quotes may be long; other rows are read fastest in blocks of a megabyte.
            block_size=(4 if quoted else 1) * LONGEST_LINE,
            skip_rows=n_skipped,
            column_names=names,
        ),
        parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=quoted),
        convert_options=pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        ),
    )
    return dict(zip(names, table.itercolumns(), strict=True))


def join_names(rows: Sequence[Sequence[str]]) -> list[str]:
    """Give the names in the first row of the header; where it has gaps, with those below.

    Examples
    --------
    >>> join_names([["", "Ann", "", "Bo"], ["id", "now", "later", "now"]])
    ['id', 'Ann now', 'Ann later', 'Bo now']
    """
    first, *below = ([cell.strip() for cell in row] for row in rows)
    if all(first) or not below:
        return list(rows[0])
    above = pd.Series(first).replace("", None).ffill().fillna("")  # merged cells
    columns = zip_longest(above, *below, fillvalue="")
    return [" ".join(dict.fromkeys(filter(None, names))) for names in columns][: len(first)]


def find_header(records: Sequence[tuple[int, Sequence[str]]]) -> tuple[int, str]:
    """Find the rows of the names among the first: all are texts, where columns are filled.

    Parameters
    ----------
    records : sequence of (int, sequence of str)
        Lines and cells.

    Returns
    -------
    last : int
        The line, 0 if there is none.
    header : str
        With the row above, as in "1-2", if names repeat.
    """
    width = len(records[0][1])
    cells = np.array([row for _, row in records if len(row) == width], dtype=object)
    filled = np.flatnonzero((cells != "").sum(axis=0) > 1)
    for line, row in records[:MOST_TITLES]:
        names = [row[j].strip() for j in filled.tolist() if j < len(row)]
        if names and all(name and np.isnan(number_or_nan(name)) for name in names):
            return line, str(line) if len({*names}) == len(names) else f"{line - 1}-{line}"
    return 0, ""


def _refuse_other_headers(records: Sequence[tuple[int, Sequence[str]]]) -> None:
    """Raise an InputError if the names of columns are in other rows than the first, or are data."""
    names, *rows = [row for _, row in records]
    second, third, *_ = [*rows, (), ()]
    blank = {j for j, name in enumerate(names) if not name.strip()}
    filled = {j for j, text in enumerate(second) if text.strip()}
    header = ""
    if third and all(cell.startswith('{"ImportId"') for cell in third):
        header, problem = "1-3", "the rows 2 and 3 are no data, but what Qualtrics says of columns"
    elif len(blank) > 1 and blank <= filled and len(filled) < len(names):
        header, problem = "1-2", "the names of the columns are in the rows 1 and 2"
    elif third and 0 not in filled and len({second[j] for j in filled}) == 1 < len(filled):
        if all(row[j : j + 1] != [second[j]] for row in rows[1:] for j in filled):
            problem = f"row 2 is no data, but has {second[max(filled)]!r} in each cell"
            header = "1-2"
    elif len({*map(str.strip, names)}) < len(names):
        line, header = find_header(records)
        header = header if line > 1 else ""
        problem = f"the names of its columns seem to be in row {line}"
    if header:
        change = {"header": header}
        raise InputError(problem, compose("say so ({})", change), row=1, change=change)
    if len(rows) >= FEWEST_ROWS and len(names) > 1 and len(set(map(len, rows))) == 1:
        same = sum(name in cells for name, *cells in zip(names, *rows, strict=False))
        if same >= max(len(names) - 1, 2):
            problem = f"the names of its columns, {list_few(names, 5)}, are data"
            remedy = compose("add names, or say that they are ({header=1}) or lack ({header=none})")
            raise InputError(problem, remedy, row=1)


def place_lines(load: Callable[[], bytes], header: str | None, delimiter: str | None) -> Place:
    """Make the function that names the line of a row, whose index is from 0, in a CSV file."""
    first, last = rows_of_header(header)
    skipped = max(first - 1, 0)

    def place(error: InputError) -> None:
        data = load()
        records = list_records(data, delimiter or find_delimiter(data, skipped), skipped)
        row = (error.row or 0) + (last - first + 1 if first else 0)
        error.row = next(islice((line for line, _ in records), row, None), row + 1)

    return place


def find_delimiter(data: bytes, skipped: int) -> str:
    """Find the delimiter with which most of the first rows have as many fields as the header."""

    def count_matching(delimiter: str) -> tuple[int, int]:
        records = islice(list_records(data, delimiter, skipped), 21)
        try:
            header, *widths = [len(fields) for _, fields in records] or [0]
        except InputError:
            return 0, 0
        return (widths.count(header) if header > 1 else 0), header

    delimiter = max(DELIMITERS, key=count_matching)
    if count_matching(delimiter)[1] <= 1:
        records = islice(list_records(data, SPACES, skipped), 21)
        header, *widths = [len(fields) for _, fields in records] or [0]
        if len(set(widths)) == 1 and widths[0] > 1 and header in (widths[0], widths[0] - 1):
            return SPACES
    return delimiter


def _quotes_lines(data: bytes) -> bool:
    """Tell whether a quote is open at the end of a line."""
    text = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero((text == ord("\n")) | (text == ord("\r")))
    before = np.searchsorted(np.flatnonzero(text == ord('"')), np.append(ends, len(text)))
    return bool((before % 2).any())


def _refuse_bytes(data: bytes, header: str | None) -> None:
    """Raise an InputError at the first byte that is no text, or a line that is no header."""
    if header is None and data[:4].lower() == b"sep=":
        problem = "the first line says what separates columns, and is no header"
        change = {"header": "2"}
        raise InputError(problem, compose("say so ({})", change), row=1, change=change)
    bad = data.find(b"\0")
    encoding = NULLS.get(re.sub(rb"[^\0]", b"x", data[:4]), "utf-16")
    try:
        data.isascii() or data.decode()
    except UnicodeDecodeError as error:
        if not 0 <= bad < error.start:
            bad, encoding = error.start, "cp1252"
    if bad >= 0:
        position = bad - data.rfind(b"\n", 0, bad)
        problem = f"byte 0x{data[bad]:02x} at position {position} is not UTF-8 text"
        line, change = data.count(b"\n", 0, bad) + 1, {"encoding": encoding}
        remedy = compose("save the file as UTF-8, or name its encoding ({})", change)
        raise InputError(problem, remedy, row=line, change=change)


def _refuse_records(data: bytes, delimiter: str, skipped: int) -> None:
    """Raise an InputError at the first line that lacks a field or a quote."""
    expected = 0
    for line, fields in list_records(data, delimiter, skipped, strict=True):
        expected = expected or len(fields)
        if len(fields) != expected:
            problem = f"{len(fields)} fields where the header has {expected}"
            raise InputError(problem, "give every row as many fields as the header", row=line)


def list_records(
    data: bytes, delimiter: str, skipped: int = 0, *, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each record starts and its fields, without blank lines."""
    limit = csv.field_size_limit(LONGEST_LINE)
    lines = TextIOWrapper(BytesIO(data), encoding="utf-8-sig", errors="replace", newline="")
    line = skipped + 1
    try:
        rest, spaces = islice(lines, skipped, None), delimiter == SPACES
        reader = csv.reader(rest, delimiter=delimiter, strict=strict, skipinitialspace=spaces)
        for fields in reader:
            if spaces and fields[-1:] == [""]:
                fields.pop()  # at the end of the line
            if fields:
                yield line, fields
            line = skipped + reader.line_num + 1
    except csv.Error as error:
        if strict or line == skipped + 1:
            problem = f"a quote is not closed, or text follows its end, or it is long ({error})"
            remedy = 'check line ends, close every quote, and write a quote within quotes as ""'
            raise InputError(problem, remedy, row=line) from None
    finally:
        csv.field_size_limit(limit)


def read_excel(data: bytes, sheet: str | None, header: str | None) -> tuple[dict[str, Table], str]:
    """Read sheets of an Excel file as CSV files with the same rows.

    Parameters
    ----------
    data : bytes
        `.xlsx` or `.xlsm`, read by openpyxl.
    sheet : str, optional
        The name of a sheet, by default the first; "each" for all.
    header : str, optional
        The rows of the header.

    Returns
    -------
    tables : dict of str to Table
        By the name of the sheet; blank cells are empty texts.
    note : str
        Which sheets were not read, if none was named.

    Raises
    ------
    InputError
        If openpyxl is not installed, if the file cannot be read or has no header, or if no sheet is
        named and several have the same columns.
    """
    sheets = _read_sheets(data)
    if sheet not in (None, EACH, *sheets):
        raise InputError(f"there is no sheet {sheet!r}", f"choose among {list_few(sheets, 5)}")
    read = list(sheets) if sheet == EACH else [sheet or next(iter(sheets))]
    unread = [] if sheet else list(sheets)[1:]
    names = max(rows_of_header(header)[0] - 1, 0)
    first = {name: sheets[name][names : names + 1] for name in (read[0], *unread)}
    same = [name for name in unread if first[name] == first[read[0]]]
    if same:
        problem = f"the sheets {list_few([*read, *same], 5)} have the same columns"
        ways = {"sheet": EACH}, {"sheet": read[0]}
        remedy = compose("say whether each is a rater ({}), or which is read ({})", *ways)
        raise InputError(problem, remedy, change=ways[0])
    if unread and len(_list_columns(sheets[read[0]])) < 2:
        problem, change = f"the first sheet, {read[0]!r}, is no table", {"sheet": unread[0]}
        raise InputError(problem, compose("say which sheet is read ({})", change), change=change)
    if sheet != EACH:
        _refuse_uncomputed(data, read[0], sheets[read[0]])
    left = f"the sheet {read[0]!r} was read; others were not: {list_few(unread, 5)}"
    tables = {}
    for name in read:
        lines = _write_lines(sheets[name])
        place = place_lines(partial(bytes, lines), header, "\t")
        tables[name] = replace(read_csv(lines, header, "\t"), place=place)
    return tables, left if unread else ""


def _list_columns(rows: Iterable[NumberedCells]) -> list[int]:
    """List the columns of which a cell is filled."""
    return sorted(set().union(*rows))


def _write_lines(rows: Sequence[NumberedCells]) -> bytes:
    """Write each row of a sheet as a line, without blank columns."""
    text, columns = StringIO(), _list_columns(rows)
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    for row in rows:
        writer.writerow([" ".join(row.get(j, "").splitlines()) for j in columns if row])
    return text.getvalue().encode()


def _read_sheets(data: bytes, *, computed: bool = True) -> dict[str, list[NumberedCells]]:
    """Read the filled cells of all sheets as text, or formulas in place of their values."""
    with _reading(EXCEL, "openpyxl"):
        from openpyxl import load_workbook

        if computed:
            _say_size(sum(part.file_size for part in ZipFile(BytesIO(data)).infolist()))
        book = load_workbook(BytesIO(data), read_only=True, data_only=computed, keep_links=False)
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # what is said of the size may be wrong
        return {
            sheet.title: [
                {j: text for j, cell in enumerate(row) if (text := _text(cell))}
                for row in sheet.iter_rows(values_only=True)
            ]
            for sheet in book.worksheets
        }


def _text(cell: Any) -> str:
    """Give the text that a cell would have in a CSV file."""
    if cell is None or cell in ERRORS:
        return "" if cell is None else "#N/A"
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, date) else str(cell).strip()


def _refuse_uncomputed(data: bytes, name: str, rows: Sequence[NumberedCells]) -> None:
    """Raise an InputError at a formula whose value the file does not have, as some programs do."""
    width, formulas = len(_list_columns(rows)), rows
    if any(len(row) < width for row in rows):
        formulas = _read_sheets(data, computed=False)[name]
    for number, (row, written) in enumerate(zip(rows, formulas, strict=True), 1):
        for column in written.keys() - row.keys():
            if written[column].startswith("="):
                from openpyxl.utils.cell import get_column_letter

                cell = f"{get_column_letter(column + 1)}{number}"
                problem = f"the value of the formula in cell {cell} is not in the file"
                remedy = "open it in Excel and save it, or write text in place of the formula"
                raise InputError(problem, remedy, row=number)


def read_typed(data: bytes, kind: str) -> Table:
    """Read a Parquet, Stata or SPSS file, whose columns have types."""
    with _reading(kind, "pyreadstat"):
        if kind == PARQUET:
            table = pq.read_table(pa.BufferReader(data))
            table.validate(full=True)  # damaged text is found only when it is looked at
            return make_table(table.to_pandas())  # with the categoricals that pandas wrote
        if kind == STATA:
            return make_table(pd.read_stata(BytesIO(data), order_categoricals=False))
        with NamedTemporaryFile(suffix=".sav") as file:
            file.write(data)
            file.flush()
            return make_table(pd.read_spss(file.name))


@contextmanager
def _reading(kind: str, package: str) -> Iterator[None]:
    """Raise an InputError for whatever a library raises that reads a file."""
    try:
        yield
    except ImportError:
        problem = f"reading {kind} files needs the package {package}, which is not installed"
        remedy = f"install it by `pip install {package}`, or {SAVE_AS_CSV}"
        raise InputError(problem, remedy) from None
    except (InputError, MemoryError):
        raise
    except Exception as error:  # the readers raise errors of many types
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise InputError(f"it cannot be read as {kind} ({reason})", SAVE_AS_CSV) from None
