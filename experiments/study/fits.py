"""Fits that do not depend on one another, over workers or a Dask cluster, each kept at once.

A command that was stopped goes on with the fits that are missing. Draws are kept as netCDF until
the command has written all results; what needs no draws takes seconds, and is done again.
"""

import hashlib
import json
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from experiments.report.files import UNFINISHED, versions, write_atomically
from experiments.study.definition import UserCode
from experiments.study.parallel import do_all
from experiments.study.replicate import user_method
from lehner import Estimate, Ratings
from lehner.core.errors import Warning
from lehner.core.lazy import names_function, xr
from lehner.core.resampling import DoAll, progress_of
from lehner.estimation.methods import MethodLike, find_method

KEPT = "estimate"
"""Attribute of kept draws that has the level and the warnings of their estimate."""


@contextmanager
def open_fits(output: Path | None, workers: int = 1, dask: str | None = None) -> Iterator[DoAll]:
    """Have fits done by workers, and keep draws until all results were written.

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
        As `lehner.estimate` takes it. What cannot be pickled is done in this process, as functions
        of other packages.

    Examples
    --------
    >>> with open_fits(None) as do_all:
    ...     do_all([partial(round, 1.2), partial(round, 2.9)])
    [1, 3]
    """
    folder = None if output is None else output / UNFINISHED
    try:
        yield partial(_do_all, folder, workers, dask)
    except KeyboardInterrupt:
        if folder is not None:
            message = f"Finished fits are kept in {output}; the same command goes on from there."
            print(message, file=sys.stderr)
        raise
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def portable(method: MethodLike) -> MethodLike:
    """Make a method of a function that a file holds, which other processes can run without it."""
    if not names_function(method):
        return method
    file, _, function = str(method).rpartition(":")
    code = UserCode(file=file, function=function, content=Path(file).read_bytes())
    return replace(find_method(method), estimate=partial(_estimate_by_code, code))


def _estimate_by_code(code: UserCode, ratings: Ratings, *, level: float, seed: int) -> Estimate:
    return user_method(code).estimate(ratings, level=level, seed=seed)


def _do_all(
    folder: Path | None, workers: int, dask: str | None, pieces: Sequence[Callable[[], Any]]
) -> list[Any]:
    tell = progress_of("fits", len(pieces))
    results: dict[int, Any] = {}
    missing: list[tuple[int, bytes]] = []
    for place, piece in enumerate(pieces):
        try:
            pickled = pickle.dumps(piece)
        except (pickle.PicklingError, AttributeError, TypeError):
            results[place] = piece()
            continue
        kept = _read(_path(folder, pickled))
        if kept is None:
            missing.append((place, pickled))
        else:
            results[place] = kept
    pickles = dict(missing)
    for place, result in do_all(_do, missing, workers, dask):
        results[place] = result
        path = _path(folder, pickles[place])
        if path is not None and isinstance(result, Estimate) and result.draws is not None:
            _keep(path, result)
        tell(len(results))
    return [results[place] for place in range(len(pieces))]


def _do(piece: tuple[int, bytes]) -> tuple[int, Any]:
    return piece[0], pickle.loads(piece[1])()


def _path(folder: Path | None, pickled: bytes) -> Path | None:
    """Where the draws of a fit are kept: by its data, options and the versions that sample it."""
    if folder is None:
        return None
    return folder / f"{hashlib.sha256(versions().encode() + pickled).hexdigest()}.nc"


def _keep(path: Path, estimate: Estimate) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    assert estimate.draws is not None
    kept = estimate.draws.copy()
    warnings = [asdict(warning) for warning in estimate.warnings]
    kept.attrs[KEPT] = json.dumps([estimate.system_accuracy.level, warnings])
    write_atomically(path, partial(kept.to_netcdf, engine="h5netcdf"))


def _read(path: Path | None) -> Estimate | None:
    """Read a kept fit, or give None if there is none that can be read."""
    import bayes_models

    if path is None or not path.exists():
        return None
    try:
        with xr.open_datatree(path, engine="h5netcdf") as opened:
            tree = opened.load()
    except (OSError, ValueError):  # It is damaged.
        return None
    level, warnings = json.loads(tree.attrs.pop(KEPT))
    estimate = bayes_models.estimate_from_draws(tree, level=level)
    return replace(estimate, warnings=tuple(Warning(**fields) for fields in warnings))
