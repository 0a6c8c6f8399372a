"""`lehner atlas`: a table and a figure for each violation."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from experiments.atlas.atlas_figure import plot_violation
from experiments.atlas.grid import VIOLATIONS, compute_atlas
from experiments.reporting.files import write_atomically
from lehner.core.checks import find


def write_atlas(names: Sequence[str] | None, folder: Path, seed: int) -> Iterator[Path]:
    """Compute the atlas of some violations, or of all; give each file as it is written."""
    chosen = [find("violation", name, VIOLATIONS) for name in names or VIOLATIONS]
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
