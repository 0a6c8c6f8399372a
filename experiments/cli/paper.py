"""The command `lehner paper`."""

from pathlib import Path

from experiments.cli.options import AsJson, Seed


def paper(
    figure: int | None = None,
    everything: bool = False,
    runs: int | None = None,
    seed: Seed = 1,
    output: Path | None = None,
    as_json: AsJson = False,
) -> None:
    """Reproduce Lehner (2015): compare every printed number with ours, and draw the figures.

    Parameters
    ----------
    figure : N
        The figure to draw, 1 to 14.
    everything : bool
        Draw all figures, and write the page with the notes.
    runs : N
        The number of simulated samples for each figure. Default: 50 for one figure, as in the
        paper, else 1,000.
    output : FOLDER
        The folder into which tables and figures are written.

    Examples
    --------
    lehner paper
    lehner paper --figure 3 --output figures/
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
