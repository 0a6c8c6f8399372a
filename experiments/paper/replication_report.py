"""`lehner paper`: the replication on the terminal, as a page and as files, or one figure."""

import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

from experiments.paper.bias_figure import plot_figure
from experiments.paper.figure_scenarios import FIGURES, PAPER_RUNS, find_figure, simulate_figure
from experiments.paper.number import MATCHES, MISPRINT, UNMATCHED, PrintedNumber
from experiments.paper.replication import kappas_together, replicate_paper, replication_table
from experiments.paper.simulated import RUNS
from experiments.report.files import write_atomically, write_csv, write_figure, write_text
from experiments.report.table import Cell, Column, Table, to_markdown, to_terminal
from experiments.report.terminal import json_text
from lehner.core.arrays import child_seeds
from lehner.core.estimate import plain
from lehner.core.text import decimal, printed_p_value

WIDTH = 120
COLUMNS = (
    Column("quantity", ""),
    Column("printed", format=decimal),
    Column("ours", format=decimal),
    Column("standard_error", "SE", partial(decimal, digits=4)),
    Column("z", format=partial(decimal, digits=1)),
    Column("verdict"),
)


def summary(numbers: Sequence[PrintedNumber]) -> str:
    """Number of verdicts of each kind, in a sentence or two."""
    count = Counter(n.verdict for n in numbers)
    mean, p = kappas_together(numbers)
    return (
        f"{len(numbers)} printed numbers: {count[MATCHES]} match, {count[MISPRINT]} are misprints, "
        f"{count[UNMATCHED]} cannot be matched.\n"
        "The kappas of the fourteen figures together: mean squared z "
        f"{decimal(mean, 2)}, {printed_p_value(p)}."
    )


def terminal_table(numbers: Sequence[PrintedNumber]) -> str:
    """Lay the table out, tables that match to the last digit in a line each.

    Parameters
    ----------
    numbers : sequence of PrintedNumber

    Returns
    -------
    str
    """
    rows: list[Sequence[Cell]] = []
    for (place, is_plain), group in groupby(numbers, lambda n: (n.place, _is_plain(n))):
        numbers_of_place = list(group)
        if is_plain and len(numbers_of_place) > 1:
            text = f"{place}: {len(numbers_of_place)} numbers match to the last digit"
            rows.append((text, *[None] * (len(COLUMNS) - 1)))
        else:
            rows += map(_row, numbers_of_place)
    lines = to_terminal(Table(columns=COLUMNS, rows=rows), WIDTH)
    return "\n".join([*(text.plain for text in lines), "", summary(numbers)])


def _is_plain(number: PrintedNumber) -> bool:
    return number.z is None and number.verdict == MATCHES


def _row(number: PrintedNumber) -> tuple[Cell, ...]:
    exact = number.z is None
    return (
        f"{number.place}, {number.quantity}",
        (number.printed, number.digits),
        (number.ours, number.digits if exact else max(number.digits, 3)),
        None if exact else number.standard_error,
        number.z,
        number.verdict,
    )


def page(numbers: Sequence[PrintedNumber], command: str) -> str:
    """Write the replication as a Markdown page.

    Parameters
    ----------
    numbers : sequence of PrintedNumber
    command : str
        That made it.

    Returns
    -------
    str
    """
    parts = [
        "# Lehner (2015), number by number",
        f"Does this package give the numbers that the paper prints? {summary(numbers)} "
        f"Made by `{command}`.",
        "`printed` is the number in the paper and `ours` that of this package. `SE` is the Monte "
        "Carlo standard error of ours. `z` is the difference between the two in standard errors of "
        "both; the printed number is a mean of 50 runs in the figures and, we assume, of ten runs "
        "of 5,000 items in the text. A z within 3 is a match. Numbers without SE are exact, and "
        "match if they round to the printed digits.",
        to_markdown(Table(columns=COLUMNS, rows=list(map(_row, numbers)))),
        "## Notes",
        *(f"- *{n.place}, {n.quantity}* ({n.verdict}): {n.note}." for n in numbers if n.note),
    ]
    return "\n\n".join(parts).replace(".\n\n- ", ".\n- ") + "\n"


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
    folder = output or Path(".")
    if figure is not None:
        _draw(figure, PAPER_RUNS if runs is None else runs, folder, seed)
        return
    runs = RUNS if runs is None else runs
    numbers = replicate_paper(seed, runs)
    table = replication_table(numbers)
    print(
        json_text({"numbers": plain(table.to_dict("records"))})
        if as_json
        else terminal_table(numbers)
    )
    if output is not None or everything:
        options = f" --all --seed {seed} --runs {runs}" if everything else ""
        folder.mkdir(parents=True, exist_ok=True)
        text = page(numbers, f"lehner paper{options}")
        _tell(write_text(text, folder / "replication.md"))
        _tell(write_csv(table, folder / "replication.csv"))
    if everything:
        for number in FIGURES:
            _draw(number, runs, folder, seed)


def _draw(number: int, runs: int, folder: Path, seed: int) -> None:
    """Write a figure and the runs in it: figure_08.pdf, .png and .csv."""
    figure = find_figure(number)
    # The seeds the replication table uses for the figure.
    figure_seeds = child_seeds(child_seeds(seed, 5)[1], len(FIGURES))
    samples = simulate_figure(figure, runs, figure_seeds[number - 1])
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"figure_{number:02d}"
    _tell(*write_figure(plot_figure(figure, samples), folder, stem))
    _tell(write_atomically(folder / f"{stem}.csv", samples.to_dataframe().to_csv))


def _tell(*paths: Path) -> None:
    for path in paths:
        print(f"wrote {path}", file=sys.stderr)
