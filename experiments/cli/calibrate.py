"""The command `lehner calibrate`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from experiments.cli.arguments import Seed, names


def calibrate(
    model: Annotated[
        list[str] | None,
        names("Models, separated by commas. Default: all."),
    ] = None,
    design: Annotated[
        list[str] | None,
        names(
            "Designs, separated by commas; K5_J3_n500 has 5 categories, 3 raters and 500 items. "
            "Default: K3_J3_n40_missing."
        ),
    ] = None,
    simulations: Annotated[
        int, typer.Option(metavar="N", help="How often each model and design is simulated.")
    ] = 1000,
    output: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="The folder for the ranks, the table and the figure."),
    ] = Path("."),
    seed: Seed = 1,
) -> None:
    """Check by simulation how often intervals of the Bayesian models contain the truth."""
    from experiments.calibration.calibration_command import write_calibration

    for path in write_calibration(model or None, design or None, simulations, output, seed):
        print(f"wrote {path}", file=sys.stderr)
