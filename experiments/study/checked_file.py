"""A table in a Parquet file that has a checksum of its bytes in its name; parts of a study."""

import hashlib
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.reporting.files import write_bytes
from experiments.study.identity import data_seed
from lehner import InputError

if TYPE_CHECKING:
    import pyarrow as pa

NAME = re.compile(r"(.+)-([0-9a-f]{16})\.parquet")
"""The stem that a file was given, and the checksum."""

TEXT, NUMBER, WHOLE = "string", "double", "int64"
COLUMNS = {
    "scenario_id": TEXT,
    "replicate": WHOLE,
    "method_id": TEXT,
    "estimand": TEXT,
    "truth": NUMBER,
    "estimate": NUMBER,
    "lower": NUMBER,
    "upper": NUMBER,
    "standard_error": NUMBER,
    "status": TEXT,
    "reason": TEXT,
    "r_hat": NUMBER,
    "ess_bulk": NUMBER,
    "ess_tail": NUMBER,
    "divergences": WHOLE,
    "tries": WHOLE,
    "seed": WHOLE,
    "seconds": NUMBER,
    "versions": TEXT,
}
KEY = ("scenario_id", "replicate", "method_id", "estimand")
PART_NAME = re.compile(r"\d{8}-[0-9a-f]{16}\.parquet")
"""Parts are read in the order of the numbers that their names begin with."""


class StudyWarning(UserWarning):
    """Results of a study or simulation were stored, but not as they should be."""


class UnusableFileError(InputError):
    """A file of results that is damaged, or is not of this study."""


class OtherSeedError(UnusableFileError):
    """A part of a study that has another seed."""


def write_checked(table: "pa.Table", folder: Path, stem: str) -> Path:
    """Write a table, whole or not at all, as `folder/stem-CHECKSUM.parquet`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer)
    content = buffer.getvalue().to_pybytes()
    path = folder / f"{stem}-{_checksum(content)}.parquet"
    return write_bytes(content, path)


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


def remedy(folder: Path) -> str:
    """Remedy for a file of a folder of results that cannot be used."""
    here, study = (shlex.quote(str(path)) for path in (folder, folder / "study.toml"))
    return f"`lehner study run {study} --output {here}` sets it aside and computes what it lacks"


def read_part(path: Path, seed: int | None = None) -> "pa.Table":
    """Read a part.

    Parameters
    ----------
    path : Path
    seed : int, optional
        Of the study. If given, the part must be of a study with this seed.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    UnusableFileError
        If the file has other bytes than were written, or is no part.
    OtherSeedError
        If it is of a study with another seed.
    """
    told = remedy(path.parents[1])
    if not PART_NAME.fullmatch(path.name):
        raise UnusableFileError("this is not a part of the study", told, file=path)
    table = read_checked(path, told)
    if seed is not None and len(table):
        (row,) = table.slice(0, 1).to_pylist()
        # The seed of the data in the first row is the one that the study gives it.
        if row["seed"] != data_seed(seed, row["scenario_id"], row["replicate"]):
            problem = f"this is a part of a study with another seed than {seed}"
            raise OtherSeedError(problem, told, file=path)
    return table


def part_schema() -> "pa.Schema":
    """Columns of a part and their types."""
    import pyarrow as pa

    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])
