"""Commands that show the evidence for the methods: `lehner paper`, `atlas` and `calibrate`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from experiments.cli.arguments import AsJson, Output, Seed

HERE = Path(".")
All = Annotated[
    bool, typer.Option("--all", help="Draw all figures, and score all readings of the text.")
]


def paper(
    figure: int | None = None,
    everything: All = False,
    output: Output = None,
    runs: int | None = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Reproduce Lehner (2015): compare every printed number with ours, and draw the figures.

    Parameters
    ----------
    figure : N
        The figure to draw, 1 to 14.
    runs : N
        The number of simulated samples for each figure. Default: 50 for one figure, as in the
        paper, else 1,000.
    """
    from experiments.paper.replication_report import reproduce
    from lehner import InputError

    if figure is not None and everything:
        raise InputError("--figure and --all exclude one another", "leave one of them out")
    if figure is not None and as_json:
        raise InputError(
            "--json prints the table of numbers, and --figure draws a figure",
            "leave one of them out",
        )
    reproduce(figure, everything=everything, output=output, runs=runs, seed=seed, as_json=as_json)


def atlas(violation: list[str] | None = None, output: Path = HERE, seed: Seed = 1) -> None:
    """Compute how biased each method is in large samples where an assumption fails.

    Parameters
    ----------
    violation : NAMES
        Violations, separated by commas. Default: all.
    output : FOLDER
        The folder for tables and figures.
    """
    from experiments.atlas.atlas_figure import write_atlas

    for path in write_atlas(violation or None, output, seed):
        print(f"wrote {path}", file=sys.stderr, flush=True)


def calibrate(
    model: list[str] | None = None,
    design: list[str] | None = None,
    simulations: int = 1000,
    output: Path = HERE,
    seed: Seed = 1,
) -> None:
    """Check by simulation how often intervals of the Bayesian models contain the truth.

    Parameters
    ----------
    model : NAMES
        Models, separated by commas. Default: all.
    design : NAMES
        Designs, separated by commas; K5_J3_n500 has 5 categories, 3 raters and 500 items. Default:
        K3_J3_n40_missing.
    simulations : N
        How often each model and design is simulated.
    output : FOLDER
        The folder for the ranks, the table and the figure.
    """
    from experiments.calibration.calibration_command import write_calibration

    for path in write_calibration(model or None, design or None, simulations, output, seed):
        print(f"wrote {path}", file=sys.stderr)
