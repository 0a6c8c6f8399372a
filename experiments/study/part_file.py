"""A part of the results of a study: a table with the columns of results, and a number."""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.study.checked_file import UnusableFileError, read_checked
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
NAME = re.compile(r"\d{8}-[0-9a-f]{16}\.parquet")
"""Parts are read in the order of the numbers that their names begin with."""


class OtherSeedError(UnusableFileError):
    """A part of a study that has another seed."""


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
    if not NAME.fullmatch(path.name):
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
