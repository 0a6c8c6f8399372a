"""The harness of simulations: cells, each computed once from a seed by its place, and kept.

A study and the benchmarks are a list of cells. A cell has a name, a place among the others, which
gives its seed, values that all of its rows have, and a function that gives its rows:

    cells = [
        Cell(name=f"few_{n}", place=(n,), values={"items": n}, simulate=partial(estimate, n))
        for n in (50, 200)
    ]
    for cell, seconds in run_cells(cells, folder, seed=1, workers=2):
        print(f"simulated {cell.name} in {seconds:.0f} s")
    rows = read_cells(folder, cells, seed=1)

Each cell becomes a Parquet file, which is written whole or not at all and has a checksum of its
bytes in its name. `run_cells` computes the cells that have no file, or one whose bytes do not have
this checksum; it may be stopped at any moment in any way. The rows are the same for any number of
workers.
"""

import hashlib
import io
import json
import re
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.report.files import write_bytes
from experiments.study.parallel import do_all
from lehner import InputError, IntervalEstimate
from lehner.core.lazy import load, pa, pd

pq = load("pyarrow.parquet")

type Row = dict[str, Any]
type Rows = Iterable[Row] | pd.DataFrame

NOT_IN_FILES = re.compile(r"[^\w.]+")
FILE = re.compile(r"(.+)-([0-9a-f]{16})\.parquet")
"""Name of a file: the cell's stem, and the checksum."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A cell of a simulation.

    Parameters
    ----------
    name : str
        Names it and, with what is not in a file's name replaced, its file. A cell is identified by
        its name, place, values and the seed of the simulation; if its rows depend on anything else,
        such as a number of data sets, that is to be in the name.
    place : tuple of int
        Its seed is `SeedSequence(seed, spawn_key=place)`, whatever other cells there are. Cells at
        the same place see the same random numbers.
    simulate : callable
        From that seed to the rows: a table, or an iterable of dictionaries. With several workers
        it must be one that can be pickled: a function of a module, or a `functools.partial` of one.
    values : mapping of str to value
        Columns that are put before those of its rows.
    """

    name: str
    place: tuple[int, ...]
    simulate: Callable[[np.random.SeedSequence], "Rows"]
    values: Mapping[str, Any] = field(default_factory=dict)

    def stem(self, seed: int) -> str:
        """Beginning of the name of its file."""
        identity = digest([self.name, self.place, dict(self.values), seed])
        return f"{NOT_IN_FILES.sub('_', self.name)}-{identity}"

    def compute(self, seed: int) -> "tuple[Cell, pa.Table, float]":
        """Compute its rows, and say how many seconds that took."""
        start = time.perf_counter()
        rows = self.simulate(np.random.SeedSequence(seed, spawn_key=self.place))
        frame = pd.DataFrame(rows if isinstance(rows, pd.DataFrame) else list(rows))
        for position, (name, value) in enumerate(self.values.items()):
            frame.insert(position, name, value)
        table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        return self, table, time.perf_counter() - start


def digest(value: Any) -> str:
    """Twelve hexadecimal digits that stand for anything JSON can say."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def run_cells(
    cells: Iterable[Cell],
    folder: Path,
    seed: int = 1,
    *,
    workers: int = 1,
    dask: str | None = None,
) -> Generator[tuple[Cell, float]]:
    """Compute the cells that are missing in a folder, and keep each as soon as it is done.

    Parameters
    ----------
    cells : iterable of Cell
    folder : Path
        For the files; made if it is not there.
    seed : int
        Of the simulation.
    workers : int
        Number of processes at work, 1 or more; 1 is this one.
    dask : str, optional
        Address of a Dask scheduler, or "local".

    Yields
    ------
    cell : Cell
        Each that was computed, as soon as it is kept.
    seconds : float
        That it took.

    Raises
    ------
    KeyboardInterrupt
        If it was interrupted: what was finished is kept.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> def throw(n, seed):
    ...     yield {"mean": np.random.default_rng(seed).integers(1, 7, n).mean()}
    >>> cells = [
    ...     Cell(name=f"dice {n}", place=(n,), values={"dice": n}, simulate=partial(throw, n))
    ...     for n in (2, 3)
    ... ]
    >>> [cell.name for cell, seconds in run_cells(cells, folder, seed=1)]
    ['dice 2', 'dice 3']
    >>> list(run_cells(cells, folder, seed=1))  # all is there
    []
    >>> list(read_cells(folder, cells, seed=1))
    ['dice', 'mean']
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = missing_cells(cells, folder, seed)
    with closing(do_all(partial(Cell.compute, seed=seed), missing, workers, dask)) as computed:
        for cell, table, seconds in computed:
            _write(table, folder, cell.stem(seed))
            yield cell, seconds


def missing_cells(cells: Iterable[Cell], folder: Path, seed: int) -> list[Cell]:
    """List the cells that have no file in a folder, or a damaged one, each once."""
    files = usable_files(folder)
    stems = {cell.stem(seed): cell for cell in cells}
    return [cell for stem, cell in stems.items() if stem not in files]


def read_cells(
    folder: Path, cells: Iterable[Cell] | None = None, seed: int = 1, *, number: str = ""
) -> "pd.DataFrame":
    """Read the rows of cells into one table.

    Parameters
    ----------
    folder : Path
        As given to `run_cells`.
    cells : iterable of Cell, optional
        Default: whatever the folder holds, of any seed, in the order of the names.
    seed : int
        Of the simulation.
    number : str
        Name of a column, if wanted, with the number of the cell in the list. Cells that are not
        there are then left out.

    Returns
    -------
    pandas.DataFrame
        The values of the cells, then the columns of their rows, with the numbers that were
        computed; empty where a cell has no such column. A file that is damaged is as one that is
        not there.

    Raises
    ------
    InputError
        If one of the cells is not there.
    """
    files = usable_files(folder)
    stems = list(files) if cells is None else [cell.stem(seed) for cell in cells]
    tables = []
    for place, stem in enumerate(stems):
        if stem in files:
            table = files[stem]
            if number:
                table = table.append_column(number, pa.array([place] * len(table), pa.int64()))
            tables.append(table)
        elif not number:
            problem = f"the cell {stem} is not there, or its file is damaged"
            raise InputError(problem, "run the simulation again", file=folder)
    if not tables:
        return pd.DataFrame()
    # What is missing in all rows of a cell has a type in others.
    return pa.concat_tables(tables, promote_options="permissive").to_pandas()


def usable_files(folder: Path) -> "dict[str, pa.Table]":
    """Tables of a folder by what their names begin with, without files that are damaged."""
    tables = {}
    for path in sorted(folder.glob("*.parquet")):
        name = FILE.fullmatch(path.name)
        content = path.read_bytes()
        # Parquet's own checksums are of its pages: bits of the footer may flip without an error.
        if name is not None and _checksum(content) == name[2]:
            # Threads are no faster here, and may not start where memory is short.
            tables[name[1]] = pq.read_table(pa.BufferReader(content), use_threads=False)
    return tables


def result_row(truth: float, value: IntervalEstimate, **columns: Any) -> Row:
    """Lay out an estimate beside the truth, as `measure` takes it."""
    ends = {"estimate": value.estimate, "lower": value.lower, "upper": value.upper}
    return columns | {"truth": truth} | ends


def _write(table: "pa.Table", folder: Path, stem: str) -> None:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    content = buffer.getvalue()
    path = write_bytes(content, folder / f"{stem}-{_checksum(content)}.parquet")
    for damaged in set(folder.glob(f"{stem}-*.parquet")) - {path}:
        damaged.unlink()


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
