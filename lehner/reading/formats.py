"""Files by their formats: the content and its kind, and CSV, Excel and others as tables of text."""

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from functools import partial
from io import BytesIO, TextIOWrapper
from itertools import islice, zip_longest
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from lehner.core.errors import InputError, compose, list_few
from lehner.core.lazy import load, pa, pd
from lehner.data.columns import Table, make_table, number_or_nan, refuse_repeated_names

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
# JSON begins with an object with a name, or a list of objects.
BEGINNINGS = {
    rb"PAR1": PARQUET,
    rb"PK\x03\x04": EXCEL,
    rb"<stata_dta>": STATA,
    rb"\$FL[23]@\(#\)": SPSS,
    rb"#FORMAT=WebAnno TSV 3": WEBANNO,
    rb"(\xef\xbb\xbf)?\s*<\?xml[^>]*>\s*<annotations>": CVAT,
    rb'(\xef\xbb\xbf)?\s*(\{\s*["}]|\[\s*[{\]])': JSON,
}
GZIP, MARK = b"\x1f\x8b", b"\xef\xbb\xbf"
# How texts begin that Excel calls Unicode.
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
SAVE_AS_CSV = "save the table with the ratings as CSV (UTF-8)"
OTHER_BEGINNINGS = {
    rb"\xd0\xcf\x11\xe0": ("an Excel file of 2003 or earlier", f"{SAVE_AS_CSV} or as .xlsx"),
    rb"ARROW1": ("an Arrow (Feather) file", "save the table as Parquet or CSV"),
    rb"\x28\xb5\x2f\xfd|BZh|\xfd7zXZ": ("compressed by zstd, bzip2 or xz", "decompress it"),
    rb"%PDF|<(html|!|\?xml)": ("a PDF, a web page or XML", SAVE_AS_CSV),
}
OTHER_ENDINGS = {
    **dict.fromkeys((".xls", ".xlsb", ".ods", ".numbers"), f"{SAVE_AS_CSV} or as .xlsx"),
    **dict.fromkeys((".zip", ".tar"), "unpack it"),
    ".eval": "write this log of Inspect as JSON: `inspect log dump LOG > log.json`",
}
# Rows that are looked at, and the fewest that show that the header is data.
LOOKED_AT, FEWEST_ROWS = 100, 10
DELIMITERS = (",", "\t", ";", "|")
LONGEST_LINE = 1_000_000
# Rows of a sheet among which the header is looked for.
MOST_TITLES = 20
EACH = "each"
ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")

# The texts in a sheet by line and column, from 1; blank cells are left out.
type SheetCells = Mapping[tuple[int, int], str]
# The number of the line on which a record starts, and its fields.
type NumberedFields = tuple[int, list[str]]


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
        if path.exists() and not path.is_file():
            raise InputError("this is a device or a pipe, not a file", "write it into a file")
        data, name = path.read_bytes(), path.name
        while data.startswith(GZIP):
            data, name = gzip.decompress(data), Path(name).stem
        encoding = encoding or ("utf-16" if data.startswith(UTF_16) else None)
        return data if encoding is None else data.decode(encoding).encode(), name
    except InputError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("there is no such file", "check the name; see `lehner datasets`") from None
    except (UnicodeError, LookupError):
        raise InputError(f"it is no text in {encoding}", "name its encoding") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"it cannot be read ({reason})", "check it") from None


def kind_of(data: bytes, name: str) -> str:
    """Tell the kind of a table by how it begins, else by its ending in any case.

    Raises
    ------
    InputError
        If it is of a kind that cannot be read.
    """
    start, ending = data[:4096], Path(name).suffix.lower()
    kind = next((kind for form, kind in BEGINNINGS.items() if re.match(form, start)), None)
    for form, (what, remedy) in OTHER_BEGINNINGS.items() if kind is None else ():
        if re.match(form, start):
            raise InputError(f"it is {what}, which cannot be read", remedy)
    if ending in OTHER_ENDINGS and (ending, kind) != (".xls", EXCEL):
        raise InputError(f"files that end in {ending} cannot be read", OTHER_ENDINGS[ending])
    if kind == JSON and ENDINGS.get(ending) == JSON_LINES:
        return JSON_LINES
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


# Text


