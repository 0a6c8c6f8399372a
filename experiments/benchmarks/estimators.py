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
from experiments.study.performance import measure

SYSTEM_ACCURACIES = (0.1, 0.3, 0.5, 0.7, 0.9)
ESTIMANDS = ("system_accuracy", "system_accuracy_in_sample")
LEVEL = 0.9
COLUMNS = {
    "n": ("rmse", "n"),
    "bias": ("bias", "value"),
    "rmse": ("rmse", "value"),
    "rmse_se": ("rmse", "standard_error"),
    "ratio": ("ratio", "value"),
    "coverage": ("coverage", "value"),
    "coverage_se": ("coverage", "standard_error"),
    "coverage_lower": ("coverage", "lower"),
    "coverage_upper": ("coverage", "upper"),
    "width": ("interval_width", "value"),
}
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
        Measures of `experiments.study.measure`: columns `figure`, `estimand`, `method`, `n`,
        `bias`, `rmse`, `rmse_se`, `ratio` (of the RMSE to that of the algebra, on the data sets
        for which both have an estimate), `coverage`, `coverage_se`, `coverage_lower` and
        `coverage_upper` (Wilson's 95% interval), `width`.
    """
    by = ["figure", "estimand", "method"]
    measures = measure(rows, by, LEVEL).set_index([*by, "measure"])
    ratio = _ratios(rows).assign(measure="ratio").set_index([*by, "measure"])
    wide = pd.concat([measures, ratio]).unstack("measure")
    order = rows[by].drop_duplicates().sort_values(by[:2], kind="stable")
    table = pd.DataFrame({name: wide[column, kind] for name, (kind, column) in COLUMNS.items()})
    return table.loc[list(order.itertuples(index=False))].astype({"n": int}).reset_index()


def _ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """Give each method's RMSE over the algebra's, where both have an estimate."""
    data_set = ["figure", "estimand", "system", "replicate"]
    errors = rows.assign(squared=(rows["estimate"] - rows["truth"]) ** 2)
    peer = errors[errors["method"] == PEER].set_index(data_set)["squared"].rename("peer")
    both = errors.join(peer, on=data_set).dropna(subset=["squared", "peer"])
    means = both.groupby(["figure", "estimand", "method"])[["squared", "peer"]].mean()
    return np.sqrt(means["squared"] / means["peer"]).rename("value").reset_index()


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
