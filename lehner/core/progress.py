"""How far a computation is, and pieces of work that do not depend on one another."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

type DoAll = Callable[[Sequence[Callable[[], Any]]], list[Any]]
"""From functions without arguments, which can be pickled, to their results in the same order."""


def do_here(pieces: Sequence[Callable[[], Any]]) -> list[Any]:
    """Do pieces of work one after another in this process.

    Examples
    --------
    >>> do_here([dict, list])
    [{}, []]
    """
    return [piece() for piece in pieces]


logger = logging.getLogger(__name__)

EVERY = 5.0
"""Seconds between two messages."""


def with_progress[Part](what: str, parts: Sequence[Part]) -> Iterator[Part]:
    """Give equal parts of a computation one by one, and log how many are done.

    Examples
    --------
    >>> list(with_progress("resampling", [500, 500]))
    [500, 500]
    """
    tell = progress_of(what, len(parts))
    for done, part in enumerate(parts):
        tell(done)
        yield part


def progress_of(what: str, total: float) -> Callable[[float], None]:
    """Make a function that is told how much is done, and logs it every five seconds.

    Parameters
    ----------
    what : str
        What goes on.
    total : float
        How much there is to do.

    Returns
    -------
    callable
        To be called with how much of it is done. The time left is that of the rest at the mean
        speed so far.

    Examples
    --------
    >>> done = progress_of("resampling", 1000)
    >>> done(250)
    """
    start = last = time.monotonic()

    def tell(done: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= EVERY and 0 < done < total:
            last, left = now, _write_duration((now - start) * (total / done - 1))
            logger.info("%s: %.0f%% done, %s left", what, 100 * done / total, left)

    return tell


def _write_duration(seconds: float) -> str:
    """Write a duration in the unit in which it is read easily."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