def read_csv(data: bytes, header: str | None = None) -> Table:
    """Read a CSV file, every column as text.

    Parameters
    ----------
    data : bytes
        UTF-8, with or without a byte order mark; separated by commas, tabs, semicolons, `|` or
        spaces.
    header : str, optional
        The rows of the header, see `rows_of_header`.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        If it is not such a file; the error names row and remedy.
    """
    _refuse_bytes(data, header)
    first, last = rows_of_header(header)
    skipped = max(first - 1, 0)
    data, delimiter = find_delimiter(data, skipped)
    # The fast reader does not notice a quote that is never closed, and swallows rows.
    quoted = b'"' in data and _quotes_lines(data)
    if len(data) > LONGEST_LINE and not quoted:
        few = list(islice(list_records(data, delimiter, skipped), last + LOOKED_AT))
        names, below = split_header(few, header)
        line = below[0][0]
        with suppress(OSError, pa.ArrowException):  # the slow reader says what is wrong
            columns = _read_columns(data, names, line - 1, delimiter)
            n_rows = len(columns[names[0]])
            n_ends = np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n"))
            if n_rows == n_ends + (not data.endswith(b"\n")) - line + 1:
                return make_table(columns, place=partial(_locate, range(line, line + n_rows)))
    records = list_records(data, delimiter, skipped, strict=quoted)
    return table_of_records(list(records), header)


def table_of_records(records: Sequence[NumberedFields], header: str | None) -> Table:
    """Make a table of all records of a file, of which those of the header come first."""
    names, below = split_header(records, header)
    for line, fields in below:
        if len(fields) != len(names):
            problem = f"{len(fields)} fields where the header has {len(names)}"
            raise InputError(problem, "give every row as many fields as the header", row=line)
    cells = zip(*(fields for _, fields in below), strict=True)
    columns = dict(zip(names, cells, strict=True))
    return make_table(columns, place=partial(_locate, [line for line, _ in below]))


def _locate(lines: Sequence[int], error: InputError) -> None:
    """Name the line of a row."""
    error.row = lines[error.row or 0]


def find_delimiter(data: bytes, skipped: int) -> tuple[bytes, str]:
    """Find the delimiter with which most of the first rows have as many fields as the header.

    Parameters
    ----------
    data : bytes
    skipped : int
        How many lines stand above the header.

    Returns
    -------
    data : bytes
        With tabs in place of spaces, if these separate columns, and with a name for the column of
        the names of rows, which R leaves out.
    delimiter : str
    """

    def read_some(text: bytes, delimiter: str) -> list[list[str]]:
        with suppress(InputError):
            records = islice(list_records(text, delimiter, skipped), LOOKED_AT)
            return [fields for _, fields in records] or [[]]
        return [[]]

    def count_matching(delimiter: str) -> tuple[int, int]:
        n_names, *widths = map(len, read_some(data, delimiter))
        return (widths.count(n_names) if n_names > 1 else 0), n_names

    delimiter = max(DELIMITERS, key=count_matching)
    if count_matching(delimiter)[1] <= 1:
        spaced = re.sub(rb"(?m)^ +| +(?=\r?$)", b"", data)
        spaced = re.sub(rb'("[^"\n]*")| +', lambda match: match[1] or b"\t", spaced)
        n_names, *widths = map(len, read_some(spaced, "\t"))
        if len(set(widths)) == 1 and widths[0] > 1 and widths[0] - n_names in (0, 1):
            data, delimiter = spaced, "\t"
    names, *rows = read_some(data, delimiter)
    unnamed = rows and all(len(row) == len(names) + 1 and row[-1] for row in rows)
    if delimiter == "\t" and unnamed:
        *above, rest = data.split(b"\n", skipped)
        data = b"\n".join([*above, b"item\t" + rest.removeprefix(MARK)])
    return data, delimiter


def list_records(
    data: bytes, delimiter: str, skipped: int, *, strict: bool = False
) -> Iterator[NumberedFields]:
    """Yield the line on which each record starts and its fields, without blank lines."""
    limit = csv.field_size_limit(LONGEST_LINE)
    lines = TextIOWrapper(BytesIO(data), "utf-8-sig", errors="replace", newline="")
    reader, line = csv.reader(islice(lines, skipped, None), delimiter=delimiter, strict=strict), 1
    try:
        for fields in reader:
            if fields:
                yield skipped + line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        problem = f"a quote is not closed, or text follows its end, or it is long ({error})"
        remedy = 'check line ends, close every quote, and write a quote within quotes as ""'
        raise InputError(problem, remedy, row=skipped + line) from None
    finally:
        csv.field_size_limit(limit)


