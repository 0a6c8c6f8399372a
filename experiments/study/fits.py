"""Fits that do not depend on one another, over workers or a Dask cluster, each kept at once.

A command that was stopped goes on with the fits that are missing. They are kept in pickles, which
can run any program, so that the folder must be the user's and closed to others; it is removed when
the command has all it needs.
"""

import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from experiments.estimate.report import UNFINISHED
from experiments.reporting.origin import versions
from experiments.study.cells import REMEDY, Cell, Row, compute_cells, keep_cell, usable_files
from experiments.study.checked_file import read_checked
from experiments.study.stopping import note_interrupts
from experiments.study.user_code import UserCode, user_method
from experiments.study.workers import Workers, open_workers
from lehner import Estimate, InputError, Ratings
from lehner.core.errors import check_whole_number
from lehner.core.progress import DoAll, progress_of
from lehner.core.user_functions import names_function
from lehner.estimation.methods import MethodLike, find_method

SEED = 0
"""Fits bring their own."""


@contextmanager
def open_fits(output: Path | None, workers: int = 1, dask: str | None = None) -> Iterator[DoAll]:
    """Start what does fits, and keep what is finished until all has been done.

    Parameters
    ----------
    output : Path, optional
        The folder of a command's output, in which another run finds what is finished.
    workers : int
        Number of processes at work, 1 or more; 1 is this one.
    dask : str, optional
        Address of a Dask scheduler, or "local".

    Yields
    ------
    callable
        As `lehner.estimate` takes it. What cannot be pickled is done in this process: `calibrated`
        and `majority_agreement`, which take milliseconds, and functions of other packages.

    Examples
    --------
    >>> with open_fits(None) as do_all:
    ...     do_all([partial(round, 1.2), partial(round, 2.9)])
    [1, 3]
    """
    check_whole_number("workers", workers, 1)
    with TemporaryDirectory() as temporary:
        folder = (output or Path(temporary)) / UNFINISHED
        _require_own(folder)
        kept = usable_files(folder)
        try:
            with (
                note_interrupts() as stop_if_told,
                open_workers(workers, dask, ["bayes_models"]) as opened,
            ):
                yield partial(_do_all, folder, kept, opened, stop_if_told)
        except KeyboardInterrupt:
            if output is not None:
                told = f"Finished fits are kept in {output}; the same command goes on from there."
                print(told, file=sys.stderr)
            raise
        for path in usable_files(folder).values():
            path.unlink()
        with suppress(OSError):  # Nothing was kept, or something else is there.
            folder.rmdir()


def portable(method: MethodLike) -> MethodLike:
    """Make a method of a function that a file holds, which other processes can run without it."""
    if not names_function(method):
        return method
    found = find_method(method)
    file, _, function = str(method).rpartition(":")
    code = UserCode(file=file, function=function, content=Path(file).read_bytes())
    return replace(found, estimate=partial(_estimate_by_code, code))


def _estimate_by_code(code: UserCode, ratings: Ratings, *, level: float, seed: int) -> Estimate:
    return user_method(code).estimate(ratings, level=level, seed=seed)


def _require_own(folder: Path) -> None:
    """Raise an InputError if a folder is there that another user can write into."""
    if not folder.exists() or not hasattr(os, "getuid"):
        return
    found = folder.stat()
    if found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise InputError(
            "others can write into this folder, and what is in it is run",
            "remove it: fits are done again",
            file=folder,
        )


def _do_all(
    folder: Path,
    kept: dict[str, Path],
    workers: Workers,
    stop_if_told: Callable[[], None],
    pieces: Sequence[Callable[[], Any]],
) -> list[Any]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    tell = progress_of("fits", len(pieces))
    order: list[str] = []
    found: dict[str, Any] = {}

    def missing() -> Iterator[Cell]:
        for piece in pieces:
            try:
                pickled = pickle.dumps(piece)
            except (pickle.PicklingError, AttributeError, TypeError):
                order.append(f"here {len(order)}")
                found[order[-1]] = piece()
                continue
            name = hashlib.sha256(versions().encode() + pickled).hexdigest()
            order.append(name)
            cell = Cell(name=name, place=(), simulate=partial(_do, pickled))
            if cell.stem(SEED) in kept:
                rows = read_checked(kept[cell.stem(SEED)], REMEDY).to_pylist()
                found[name] = pickle.loads(rows[0]["found"])
            else:
                yield cell

    keep = partial(keep_cell, folder, SEED)
    for cell, rows in compute_cells(missing(), SEED, keep, workers, stop_if_told):
        found[cell.name] = pickle.loads(next(iter(rows))["found"])
        tell(len(found))
    return [found[name] for name in order]


def _do(pickled: bytes, _: np.random.SeedSequence) -> Iterator[Row]:
    yield {"found": pickle.dumps(pickle.loads(pickled)())}
