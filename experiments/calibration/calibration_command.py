"""Run the calibration of models, part by part, and write the table and the figure."""

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
from scipy.stats import kstest

from bayes_models import find_model
from bayes_models.calibration import calibrate
from experiments.calibration.calibration_figure import plot_coverage, plot_ranks
from experiments.calibration.designs import DESIGNS, FIRST, design
from experiments.reporting.files import write_csv, write_figure
from experiments.study.parts import keep_parts, read_parts
from experiments.study.proportions import proportion
from lehner import InputError
from lehner.core.checks import find
from lehner.core.seeds import Seed, child_seeds
from lehner.latent_class.models import MODELS

PART = 100


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
    found = {cell: _ranks(*cell, n_simulations, output / "parts", seed) for cell in cells}
    table = _with_rows_of(output / "calibration.csv", summarise(found).round(4))
    ranks = _with_rows_of(output / "ranks.csv", as_rows(found).round(4))
    return [
        write_csv(table, output / "calibration.csv"),
        *write_figure(plot_coverage(table), output, "calibration"),
        write_csv(ranks, output / "ranks.csv"),
        *write_figure(plot_ranks(by_cell(ranks)), output, "ranks"),
    ]


def as_rows(found: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Put ranks into one table: a row for each simulation, a column for each quantity."""
    return pd.concat(
        [
            ranks.assign(model=model, design=name)[["model", "design", *ranks]]
            for (model, name), ranks in found.items()
        ],
        ignore_index=True,
    )


def by_cell(ranks: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """Give the ranks of each model and design of a table as `as_rows` makes it."""
    return {
        (str(model), str(name)): rows.drop(columns=["model", "design"]).dropna(axis="columns")
        for (model, name), rows in ranks.groupby(["model", "design"], sort=False)
    }


def _ranks(model: str, name: str, n_simulations: int, folder: Path, seed: int) -> pd.DataFrame:
    parts = {
        folder / f"{model}_{name}_{seed}_{part:03}.csv": partial(_part, model, name, part_seed)
        for part, part_seed in enumerate(child_seeds(seed, n_simulations // PART))
    }
    for path in keep_parts(parts):
        print(f"wrote {path}", file=sys.stderr, flush=True)
    return read_parts(parts)


def _with_rows_of(path: Path, table: pd.DataFrame) -> pd.DataFrame:
    """Add the rows of an earlier table that are of other models or designs, in order."""
    if path.exists():
        key = ["model", "design"]
        earlier = pd.read_csv(path)
        again = earlier[key].apply(tuple, axis=1).isin(table[key].apply(tuple, axis=1))
        table = pd.concat([earlier[~again], table], ignore_index=True)
    order = {"model": list(MODELS), "design": list(DESIGNS)}
    return table.sort_values(
        list(order), key=lambda column: column.map(order[column.name].index), kind="stable"
    )


def summarise(by_cell: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Test whether ranks are uniform, and give the coverage of 90% intervals.

    Parameters
    ----------
    by_cell : mapping
        Ranks between 0 and 1 by model and design; a column per quantity.

    Returns
    -------
    pandas.DataFrame
        Columns `model`, `design`, `quantity`, `simulations`, `mean_rank`, `p_value`
        (Kolmogorov-Smirnov), `coverage_90`, `coverage_se`.
    """
    rows = []
    for (model, name), ranks in by_cell.items():
        for quantity, values in ranks.items():
            covered, error = proportion(values.between(0.05, 0.95))
            rows.append(
                {
                    "model": model,
                    "design": name,
                    "quantity": quantity,
                    "simulations": len(values),
                    "mean_rank": values.mean(),
                    "p_value": kstest(values, "uniform").pvalue,
                    "coverage_90": covered,
                    "coverage_se": error,
                }
            )
    return pd.DataFrame(rows)


def _part(model: str, name: str, seed: Seed) -> str:
    # 99 of 1,000 draws are ranked: that these are nearly independent needs no second try.
    ranks = calibrate(
        model,
        design(name),
        PART,
        seed=seed,
        engine="gibbs" if find_model(model).conjugate else "nuts",
        chains=2,
        draws=500,
        tries=1,
    )["prior_sbc"].to_dataset()
    return ranks.to_dataframe().round(6).to_csv(index=False)
