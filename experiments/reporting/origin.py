"""Where numbers come from: the command as it was typed, the files it read, and versions."""

import hashlib
import importlib.metadata
import platform
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from experiments.reporting.document import Block, Heading, Paragraph, Screen
from experiments.reporting.table import Column, Table


def origin(command: str, files: Iterable[Path]) -> Iterator[Block]:
    """Tell how a page is made again.

    Parameters
    ----------
    command : str
        As a shell takes it.
    files : iterable of Path
        What it read. What is no file, as a pipe, has no fingerprint.
    """
    yield Heading("How this page was made")
    yield Screen(command)
    rows = [
        (path.name, len(content), hashlib.sha256(content).hexdigest())
        for path in files
        if path.is_file() and (content := path.read_bytes()) is not None
    ]
    if rows:
        columns = [Column("file"), Column("bytes"), Column("sha256", "SHA-256 of its content")]
        yield Table(columns=columns, rows=rows)
    yield Paragraph(f"Python {platform.python_version()}, {versions()}")


@lru_cache
def versions() -> str:
    """Name the versions of what computes."""
    names = ("lehner", "numpy", "scipy", "pymc", "nutpie", "numba")
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
