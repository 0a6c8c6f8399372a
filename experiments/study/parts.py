"""Results kept part by part: a file that is there is not computed again."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.reporting.files import write_text
from experiments.study.workers import do_all, open_workers

if TYPE_CHECKING:
    import pandas as pd


def keep_parts(
    parts: Mapping[Path, Callable[[], str]], *, workers: int = 1, modules: Sequence[str] = ()
) -> Iterator[Path]:
    """Compute the parts that are missing, each written whole as soon as it is there.

    Parameters
    ----------
    parts : mapping of Path to callable
        Which gives the text of the file. Folders are made.
    workers : int
        Processes at work; 1 is this one. Others need callables that can be pickled.
    modules : sequence of str
        What the workers need.

    Yields
    ------
    Path
        Of each new part.
    """
    missing = missing_parts(parts)
    for folder in {path.parent for path in missing}:
        folder.mkdir(parents=True, exist_ok=True)
    with open_workers(workers, modules=modules) as opened:
        yield from do_all(_write, missing.items(), opened)


def missing_parts(parts: Mapping[Path, Callable[[], str]]) -> dict[Path, Callable[[], str]]:
    """Give the parts whose files are not there."""
    return {path: compute for path, compute in parts.items() if not path.exists()}


def read_parts(paths: Iterable[Path]) -> "pd.DataFrame":
    """Read parts that are CSV files into one table."""
    import pandas as pd

    return pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)


def _write(part: tuple[Path, Callable[[], str]]) -> Path:
    path, compute = part
    return write_text(compute(), path)
