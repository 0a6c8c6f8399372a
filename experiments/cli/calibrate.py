"""The command `lehner calibrate`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from experiments.cli.arguments import Seed, split_names


def calibrate(
    model: Annotated[
        list[str] | None, typer.Option(help="Model; separate several by commas. Default: all.")
    ] = None,
    design: Annotated[
        list[str] | None,
        typer.Option(
            help="Design, as K5_J3_n500: 5 categories, 3 raters, 500 items; separate several by "
            "commas. Default: K3_J3_n40_missing."
        ),
    ] = None,
    simulations: Annotated[int, typer.Option(help="Simulations of each model and design.")] = 1000,
    output: Annotated[Path, typer.Option(help="Folder for ranks, table and figure.")] = Path("."),
    seed: Seed = 1,
) -> None:
    """Check by simulation that the intervals of the Bayesian models are what they say."""
    from experiments.calibration.calibration_command import write_calibration

    models, designs = split_names(model) or None, split_names(design) or None
    for path in write_calibration(models, designs, simulations, output, seed):
        print(f"wrote {path}", file=sys.stderr)
