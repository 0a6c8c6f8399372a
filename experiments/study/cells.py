"""The harness of simulations: cells, each computed once from a seed by its place, and kept.

A study of a file of TOML, the small simulations, the calibration of models and the benchmarks are
all a list of cells. A cell has a name, a place among the others, which gives its seed, values that
all of its rows have, and a function that gives its rows:

    cells = [
        Cell(name=f"few_{n}", place=(n,), values={"items": n}, simulate=partial(estimate, n))
        for n in (50, 200)
    ]
    for cell in run_cells(cells, folder, seed=1, workers=2):
        print(f"simulated {cell.name}")
    rows = read_cells(folder, cells, seed=1)
    table = measure_wide(rows, ["items"], ["bias", "rmse"])

`run_cells` computes the cells that are not there, in this process, in workers or on a Dask cluster,
and keeps each at once in a file of its own, whole or not at all. It may be stopped at any moment in
any way; the next run goes on with the cells that are missing, and the rows are the same for any
number of workers. A file that was damaged is moved to the folder `damaged`, with a warning, and its
cell is computed again. `read_cells` gives the rows of all cells as one table, in the order of the
cells; `experiments.study.performance` measures bias, error and coverage in it, each with its Monte
Carlo standard error.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.study.checked_file import (
    NAME,
    StudyWarning,
    UnusableFileError,
    read_checked,
    set_aside,
    write_checked,
)
from experiments.study.identity import digest
from experiments.study.stopping import note_interrupts
from experiments.study.workers import Workers, do_all, open_workers
from lehner import InputError, IntervalEstimate
from lehner.core.seeds import child_seeds

if TYPE_CHECKING:
    import pandas as pd

type Row = dict[str, Any]
type Rows = Iterable[Row] | pd.DataFrame

REMEDY = "simulate again: it is set aside, and computed again"
NOT_IN_FILES = re.compile(r"[^\w.]+")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A cell of a simulation.

    Parameters
    ----------
    name : str
        Names it and, with what is not in a file's name replaced, its file. A cell is known by its
        name, place, values and the seed of the simulation; if its rows depend on anything else,
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
        known_by = digest([self.name, self.place, dict(self.values), seed])
        return f"{NOT_IN_FILES.sub('_', self.name)}-{known_by}"


def run_cells(
    cells: Iterable[Cell],
    folder: Path,
    seed: int = 1,
    *,
    workers: int = 1,
    dask: str | None = None,
    modules: Sequence[str] = (),
) -> Iterator[Cell]:
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
    modules : sequence of str
        What worker processes need: imported once, not by each.

    Yields
    ------
    Cell
        Each that was computed, as soon as it is kept.

    Raises
    ------
    KeyboardInterrupt
        If it was interrupted: what was finished is kept.

    Warns
    -----
    StudyWarning
        If a file was damaged: it is moved to the folder `damaged` and its cell computed again.

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
    >>> [cell.name for cell in run_cells(cells, folder, seed=1)]
    ['dice 2', 'dice 3']
    >>> list(run_cells(cells, folder, seed=1))  # all is there
    []
    >>> list(read_cells(folder, cells, seed=1))
    ['dice', 'mean']
    """
    cells = list(cells)
    folder.mkdir(parents=True, exist_ok=True)
    usable_files(folder)
    missing = missing_cells(folder, cells, seed)
    if missing:
        with (
            note_interrupts() as stop_if_told,
            open_workers(workers, dask, modules) as opened,
        ):
            keep = partial(keep_cell, folder, seed)
            for cell, _ in compute_cells(missing, seed, keep, opened, stop_if_told):
                yield cell


def compute_cells(
    cells: Iterable[Cell],
    seed: int,
    keep: "Callable[[Cell, Rows], object]",
    workers: Workers,
    stop_if_told: Callable[[], None],
) -> "Iterator[tuple[Cell, Rows]]":
    """Compute cells, keep the rows of each as soon as it is done, and pass them on.

    Parameters
    ----------
    cells : iterable of Cell
    seed : int
        Of the simulation.
    keep : callable
        Stores the rows of a cell: in a file of its own (`run_cells`), or in the store of a study.
    workers : Workers
        As `open_workers` gives them.
    stop_if_told : callable
        As `note_interrupts` gives it: what comes after an interrupt is no result.

    Yields
    ------
    cell : Cell
    rows : iterable of dict, or pandas.DataFrame
    """
    for cell, rows in do_all(partial(_compute, seed), cells, workers):
        stop_if_told()
        keep(cell, rows)
        yield cell, rows


