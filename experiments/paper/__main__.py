"""The replication of the paper as a command: `python -m experiments.paper`, run in a clone."""

import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer
from scipy.stats import chi2

from experiments.paper.numbers import COLUMNS, MATCHES, MISPRINT, RUNS, UNMATCHED, replicate_paper
from lehner.command.main import main as lehner_main
from lehner.command.options import add_command
from lehner.core.table import PrintedTable, TableCell, TableColumn, to_markdown
from lehner.core.text import to_decimal, write_p
from lehner.report.files import write_csv, write_text

PRINTED_COLUMNS = (
    TableColumn("quantity", ""),
    TableColumn("printed", format=to_decimal),
    TableColumn("ours", format=to_decimal),
    TableColumn("standard_error", "SE", partial(to_decimal, digits=4)),
    TableColumn("z", format=partial(to_decimal, digits=1)),
    TableColumn("verdict"),
)


def combine_kappas(numbers: pd.DataFrame) -> tuple[float, float]:
    """Test the kappas of the fourteen figures together.

    If ours had the same expectation as the printed ones, the sum of squared differences in standard
    errors, z, would have a chi-square distribution.

    Parameters
    ----------
    numbers : pandas.DataFrame
        As `replicate_paper` gives them; all but the kappas of figures are left out.

    Returns
    -------
    mean_squared_z : float
        About 1 if the kappas agree.
    p_value : float
        Probability of so great a sum, 0 to 1.

    Examples
    --------
    >>> numbers = pd.DataFrame({"quantity": "kappa", "z": [1.0, -1.0, np.nan]})
    >>> [round(value, 2) for value in combine_kappas(numbers)]
    [1.0, 0.37]
    """
    squared = numbers.loc[numbers["quantity"] == "kappa", "z"].dropna() ** 2
    return float(squared.mean()), float(chi2.sf(squared.sum(), len(squared)))


def summarise_replication(numbers: pd.DataFrame) -> str:
    """Give the number of verdicts of each kind, in a sentence or two."""
    count = Counter(numbers["verdict"])
    mean, p = combine_kappas(numbers)
    return (
        f"{len(numbers)} printed numbers: {count[MATCHES]} match, "
        f"{count[MISPRINT]} are misprints, {count[UNMATCHED]} cannot be matched.\n"
        "The kappas of the fourteen figures together: mean squared z "
        f"{to_decimal(mean, 2)}, {write_p(p)}."
    )


def _make_row(number: Any) -> tuple[TableCell, ...]:
    exact = np.isnan(number.z)
    return (
        f"{number.place}, {number.quantity}",
        (number.printed, number.digits),
        (number.ours, number.digits if exact else max(number.digits, 3)),
        None if exact else number.standard_error,
        None if exact else number.z,
        number.verdict,
    )


def write_page(numbers: pd.DataFrame, command: str) -> str:
    """Write the replication as a Markdown page.

    Parameters
    ----------
    numbers : pandas.DataFrame
        As `replicate_paper` gives them.
    command : str
        That made it.

    Returns
    -------
    str
    """
    rows = list(map(_make_row, numbers.itertuples()))
    notes = [
        f"- *{n.place}, {n.quantity}* ({n.verdict}): {n.note}."
        for n in numbers.itertuples()
        if n.note
    ]
    parts = [
        "# Lehner (2015), number by number",
        "Does this package give the numbers that the paper prints? "
        f"{summarise_replication(numbers)} "
        f"Made by `{command}`.",
        "`printed` is the number in the paper and `ours` that of this package. `SE` is the Monte "
        "Carlo standard error of ours. `z` is the difference between the two in standard errors of "
        "both; the printed number is a mean of 50 runs in the figures and, we assume, of ten runs "
        "of 5,000 items in the text. A z within 3 is a match. Numbers without SE are exact, and "
        "match if they round to the printed digits.",
        to_markdown(PrintedTable(columns=PRINTED_COLUMNS, rows=rows)),
        "## Notes",
        "\n".join(notes),
    ]
    return "\n\n".join(parts) + "\n"


def paper(runs: int = RUNS, seed: int = 1, output: Path | None = None) -> None:
    """Reproduce Lehner (2015): compare every printed number with ours.

    Parameters
    ----------
    runs : N
        The number of simulated samples for each figure, a multiple of 5.
    output : FOLDER
        The folder into which the table and the page are written.

    Examples
    --------
    python -m experiments.paper
    python -m experiments.paper --output replication/
    """
    numbers = replicate_paper(seed, runs)
    command = f"python -m experiments.paper --output FOLDER --seed {seed} --runs {runs}"
    page = write_page(numbers, command)
    print(page)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        written = write_text(page, output / "replication.md")
        for path in (written, write_csv(numbers[[*COLUMNS]], output / "replication.csv")):
            print(f"wrote {path}", file=sys.stderr)


def main() -> None:
    """Run the command."""
    app = typer.Typer(add_completion=False, rich_markup_mode="rich")
    add_command(app, paper)
    lehner_main(typer.main.get_command(app), "python -m experiments.paper")


if __name__ == "__main__":
    main()
