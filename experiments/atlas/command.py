"""`lehner atlas`: a table and a figure for each violation."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from experiments.atlas.drawing import plot_violation
from experiments.atlas.grid import VIOLATIONS, Violation, compute_atlas
from experiments.files import write_atomically
from lehner import InputError


def write_atlas(names: Sequence[str] | None, folder: Path, seed: int) -> Iterator[Path]:
    """Compute the atlas of some violations, or of all; give each file as it is written."""
    chosen = [_find(name) for name in names or VIOLATIONS]
    folder.mkdir(parents=True, exist_ok=True)
    for violation in chosen:
        table = compute_atlas(violation, seed)
        drawn = plot_violation(table, violation)
        writers: dict[str, Callable[[Path], object]] = {
            "csv": partial(table.to_csv, index=False),
            "pdf": drawn.savefig,
            "png": partial(drawn.savefig, dpi=150),
        }
        for kind, write in writers.items():
            yield write_atomically(folder / f"bias_{violation.name}.{kind}", write)


def _find(name: str) -> Violation:
    if name not in VIOLATIONS:
        raise InputError(f"there is no violation {name!r}", f"choose among {', '.join(VIOLATIONS)}")
    return VIOLATIONS[name]
