"""Run the calibration of models, part by part, and write the table and the figure."""

import sys
from collections.abc import Sequence
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure
from scipy.stats import kstest

from bayes_models.calibration import calibrate
from bayes_models.models import MODELS, find_model
from experiments.files import write_atomically
from lehner import InputError, Ratings
from lehner.seeds import Seed, child_seeds

N_ITEMS, N_RATERS, N_CATEGORIES, MISSING = 40, 3, 3, 0.2
PART = 100


def design() -> Ratings:
    """Give the items, raters and gaps that are simulated.

    Returns
    -------
    Ratings
        40 items, 3 raters and a system, 3 ordered categories, a fifth of the ratings missing.
    """
    rng = np.random.default_rng(0)
    codes = np.where(rng.random((N_ITEMS, N_RATERS + 1)) < MISSING, -1, 0)
    return Ratings(codes[:, :-1], ["low", "middle", "high"], system=codes[:, -1], ordered=True)


def write_calibration(
    models: Sequence[str] | None, n_simulations: int, output: Path, seed: int
) -> list[Path]:
    """Calibrate models; write ranks, table and figure.

    Parameters
    ----------
    models : sequence of str, optional
        All by default.
    n_simulations : int
        A multiple of 100.
    output : Path
        Folder. Parts with this seed that are there are not computed again.
    seed : int

    Returns
    -------
    list of Path
        `calibration.csv` and `calibration.png`.

    Raises
    ------
    InputError
        If there is no such model, or the number of simulations is no multiple of 100.
    """
    names = tuple(models or MODELS)
    for name in names:
        find_model(name)
    if n_simulations < PART or n_simulations % PART:
        raise InputError(f"there are {n_simulations} simulations", f"give a multiple of {PART}")
    parts = output / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in names:
        paths = []
        for part, part_seed in enumerate(child_seeds(seed, n_simulations // PART)):
            path = parts / f"{name}_{seed}_{part:03}.csv"
            paths.append(path)
            if not path.exists():
                _write_part(name, part_seed, path)
                print(f"wrote {path}", file=sys.stderr, flush=True)
        found[name] = pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)
    table = summarise(found)
    figure = draw(found)
    return [
        write_atomically(
            output / "calibration.csv", lambda path: table.round(4).to_csv(path, index=False)
        ),
        write_atomically(output / "calibration.png", lambda path: figure.savefig(path, dpi=120)),
    ]


def summarise(found: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Test whether ranks are uniform, and give the coverage of 90% intervals.

    Parameters
    ----------
    found : dict
        Ranks between 0 and 1 by model; a column per quantity.

    Returns
    -------
    pandas.DataFrame
        Columns `model`, `quantity`, `simulations`, `mean_rank`, `p_value` (Kolmogorov-Smirnov),
        `coverage_90`, `coverage_se`.
    """
    rows = []
    for model, ranks in found.items():
        for quantity, values in ranks.items():
            covered = float(values.between(0.05, 0.95).mean())
            rows.append(
                {
                    "model": model,
                    "quantity": quantity,
                    "simulations": len(values),
                    "mean_rank": values.mean(),
                    "p_value": kstest(values, "uniform").pvalue,
                    "coverage_90": covered,
                    "coverage_se": np.sqrt(covered * (1 - covered) / len(values)),
                }
            )
    return pd.DataFrame(rows)


def draw(found: dict[str, pd.DataFrame]) -> Figure:
    """Draw each quantity's distribution of ranks against the uniform one."""
    ranks = {
        f"{model}\n{quantity}": ("sample", values.to_numpy())
        for model, table in found.items()
        for quantity, values in table.items()
    }
    plots = az.plot_ecdf_pit(
        xr.DataTree.from_dict({"prior_sbc": xr.Dataset(ranks)}),
        sample_dims="sample",
        visuals={"xlabel": False},
        col_wrap=4,
        figure_kwargs={"figsize": (13, 2.4 * -(-len(ranks) // 4)), "sharey": True},
    )
    figure = plots.viz["figure"].item()
    figure.set_layout_engine("constrained")
    plt.close(figure)
    return figure


def _write_part(name: str, seed: Seed, path: Path) -> None:
    # 99 of 1,000 draws are ranked: that these are nearly independent needs no second try.
    ranks = calibrate(name, design(), PART, seed=seed, chains=2, draws=500, tries=1)[
        "prior_sbc"
    ].to_dataset()
    table = ranks.to_dataframe().round(6)
    write_atomically(path, lambda temporary: table.to_csv(temporary, index=False))
