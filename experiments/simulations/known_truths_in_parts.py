"""Precision, and accuracy in groups, corrected by known truths: error and coverage by simulation.

Three raters right on .7 of the items and a system on .85, three categories, and two groups of items
that differ in nothing. Some of the items mislead everybody.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from experiments.simulations.simulation import Simulation, measure_rows, of_data_sets
from experiments.study.cells import result_row
from lehner import IntervalEstimate, Scenario, estimate_algebraic, probabilities_right, simulate
from lehner.core.seeds import child_seeds
from lehner.estimation.known_truths import correct_parts
from lehner.groups.membership import GroupColumn

BASE = Scenario(
    n_categories=3,
    initial_rater_accuracy=(0.7,) * 3,
    initial_system_accuracy=0.85,
    base_rates=(0.5, 0.3, 0.2),
)
MISLEADING = (0.0, 0.1, 0.3)
ITEMS_AND_KNOWN = ((200, 20), (500, 50))
PROPORTION_OF_FIRST = 0.4
DATA_SETS = 100
MEASURES = ("rmse", "coverage", "interval_width")


def _summarise(rows: pd.DataFrame) -> pd.DataFrame:
    table = measure_rows(rows, MEASURES)
    # Without the truths there is no interval.
    table.loc[table["method"] == "without them", table.columns[-4:]] = np.nan
    return table


def _rows(
    misleading: float, items: int, known: int, seed: np.random.SeedSequence
) -> Iterator[dict[str, Any]]:
    data, order = child_seeds(seed, 2)
    scenario = replace(BASE, n_items=items, misleading=misleading)
    ratings, rng = simulate(scenario, data), np.random.default_rng(order)
    truth, chosen = np.asarray(ratings.truth), rng.permutation(items)[:known]
    seen = np.full(items, -1)
    seen[chosen] = truth[chosen]
    some = ratings.with_truth(seen)
    names = np.where(rng.random(items) < PROPORTION_OF_FIRST, "first", "second")
    algebra = estimate_algebraic(ratings.with_truth(None), interval=None)
    if algebra.system_accuracy.estimate is None:
        return
    right = probabilities_right(some, algebra)
    groups = GroupColumn(column="group", names=names, note="")
    rows_of = {str(name): ratings.system == code for code, name in enumerate(ratings.categories)}
    rows_of |= {name: names == name for name in ("first", "second")}
    for one in correct_parts(some, algebra, groups, 0.9):
        rows, accuracy = rows_of[one.label], one.accuracy
        proportion = float((truth == ratings.system)[rows].mean())
        part = "precision" if one.part == "precision" else "accuracy in a group"
        expected = float(right[rows].mean())
        # An interval of no width, which `_summarise` leaves out.
        without = IntervalEstimate(estimate=expected, lower=expected, upper=expected)
        for method, found in {"without them": without, "corrected": accuracy}.items():
            yield result_row(proportion, found, part=part, method=method)


SIMULATION = Simulation(
    designs=[
        of_data_sets(
            (2, place),
            _rows,
            misleading,
            items,
            known,
            misleading=misleading,
            items=items,
            known=known,
        )
        for place, (misleading, (items, known)) in enumerate(product(MISLEADING, ITEMS_AND_KNOWN))
    ],
    summarise=_summarise,
    data_sets=DATA_SETS,
)
