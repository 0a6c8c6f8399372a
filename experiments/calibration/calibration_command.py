"""Calibrate models by simulation, and write the tables and the figures."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kstest

from bayes_models import find_model
from bayes_models.calibration import calibrate
from experiments.calibration.calibration_figure import plot_coverage, plot_ranks
from experiments.calibration.designs import DESIGNS, FIRST, design
from experiments.reporting.files import write_csv, write_figure
from experiments.study.cells import Cell, read_cells, run_cells
from experiments.study.performance import proportion
from lehner import InputError
from lehner.core.errors import find
from lehner.latent_class.models import MODELS

PART = 100
BY = ["model", "design"]
COLUMNS = [*BY, "quantity", "simulations", "mean_rank", "p_value", "coverage_90", "coverage_se"]


def write_calibration(
    models: Sequence[str] | None,
    designs: Sequence[str] | None,
    n_simulations: int,
    output: Path,
    seed: int,
) -> list[Path]:
    """Calibrate models; write ranks, table and figure.

    Parameters
    ----------
    models : sequence of str, optional
        All by default.
    designs : sequence of str, optional
        As in `DESIGNS`; the first by default.
    n_simulations : int
        A multiple of 100.
    output : Path
        Folder. Parts with this seed that are there are not computed again, and of tables that
        are there the rows of other models and designs are kept.
    seed : int

    Returns
    -------
    list of Path
        `calibration.csv`, and the coverage of all models in it, `calibration.pdf` and `.png`;
        `ranks.csv`, and the ranks of all models in it, `ranks.pdf` and `.png`.

    Raises
    ------
    InputError
        If there is no such model or design, or the number of simulations is no multiple of 100.
    """
    cells = [(model, one) for model in models or MODELS for one in designs or (FIRST,)]
    for model, name in cells:
        find_model(model)
        find("design", name, DESIGNS)
    if n_simulations < PART or n_simulations % PART:
        raise InputError(f"there are {n_simulations} simulations", f"give a multiple of {PART}")
    parts = [
        Cell(
            name=f"{model}_{name}_{part:03}",
            place=(part,),
            values={"model": model, "design": name},
            simulate=partial(_simulate, model, name),
        )
        for model, name in cells
        for part in range(n_simulations // PART)
    ]
    for cell in run_cells(parts, output / "parts", seed):
        print(f"simulated {cell.name}", file=sys.stderr, flush=True)
    found = read_cells(output / "parts", parts, seed)
    table = _with_rows_of(output / "calibration.csv", summarise(found).round(4))
    ranks = _with_rows_of(output / "ranks.csv", found.round(4))
    return [
        write_csv(table, output / "calibration.csv"),
        *write_figure(plot_coverage(table), output, "calibration"),
        write_csv(ranks, output / "ranks.csv"),
        *write_figure(plot_ranks(ranks), output, "ranks"),
    ]


def _with_rows_of(path: Path, table: pd.DataFrame) -> pd.DataFrame:
    """Table with the rows of an earlier one that are of other models or designs, in order."""
    if path.exists():
        earlier = pd.read_csv(path).set_index(BY, drop=False)
        others = earlier[~earlier.index.isin(table.set_index(BY).index)]
        table = pd.concat([others, table], ignore_index=True)
    order = {"model": list(MODELS), "design": list(DESIGNS)}
    return table.sort_values(
        BY, key=lambda column: column.map(order[column.name].index), kind="stable"
    )


def summarise(ranks: pd.DataFrame) -> pd.DataFrame:
    """Test whether ranks are uniform, and measure the coverage of 90% intervals.

    Parameters
    ----------
    ranks : pandas.DataFrame
        Columns `model`, `design`, and ranks between 0 and 1, a column for each quantity.

    Returns
    -------
    pandas.DataFrame
        Columns `model`, `design`, `quantity`, `simulations`, `mean_rank`, `p_value`
        (Kolmogorov-Smirnov), `coverage_90`, `coverage_se`.
    """
    rows = []
    for place, found in ranks.groupby(BY, sort=False):
        for quantity, values in found.drop(columns=BY).dropna(axis="columns").items():
            covered, error = proportion(values.between(0.05, 0.95))
            p = kstest(values, "uniform").pvalue
            rows.append((*place, quantity, len(values), values.mean(), p, covered, error))
    return pd.DataFrame(rows, columns=COLUMNS)


def _simulate(model: str, name: str, seed: np.random.SeedSequence) -> pd.DataFrame:
    # 99 of 1,000 draws are ranked: that these are nearly independent needs no second try.
    engine = "gibbs" if find_model(model).conjugate else "nuts"
    options: dict[str, Any] = {"engine": engine, "chains": 2, "draws": 500, "tries": 1}
    ranks = calibrate(model, design(name), PART, seed=seed, **options)["prior_sbc"].to_dataset()
    return ranks.to_dataframe().round(6)
