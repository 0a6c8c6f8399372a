"""The replication of the paper on the terminal, as a page and as files, and the figures."""

import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.stats import chi2

from experiments.paper import printed
from experiments.paper.numbers import RUNS, replicate_paper
from experiments.paper.printed import FIGURES, PrintedNumber
from lehner.core.arrays import derive_seeds
from lehner.core.estimate import to_plain
from lehner.core.forest import REFERENCE
from lehner.core.table import Cell, Column, Table
from lehner.core.text import to_decimal, write_p
from lehner.estimation.methods import get_look
from lehner.report.files import write_atomically, write_csv, write_figure, write_text
from lehner.report.style import span, use_style
from lehner.report.table import to_markdown, to_terminal
from lehner.report.terminal import to_json

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 120
COLUMNS = (
    Column("quantity", ""),
    Column("printed", format=to_decimal),
    Column("ours", format=to_decimal),
    Column("standard_error", "SE", partial(to_decimal, digits=4)),
    Column("z", format=partial(to_decimal, digits=1)),
    Column("verdict"),
)


MANY = "0.72"
PANELS = {
    "system_accuracy": "Expected accuracy of the system",
    "system_accuracy_in_sample": "Proportion right in the sample",
}


def tabulate_replication(numbers: Sequence[PrintedNumber]) -> pd.DataFrame:
    """Tabulate printed numbers beside ours.

    Parameters
    ----------
    numbers : sequence of PrintedNumber
        As `replicate_paper` gives them.

    Returns
    -------
    pandas.DataFrame
        A row for each number, with columns `place`, `quantity`, `printed`, `ours`,
        `standard_error`, `z`, `verdict`, `note`.

    Examples
    --------
    >>> from experiments.paper.numbers import work_example
    >>> table = tabulate_replication(list(work_example()))
    >>> table.loc[table["quantity"] == "system accuracy", "verdict"].tolist()
    ['matches']
    """
    names = ("place", "quantity", "printed", "ours", "standard_error", "z", "verdict", "note")
    return pd.DataFrame({name: [getattr(n, name) for n in numbers] for name in names})


def combine_kappas(numbers: Sequence[PrintedNumber]) -> tuple[float, float]:
    """Test the kappas of the fourteen figures together.

    If ours had the same expectation as the printed ones, the sum of squared differences in standard
    errors, z, would have a chi-square distribution.

    Parameters
    ----------
    numbers : sequence of PrintedNumber
        As `replicate_paper` gives them; all but the kappas of figures are left out.

    Returns
    -------
    mean_squared_z : float
        About 1 if the kappas agree.
    p_value : float
        Probability of so great a sum, 0 to 1.

    Examples
    --------
    >>> numbers = [
    ...     PrintedNumber(
    ...         place="here", quantity="kappa", printed=printed, ours=0.3, standard_error=0.01
    ...     )
    ...     for printed in (0.29, 0.31)
    ... ]
    >>> [round(value, 2) for value in combine_kappas(numbers)]
    [1.0, 0.37]
    """
    squared = np.array([n.z**2 for n in numbers if n.quantity == "kappa" and n.z is not None])
    return float(squared.mean()), float(chi2.sf(squared.sum(), len(squared)))


def summarise(numbers: Sequence[PrintedNumber]) -> str:
    """Number of verdicts of each kind, in a sentence or two."""
    count = Counter(n.verdict for n in numbers)
    match, misprints, others = (
        count[verdict] for verdict in (printed.MATCHES, printed.MISPRINT, printed.UNMATCHED)
    )
    mean, p = combine_kappas(numbers)
    return (
        f"{len(numbers)} printed numbers: {match} match, {misprints} are misprints, "
        f"{others} cannot be matched.\n"
        "The kappas of the fourteen figures together: mean squared z "
        f"{to_decimal(mean, 2)}, {write_p(p)}."
    )


def write_terminal(numbers: Sequence[PrintedNumber]) -> str:
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
            rows += map(_make_row, numbers_of_place)
    lines = to_terminal(Table(columns=COLUMNS, rows=rows), WIDTH)
    return "\n".join([*(text.plain for text in lines), "", summarise(numbers)])


def _is_plain(number: PrintedNumber) -> bool:
    return number.z is None and number.verdict == printed.MATCHES


def _make_row(number: PrintedNumber) -> tuple[Cell, ...]:
    exact = number.z is None
    return (
        f"{number.place}, {number.quantity}",
        (number.printed, number.digits),
        (number.ours, number.digits if exact else max(number.digits, 3)),
        None if exact else number.standard_error,
        number.z,
        number.verdict,
    )


def write_page(numbers: Sequence[PrintedNumber], command: str) -> str:
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
        f"Does this package give the numbers that the paper prints? {summarise(numbers)} "
        f"Made by `{command}`.",
        "`printed` is the number in the paper and `ours` that of this package. `SE` is the Monte "
        "Carlo standard error of ours. `z` is the difference between the two in standard errors of "
        "both; the printed number is a mean of 50 runs in the figures and, we assume, of ten runs "
        "of 5,000 items in the text. A z within 3 is a match. Numbers without SE are exact, and "
        "match if they round to the printed digits.",
        to_markdown(Table(columns=COLUMNS, rows=list(map(_make_row, numbers)))),
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
    """Do what the command was asked for; figures need a folder, `output`."""
    if figure is not None:
        assert output is not None
        _draw(figure, printed.PAPER_RUNS if runs is None else runs, output, seed)
        return
    runs = RUNS if runs is None else runs
    numbers = replicate_paper(seed, runs)
    table = tabulate_replication(numbers)
    print(
        to_json({"numbers": to_plain(table.to_dict("records"))})
        if as_json
        else write_terminal(numbers)
    )
    if output is None:
        return
    options = f" --all --output FOLDER --seed {seed} --runs {runs}" if everything else ""
    output.mkdir(parents=True, exist_ok=True)
    text = write_page(numbers, f"python -m experiments.paper{options}")
    _announce(write_text(text, output / "replication.md"))
    _announce(write_csv(table, output / "replication.csv"))
    if everything:
        for number in FIGURES:
            _draw(number, runs, output, seed)


