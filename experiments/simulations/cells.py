"""Simulations in cells: each cell has its file and its seed by its place, and is computed once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from experiments.reporting.files import write_csv, write_figure
from experiments.study.parts import keep_parts, read_parts
from experiments.study.performance import measure_wide
from lehner import IntervalEstimate
from lehner.core.seeds import child_seeds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

type Cell = Callable[[int, np.random.SeedSequence], pd.DataFrame]
"""Simulates a number of data sets."""


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """Cells, and the table made of what came out in them.

    Parameters
    ----------
    cells : mapping of tuple of int to callable
        By place, a function of the number of data sets and the seed that gives a table.
    summarise : callable
        Makes the table that is kept of the rows of all cells.
    data_sets : int
        For each cell, if nothing else is asked for.
    plot : callable, optional
        Draws the table that is kept.
    """

    cells: Mapping[tuple[int, ...], Cell]
    summarise: Callable[[pd.DataFrame], pd.DataFrame]
    data_sets: int
    plot: "Callable[[pd.DataFrame], Figure] | None" = None


def run_cells(
    name: str, simulation: Simulation, folder: Path, data_sets: int, seed: int
) -> Iterator[Path]:
    """Simulate the cells that are missing in a folder; write the table and the figure of all.

    Parameters
    ----------
    name : str
        Of the table.
    simulation : Simulation
    folder : Path
        The cells are kept in its folder `parts`.
    data_sets : int
        For each cell.
    seed : int

    Yields
    ------
    Path
        Of each new cell, of the table and of the figure.
    """
    parts = {
        folder / "parts" / f"{'_'.join([name, *map(str, place)])}_{data_sets}_{seed}.csv": partial(
            _text, cell, data_sets, np.random.SeedSequence(seed, spawn_key=place)
        )
        for place, cell in simulation.cells.items()
    }
    yield from keep_parts(parts)
    table = simulation.summarise(read_parts(parts)).round(4)
    yield write_csv(table, folder / f"{name}.csv")
    if simulation.plot is not None:
        yield from write_figure(simulation.plot(table), folder, name)


def _text(cell: Cell, data_sets: int, seed: np.random.SeedSequence) -> str:
    return cell(data_sets, seed).to_csv(index=False)


def each_data_set(
    rows_of: Callable[[np.random.SeedSequence], Iterable[dict[str, Any]]], **columns: Any
) -> Cell:
    """Make a cell of a function that gives the rows of one data set.

    Parameters
    ----------
    rows_of : callable
        A function of the seed of the data set.
    **columns
        What all rows of the cell have in common.

    Returns
    -------
    callable
    """

    def simulate(data_sets: int, seed: np.random.SeedSequence) -> pd.DataFrame:
        rows = [row for child in child_seeds(seed, data_sets) for row in rows_of(child)]
        return pd.DataFrame(rows).assign(**columns)

    return simulate


def measure_by(
    columns: Sequence[str], measures: Sequence[str]
) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Make a summary: measures with their Monte Carlo errors, by these columns."""
    return lambda rows: measure_wide(rows, list(columns), measures).reset_index()


def result_row(truth: float, found: IntervalEstimate, **columns: Any) -> dict[str, Any]:
    """Lay out an estimate beside the truth, as `measure_by` takes it."""
    ends = {"estimate": found.estimate, "lower": found.lower, "upper": found.upper}
    return columns | {"truth": truth} | ends
