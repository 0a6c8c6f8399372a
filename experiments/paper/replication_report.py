"""The replication for people: on the terminal, as a page, and as files."""

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

import pandas as pd
import xarray as xr

from experiments.paper.bias_figure import plot_figure
from experiments.paper.figure_scenarios import PaperFigure
from experiments.paper.number import MATCHES, MISPRINT, UNMATCHED, PrintedNumber
from experiments.paper.replication import kappas_together, replication_table
from experiments.reporting.files import write_atomically, write_figure
from experiments.reporting.markdown import markdown_table
from experiments.reporting.text_table import text_table
from lehner.core.number_format import decimal, printed_p_value

COLUMNS = ("", "printed", "ours", "SE", "z", "verdict")


def summary(numbers: Sequence[PrintedNumber]) -> str:
    """Count the verdicts in a sentence or two."""
    count = {
        verdict: sum(n.verdict == verdict for n in numbers)
        for verdict in (MATCHES, MISPRINT, UNMATCHED)
    }
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
    lines: list[Sequence[str]] = [COLUMNS]
    for (place, plain), group in groupby(numbers, lambda n: (n.place, _is_plain(n))):
        rows = list(group)
        if plain and len(rows) > 1:
            lines.append([f"{place}: {len(rows)} numbers match to the last digit"])
        else:
            lines += map(_cells, rows)
    return "\n".join([*text_table(lines, left=(5,)), "", summary(numbers)])


def _is_plain(number: PrintedNumber) -> bool:
    return number.z is None and number.verdict == MATCHES


def _cells(number: PrintedNumber) -> list[str]:
    digits, error, z = number.digits, "", ""
    if number.z is not None:
        digits, error, z = max(digits, 3), decimal(number.standard_error, 4), decimal(number.z, 1)
    return [
        f"{number.place}, {number.quantity}",
        decimal(number.printed, number.digits),
        decimal(number.ours, digits),
        error,
        z,
        number.verdict,
    ]


def page(numbers: Sequence[PrintedNumber], readings: pd.DataFrame, command: str) -> str:
    """Write the replication as a Markdown page.

    Parameters
    ----------
    numbers : sequence of PrintedNumber
    readings : pandas.DataFrame
        As `score_readings` gives them.
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
        markdown_table(COLUMNS, map(_cells, numbers), numbers=True),
        "## Notes",
        *(f"- *{n.place}, {n.quantity}* ({n.verdict}): {n.note}." for n in numbers if n.note),
        "## What the paper leaves open",
        "Some details of the paper's simulation can be read in more than one way. Each row has one "
        "of these details in another reading than the first row, and says how well the printed "
        "numbers that depend on it are reproduced: the kappas of Figures 8 to 14 (mean squared "
        "`z`), the mean rater accuracy (`z`), the four biases (mean squared `z`), and the spread "
        "of Table 7's diagonal (the probability of one as small). `log_likelihood` is that of all "
        "of these numbers less that of the first row. The expected accuracies must be .133 and "
        ".867. Scaling the errors reproduces the numbers as well as the default does. Equal base "
        "rates, errors shared by raters, and dividing rows by their sums are ruled out.",
        markdown_table(
            list(readings.columns),
            ([_cell(x) for x in row] for row in readings.values.tolist()),
            numbers=True,
        ),
    ]
    return "\n\n".join(parts).replace(".\n\n- ", ".\n- ") + "\n"


def _cell(value: object) -> str:
    return decimal(value, 2) if isinstance(value, float) else str(value)


def write_replication(
    numbers: Sequence[PrintedNumber], readings: pd.DataFrame, folder: Path, command: str
) -> list[Path]:
    """Write the page and its tables: replication.md, replication.csv, readings.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    text = page(numbers, readings, command)
    table = replication_table(numbers)
    writers: dict[str, Callable[[Path], object]] = {
        "replication.md": lambda path: path.write_text(text, encoding="utf-8"),
        "replication.csv": lambda path: table.to_csv(path, index=False),
        "readings.csv": lambda path: readings.to_csv(path, index=False),
    }
    return [write_atomically(folder / name, write) for name, write in writers.items()]


def write_paper_figure(figure: PaperFigure, runs: xr.Dataset, folder: Path) -> list[Path]:
    """Write a figure and the runs in it: figure_08.pdf, .png and .csv."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"figure_{figure.number:02d}"
    table = runs.to_dataframe()
    return [
        *write_figure(plot_figure(figure, runs), folder, stem),
        write_atomically(folder / f"{stem}.csv", table.to_csv),
    ]
