"""How many labels are right by each method that labels without sampling, and which are doubted.

On whole public crowds, whose files are to be in FOLDER (see `python -m experiments.benchmarks.real
--list`), and on simulated ones. Results are kept one by one, so that the same command goes on
where it was stopped.

Run in a clone: `python -m experiments.benchmarks.real.label_methods FOLDER --output OUTPUT`
"""

import argparse
import sys
import time
import tomllib
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from experiments.benchmarks.real.label_methods_report import write_label_report
from experiments.benchmarks.real.sources import Source, find_sources, missing_files, read_crowd
from experiments.study.cells import Cell, Rows, read_cells, run_cells
from lehner import InputError, Ratings, Scenario, SoftLabels, label, simulate
from lehner.core.seeds import child_seeds
from lehner.labels.against_majority import warn_if_majority_is_better
from lehner.labels.label import AUTOMATIC, QUICK_METHODS

REPLICATES = 8
TIE = 1e-9
SCENARIOS = Path(__file__).with_name("label_scenarios.toml")


def proportion_right(probabilities: ArrayLike, truth: ArrayLike) -> float:
    """Proportion of items whose most probable category is the true one.

    Parameters
    ----------
    probabilities : array_like, shape (n_items, n_categories)
        Or numbers of votes. Categories that tie for the most probable share the item.
    truth : array_like of int, shape (n_items,)
        -1 where unknown: such items do not count.

    Returns
    -------
    float

    Examples
    --------
    >>> proportion_right([[3, 0], [1, 1], [0, 2], [5, 0]], [0, 0, 0, -1])
    0.5
    """
    probabilities, truth = np.asarray(probabilities, float), np.asarray(truth)
    probabilities, truth = probabilities[truth >= 0], truth[truth >= 0]
    best = probabilities >= probabilities.max(axis=1, keepdims=True) - TIE
    return float((best[np.arange(len(truth)), truth] / best.sum(axis=1)).mean())


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
        A row for each method: `method`, `chosen` (by the automatic method), `right` (proportion of
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
            row["right"] = proportion_right(labels.truth_probabilities.values, truth)
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
        missing = [error]
    if missing:
        print(*missing, sep="\n", file=sys.stderr)
        return 2
    cells = [
        *(_cell("public", one.name, partial(_crowd_rows, one, chosen.folder)) for one in sources),
        *(
            _cell("simulated", name, partial(_simulated_rows, Scenario(**fields)))
            for name, fields in tomllib.loads(SCENARIOS.read_text(encoding="utf-8")).items()
        ),
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


def _simulated_rows(scenario: Scenario, seed: np.random.SeedSequence) -> pd.DataFrame:
    seeds = child_seeds(_number(seed), REPLICATES)
    crowds = [simulate(scenario, one).without_system() for one in seeds]
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
