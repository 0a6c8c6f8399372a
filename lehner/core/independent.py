"""Pieces of work that do not depend on one another, done here or where a caller has them done."""

from collections.abc import Callable, Sequence
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
