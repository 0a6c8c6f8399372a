"""A lock that one process at a time holds, on Linux, macOS and Windows."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold a lock, which ends with the context or with the process, however that ends.

    Parameters
    ----------
    path : Path
        A file for the lock, made if it is not there.

    Yields
    ------
    bool
        Whether the lock was free.
    """
    with path.open("w", encoding="utf-8") as file:
        try:
            _lock(file)
        except (BlockingIOError, PermissionError):
            yield False
            return
        yield True
