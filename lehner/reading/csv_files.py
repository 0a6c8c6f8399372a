"""CSV files: read fast, with errors that name the line of a defect."""

import csv
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from lehner.core.errors import InputError
from lehner.data.columns import refuse_repeated_names

LONGEST_LINE = 1_000_000
DELIMITERS = (",", "\t", ";", "|")
MOST_HEADER_LINES = 100
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
    found = re.fullmatch(r"([1-9][0-9]{0,5})(?:-([1-9][0-9]{0,5}))?", header or "1")
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (2, 1)
    if last < first:
        remedy = "give the row of the names (header='2'), 1-3 if two more rows are no data, or none"
        raise InputError(f"header is {header!r}", remedy)
    return first, last


def read_csv(path: Path, header: str | None = None) -> Any:
    """Read a CSV file, every column as text.

    Parameters
    ----------
    path : Path
        UTF-8, with or without a byte order mark; separated by commas, tabs, semicolons or `|`.
    header : str, optional
        The rows of the header, see `rows_of_header`.

    Returns
    -------
    pyarrow.Table
        A dictionary-encoded table: its memory is proportional to the number of rows, not to the
        length of the labels.

    Raises
    ------
    InputError
        If it is not such a file; the error names file, row and remedy.
    """
    import pyarrow as pa
    import pyarrow.csv

    first, last = rows_of_header(header)
    skipped = max(first - 1, 0)
    delimiter = _check_bytes(path, skipped)
    _, names = next(_records(path, delimiter, skipped), (0, []))
    if first == 0:
        names = [str(number) for number in range(1, len(names) + 1)]
    refuse_repeated_names([name.strip() for name in names], file=path, row=max(first, 1))
    text = pa.dictionary(pa.int32(), pa.string())
    try:
        table = pyarrow.csv.read_csv(
            path,
            read_options=pyarrow.csv.ReadOptions(
                block_size=4 * LONGEST_LINE,
                skip_rows=skipped,
                skip_rows_after_names=last - first,
                column_names=names if first == 0 else None,
            ),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, text), strings_can_be_null=False
            ),
        )
    except (OSError, KeyError, pa.ArrowException) as error:
        _check_records(path, delimiter, skipped)
        if sum(1 for _ in islice(_records(path, delimiter, skipped), 2)) < 2:
            raise InputError("it has no rows below the header", "add ratings", file=path) from None
        reason = str(error).splitlines()[0][:200]
        raise InputError(
            f"it cannot be read ({reason})", "give a UTF-8 CSV file with a header", file=path
        ) from None
    return table.unify_dictionaries()


def line_of(path: Path, position: int, header: str | None = None) -> int:
    """Find the line of a row of data.

    Parameters
    ----------
    path : Path
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
    lines = (line for line, _ in _records(path, _delimiter(path, skipped), skipped))
    row = position + (last - first + 1 if first else 0)
    return next((line for i, line in enumerate(lines) if i == row), row + 1)


def _check_bytes(path: Path, skipped: int) -> str:
    """Raise an InputError unless the file is text in lines; give its delimiter."""
    quoted = binary = False
    with path.open("rb") as file:
        first = file.readline(LONGEST_LINE + 1)
        file.seek(0)
        for block in iter(lambda: file.read(1 << 24), b""):
            quoted, binary = quoted or b'"' in block, binary or b"\x00" in block
    try:
        first.decode("utf-8-sig")
    except UnicodeDecodeError:
        binary = True
    if binary or len(first) > LONGEST_LINE:
        _check_lines(path)
    if not _header(path, skipped).strip():
        raise InputError(
            f"the {'first line' if not skipped else f'line {skipped + 1}'} has no column names",
            "start with column names, or say in which row they are (header=…)",
            file=path,
            row=skipped + 1,
        )
    delimiter = _delimiter(path, skipped)
    if quoted:
        # A quote that is never closed swallows rows, and the fast reader does not notice.
        _check_records(path, delimiter, skipped)
    return delimiter


def _header(path: Path, skipped: int) -> str:
    """Text of the header, which has a line break where that is quoted."""
    text = ""
    with path.open("rb") as file:
        for number in range(skipped + MOST_HEADER_LINES):
            line = file.readline(LONGEST_LINE).decode("utf-8-sig", errors="replace")
            text = line if number <= skipped else text + line
            if not line or (number >= skipped and text.count('"') % 2 == 0):
                break
    return text


def _delimiter(path: Path, skipped: int) -> str:
    """Find the delimiter: that of the header, and if it could be several, that of more rows."""
    unquoted = re.sub('"[^"]*"', "", _header(path, skipped))
    delimiters = [delimiter for delimiter in DELIMITERS if delimiter in unquoted]
    if len(delimiters) < 2:
        return delimiters[0] if delimiters else DELIMITERS[0]
    return max(
        delimiters, key=lambda one: (_like_the_header(path, one, skipped), unquoted.count(one))
    )


def _like_the_header(path: Path, delimiter: str, skipped: int) -> int:
    """Count, among the first rows, those with as many fields as the header."""
    records = islice(_records(path, delimiter, skipped, strict=True), ROWS_FOR_DELIMITER + 1)
    n_fields = []
    try:
        n_fields = [len(fields) for _, fields in records]
    except InputError:
        return 0
    return n_fields[1:].count(n_fields[0])


def _check_lines(path: Path) -> None:
    """Raise an InputError at the first line that is too long or not text."""
    with path.open("rb") as lines:
        for number, line in enumerate(iter(lambda: lines.readline(LONGEST_LINE + 1), b""), 1):
            bad = line.find(b"\x00")
            try:
                line.decode()
            except UnicodeDecodeError as error:
                bad = error.start
            if len(line) > LONGEST_LINE:
                problem = f"the line is longer than {LONGEST_LINE:,} bytes"
                remedy = "check for missing line ends or an unclosed quote"
            elif bad >= 0:
                problem = f"byte 0x{line[bad]:02x} at position {bad + 1} is not UTF-8 text"
                remedy = "save the file as UTF-8, or name its encoding (encoding='cp1252')"
            else:
                continue
            change = {"encoding": "cp1252"} if "encoding" in remedy and number > 0 else {}
            raise InputError(problem, remedy, file=path, row=number, change=change)


def _check_records(path: Path, delimiter: str, skipped: int) -> None:
    """Raise an InputError at the first line that is not text or lacks a field or a quote."""
    _check_lines(path)
    expected = 0
    for line, fields in _records(path, delimiter, skipped, strict=True):
        expected = expected or len(fields)
        if len(fields) != expected:
            raise InputError(
                f"{len(fields)} fields where the header has {expected}",
                "give every row as many fields as the header",
                file=path,
                row=line,
            )


def _records(
    path: Path, delimiter: str, skipped: int = 0, *, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each record starts and its fields, without blank lines."""
    limit = csv.field_size_limit(LONGEST_LINE)
    line = skipped + 1
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for _ in range(skipped):
                file.readline(LONGEST_LINE)
            reader = csv.reader(file, delimiter=delimiter, strict=strict)
            for fields in reader:
                if fields:
                    yield line, fields
                line = skipped + reader.line_num + 1
    except UnicodeDecodeError:
        _check_lines(path)
    except csv.Error as error:
        if strict or line == skipped + 1:
            raise InputError(
                f"a quote is not closed, or text follows its end ({error})",
                'close every quote, and write a quote within quotes as ""',
                file=path,
                row=line,
            ) from None
    finally:
        csv.field_size_limit(limit)
