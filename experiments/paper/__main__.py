"""The replication of the paper as a command: `python -m experiments.paper`, run in a clone."""

import sys
from pathlib import Path

import typer

import lehner
from experiments.paper.numbers import RUNS, replicate_paper
from experiments.paper.printed import COLUMNS, FIGURES, PAPER_RUNS
from experiments.paper.replication import draw_figure, write_page, write_terminal
from lehner.command.main import main as lehner_main
from lehner.command.options import add_command
from lehner.report.files import write_csv, write_text


def paper(
    figure: int | None = None, runs: int | None = None, seed: int = 1, output: Path | None = None
) -> None:
    """Reproduce Lehner (2015): compare every printed number with ours, and draw the figures.

    Parameters
    ----------
    figure : N
        The figure to draw, 1 to 14, into the folder of --output, instead of all that there is.
    runs : N
        The number of simulated samples for each figure. Default: 50 for one figure, as in the
        paper, else 1,000.
    output : FOLDER
        The folder into which the tables and the figures are written, and the page with the notes.

    Examples
    --------
    python -m experiments.paper
    python -m experiments.paper --figure 3 --output figures/
    """
    if figure is not None and output is None:
        problem = "--figure needs a folder for what it writes"
        raise lehner.InputError(problem, "name one by --output")
    runs = runs if runs is not None else (RUNS if figure is None else PAPER_RUNS)
    files: list[Path] = []
    if figure is None:
        numbers = replicate_paper(seed, runs)
        print(write_terminal(numbers))
    if output is not None:
        for number in FIGURES if figure is None else [figure]:
            files += draw_figure(number, runs, output, seed)
        if figure is None:
            command = f"python -m experiments.paper --output FOLDER --seed {seed} --runs {runs}"
            files.append(write_text(write_page(numbers, command), output / "replication.md"))
            files.append(write_csv(numbers[[*COLUMNS]], output / "replication.csv"))
    for path in files:
        print(f"wrote {path}", file=sys.stderr)


def main() -> None:
    """Run the command."""
    app = typer.Typer(add_completion=False, rich_markup_mode="rich")
    add_command(app, paper)
    lehner_main(typer.main.get_command(app), "python -m experiments.paper")


if __name__ == "__main__":
    main()
