"""Simulations in cells: each cell has its file and its seed by its place, and is computed once."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments.reporting.files import write_csv
from experiments.study.parts import keep_parts, read_parts

if TYPE_CHECKING:
    import pandas as pd

type Cells = Mapping[tuple[int, ...], Callable[[int, np.random.SeedSequence], str]]
"""By its place, a function of the number of data sets and the seed: the rows of a cell as CSV."""


def simulate_cells(
    table: Path,
    cells: Cells,
    summarise: "Callable[[pd.DataFrame], pd.DataFrame]",
    *,
    data_sets: int,
    seed: int,
) -> Iterator[Path]:
    """Simulate the cells that are missing beside a table; write the table of all.

    Parameters
    ----------
    table : Path
        Beside it are the cells, in the folder `parts`.
    cells : mapping of tuple of int to callable
    summarise : callable
        Makes the table of the rows of all cells.
    data_sets : int
        For each cell.
    seed : int

    Yields
    ------
    Path
        Of each new cell, and of the table.
    """
    parts = {
        table.parent / "parts" / f"{'_'.join(map(str, place))}_{data_sets}_{seed}.csv": partial(
            simulate, data_sets, np.random.SeedSequence(seed, spawn_key=place)
        )
        for place, simulate in cells.items()
    }
    yield from keep_parts(parts)
    yield write_csv(summarise(read_parts(parts)).round(4), table)


def run_simulation(
    description: str, simulations: Mapping[str, tuple[Callable[..., Iterator[Path]], int]]
) -> None:
    """Run `python -m … [SIMULATION] FOLDER`, which prints the name of each file that is written.

    Parameters
    ----------
    description : str
    simulations : mapping of str to callable and int
        By name, a function of folder, number of data sets and seed, and that number by default; the
        name is an argument if there are several.
    """
    parser = argparse.ArgumentParser(description=f"{description} Finished cells are kept.")
    if len(simulations) > 1:
        parser.add_argument("simulation", choices=simulations)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data-sets", type=int, help="for each cell")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    write, data_sets = simulations[getattr(chosen, "simulation", next(iter(simulations)))]
    for path in write(chosen.folder, chosen.data_sets or data_sets, chosen.seed):
        print(f"wrote {path}", flush=True)
