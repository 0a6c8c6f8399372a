"""CSV files: read fast, with errors that name the line of a defect."""

import csv
import re
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from itertools import islice

from lehner.core.errors import InputError
from lehner.core.lazy import load, pa
from lehner.data.columns import Table, refuse_repeated_names, table_of

pa_csv = load("pyarrow.csv")
LONGEST_LINE = 1_000_000
DELIMITERS = (",", "\t", ";", "|")
ROWS_FOR_DELIMITER = 20


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
        remedy = "give the row of the names (header='2'), 1-3 if two more rows are no data, or none"
        raise InputError(f"header is {header!r}", remedy)
    return first, last


def read_csv(data: bytes, header: str | None = None) -> Table:
    """Read a CSV file, every column as text.

    Parameters
    ----------
    data : bytes
        UTF-8, with or without a byte order mark; separated by commas, tabs, semicolons or `|`.
    header : str, optional
        The rows of the header, see `rows_of_header`.

    Returns
    -------
    Table
        Its columns are coded: their memory is proportional to the number of rows, not to the length
        of the labels.

    Raises
    ------
    InputError
        If it is not such a file; the error names row and remedy.
    """
    first, last = rows_of_header(header)
    skipped = max(first - 1, 0)
    if b"\x00" in data or not _is_text(data):
        _refuse_bytes(data)
    delimiter = _find_delimiter(data, skipped)
    if b'"' in data:
        # A quote that is never closed swallows rows, and the fast reader does not notice.
        _refuse_records(data, delimiter, skipped)
    _, names = next(_records(data, delimiter, skipped), (0, []))
    if not any(map(str.strip, names)):
        where = "first line" if not skipped else f"line {skipped + 1}"
        remedy = "start with column names, or say in which row they are (header=…)"
        raise InputError(f"the {where} has no column names", remedy, row=skipped + 1)
    if first == 0:
        names = [str(number) for number in range(1, len(names) + 1)]
    refuse_repeated_names([name.strip() for name in names], row=max(first, 1))
    text = pa.dictionary(pa.int32(), pa.string())
    try:
        table = pa_csv.read_csv(
            pa.BufferReader(data),
            read_options=pa_csv.ReadOptions(
                block_size=4 * LONGEST_LINE,
                skip_rows=skipped,
                skip_rows_after_names=last - first,
                column_names=names if first == 0 else None,
            ),
            parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, text), strings_can_be_null=False
            ),
        )
    except (OSError, KeyError, pa.ArrowException) as error:
        _refuse_records(data, delimiter, skipped)
        if sum(1 for _ in islice(_records(data, delimiter, skipped), 2)) < 2:
            raise InputError("it has no rows below the header", "add ratings") from None
        reason = str(error).splitlines()[0][:200]
        remedy = "give a UTF-8 CSV file with a header"
        raise InputError(f"it cannot be read ({reason})", remedy) from None
    return table_of(table)


def line_of(data: bytes, position: int, header: str | None = None) -> int:
    """Find the line of a row of data.

    Parameters
    ----------
    data : bytes
    position : int
        Index of the row among the rows of data, from 0.
    header : str, optional
        The rows of the header.

    Returns
    -------
    int
    """
    first, last = rows_of_header(header)
    skipped = max(first - 1, 0)
    lines = (line for line, _ in _records(data, _find_delimiter(data, skipped), skipped))
    row = position + (last - first + 1 if first else 0)
    return next(islice(lines, row, None), row + 1)


def _find_delimiter(data: bytes, skipped: int) -> str:
    """Find the delimiter: that of the header, and if it could be several, that of more rows."""
    text = ""
    for line in _lines(data, skipped):  # a name in quotes may have line breaks
        text += line
        if text.count('"') % 2 == 0:
            break
    unquoted = re.sub('"[^"]*"', "", text)
    delimiters = [delimiter for delimiter in DELIMITERS if delimiter in unquoted]
    if len(delimiters) < 2:
        return delimiters[0] if delimiters else DELIMITERS[0]

    def count_fitting(delimiter: str) -> int:
        """Count, among the first rows, those with as many fields as the header."""
        records = islice(_records(data, delimiter, skipped, strict=True), ROWS_FOR_DELIMITER + 1)
        try:
            header, *others = [len(fields) for _, fields in records]
        except InputError:
            return 0
        return others.count(header)

    return max(delimiters, key=lambda one: (count_fitting(one), unquoted.count(one)))


def _lines(data: bytes, skipped: int) -> TextIOWrapper:
    lines = TextIOWrapper(BytesIO(data), encoding="utf-8-sig", errors="replace", newline="")
    for _ in range(skipped):
        lines.readline()
    return lines


def _is_text(data: bytes) -> bool:
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


def _refuse_bytes(data: bytes) -> None:
    """Raise an InputError at the first line that is too long or not text."""
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        bad = line.find(b"\x00")
        try:
            line.decode()
        except UnicodeDecodeError as error:
            bad = error.start
        if len(line) > LONGEST_LINE:
            problem = f"the line is longer than {LONGEST_LINE:,} bytes"
            remedy = "check for missing line ends or an unclosed quote"
            raise InputError(problem, remedy, row=number)
        if bad >= 0:
            problem = f"byte 0x{line[bad]:02x} at position {bad + 1} is not UTF-8 text"
            remedy = "save the file as UTF-8, or name its encoding (encoding='cp1252')"
            raise InputError(problem, remedy, row=number, change={"encoding": "cp1252"})


def _refuse_records(data: bytes, delimiter: str, skipped: int) -> None:
    """Raise an InputError at the first line that is not text or lacks a field or a quote."""
    _refuse_bytes(data)
    expected = 0
    for line, fields in _records(data, delimiter, skipped, strict=True):
        expected = expected or len(fields)
        if len(fields) != expected:
            problem = f"{len(fields)} fields where the header has {expected}"
            raise InputError(problem, "give every row as many fields as the header", row=line)


def _records(
    data: bytes, delimiter: str, skipped: int = 0, *, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each record starts and its fields, without blank lines."""
    limit = csv.field_size_limit(LONGEST_LINE)
    line = skipped + 1
    try:
        reader = csv.reader(_lines(data, skipped), delimiter=delimiter, strict=strict)
        for fields in reader:
            if fields:
                yield line, fields
            line = skipped + reader.line_num + 1
    except csv.Error as error:
        if strict or line == skipped + 1:
            problem = f"a quote is not closed, or text follows its end ({error})"
            remedy = 'close every quote, and write a quote within quotes as ""'
            raise InputError(problem, remedy, row=line) from None
    finally:
        csv.field_size_limit(limit)
