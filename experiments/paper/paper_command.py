"""`lehner paper`: the replication table, one figure, or all there is."""

import sys
from pathlib import Path

from experiments.paper.figure_scenarios import FIGURES, PAPER_RUNS, find_figure, simulate_figure
from experiments.paper.number import PrintedNumber
from experiments.paper.readings import score_readings
from experiments.paper.replication import replicate_paper, replication_table
from experiments.paper.replication_report import (
    terminal_table,
    write_paper_figure,
    write_replication,
)
from experiments.paper.simulated import RUNS
from experiments.reporting.terminal import json_text
from lehner.core.estimate import plain
from lehner.core.seeds import child_seeds

HERE = Path(".")


def reproduce(
    figure: int | None,
    *,
    everything: bool,
    output: Path | None,
    runs: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Do what `lehner paper` was asked for; files go to the working folder if none is named."""
    if figure is not None:
        _draw(figure, PAPER_RUNS if runs is None else runs, output or HERE, seed)
        return
    runs = RUNS if runs is None else runs
    numbers = replicate_paper(seed, runs)
    print(_json(numbers) if as_json else terminal_table(numbers))
    if output is not None or everything:
        options = f" --all --seed {seed} --runs {runs}" if everything else ""
        readings = score_readings(seed)
        _tell(write_replication(numbers, readings, output or HERE, f"lehner paper{options}"))
    if everything:
        for number in FIGURES:
            _draw(number, runs, output or HERE, seed)


def _draw(number: int, runs: int, folder: Path, seed: int) -> None:
    figure = find_figure(number)
    # The seeds the replication table uses for the figure.
    figure_seeds = child_seeds(child_seeds(seed, 5)[1], len(FIGURES))
    _tell(
        write_paper_figure(figure, simulate_figure(figure, runs, figure_seeds[number - 1]), folder)
    )


def _tell(paths: list[Path]) -> None:
    for path in paths:
        print(f"wrote {path}", file=sys.stderr)


def _json(numbers: tuple[PrintedNumber, ...]) -> str:
    rows = replication_table(numbers).to_dict("records")
    return json_text({"numbers": plain(rows)})