def split_header(
    records: Sequence[NumberedFields], header: str | None
) -> tuple[list[str], Sequence[NumberedFields]]:
    """Split records into the names of the columns, and the records below the header."""
    first, last = rows_of_header(header)
    rows = [row for _, row in records]
    if not rows or not any(map(str.strip, rows[0])):
        where = f"line {first}" if first > 1 else "first line"
        remedy = compose("start with column names, or say in which row they are ({header})")
        raise InputError(f"the {where} has no column names", remedy, row=max(first, 1))
    if header is None:
        _refuse_other_headers(records[:LOOKED_AT])
    names = join_names(rows[: last - first + 1])
    if first == 0:
        names = [str(number) for number in range(1, len(names) + 1)]
    refuse_repeated_names([name.strip() for name in names], row=max(first, 1))
    below = records[last - first + 1 if first else 0 :]
    if not below:
        raise InputError("it has no rows below the header", "add ratings")
    return names, below


def _read_columns(data: bytes, names: list[str], n_skipped: int, delimiter: str) -> dict[str, Any]:
    """Read the columns below the header as text, where no quotes go on in the next line."""
    table = pa_csv.read_csv(
        pa.BufferReader(data),
        read_options=pa_csv.ReadOptions(use_threads=False, skip_rows=n_skipped, column_names=names),
        parse_options=pa_csv.ParseOptions(delimiter=delimiter),
        convert_options=pa_csv.ConvertOptions(
            check_utf8=False,  # `_refuse_bytes` has read it
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=False,
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


def find_header(records: Sequence[NumberedFields]) -> str:
    """Find the row of the names among the first: all are texts, where columns are filled.

    Parameters
    ----------
    records : sequence of (int, sequence of str)
        Lines and cells.

    Returns
    -------
    str
        The line, with the line above, as in "1-2", if this has names, too; "" if there is none.
    """
    width = len(records[0][1])
    cells = pd.DataFrame([row for _, row in records if len(row) == width])
    filled = np.flatnonzero((cells != "").sum() > 1).tolist()
    above = [""] * width
    for line, row in records[:MOST_TITLES]:
        names = [row[j].strip() for j in filled if j < len(row)]
        both = [name or above[j].strip() for name, j in zip(names, filled, strict=False)]
        if both and all(name and np.isnan(number_or_nan(name)) for name in both):
            is_last = len({*names} - {""}) == len(names) or line == 1
            return str(line) if is_last else f"{line - 1}-{line}"
        above = [*row, *[""] * width]
    return ""


def _refuse_other_headers(records: Sequence[NumberedFields]) -> None:
    """Raise an InputError if the names of columns are in other rows than the first, or are data."""
    names, *rows = [row for _, row in records]
    second, third = (rows[0] if rows else []), (rows[1] if len(rows) > 1 else [])
    filled = [j for j, text in enumerate(second) if text.strip()]
    header = ""
    if third and all(cell.startswith('{"ImportId"') for cell in third):
        header, problem = "1-3", "the rows 2 and 3 are no data, but what Qualtrics says of columns"
    elif third and 0 not in filled and len({second[j] for j in filled}) == 1 < len(filled):
        if all(row[j : j + 1] != [second[j]] for row in rows[1:] for j in filled):
            problem = f"row 2 is no data, but has {second[filled[0]]!r} in each cell"
            header = "1-2"
    elif len({*map(str.strip, names)}) < len(names):
        header = find_header(records)
        problem = f"the names of its columns seem to be in row {header.replace('-', ' and row ')}"
    is_table = len(names) > 1 and len(set(map(len, rows))) == 1
    if header in ("", "1") and is_table and len(rows) >= FEWEST_ROWS:
        same = sum(name in cells for name, *cells in zip(names, *rows, strict=False))
        if same >= max(len(names) - 1, 2):
            header, problem = "none", f"the names of its columns, {list_few(names, 5)}, are data"
    if header not in ("", "1"):
        remedy = compose("say so ({}), or name the row of the names ({header})", {"header": header})
        # Names that repeat are labels of raters; else each row may be a rating.
        certain = header != "none" or len({*names}) < len(names)
        raise InputError(problem, remedy, row=1, change={"header": header} if certain else None)


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
        raise InputError(problem, "say so ({})", row=1, change={"header": "2"})
    bad = data.find(b"\0")
    encoding = "utf-16-be" if bad == 0 else "utf-16"
    try:
        data.isascii() or data.decode()
    except UnicodeDecodeError as error:
        if not 0 <= bad < error.start:
            bad, encoding = error.start, "cp1252"
    if bad >= 0:
        position = bad - data.rfind(b"\n", 0, bad)
        problem = f"byte 0x{data[bad]:02x} at position {position} is not UTF-8 text"
        remedy, change = "save the file as UTF-8, or name its encoding ({})", {"encoding": encoding}
        raise InputError(problem, remedy, row=data.count(b"\n", 0, bad) + 1, change=change)


# Sheets


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
    sheets, first_line = _read_cells(data), max(rows_of_header(header)[0], 1)
    if sheet not in (None, EACH, *sheets):
        raise InputError(f"there is no sheet {sheet!r}", f"choose among {list_few(sheets, 5)}")
    records = {title: _list_rows(cells, first_line) for title, cells in sheets.items()}
    first, *unread = records if sheet is None else [sheet]
    same = [title for title in unread if records[title][:1] == records[first][:1]]
    if same:
        problem = f"the sheets {list_few([first, *same], 5)} have the same columns"
        ways = {"sheet": EACH}, {"sheet": first}
        remedy = compose("say whether each is a rater ({}), or which is read ({})", *ways)
        raise InputError(problem, remedy, change=ways[0])
    if unread and all(len(fields) < 2 for _, fields in records[first]):
        problem, change = f"the first sheet, {first!r}, is no table", {"sheet": unread[0]}
        raise InputError(problem, "say which sheet is read ({})", change=change)
    chosen = list(records) if sheet == EACH else [first]
    for title in chosen:
        _refuse_uncomputed(data, title, sheets[title])
    tables = {title: table_of_records(records[title], header) for title in chosen}
    left = f"the sheet {first!r} was read; others were not: {list_few(unread, 5)}"
    return tables, left if unread else ""


def _list_rows(cells: SheetCells, first_line: int) -> list[NumberedFields]:
    """List the rows of a sheet from a line on, without blank rows and columns."""
    lines = sorted({line for line, _ in cells if line >= first_line})
    columns = sorted({column for _, column in cells})
    return [(line, [cells.get((line, column), "") for column in columns]) for line in lines]


def _read_cells(data: bytes, *, computed: bool = True) -> dict[str, SheetCells]:
    """Read the filled cells of all sheets as text, or formulas in place of their values."""
    with _reading(EXCEL, "openpyxl"):
        from openpyxl import load_workbook

        book = load_workbook(BytesIO(data), read_only=True, data_only=computed, keep_links=False)
        sheets: dict[str, SheetCells] = {}
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # what is said of the size may be wrong
            rows = enumerate(sheet.iter_rows(values_only=True), 1)
            cells = ((line, j, _write_cell(x)) for line, row in rows for j, x in enumerate(row, 1))
            sheets[sheet.title] = {(line, column): text for line, column, text in cells if text}
        return sheets


def _write_cell(cell: Any) -> str:
    """Give the text that a cell would have in a CSV file."""
    if cell is None or cell in ERRORS:
        return "" if cell is None else "#N/A"
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    text = cell.isoformat() if isinstance(cell, date) else str(cell)
    return " ".join(text.strip().splitlines())


def _refuse_uncomputed(data: bytes, title: str, cells: SheetCells) -> None:
    """Raise an InputError at a formula whose value the file does not have, as some programs do."""
    if len(cells) == len({line for line, _ in cells}) * len({column for _, column in cells}):
        return
    written = _read_cells(data, computed=False)[title]
    for line, column in sorted(written.keys() - cells.keys()):
        if written[line, column].startswith("="):
            from openpyxl.utils.cell import get_column_letter

            cell = f"{get_column_letter(column)}{line}"
            problem = f"the value of the formula in cell {cell} is not in the file"
            remedy = "open it in Excel and save it, or write text in place of the formula"
            raise InputError(problem, remedy, row=line)


# Files whose columns have types


def read_typed(data: bytes, kind: str) -> Table:
    """Read a Parquet, Stata or SPSS file, whose columns have types."""

    def place(error: InputError) -> None:
        error.row = (error.row or 0) + 1 if kind == PARQUET else None

    with _reading(kind, "pyreadstat"):
        if kind == PARQUET:
            table = pq.read_table(pa.BufferReader(data))
            table.validate(full=True)  # damaged text is found only when it is looked at
            frame = table.to_pandas()  # with the categoricals that pandas wrote
        elif kind == STATA:
            frame = pd.read_stata(BytesIO(data), order_categoricals=False)
        else:
            with NamedTemporaryFile(suffix=".sav") as file:
                file.write(data)
                file.flush()
                frame = pd.read_spss(file.name)
        return make_table(frame, place=place)


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
