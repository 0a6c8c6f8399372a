"""How many labels are right by each method that labels without sampling, and which are doubted."""

import time
import tomllib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from experiments.benchmarks.real.sources import Source, read_crowd
from experiments.study.cells import Cell
from lehner import InputError, Ratings, Scenario, SoftLabels, label, simulate
from lehner.core.seeds import child_seeds
from lehner.labels.label import AUTOMATIC, QUICK_METHODS, warn_if_majority_is_better

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


def label_cells(sources: Sequence[Source], folder: Path, seed: int) -> list[Cell]:
    """Cells in which crowds are labelled: the public ones, and those of `label_scenarios.toml`.

    Parameters
    ----------
    sources : sequence of Source
    folder : Path
        With the files.
    seed : int

    Returns
    -------
    list of Cell
    """
    scenarios = tomllib.loads(SCENARIOS.read_text(encoding="utf-8"))
    return [
        Cell(name=f"{kind} {crowd}", place=(), values={"kind": kind, "crowd": crowd}, simulate=rows)
        for kind, crowd, rows in (
            *(("public", one.name, partial(_crowd_rows, one, folder, seed)) for one in sources),
            *(
                ("simulated", name, partial(_simulated_rows, Scenario(**fields), seed))
                for name, fields in scenarios.items()
            ),
        )
    ]


def _crowd_rows(source: Source, folder: Path, seed: int, _: np.random.SeedSequence) -> pd.DataFrame:
    return label_all(read_crowd(source, folder), seed).assign(replicate=0)


def _simulated_rows(scenario: Scenario, seed: int, _: np.random.SeedSequence) -> pd.DataFrame:
    crowds = [simulate(scenario, one).without_system() for one in child_seeds(seed, REPLICATES)]
    rows = [label_all(crowd, seed).assign(replicate=i) for i, crowd in enumerate(crowds)]
    return pd.concat(rows, ignore_index=True)
