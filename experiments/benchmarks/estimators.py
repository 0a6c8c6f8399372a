"""Every model and the algebra on the same simulated data: error, coverage, convergence, cost.

Each data set is fitted by all methods; its truths are compared, not used.

Run in a clone: `python -m experiments.benchmarks.estimators FOLDER [--group NAME] [--method NAME]`.
What is in the folder is not computed again, and the table is of all that is there.
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

from experiments.benchmarks.estimators_table import as_markdown
from experiments.benchmarks.settings import GROUPS, SETTINGS
from experiments.reporting.files import write_csv, write_text
from experiments.simulations.methods import LEVEL, estimate_as_in_studies
from experiments.study.cells import Cell, Row, read_cells, result_row, run_cells
from experiments.study.performance import measure
from lehner import Estimate
from lehner.core.estimate import ESTIMANDS
from lehner.dependence.misleading_items import accuracy_if_misled, accuracy_if_raters_misled
from lehner.dependence.sensitivity import MISLEADING_SHARE
from lehner.latent_class.models import MODELS

COLUMNS = {
    "n": ("rmse", "n"),
    "bias": ("bias", "value"),
    "rmse": ("rmse", "value"),
    "rmse_se": ("rmse", "standard_error"),
    "ratio": ("ratio", "value"),
    "ratio_to_best": ("ratio_to_best", "value"),
    "coverage": ("coverage", "value"),
    "coverage_se": ("coverage", "standard_error"),
    "coverage_lower": ("coverage", "lower"),
    "coverage_upper": ("coverage", "upper"),
    "width": ("interval_width", "value"),
}
BY = ["setting", "estimand", "method"]
DATA_SET = ["setting", "estimand", "system", "replicate"]
PEER = "algebraic"
PEERS = (PEER, "one_coin", "dawid_skene")
ALGEBRA = ("algebraic_paper", "algebraic", "algebraic_likelihood")
METHODS = (*ALGEBRA, *MODELS)


def main() -> None:
    """Fit what is missing, and print the table of all that is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--method", choices=METHODS, nargs="+", default=METHODS)
    parser.add_argument("--group", choices=GROUPS, nargs="+", default=list(GROUPS))
    parser.add_argument("--setting", choices=list(SETTINGS), nargs="+")
    parser.add_argument(
        "--data-sets", type=int, default=100, help="for each setting, or a few more"
    )
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    settings = chosen.setting or [s.name for s in SETTINGS.values() if s.group in chosen.group]
    cells = [
        _cell(setting, method, accuracy, replicates_of(setting, chosen.data_sets))
        for setting in settings
        for method in chosen.method
        for accuracy in SETTINGS[setting].system_accuracies
    ]
    parts = chosen.folder / "parts"
    for cell in run_cells(cells, parts, workers=chosen.workers):
        print(f"estimated {cell.name}", file=sys.stderr, flush=True)
    table = summarise(of_most_replicates(read_cells(parts), chosen.data_sets))
    write_csv(table, chosen.folder / "estimators.csv")
    text = as_markdown(table)
    write_text(text, chosen.folder / "estimators.md")
    print(text)


def _cell(setting: str, method: str, accuracy: float, replicates: int) -> Cell:
    return Cell(
        name=f"{setting} {method} {accuracy} {replicates}",
        place=(),
        values={"setting": setting, "method": method, "system": accuracy, "replicates": replicates},
        simulate=partial(_rows, setting, method, accuracy, replicates),
    )


def of_most_replicates(rows: pd.DataFrame, data_sets: int) -> pd.DataFrame:
    """Rows of each method with so many data sets a setting, or else of the most that are fewer."""
    asked = rows["setting"].map(lambda name: replicates_of(name, data_sets))
    rows = rows[rows["replicates"] <= asked]
    cells = rows.groupby(["setting", "method", "system"])
    return rows[rows["replicates"] == cells["replicates"].transform("max")]


