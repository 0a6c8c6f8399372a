"""How many labels are right by each method that labels without sampling, and which are doubted.

On whole public crowds, whose files are to be in FOLDER (see `python -m experiments.benchmarks.real
--list`), and on simulated ones. Results are kept one by one, so that the same command goes on
where it was stopped.

Run in a clone: `python -m experiments.benchmarks.real.label_methods FOLDER --output OUTPUT`
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.benchmarks.real.label_accuracy import share_right
from experiments.benchmarks.real.label_methods_report import write_label_report
from experiments.benchmarks.real.simulated_crowds import SCENARIOS, simulate_crowds
from experiments.benchmarks.real.sources import Source, find_sources, missing_files, read_crowd
from experiments.study.cells import Cell, Rows, read_cells, run_cells
from lehner import InputError, Ratings, SoftLabels, label
from lehner.labels.against_majority import warn_if_majority_is_better
from lehner.labels.label import AUTOMATIC, QUICK_METHODS

REPLICATES = 8


def label_all(crowd: Ratings, seed: int) -> pd.DataFrame:
    """Label a crowd by every quick method.

    Parameters
    ----------
    crowd : Ratings
        Its truth is used only to count the labels that are right.
    seed : int

    Returns
    -------
    pandas.DataFrame
        A row for each method: `method`, `chosen` (by the automatic method), `right` (share of
        items, NaN if there are no labels), `doubted` (a warning says that they may be worse than
        the majority), `unsettled`, `cpu` (seconds).
    """
    ratings, truth = crowd.with_truth(None), np.asarray(crowd.truth)
    reference: SoftLabels | None = None
    rows = []
    for method in QUICK_METHODS:
        started = time.process_time()
        row: dict[str, Any] = {"method": method, "right": np.nan, "doubted": False}
        try:
            labels = label(ratings, method, seed=seed, compare=False)
        except InputError as error:
            rows.append(row | {"reason": str(error)})
            continue
        row["cpu"] = time.process_time() - started
        row["chosen"] = labels.method if method == AUTOMATIC else ""
        row["unsettled"] = any(
            one.code in ("labels-unsettled", "labels-contradict-ratings") for one in labels.warnings
        )
        reference = labels if reference is None else reference
        if labels.defined:
            row["right"] = share_right(labels.truth_probabilities.values, truth)
            row["doubted"] = bool(warn_if_majority_is_better(labels, reference, ratings))
        rows.append(row)
    return pd.DataFrame(rows)


def main() -> int:
    """Label what is missing, and write the tables; give the exit code."""
    chosen = _parser().parse_args()
    warnings.simplefilter("ignore")
    try:
        sources = find_sources(chosen.crowd)
        missing = missing_files(sources, chosen.folder)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    for part in missing:
        print(part, file=sys.stderr)
    if missing:
        return 2
    cells = [
        *(_cell("public", one.name, partial(_crowd_rows, one, chosen.folder)) for one in sources),
        *(_cell("simulated", name, partial(_simulated_rows, name)) for name in SCENARIOS),
    ]
    kept = chosen.output / "label_methods"
    for cell in run_cells(cells, kept, chosen.seed):
        print(f"labelled {cell.name}", file=sys.stderr)
    for path in write_label_report(read_cells(kept, cells, chosen.seed), chosen.output):
        print(f"wrote {path}", file=sys.stderr)
    return 0


def _cell(kind: str, crowd: str, simulate: Callable[[np.random.SeedSequence], Rows]) -> Cell:
    values = {"kind": kind, "crowd": crowd}
    return Cell(name=f"{kind} {crowd}", place=(), values=values, simulate=simulate)


def _crowd_rows(source: Source, folder: Path, seed: np.random.SeedSequence) -> pd.DataFrame:
    return label_all(read_crowd(source, folder), _number(seed)).assign(replicate=0)


def _simulated_rows(name: str, seed: np.random.SeedSequence) -> pd.DataFrame:
    crowds = simulate_crowds(name, REPLICATES, _number(seed))
    rows = [label_all(crowd, _number(seed)).assign(replicate=i) for i, crowd in enumerate(crowds)]
    return pd.concat(rows, ignore_index=True)


def _number(seed: np.random.SeedSequence) -> int:
    assert isinstance(seed.entropy, int)
    return seed.entropy


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.benchmarks.real.label_methods",
        description=__doc__.splitlines()[0],
    )
    parser.add_argument("folder", type=Path, help="with a folder for each repository")
    parser.add_argument("--output", type=Path, required=True, help="folder for results")
    parser.add_argument("--crowd", nargs="+", default=[], help="these crowds; default: all")
    parser.add_argument("--seed", type=int, default=1)
    return parser


if __name__ == "__main__":
    sys.exit(main())
