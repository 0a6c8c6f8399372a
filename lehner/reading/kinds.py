"""The content of a file, decompressed, and its kind: by how it begins, else by its ending."""

import bz2
import gzip
import lzma
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lehner.core.errors import InputError

CSV, EXCEL, JSON, JSON_LINES, PARQUET = "CSV", "Excel", "JSON", "JSON Lines", "Parquet"
STATA, SPSS = "Stata", "SPSS"
ENDINGS = {
    **{".xlsx": EXCEL, ".xlsm": EXCEL, ".json": JSON, ".jsonl": JSON_LINES, ".ndjson": JSON_LINES},
    **{".parquet": PARQUET, ".pq": PARQUET, ".dta": STATA, ".sav": SPSS, ".zsav": SPSS},
}
BEGINNINGS = {
    **{b"PAR1": PARQUET, b"PK\x03\x04": EXCEL, b"<stata_dta>": STATA},
    **{b"$FL2@(#)": SPSS, b"$FL3@(#)": SPSS},
}
JSON_BEGINNING = re.compile(rb'(\xef\xbb\xbf)?\s*(\{\s*["}]|\[\s*[{\]])')
"""Of an object with a name, or of a list of objects."""
DECOMPRESS: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ\x00": lzma.decompress,
}
SAVE_AS_CSV = "save the sheet with the ratings as CSV (UTF-8)"
OTHER_BEGINNINGS = {
    b"\xd0\xcf\x11\xe0": ("an Excel file of 2003 or earlier", f"{SAVE_AS_CSV} or as .xlsx"),
    b"ARROW1": ("an Arrow (Feather) file", "save the table as Parquet or CSV"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "decompress it, or compress it by gzip"),
    b"7z\xbc\xaf": ("a 7z archive", "unpack it"),
}
OTHER_ENDINGS = {
    **dict.fromkeys((".xls", ".xlsb", ".ods", ".numbers"), f"{SAVE_AS_CSV} or as .xlsx"),
    **dict.fromkeys((".zip", ".tar"), "unpack it"),
    ".eval": "write this log of Inspect as JSON: `inspect log dump LOG > log.json`",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Content:
    """What a file holds.

    Parameters
    ----------
    path : Path
        Of the file.
    name : str
        Its name without the ending of its compression.
    data : bytes
        Decompressed; text is UTF-8.
    """

    path: Path
    name: str
    data: bytes

    @property
    def kind(self) -> str:
        """Kind of table: by how it begins, else by its ending in any case.

        Raises
        ------
        InputError
            If it is of a kind that cannot be read.
        """
        ending = Path(self.name).suffix.lower()
        for beginning, (what, remedy) in OTHER_BEGINNINGS.items():
            if self.data.startswith(beginning):
                raise InputError(f"it is {what}, which cannot be read", remedy)
        kinds = (kind for start, kind in BEGINNINGS.items() if self.data.startswith(start))
        kind = next(kinds, None)
        if ending in OTHER_ENDINGS and (ending, kind) != (".xls", EXCEL):
            raise InputError(f"files that end in {ending} cannot be read", OTHER_ENDINGS[ending])
        if kind is None and JSON_BEGINNING.match(self.data[:4096]):
            kind = JSON_LINES if ENDINGS.get(ending) == JSON_LINES else JSON
        return kind or ENDINGS.get(ending, CSV)


def read_content(path: Path, encoding: str | None = None) -> Content:
    """Read a file, or a pipe, and decompress it.

    Parameters
    ----------
    path : Path
    encoding : str, optional
        Of the text, if it is not UTF-8.

    Returns
    -------
    Content

    Raises
    ------
    InputError
        If there is no such file, or it cannot be read or decompressed.
    """
    data, name = _read(path), path.name
    try:
        while opener := next((DECOMPRESS[x] for x in DECOMPRESS if data.startswith(x)), None):
            data, name = opener(data), Path(name).stem
        if encoding is not None:
            data = data.decode(encoding).encode()
    except (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError) as error:
        if isinstance(error, UnicodeError):
            raise InputError(f"it is no text in {encoding}", "name its encoding") from None
        raise InputError(f"it cannot be read ({error})", "check it") from None
    except LookupError:
        raise InputError(f"it is no text in {encoding}", "name its encoding") from None
    return Content(path=path, name=name, data=data)


def _read(path: Path) -> bytes:
    try:
        if not path.exists():
            raise InputError("there is no such file", "check the name, or see `lehner datasets`")
        if not (path.is_file() or path.is_fifo()):
            raise InputError("this is a device, not a file", "name a file")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"it cannot be read ({error.strerror})", "check its permissions") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"this is not a file name ({error})", "check the name") from None
    if not data and path.is_fifo():
        remedy = "write its content into a file"
        raise InputError("this pipe is empty, or was read before", remedy)
    return data


def is_file(name: Any) -> bool:
    """Whether a name is that of a file, there or not, and not of a column."""
    path = Path(str(name))
    try:
        return path.is_file() or path.is_fifo() or path.suffix.lower() in (".csv", ".tsv", *ENDINGS)
    except (OSError, ValueError):
        return False
