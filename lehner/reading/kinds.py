"""The kind of a file by its content, else by its ending; pipes and compressed files."""

import bz2
import gzip
import lzma
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lehner.core.errors import InputError

CSV, EXCEL, JSON, JSON_LINES, PARQUET = "CSV", "Excel", "JSON", "JSON Lines", "Parquet"
STATA, SPSS = "Stata", "SPSS"
ENDINGS = {
    ".xlsx": EXCEL,
    ".xlsm": EXCEL,
    ".json": JSON,
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".dta": STATA,
    ".sav": SPSS,
    ".zsav": SPSS,
}
BEGINNINGS = {
    b"PAR1": PARQUET,
    b"PK\x03\x04": EXCEL,
    b"<stata_dta>": STATA,
    b"$FL2@(#)": SPSS,
    b"$FL3@(#)": SPSS,
}
JSON_BEGINNING = re.compile(rb'(\xef\xbb\xbf)?\s*(\{\s*["}]|\[\s*[{\]])')
"""Of an object with a name, or of a list of objects."""
COMPRESSED: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
SAVE_AS_CSV = "save the sheet with the ratings as CSV (UTF-8)"
OTHER_BEGINNINGS = {
    b"\xd0\xcf\x11\xe0": ("an Excel file of 2003 or earlier", f"{SAVE_AS_CSV} or as .xlsx"),
    b"ARROW1": ("an Arrow (Feather) file", "save the table as Parquet or CSV"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "decompress it, or compress it by gzip"),
    b"7z\xbc\xaf": ("a 7z archive", "unpack it"),
}
OTHER_ENDINGS = (".xls", ".xlsb", ".ods", ".numbers")


def kind_of(path: Path) -> str:
    """Kind of table that a file has: by how it begins, else by its ending in any case.

    Raises
    ------
    InputError
        If it is of a kind that cannot be read.
    """
    ending = path.suffix.lower()
    head = _head(path)
    for beginning, (what, remedy) in OTHER_BEGINNINGS.items():
        if head.startswith(beginning):
            raise InputError(f"it is {what}, which cannot be read", remedy)
    known = next((kind for start, kind in BEGINNINGS.items() if head.startswith(start)), None)
    if ending in OTHER_ENDINGS and (ending, known) != (".xls", EXCEL):
        raise InputError(f"files that end in {ending} cannot be read", f"{SAVE_AS_CSV} or as .xlsx")
    if ending == ".eval":
        raise InputError(
            "it is a log of Inspect in its own format",
            "write it as JSON: `inspect log dump LOG > log.json`",
        )
    if ending in (".zip", ".tar"):
        raise InputError(f"it is an archive ({ending})", "unpack it")
    if known is not None:
        return known
    if JSON_BEGINNING.match(head):
        return JSON_LINES if ENDINGS.get(ending) == JSON_LINES else JSON
    return ENDINGS.get(ending, CSV)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except OSError as error:
        raise InputError(f"it cannot be read ({error.strerror})", "check its permissions") from None


@contextmanager
def plain_file(path: Path, encoding: str | None = None) -> Iterator[Path]:
    """Open a file that can be read more than once, where there is a pipe or a compressed file.

    Parameters
    ----------
    path : Path
    encoding : str, optional
        Of the text, if it is not UTF-8.

    Yields
    ------
    Path
        The file itself, or a decompressed copy, which is deleted afterwards.

    Raises
    ------
    InputError
        If there is no such file, or it cannot be decompressed.
    """
    if path.is_dir():
        yield path
        return
    pipe = _is_pipe(path)
    opener = None if pipe else _opener(path)
    if not pipe and opener is None and encoding is None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="lehner-") as folder:
        # A log of lm-evaluation-harness has its model's name in that of its folder.
        copy = Path(folder, path.parent.resolve().name, path.stem if opener else path.name)
        copy.parent.mkdir(exist_ok=True)
        try:
            with path.open("rb") if opener is None else opener(path) as source:
                with copy.open("wb") as target:
                    shutil.copyfileobj(source, target)
            if encoding is not None and opener is None:
                text = copy.read_text(encoding=encoding)
                copy.write_text(text, encoding="utf-8", newline="")
                encoding = None
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            raise InputError(f"it cannot be read ({error})", "check it") from None
        except (LookupError, UnicodeError):
            raise InputError(f"it is no text in {encoding}", "name its encoding") from None
        if pipe and not copy.stat().st_size:
            raise InputError(
                "this pipe is empty, or was read before", "write its content into a file"
            )
        with plain_file(copy, encoding) as plain:
            yield plain


def _is_pipe(path: Path) -> bool:
    try:
        if not path.exists():
            raise InputError("there is no such file", "check the name, or see `lehner datasets`")
        if path.is_file() or path.is_fifo():
            return path.is_fifo()
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"this is not a file name ({error})", "check the name") from None
    raise InputError("this is a device, not a file", "name a file")


def _opener(path: Path) -> Callable[[Path], Any] | None:
    head = _head(path)
    return next((opener for start, opener in COMPRESSED.items() if head.startswith(start)), None)
