"""The replication of the paper on the terminal, as a page and as files, and the figures."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.stats import chi2

from experiments.paper import printed
from experiments.paper.printed import FIGURES
from lehner.core.arrays import derive_seeds
from lehner.core.forest import REFERENCE
from lehner.core.table import PrintedTable, TableCell, TableColumn, to_markdown
from lehner.core.text import to_decimal, write_p
from lehner.estimation.methods import get_look
from lehner.report.answer import to_terminal
from lehner.report.files import write_atomically, write_figure
from lehner.report.style import span, use_style

WIDTH = 120
COLUMNS = (
    TableColumn("quantity", ""),
    TableColumn("printed", format=to_decimal),
    TableColumn("ours", format=to_decimal),
    TableColumn("standard_error", "SE", partial(to_decimal, digits=4)),
    TableColumn("z", format=partial(to_decimal, digits=1)),
    TableColumn("verdict"),
)


MANY = "0.72"
PANELS = {
    "system_accuracy": "Expected accuracy of the system",
    "system_accuracy_in_sample": "Proportion right in the sample",
}


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
        f"{len(numbers)} printed numbers: {count[printed.MATCHES]} match, "
        f"{count[printed.MISPRINT]} are misprints, {count[printed.UNMATCHED]} cannot be matched.\n"
        "The kappas of the fourteen figures together: mean squared z "
        f"{to_decimal(mean, 2)}, {write_p(p)}."
    )


def write_terminal(numbers: pd.DataFrame) -> str:
    """Lay the table out, tables that match to the last digit in a line each.

    Parameters
    ----------
    numbers : pandas.DataFrame
        As `replicate_paper` gives them.

    Returns
    -------
    str
    """
    plain = numbers["z"].isna() & (numbers["verdict"] == printed.MATCHES)
    rows: list[Sequence[TableCell]] = []
    for (place, is_plain), indexes in groupby(
        numbers.index, lambda index: (numbers["place"][index], plain[index])
    ):
        group = numbers.loc[list(indexes)]
        if is_plain and len(group) > 1:
            text = f"{place}: {len(group)} numbers match to the last digit"
            rows.append((text, *[None] * (len(COLUMNS) - 1)))
        else:
            rows += map(_make_row, group.itertuples())
    lines = to_terminal(PrintedTable(columns=COLUMNS, rows=rows), WIDTH)
    return "\n".join([*(text.plain for text in lines), "", summarise_replication(numbers)])


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
        to_markdown(PrintedTable(columns=COLUMNS, rows=rows)),
        "## Notes",
        "\n".join(notes),
    ]
    return "\n\n".join(parts) + "\n"


def draw_figure(number: int, runs: int, folder: Path, seed: int) -> Iterator[Path]:
    """Write a figure and the runs in it: figure_08.pdf, .png and .csv."""
    figure = printed.find_figure(number)
    # The seeds the replication table uses for the figure.
    figure_seeds = derive_seeds(derive_seeds(seed, 5)[1], len(FIGURES))
    samples = printed.simulate_figure(figure, runs, figure_seeds[number - 1])
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"figure_{number:02d}"
    yield from write_figure(plot_figure(figure, samples), folder, stem)
    yield write_atomically(folder / f"{stem}.csv", samples.to_dataframe().to_csv)


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
    n_first = printed.PAPER_RUNS // len(printed.PRESETS)
    first = [np.flatnonzero(runs.preset.values == preset)[:n_first] for preset in printed.PRESETS]
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


def _draw_points(ax: Axes, runs: xr.Dataset, few: xr.Dataset, estimand: str) -> None:
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
