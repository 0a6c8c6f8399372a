"""The command `lehner atlas`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from experiments.cli.arguments import Seed, names


def atlas(
    violation: Annotated[
        list[str] | None,
        names("Violations, separated by commas. Default: all."),
    ] = None,
    output: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The folder for tables and figures.")
    ] = Path("."),
    seed: Seed = 1,
) -> None:
    """Compute how biased each method is in large samples where an assumption fails."""
    from experiments.atlas.atlas_figure import write_atlas

    for path in write_atlas(violation or None, output, seed):
        print(f"wrote {path}", file=sys.stderr, flush=True)
