"""Pieces of work that do not depend on one another, done here or where a caller has them done."""

from collections.abc import Callable, Iterable
from typing import Any

type DoAll = Callable[[Iterable[Callable[[], Any]], int], Iterable[Any]]
"""From functions without arguments, which can be pickled, and how many there are to their results,
in the same order."""


def do_here(pieces: Iterable[Callable[[], Any]], number: int) -> list[Any]:
    """Do pieces of work one after another in this process.

    Examples
    --------
    >>> do_here([dict, list], 2)
    [{}, []]
    """
    return [piece() for piece in pieces]
