"""The replication of the paper as a command: `python -m experiments.paper`, run in a clone."""

from pathlib import Path

import typer

import lehner
from experiments.paper.replication import reproduce
from lehner.command.main import main as lehner_main
from lehner.command.options import add_command


def paper(
    figure: int | None = None,
    everything: bool = False,
    runs: int | None = None,
    seed: int = 1,
    output: Path | None = None,
    as_json: bool = False,
) -> None:
    """Reproduce Lehner (2015): compare every printed number with ours, and draw the figures.

    Parameters
    ----------
    figure : N
        The figure to draw, 1 to 14, into the folder of --output.
    everything : bool
        Draw all figures, and write the page with the notes, into the folder of --output.
    runs : N
        The number of simulated samples for each figure. Default: 50 for one figure, as in the
        paper, else 1,000.
    output : FOLDER
        The folder into which tables and figures are written.

    Examples
    --------
    python -m experiments.paper
    python -m experiments.paper --figure 3 --output figures/
    """
    if figure is not None and (everything or as_json):
        other = "--all" if everything else "--json"
        problem = f"--figure and {other} exclude one another"
        raise lehner.InputError(problem, "leave one of them out")
    if output is None and (everything or figure is not None):
        problem = f"{'--all' if everything else '--figure'} needs a folder for what it writes"
        raise lehner.InputError(problem, "name one by --output")
    reproduce(figure, everything=everything, output=output, runs=runs, seed=seed, as_json=as_json)


def main() -> None:
    """Run the command."""
    app = typer.Typer(add_completion=False, rich_markup_mode="rich")
    add_command(app, paper)
    lehner_main(typer.main.get_command(app), "python -m experiments.paper")


if __name__ == "__main__":
    main()
