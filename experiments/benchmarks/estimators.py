"""Every model and the algebra on the same simulated data: error and coverage.

The settings are those of the paper's figures: the K-properties hold in Figures 3 and 6 and fail
in Figures 9 to 14. Each data set is fitted by all methods; its truths are compared, not used.

Run in a clone: `python -m experiments.benchmarks.estimators FOLDER [--figure N ...]`. Finished
parts in the folder are not computed again.
"""

import argparse
import json
import multiprocessing
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.files import write_atomically
from experiments.paper.figures import FIGURES

SYSTEM_ACCURACIES = (0.1, 0.3, 0.5, 0.7, 0.9)
ESTIMANDS = ("system_accuracy", "system_accuracy_in_sample")
QUICK: dict[str, Any] = {"draws": 200, "tune": 50, "target_accept": 0.7}
QUICK_MODELS = (
    "one_coin",
    "class_conditional",
    "pooled",
    "dawid_skene",
    "hierarchical_dawid_skene",
)
PEER = "algebraic"


def main() -> None:
    """Compute the missing parts, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--figure", type=int, nargs="+", default=[10, 9, 3, 11, 13, 12, 14, 6])
    parser.add_argument("--replicates", type=int, default=40, help="for each system accuracy")
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    n = chosen.replicates
    parts = [
        (chosen.folder / f"figure_{figure:02}_{accuracy}_{n}.csv", figure, accuracy, n)
        for figure in chosen.figure
        for accuracy in SYSTEM_ACCURACIES
    ]
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(chosen.workers, mp_context=spawn) as pool:
        list(pool.map(_write_part, *zip(*parts, strict=True)))
    rows = pd.concat([pd.read_csv(part[0]) for part in parts], ignore_index=True)
    table = summarise(rows)
    write_atomically(chosen.folder / "estimators.csv", lambda path: table.to_csv(path, index=False))
    print(table.round(3).to_string(index=False))


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Give each method's error and coverage in each setting, with Monte Carlo standard errors.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns `figure`, `system`, `replicate`, `method`, `estimand`, `estimate`, `lower`,
        `upper`, `truth`.

    Returns
    -------
    pandas.DataFrame
        Columns `figure`, `estimand`, `method`, `n`, `bias`, `rmse`, `rmse_se`, `ratio` (of the
        RMSE to that of the algebra), `coverage`, `coverage_se`, `width`.
    """
    found = []
    for (figure, estimand), cell in rows.groupby(["figure", "estimand"]):
        squared = (cell.estimate - cell.truth) ** 2
        peer = np.sqrt(squared[cell.method == PEER].mean())
        for method, one in cell.groupby("method", sort=False):
            n = int(one.estimate.notna().sum())
            error = one.estimate - one.truth
            rmse = np.sqrt((error**2).mean())
            covered = ((one.lower <= one.truth) & (one.truth <= one.upper)).mean()
            found.append(
                {
                    "figure": figure,
                    "estimand": estimand,
                    "method": method,
                    "n": n,
                    "bias": error.mean(),
                    "rmse": rmse,
                    "rmse_se": (error**2).std() / (2 * rmse * np.sqrt(n)),
                    "ratio": rmse / peer,
                    "coverage": covered,
                    "coverage_se": np.sqrt(covered * (1 - covered) / n),
                    "width": (one.upper - one.lower).mean(),
                }
            )
    return pd.DataFrame(found)


def _write_part(path: Path, figure: int, accuracy: float, replicates: int) -> None:
    if path.exists():
        return
    rows = pd.DataFrame(list(_rows(figure, accuracy, replicates)))
    write_atomically(path, lambda temporary: rows.to_csv(temporary, index=False))


def _rows(figure: int, accuracy: float, replicates: int) -> Iterator[dict[str, Any]]:
    import bayes_models
    from lehner import estimate_algebraic, simulate, true_parameters

    warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
    scenario = FIGURES[figure].scenario(accuracy)
    for replicate in range(replicates):
        seed = np.random.SeedSequence([figure, round(10 * accuracy), replicate])
        ratings = simulate(scenario, seed)
        truth = {
            "system_accuracy": float(true_parameters(scenario, seed).system_accuracy),
            "system_accuracy_in_sample": float(np.mean(ratings.truth == ratings.system)),
        }
        estimates = [
            estimate_algebraic(ratings, aggregation=aggregation, seed=seed)
            for aggregation in ("paper", "weighted", "likelihood")
        ]
        for model in bayes_models.MODELS:
            sampling = QUICK if model in QUICK_MODELS else {}
            (tree,) = bayes_models.fit_many(model, [ratings], seed=seed, tries=1, **sampling)
            estimates.append(bayes_models.estimate_from_draws(tree))
        for estimate in estimates:
            for estimand in ESTIMANDS:
                value = getattr(estimate, estimand)
                yield {
                    "figure": figure,
                    "system": accuracy,
                    "replicate": replicate,
                    "method": estimate.method,
                    "estimand": estimand,
                    "estimate": value.estimate,
                    "lower": value.lower,
                    "upper": value.upper,
                    "truth": truth[estimand],
                    "diagnostics": json.dumps(estimate.to_dict()["diagnostics"]),
                }


if __name__ == "__main__":
    main()
