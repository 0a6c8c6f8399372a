"""Fits that do not depend on one another, over processes of this computer or a Dask cluster."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from experiments.study.definition import UserCode
from experiments.study.parallel import do_all
from experiments.study.replicate import load_user_method
from lehner import Estimate, Ratings
from lehner.core.lazy import names_function
from lehner.core.resampling import log_progress
from lehner.estimation.methods import MethodLike, find_method


def fit_in_parallel(
    workers: int, dask: str | None, pieces: Sequence[Callable[[], Any]]
) -> list[Any]:
    """Call functions in other processes, and list their results in the same order.

    Parameters
    ----------
    workers : int
        Number of processes at work, 1 or more; 1 is this one.
    dask : str, optional
        Address of a Dask scheduler, or "local".
    pieces : sequence of callable
        Functions of no arguments, as `lehner.estimate` gives them to its `do_all`.

    Examples
    --------
    >>> fit_in_parallel(1, None, [partial(round, 1.2), partial(round, 2.9)])
    [1, 3]
    """
    progress = log_progress("fits", len(pieces))
    results: dict[int, Any] = {}
    for place, result in do_all(_call_piece, enumerate(pieces), workers, dask):
        results[place] = result
        progress(len(results))
    return [results[place] for place in range(len(pieces))]


def _call_piece(numbered: tuple[int, Callable[[], Any]]) -> tuple[int, Any]:
    place, piece = numbered
    return place, piece()


def make_portable(method: MethodLike) -> MethodLike:
    """Make a method of a function that a file holds, which other processes can run without it."""
    if not names_function(method):
        return method
    file, _, function = str(method).rpartition(":")
    content = Path(file).read_bytes()
    code = UserCode(file=file, function=function, content=content, path=Path(file))
    return replace(find_method(method), estimate=partial(_estimate_by_code, code))


def _estimate_by_code(code: UserCode, ratings: Ratings, *, level: float, seed: int) -> Estimate:
    return load_user_method(code).estimate(ratings, level=level, seed=seed)
