"""The command `lehner atlas`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from experiments.cli.arguments import Seed, split_names


def atlas(
    violation: Annotated[
        list[str] | None, typer.Option(help="Violation; separate several by commas. Default: all.")
    ] = None,
    output: Annotated[Path, typer.Option(help="Folder for tables and figures.")] = Path("."),
    seed: Seed = 1,
) -> None:
    """Compute each method's large-sample bias where an assumption fails: tables and figures."""
    from experiments.atlas.atlas_command import write_atlas

    for path in write_atlas(split_names(violation) or None, output, seed):
        print(f"wrote {path}", file=sys.stderr, flush=True)
