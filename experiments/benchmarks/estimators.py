"""Every model and the algebra on the same simulated data: error, coverage, convergence, cost.

Each data set is fitted by all methods; its truths are compared, not used.

Run in a clone: `python -m experiments.benchmarks.estimators FOLDER [--method NAME]`. What is in the
folder is not computed again.
"""

import argparse
import json
import os
import sys
import time
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.benchmarks.estimators_table import PEERS, write_page
from experiments.benchmarks.processes import SETTINGS
from experiments.reporting.files import write_csv, write_text
from experiments.simulations.methods import estimate_as_in_studies
from experiments.study.cells import Cell, Row, read_cells, result_row, run_cells
from experiments.study.performance import measure_wide
from lehner import Estimate
from lehner.core.estimate import ESTIMANDS
from lehner.dependence.sensitivity import MISLEADING_SHARE, accuracy_if_misled
from lehner.latent_class.models import MODELS

MEASURES = ("bias", "rmse", "coverage", "interval_width")
BY = ["setting", "estimand", "method"]
METHODS = ("algebraic_paper", "algebraic", "algebraic_likelihood", *MODELS)


def main() -> None:
    """Fit what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--method", choices=METHODS, nargs="+", default=METHODS)
    parser.add_argument("--setting", choices=SETTINGS, nargs="+", default=SETTINGS)
    parser.add_argument("--data-sets", type=int, default=100, help="a setting, or a few more")
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    cells = [
        _cell(setting, method, accuracy, -(-chosen.data_sets // len(accuracies)))
        for setting, accuracies in ((n, SETTINGS[n].system_accuracies) for n in chosen.setting)
        for method in chosen.method
        for accuracy in accuracies
    ]
    parts = chosen.folder / "parts"
    for cell in run_cells(cells, parts, workers=chosen.workers):
        print(f"estimated {cell.name}", file=sys.stderr, flush=True)
    table = summarise(read_cells(parts, cells))
    for path in (
        write_csv(table, chosen.folder / "estimators.csv"),
        write_text(write_page(table), chosen.folder / "estimators.md"),
    ):
        print(f"wrote {path}", file=sys.stderr)


def _cell(setting: str, method: str, accuracy: float, replicates: int) -> Cell:
    return Cell(
        name=f"{setting} {method} {accuracy} {replicates}",
        place=(),
        values={"setting": setting, "method": method, "system": accuracy},
        simulate=partial(_rows, setting, method, accuracy, replicates),
    )


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Each method's performance in each setting, with Monte Carlo standard errors.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns `setting`, `system`, `replicate`, `method`, `estimand`, `estimate`, `lower`,
        `upper`, `truth`, `categories`, `converged`, `warned` and `seconds`.

    Returns
    -------
    pandas.DataFrame
        Measures of `experiments.study.measure`: columns `setting`, `estimand`, `method`, `n`,
        `bias`, `rmse`, `rmse_se`, `ratio_to_best` (of the RMSE to the smallest of the algebra,
        `one_coin` and `dawid_skene`, on the data sets for which all of these have an estimate),
        `coverage`, `coverage_se`, `width`; the proportions of data sets with `no_estimate`, and of
        fits that `converged` and that `warned`; `misses_said`, the proportion of the intervals that
        miss the truth which carry a warning, or lie beside the truth by no more than
        `lehner.sensitivity` says; and `seconds`, the CPU time that nine fits in ten stay under.
    """
    groups = rows.groupby(BY)
    return (
        measure_wide(rows, BY, MEASURES)
        .sort_index()
        .assign(
            ratio_to_best=_ratios_to_best(rows),
            width=lambda table: table["interval_width"],
            no_estimate=groups["estimate"].apply(lambda estimates: estimates.isna().mean()),
            converged=groups["converged"].mean(),
            warned=groups["warned"].mean(),
            misses_said=_misses_said(rows),
            # The first fit of a part may compile the model.
            seconds=rows[rows["replicate"] > 0].groupby(BY)["seconds"].quantile(0.9),
        )
        .reset_index()[COLUMNS]
    )


COLUMNS = [
    *(*BY, "n", "bias", "rmse", "rmse_se", "ratio_to_best", "coverage", "coverage_se", "width"),
    *("no_estimate", "converged", "warned", "misses_said", "seconds"),
]


def _misses_said(rows: pd.DataFrame) -> pd.Series:
    """Proportion of the intervals without the truth that come with a word about it."""
    missed = rows[(rows["truth"] < rows["lower"]) | (rows["truth"] > rows["upper"])]
    said = missed["warned"].astype(bool)
    for categories, of_these in missed.groupby("categories"):
        ends = of_these[["lower", "upper"]].to_numpy()
        misled = accuracy_if_misled(ends, MISLEADING_SHARE, categories)
        raters_misled = accuracy_if_misled(ends, MISLEADING_SHARE, categories, along=0)
        ends = np.hstack([ends, misled, raters_misled])
        said[of_these.index] |= of_these["truth"].between(ends.min(axis=1), ends.max(axis=1))
    return missed.assign(said=said.astype(float)).groupby(BY)["said"].mean()


def _ratios_to_best(rows: pd.DataFrame) -> pd.Series:
    """Each method's RMSE over the smallest of the peers', where all of them have an estimate.

    Not from the RMSE of each: one that leaves out hard data sets would look better than it is.
    """
    errors = rows.assign(squared=(rows["estimate"] - rows["truth"]) ** 2)
    data_set = [*BY[:2], "system", "replicate"]
    wide = errors.pivot(index=data_set, columns="method", values="squared")
    ratios = {}
    for key, cell in wide.groupby(BY[:2]):
        cell = cell.dropna(axis="columns", how="all")
        peers = [peer for peer in PEERS if peer in cell]
        for method in cell:
            means = cell[[*dict.fromkeys([method, *peers])]].dropna().mean()
            ratios[*key, method] = np.sqrt(means[method] / means[peers].min())
    return pd.Series(ratios).rename_axis(BY)


def _rows(
    setting: str, method: str, accuracy: float, replicates: int, _: np.random.SeedSequence
) -> Iterator[Row]:
    for replicate in range(replicates):
        # The same data for all methods, however many data sets there are.
        seed = np.random.SeedSequence(
            [zlib.crc32(setting.encode()), round(10 * accuracy), replicate]
        )
        ratings, expected = SETTINGS[setting].draw(accuracy, seed)
        truths = (expected, float(np.mean(ratings.system == ratings.truth)))
        start = time.process_time()
        estimate = estimate_as_in_studies(method, ratings.with_truth(None), replicate, checks=True)
        kept = {
            "replicate": replicate,
            "categories": ratings.n_categories,
            "converged": _converged(estimate),
            "warned": bool(estimate.warnings),
            "seconds": time.process_time() - start,
        }
        for estimand, truth in zip(ESTIMANDS, truths, strict=True):
            yield result_row(truth, getattr(estimate, estimand), estimand=estimand, **kept)


def _converged(estimate: Estimate) -> bool:
    if estimate.draws is None:
        return True
    from bayes_models import Diagnostics

    return not Diagnostics(**json.loads(estimate.draws.attrs["diagnostics"])).failures()


if __name__ == "__main__":
    main()