def _draw(number: int, runs: int, folder: Path, seed: int) -> None:
    """Write a figure and the runs in it: figure_08.pdf, .png and .csv."""
    figure = printed.find_figure(number)
    # The seeds the replication table uses for the figure.
    figure_seeds = derive_seeds(derive_seeds(seed, 5)[1], len(FIGURES))
    samples = printed.simulate_figure(figure, runs, figure_seeds[number - 1])
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"figure_{number:02d}"
    _announce(*write_figure(plot_figure(figure, samples), folder, stem))
    _announce(write_atomically(folder / f"{stem}.csv", samples.to_dataframe().to_csv))


def _announce(*paths: Path) -> None:
    for path in paths:
        print(f"wrote {path}", file=sys.stderr)


def plot_figure(figure: printed.PaperFigure, runs: xr.Dataset) -> Figure:
    """Draw the runs of a figure: as many as the paper's, over all there are.

    Parameters
    ----------
    figure : PaperFigure
        One of `FIGURES`, for the title.
    runs : xarray.Dataset
        As `simulate_figure` gives them.

    Returns
    -------
    matplotlib.figure.Figure
        Estimates against the expected accuracy, and against the accuracy in the sample. A point is
        a sample: their spread is that of the estimates.

    References
    ----------
    Lehner (2015), Figures 1 to 14.

    Examples
    --------
    >>> from experiments.paper import FIGURES, simulate_figure
    >>> drawn = plot_figure(FIGURES[8], simulate_figure(FIGURES[8]))
    >>> drawn.get_suptitle().splitlines()[1]
    'mean kappa 0.305 in the paper, 0.303 here'
    """
    # The first runs of each preset, as many as the paper has.
    each = printed.PAPER_RUNS // len(printed.PRESETS)
    first = [np.flatnonzero(runs.preset.values == preset)[:each] for preset in printed.PRESETS]
    few = runs.isel(run=np.concatenate(first))
    with use_style() as width:
        drawn = Figure(figsize=(width, 3.95), layout="constrained")
        axes = drawn.subplots(1, 2, sharex=True, sharey=True)
        for ax, (estimand, label) in zip(axes, PANELS.items(), strict=True):
            _draw_points(ax, runs, few, estimand)
            ax.set_xlabel(label)
        # All of the paper's figures have the same axes.
        axes[0].set(xlim=span([0, 1]), ylim=span([0, 1]), ylabel="Estimated accuracy")
        drawn.suptitle(_write_title(figure, runs))
        handles, labels = axes[0].get_legend_handles_labels()
        handles.append(Line2D([], [], color=REFERENCE, lw=0.8))
        labels.append("estimate equals truth")
        drawn.legend(handles, labels, loc="outside lower center", ncols=3)
    drawn.set_label(_describe_figure(figure, runs))
    return drawn


def _write_title(figure: printed.PaperFigure, runs: xr.Dataset) -> str:
    raters = ", ".join(f"{x:g}" for x in figure.initial_rater_accuracy)
    state = "violated" if figure.violated else "satisfied"
    return (
        f"Figure {figure.number}: raters {raters}; {figure.n_items:,} items; K-properties {state}\n"
        f"mean kappa {figure.kappa:.3f} in the paper, {float(runs.kappa.mean()):.3f} here"
    )


def _draw_points(ax: "Axes", runs: xr.Dataset, few: xr.Dataset, estimand: str) -> None:
    ax.axline((0, 0), slope=1, color=REFERENCE, lw=0.8, zorder=1)
    n = int(runs.sizes["run"])
    if n > few.sizes["run"]:
        look: dict[str, Any] = {"ms": 3, "color": MANY, "mew": 0, "zorder": 0, "rasterized": True}
        ax.plot(runs[estimand], runs[printed.METHOD], ".", label=f"{n:,} runs", **look)
    style = get_look(printed.METHOD)
    look = {"mfc": "none", "color": style.color, "zorder": 2}
    label = f"{few.sizes['run']} runs, as in the paper"
    ax.plot(few[estimand], few[printed.METHOD], style.marker, label=label, **look)
    undefined = int(np.isnan(runs[printed.METHOD]).sum())
    if undefined:
        text = f"{undefined} runs without estimate"
        ax.text(0.98, 0.02, text, ha="right", va="bottom", transform=ax.transAxes)
    ax.set_aspect("equal")
    ax.grid(True)


def _describe_figure(figure: printed.PaperFigure, runs: xr.Dataset) -> str:
    bias = float((runs[printed.METHOD] - runs["system_accuracy"]).mean())
    title = _write_title(figure, runs).replace("\n", "; ")
    return (
        "Accuracy of the system as the algebra of the paper estimates it, against its true "
        f"accuracy, over {int(runs.sizes['run']):,} runs. {title}; mean bias {bias:.3f}."
    )
