"""A part of the results of a study: a Parquet file with a checksum of its bytes in its name."""

import hashlib
import re
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.reporting.files import write_atomically
from experiments.study.identity import data_seed_by_id
from lehner import InputError

if TYPE_CHECKING:
    import pyarrow as pa

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
DIGITS = 16
NAME = re.compile(rf"(\d{{8}})-([0-9a-f]{{{DIGITS}}})\.parquet")
WITHOUT_CHECKSUM = re.compile(r"(\d{8})\.parquet")
"""Names of parts that earlier versions wrote."""


class UnusableFileError(InputError):
    """A file of a study that is damaged, or is not of this study."""

    def __init__(self, problem: str, folder: Path, file: Path) -> None:
        here = shlex.quote(str(folder))
        super().__init__(
            problem,
            f"`lehner study run {shlex.quote(str(folder / 'study.toml'))} --output {here}` sets it "
            "aside and computes what it lacks",
            file=file,
        )


class OtherSeedError(UnusableFileError):
    """A part of a study that has another seed."""


def write_part(table: "pa.Table", folder: Path, number: int) -> Path:
    """Write a part.

    Parameters
    ----------
    table : pyarrow.Table
        With the columns of `part_schema`.
    folder : Path
        For the parts, which exists.
    number : int
        Parts are read in the order of their numbers.

    Returns
    -------
    Path
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer)
    content = buffer.getvalue().to_pybytes()
    path = folder / f"{number:08}-{_checksum(content)}.parquet"
    return write_atomically(path, partial(Path.write_bytes, data=content))


def read_part(path: Path, seed: int | None = None, *, earlier: bool = False) -> "pa.Table":
    """Read a part, perhaps one that was written before there were all the columns.

    Parameters
    ----------
    path : Path
    seed : int, optional
        Of the study. If given, the part must be of a study with this seed.
    earlier : bool
        Whether an earlier version may have written the part, without a checksum.

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
    folder = path.parents[1]
    named = NAME.fullmatch(path.name)
    if named is None and not (earlier and WITHOUT_CHECKSUM.fullmatch(path.name)):
        raise UnusableFileError("this is not a part of the study", folder, path)
    content = path.read_bytes()
    if named and _checksum(content) != named[2]:
        raise UnusableFileError(
            "this part is damaged: its bytes do not have the checksum in its name", folder, path
        )
    table = _parse(content) if named else _parse_unchecked(content, path)
    if seed is not None and not _is_of_seed(table, seed):
        raise OtherSeedError(
            f"this is a part of a study with another seed than {seed}", folder, path
        )
    return table


def add_checksum(path: Path) -> None:
    """Put a checksum into the name of a part that an earlier version wrote."""
    if not NAME.fullmatch(path.name):
        path.rename(path.with_stem(f"{path.stem}-{_checksum(path.read_bytes())}"))


def number_of(path: Path) -> int:
    """Give the number in the name of a part."""
    return int(path.name[:8])


def part_schema() -> "pa.Schema":
    """Give the columns of a part and their types."""
    import pyarrow as pa

    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGITS]


def _parse_unchecked(content: bytes, path: Path) -> "pa.Table":
    """Read a part of an earlier version, which may be damaged and then says so in many ways."""
    import pyarrow as pa

    try:
        table = _parse(content)
        table.validate(full=True)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        problem = f"this part is damaged: {' '.join(str(error).split())}"
        raise UnusableFileError(problem, path.parents[1], path) from None
    return table


def _parse(content: bytes) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = part_schema()
    # Threads are no faster here, and may not start where memory is short.
    table = pq.read_table(pa.BufferReader(content), use_threads=False)
    for field in schema:
        if field.name not in (*table.column_names, *KEY):
            table = table.append_column(field, pa.nulls(len(table), field.type))
    return table.select(schema.names).cast(schema)


def _is_of_seed(table: "pa.Table", seed: int) -> bool:
    """Compare the seed of the data in the first row with the one that the study gives it."""
    if not len(table):
        return True
    (row,) = table.slice(0, 1).to_pylist()
    try:
        return bool(row["seed"] == data_seed_by_id(seed, row["scenario_id"], row["replicate"]))
    except (TypeError, ValueError):  # no id of a scenario, or no number of a replicate
        return False
