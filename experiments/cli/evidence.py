"""Commands that show the evidence for the methods: `lehner paper`, `atlas` and `calibrate`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from experiments.cli.arguments import AsJson, Output, Seed, names

HERE = Path(".")


def paper(
    figure: Annotated[
        int | None, typer.Option(metavar="N", help="The figure to draw, 1 to 14.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Draw all figures, and score all readings of the text.")
    ] = False,
    output: Output = None,
    runs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="The number of simulated samples for each figure. Default: 50 for one figure, as "
            "in the paper, else 1,000.",
        ),
    ] = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Reproduce Lehner (2015): compare every printed number with ours, and draw the figures."""
    from experiments.paper.paper_command import reproduce
    from lehner import InputError

    if figure is not None and everything:
        raise InputError("--figure and --all exclude one another", "leave one of them out")
    if figure is not None and as_json:
        raise InputError(
            "--json prints the table of numbers, and --figure draws a figure",
            "leave one of them out",
        )
    reproduce(figure, everything=everything, output=output, runs=runs, seed=seed, as_json=as_json)


def atlas(
    violation: Annotated[
        list[str] | None,
        names("Violations, separated by commas. Default: all."),
    ] = None,
    output: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The folder for tables and figures.")
    ] = HERE,
    seed: Seed = 1,
) -> None:
    """Compute how biased each method is in large samples where an assumption fails."""
    from experiments.atlas.atlas_figure import write_atlas

    for path in write_atlas(violation or None, output, seed):
        print(f"wrote {path}", file=sys.stderr, flush=True)


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
    ] = HERE,
    seed: Seed = 1,
) -> None:
    """Check by simulation how often intervals of the Bayesian models contain the truth."""
    from experiments.calibration.calibration_command import write_calibration

    for path in write_calibration(model or None, design or None, simulations, output, seed):
        print(f"wrote {path}", file=sys.stderr)
