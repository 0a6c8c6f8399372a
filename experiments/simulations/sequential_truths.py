"""Coverage of corrected intervals if truths are found out in batches until they are narrow.

Three raters right on .75 of 300 items of two categories and a system on .85; none, a tenth or three
tenths of the items mislead everybody. Ten more truths, drawn at random, are found out at a time.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from experiments.simulations.simulation import Simulation, measure_rows, of_data_sets
from experiments.study.cells import result_row
from lehner import Scenario, correct_by_truth, estimate_algebraic, simulate
from lehner.core.seeds import child_seeds

BASE = Scenario(
    n_categories=2,
    n_items=300,
    initial_rater_accuracy=(0.75,) * 3,
    initial_system_accuracy=0.85,
)
MISLEADING = (0.0, 0.1, 0.3)
HALF_WIDTHS = (0.05, 0.08)
BATCH = 10
DATA_SETS = 300


def _rows(
    misleading: float, until: float, seed: np.random.SeedSequence
) -> Iterator[dict[str, Any]]:
    data, order = child_seeds(seed, 2)
    full = simulate(replace(BASE, misleading=misleading), data)
    unknown = full.with_truth(None)
    algebra = estimate_algebraic(unknown, interval=None)
    if algebra.system_accuracy.estimate is None:
        return
    truth = np.asarray(full.truth)
    drawn = np.random.default_rng(order).permutation(full.n_items)
    for n_known in range(BATCH, full.n_items + 1, BATCH):
        known = np.isin(np.arange(full.n_items), drawn[:n_known])
        some = full.with_truth(np.where(known, truth, -1))
        found = correct_by_truth(some, algebra).system_accuracy_in_sample
        if found.upper is None or found.lower is None or found.upper - found.lower <= 2 * until:
            break
    yield result_row(float((truth == full.system).mean()), found, known=n_known)


def _summarise(rows: pd.DataFrame) -> pd.DataFrame:
    by = ["misleading", "until"]
    known = rows.groupby(by, sort=False)["known"].mean().rename("mean_known").reset_index()
    return known.merge(measure_rows(rows.drop(columns="known")), on=by)


SIMULATION = Simulation(
    designs=[
        of_data_sets((i, j), _rows, misleading, until, misleading=misleading, until=until)
        for (i, misleading), (j, until) in product(enumerate(MISLEADING), enumerate(HALF_WIDTHS))
    ],
    data_sets=DATA_SETS,
    summarise=_summarise,
)
