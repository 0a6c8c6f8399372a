"""`lehner atlas`: a table and a figure for each violation."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.atlas.atlas_figure import plot_violation
from experiments.atlas.grid import VIOLATIONS, compute_atlas
from experiments.reporting.files import write_csv, write_figure
from lehner.core.checks import find


def write_atlas(names: Sequence[str] | None, folder: Path, seed: int) -> Iterator[Path]:
    """Compute the atlas of some violations, or of all; give each file as it is written."""
    chosen = [find("violation", name, VIOLATIONS) for name in names or VIOLATIONS]
    folder.mkdir(parents=True, exist_ok=True)
    for violation in chosen:
        table = compute_atlas(violation, seed)
        drawn = plot_violation(table, violation)
        name = f"bias_{violation.name}"
        yield write_csv(table, folder / f"{name}.csv")
        yield from write_figure(drawn, folder, name)
