"""A part of the results of a study: a table with the columns of results, and a number."""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.study.checked_file import (
    DIGITS,
    UnusableFileError,
    checksum,
    parse_table,
    read_checked,
    write_checked,
)
from experiments.study.identity import data_seed

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
NAME = re.compile(rf"(\d{{8}})-[0-9a-f]{{{DIGITS}}}\.parquet")
WITHOUT_CHECKSUM = re.compile(r"(\d{8})\.parquet")
"""Names of parts that earlier versions wrote."""


class OtherSeedError(UnusableFileError):
    """A part of a study that has another seed."""


def remedy(folder: Path) -> str:
    """Remedy for a file of a folder of results that cannot be used."""
    here, study = (shlex.quote(str(path)) for path in (folder, folder / "study.toml"))
    return f"`lehner study run {study} --output {here}` sets it aside and computes what it lacks"


def write_part(table: "pa.Table", folder: Path, number: int) -> Path:
    """Write a table with the columns of `part_schema`; parts are read in the order of numbers."""
    return write_checked(table, folder, f"{number:08}")


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
    told = remedy(path.parents[1])
    if NAME.fullmatch(path.name):
        table = _with_all_columns(read_checked(path, told))
    elif earlier and WITHOUT_CHECKSUM.fullmatch(path.name):
        table = _read_unchecked(path, told)
    else:
        raise UnusableFileError("this is not a part of the study", told, file=path)
    if seed is not None and not _is_of_seed(table, seed):
        problem = f"this is a part of a study with another seed than {seed}"
        raise OtherSeedError(problem, told, file=path)
    return table


def add_checksum(path: Path) -> None:
    """Put a checksum into the name of a part that an earlier version wrote."""
    if not NAME.fullmatch(path.name):
        path.rename(path.with_stem(f"{path.stem}-{checksum(path.read_bytes())}"))


def number_of(path: Path) -> int:
    """Read the number in the name of a part."""
    return int(path.name[:8])


def part_schema() -> "pa.Schema":
    """Columns of a part and their types."""
    import pyarrow as pa

    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])


def _read_unchecked(path: Path, told: str) -> "pa.Table":
    """Read a part of an earlier version, which may be damaged and then says so in many ways."""
    import pyarrow as pa

    try:
        table = _with_all_columns(parse_table(path.read_bytes()))
        table.validate(full=True)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        problem = f"this part is damaged: {' '.join(str(error).split())}"
        raise UnusableFileError(problem, told, file=path) from None
    return table


def _with_all_columns(table: "pa.Table") -> "pa.Table":
    import pyarrow as pa

    schema = part_schema()
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
        return bool(row["seed"] == data_seed(seed, row["scenario_id"], row["replicate"]))
    except (TypeError, ValueError):  # no id of a scenario, or no number of a replicate
        return False