def replicates_of(setting: str, data_sets: int) -> int:
    """Number of data sets for each system accuracy of a setting."""
    return -(-data_sets // len(SETTINGS[setting].system_accuracies))


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
        `bias`, `rmse`, `rmse_se`, `ratio` (of the RMSE to that of the algebra, on the data sets
        for which both have an estimate), `ratio_to_best` (to the smallest of the algebra,
        `one_coin` and `dawid_skene`, on those for which all of these have one), `coverage`,
        `coverage_se`, `coverage_lower` and `coverage_upper` (Wilson's 95% interval), `width`;
        the shares of data sets with `no_estimate`, and of fits that `converged` and that `warned`;
        `misses_said`, the share of the intervals that miss the truth which carry a warning, or lie
        beside the truth by no more than `lehner.sensitivity` says; and `seconds`, the CPU time that
        nine fits in ten stay under.
    """
    measures = measure(rows, BY, LEVEL).set_index([*BY, "measure"])
    ratios = [
        found.assign(measure=name).set_index([*BY, "measure"])
        for name, found in {"ratio": _ratios(rows), "ratio_to_best": _ratios_to_best(rows)}.items()
    ]
    wide = pd.concat([measures, *ratios]).unstack("measure")
    # Without the peers' results there are no ratios.
    of_columns = wide.reindex(columns=[(column, kind) for kind, column in COLUMNS.values()])
    table = of_columns.set_axis(list(COLUMNS), axis="columns")
    groups = rows.groupby(BY)
    table = table.assign(
        no_estimate=groups["estimate"].apply(lambda estimates: estimates.isna().mean()),
        converged=groups["converged"].mean(),
        warned=groups["warned"].mean(),
        misses_said=_misses_said(rows),
        # The first fit of a part may compile the model.
        seconds=rows[rows["replicate"] > 0].groupby(BY)["seconds"].quantile(0.9),
    )
    order = rows[BY].drop_duplicates().sort_values(BY)
    return table.loc[list(order.itertuples(index=False))].astype({"n": int}).reset_index()


def _misses_said(rows: pd.DataFrame) -> pd.Series:
    """The share of the intervals without the truth that come with a word about it."""
    missed = rows[(rows["truth"] < rows["lower"]) | (rows["truth"] > rows["upper"])]
    warned = missed["warned"].astype(bool).to_numpy(copy=True)
    for categories in missed["categories"].unique():
        of_these = (missed["categories"] == categories).to_numpy()
        intervals = missed.loc[of_these, ["lower", "upper"]].to_numpy()
        ends = np.hstack(
            [
                intervals,
                accuracy_if_misled(intervals, MISLEADING_SHARE, categories),
                accuracy_if_raters_misled(intervals, MISLEADING_SHARE, categories),
            ]
        )
        truth = missed.loc[of_these, "truth"].to_numpy()
        warned[of_these] |= (ends.min(axis=1) <= truth) & (truth <= ends.max(axis=1))
    return missed.assign(said=warned.astype(float)).groupby(BY)["said"].mean()


def _ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """Each method's RMSE over the algebra's, where both have an estimate."""
    errors = rows.assign(squared=(rows["estimate"] - rows["truth"]) ** 2)
    peer = errors[errors["method"] == PEER].set_index(DATA_SET)["squared"].rename("peer")
    both = errors.join(peer, on=DATA_SET).dropna(subset=["squared", "peer"])
    means = both.groupby(BY)[["squared", "peer"]].mean()
    return np.sqrt(means["squared"] / means["peer"]).rename("value").reset_index()


def _ratios_to_best(rows: pd.DataFrame) -> pd.DataFrame:
    """Each method's RMSE over the smallest of the peers', where all of them have an estimate.

    Not from the RMSE of each: one that leaves out hard data sets would look better than it is.
    """
    errors = rows.assign(squared=(rows["estimate"] - rows["truth"]) ** 2)
    wide = errors.pivot(index=DATA_SET, columns="method", values="squared")
    ratios = []
    for key, cell in wide.groupby(BY[:2]):
        cell = cell.dropna(axis="columns", how="all")
        peers = [peer for peer in PEERS if peer in cell]
        for method in cell:
            means = cell[[*dict.fromkeys([method, *peers])]].dropna().mean()
            ratios.append((*key, method, np.sqrt(means[method] / means[peers].min())))
    return pd.DataFrame(ratios, columns=[*BY, "value"])


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
        seconds = time.process_time() - start
        kept = {
            "replicate": replicate,
            "categories": ratings.n_categories,
            "converged": _converged(estimate),
            "warned": bool(estimate.warnings),
            "seconds": seconds,
            "diagnostics": json.dumps(estimate.to_dict()["diagnostics"]),
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