def usable_files(folder: Path) -> dict[str, Path]:
    """Files of cells by what their names begin with; those that were damaged are moved away."""
    files = _files(folder)
    for stem, path in list(files.items()):
        try:
            read_checked(path, REMEDY)
        except UnusableFileError as error:
            where = set_aside(files.pop(stem), folder / "damaged")
            text = f"{path}: {error.problem}; it is {where} now, and its cell is computed again"
            warnings.warn(text, StudyWarning, stacklevel=3)
    return files


def missing_cells(folder: Path, cells: Iterable[Cell], seed: int = 1) -> list[Cell]:
    """Cells that a folder holds no file of."""
    files = _files(folder)
    return [cell for cell in cells if cell.stem(seed) not in files]


def read_cells(folder: Path, cells: Iterable[Cell] | None = None, seed: int = 1) -> "pd.DataFrame":
    """Read the rows of cells into one table.

    Parameters
    ----------
    folder : Path
        As given to `run_cells`.
    cells : iterable of Cell, optional
        Default: whatever the folder holds, of any seed, in the order of the names.
    seed : int
        Of the simulation.

    Returns
    -------
    pandas.DataFrame
        The values of the cells, then the columns of their rows, with the numbers that were
        computed; empty where a cell has no such column.

    Raises
    ------
    InputError
        If a cell is not there, or its file is damaged.
    """
    import pandas as pd
    import pyarrow as pa

    files = _files(folder)
    stems = list(files) if cells is None else [cell.stem(seed) for cell in cells]
    for stem in stems:
        if stem not in files:
            raise InputError(f"the cell {stem} is not there", "simulate it", file=folder)
    tables = [read_checked(files[stem], REMEDY) for stem in stems]
    if not tables:
        return pd.DataFrame()
    # What is missing in all rows of a cell has a type in others.
    return pa.concat_tables(tables, promote_options="permissive").to_pandas()


def each_data_set(
    rows_of: Callable[[np.random.SeedSequence], Iterable[Row]],
    data_sets: int,
    seed: np.random.SeedSequence,
) -> Iterator[Row]:
    """Simulate several data sets, each with its own seed: `partial` makes a cell's function of it.

    Parameters
    ----------
    rows_of : callable
        From the seed of a data set to its rows.
    data_sets : int
    seed : numpy.random.SeedSequence
        Of the cell.

    Yields
    ------
    dict
    """
    for child in child_seeds(seed, data_sets):
        yield from rows_of(child)


def result_row(truth: float, found: IntervalEstimate, **columns: Any) -> Row:
    """Lay out an estimate beside the truth, as `measure` takes it."""
    ends = {"estimate": found.estimate, "lower": found.lower, "upper": found.upper}
    return columns | {"truth": truth} | ends


def _compute(seed: int, cell: Cell) -> "tuple[Cell, Rows]":
    import pandas as pd

    rows = cell.simulate(np.random.SeedSequence(seed, spawn_key=cell.place))
    return cell, rows if isinstance(rows, pd.DataFrame) else list(rows)


def keep_cell(folder: Path, seed: int, cell: Cell, rows: "Rows") -> Path:
    """Write the rows of a cell into a file of its own."""
    import pandas as pd
    import pyarrow as pa

    table = pd.DataFrame(rows)
    for place, (name, value) in enumerate(cell.values.items()):
        table.insert(place, name, value)
    kept = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
    return write_checked(kept, folder, cell.stem(seed))


def _files(folder: Path) -> dict[str, Path]:
    """Files of cells by what their names begin with."""
    named = ((NAME.fullmatch(path.name), path) for path in sorted(folder.glob("*.parquet")))
    return {match[1]: path for match, path in named if match}
