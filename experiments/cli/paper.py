"""The command `lehner paper`."""

from typing import Annotated

import typer

from experiments.cli.arguments import AsJson, Output, Seed


def paper(
    figure: Annotated[int | None, typer.Option(help="Draw this figure, 1 to 14.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Draw all figures and score all readings.")
    ] = False,
    output: Output = None,
    runs: Annotated[
        int | None, typer.Option(help="Runs a figure. Default: 50 for one, as printed; else 1,000.")
    ] = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Reproduce Lehner (2015): every printed number beside ours, and the figures."""
    from experiments.paper.paper_command import reproduce
    from lehner import InputError

    if figure is not None and everything:
        raise InputError("--figure and --all exclude one another", "leave one of them out")
    if figure is not None and as_json:
        raise InputError(
            "--json is of the table of numbers, not of a figure", "leave one of them out"
        )
    reproduce(figure, everything=everything, output=output, runs=runs, seed=seed, as_json=as_json)
