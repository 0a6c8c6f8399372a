"""A table in a Parquet file that has a checksum of its bytes in its name."""

import hashlib
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.reporting.files import write_atomically
from lehner import InputError

if TYPE_CHECKING:
    import pyarrow as pa

NAME = re.compile(r"(.+)-([0-9a-f]{16})\.parquet")
"""The stem that a file was given, and the checksum."""


class StudyWarning(UserWarning):
    """Results of a study or simulation were stored, but not as they should be."""


class UnusableFileError(InputError):
    """A file of results that is damaged, or is not of this study."""


def write_checked(table: "pa.Table", folder: Path, stem: str) -> Path:
    """Write a table, whole or not at all, as `folder/stem-CHECKSUM.parquet`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer)
    content = buffer.getvalue().to_pybytes()
    path = folder / f"{stem}-{_checksum(content)}.parquet"
    return write_atomically(path, partial(Path.write_bytes, data=content))


def read_checked(path: Path, remedy: str) -> "pa.Table":
    """Read a table that `write_checked` wrote, or raise `UnusableFileError` with this remedy."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    content, named = path.read_bytes(), NAME.fullmatch(path.name)
    if named is None or _checksum(content) != named[2]:
        problem = "this part is damaged: its bytes do not have the checksum in its name"
        raise UnusableFileError(problem, remedy, file=path)
    # Threads are no faster here, and may not start where memory is short.
    return pq.read_table(pa.BufferReader(content), use_threads=False)


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def set_aside(path: Path, folder: Path) -> Path:
    """Move a file that cannot be used into a folder, beside others of its name."""
    folder.mkdir(exist_ok=True)
    taken = len(list(folder.glob(f"{path.name}*")))
    return path.rename(folder / (f"{path.name}.{taken}" if taken else path.name))
