"""A small simulation: its designs, what is simulated of each, and the table that is kept of all."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from experiments.reporting.files import write_csv, write_figure
from experiments.study.cells import Cell, Rows, each_data_set, read_cells, run_cells
from experiments.study.performance import measure_wide

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURES = ("bias", "rmse", "coverage", "interval_width")
MEASURED = ("truth", "estimate", "lower", "upper")


@dataclass(frozen=True, kw_only=True)
class Design:
    """One of the designs that a simulation compares.

    Parameters
    ----------
    place : tuple of int
        Which gives its seed.
    values : mapping of str to value
        Columns that all of its rows have.
    simulate : callable
        From a number of data sets and a seed to rows.
    """

    place: tuple[int, ...]
    values: Mapping[str, Any] = field(default_factory=dict)
    simulate: Callable[[int, np.random.SeedSequence], Rows]


def of_data_sets(
    place: tuple[int, ...], data_set: Callable[..., Iterator[Any]], *arguments: Any, **values: Any
) -> Design:
    """Design of which each data set has a seed of its own.

    Parameters
    ----------
    place : tuple of int
    data_set : callable
        From arguments and a seed to the rows of a data set.
    *arguments
    **values
        Columns that all rows have.

    Returns
    -------
    Design
    """
    simulate = partial(each_data_set, partial(data_set, *arguments))
    return Design(place=place, values=values, simulate=simulate)


def measure_rows(rows: pd.DataFrame, measures: Sequence[str] = MEASURES) -> pd.DataFrame:
    """Measure estimates by all other columns, with Monte Carlo standard errors."""
    by = [name for name in rows if name not in MEASURED]
    return measure_wide(rows, by, measures).reset_index()


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """Designs, and the table made of what came out in them.

    Parameters
    ----------
    designs : sequence of Design
    data_sets : int
        Of each design, if nothing else is asked for.
    summarise : callable
        From the rows of all designs to the table that is kept.
    plot : callable, optional
        Draws that table.
    """

    designs: Sequence[Design]
    data_sets: int
    summarise: Callable[[pd.DataFrame], pd.DataFrame] = measure_rows
    plot: "Callable[[pd.DataFrame], Figure] | None" = None


def run_simulation(
    name: str, simulation: Simulation, folder: Path, data_sets: int, seed: int
) -> Iterator[str]:
    """Simulate the designs that are missing in a folder; write the table and the figure of all.

    Parameters
    ----------
    name : str
        Of the table.
    simulation : Simulation
    folder : Path
        The rows of each design are kept in its folder `parts`.
    data_sets : int
        Of each design.
    seed : int

    Yields
    ------
    str
        What was simulated or written.
    """
    cells = [
        Cell(
            name="_".join(map(str, (name, *design.place, data_sets))),
            place=design.place,
            values=design.values,
            simulate=partial(design.simulate, data_sets),
        )
        for design in simulation.designs
    ]
    for cell in run_cells(cells, folder / "parts", seed):
        yield f"simulated {cell.name}"
    table = simulation.summarise(read_cells(folder / "parts", cells, seed)).round(4)
    written = [write_csv(table, folder / f"{name}.csv")]
    if simulation.plot is not None:
        written += write_figure(simulation.plot(table), folder, name)
    yield from (f"wrote {path}" for path in written)
