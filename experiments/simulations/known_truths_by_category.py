"""A system's confusion matrix corrected by known truths, and what follows from it.

Recall and specificity by how many known items are of the category (of other ones); the proportions
of the wrong answers by how many are of the true category; MCC, Cohen's kappa and the cost by how
many are known in all. An answer costs the distance of its category from the true one.

Three raters who are right on .7 to .75 of the items and a system on .85, two or three categories of
unequal base rates. Some of the items mislead everybody.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from experiments.simulations.simulation import Simulation, measure_rows, of_data_sets
from experiments.study.cells import result_row
from lehner import IntervalEstimate, Scenario, estimate_algebraic, simulate
from lehner.core.arrays import Booleans
from lehner.core.resampling import wilson_interval
from lehner.core.seeds import child_seeds
from lehner.performance.corrected import correct_measures
from lehner.performance.measures import performance_measures

BASE = Scenario(n_items=200, initial_system_accuracy=0.85)
SCENARIOS = (
    replace(BASE, n_categories=2, initial_rater_accuracy=(0.75,) * 3, base_rates=(0.8, 0.2)),
    replace(BASE, n_categories=3, initial_rater_accuracy=(0.7,) * 3, base_rates=(0.5, 0.3, 0.2)),
)
MISLEADING = (0.0, 0.1, 0.3)
KNOWN = (10, 20, 50)
NUMBERS = {0: "0", 1: "1", 2: "2", 3: "3 to 4", 5: "5 to 9", 10: "10 or more"}
RESAMPLES = 100
LEVEL = 0.9
OF_ALL = {"mcc": "MCC", "kappa_with_truth": "kappa", "expected_cost": "cost"}
DATA_SETS = 200


def _rows(
    scenario: Scenario, misleading: float, seed: np.random.SeedSequence
) -> Iterator[dict[str, Any]]:
    data, order = child_seeds(seed, 2)
    ratings = simulate(replace(scenario, misleading=misleading), data)
    truth, system = np.asarray(ratings.truth), np.asarray(ratings.system)
    shuffled = np.random.default_rng(order).permutation(scenario.n_items)
    algebra = estimate_algebraic(ratings.with_truth(None), resamples=RESAMPLES)
    if algebra.system_accuracy.estimate is None:
        return
    k = scenario.n_categories
    costs = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(float)
    numbers = np.bincount(truth * k + system, minlength=k * k).reshape(k, k)
    rates = numbers.sum(axis=1) / numbers.sum()
    matrix = numbers / np.maximum(numbers.sum(axis=1, keepdims=True), 1)
    exact = performance_measures(rates, matrix, costs)
    for n in KNOWN:
        seen = np.full(scenario.n_items, -1)
        seen[shuffled[:n]] = truth[shuffled[:n]]
        known = ratings.with_truth(seen)
        corrected = correct_measures(known, algebra, costs=costs)
        for measure, part in OF_ALL.items():
            value = corrected[(measure,)]
            if not np.isnan(exact[measure]):
                of_all = f"{n} of all"
                yield result_row(
                    float(exact[measure]), value, part=part, known=of_all, method="corrected"
                )
        for code, name in enumerate(ratings.categories):
            true = truth == code
            for measure, rows, of_known in (
                ("recall", true, seen == code),
                ("specificity", ~true, (seen >= 0) & (seen != code)),
            ):
                if not rows.any():
                    continue
                right = (system == code) == (measure == "recall")
                number = _number(of_known.sum())
                ways = {"corrected": corrected[measure, str(name)]}
                if of_known.any():
                    ways["counts"] = _counted(right[of_known])
                for method, value in ways.items():
                    truth_of = float(right[rows].mean())
                    yield result_row(truth_of, value, part=measure, known=number, method=method)
            number = _number((seen == code).sum())
            for answer, response in enumerate(ratings.categories):
                if answer != code and true.any():
                    value = corrected["confusion", str(name), str(response)]
                    proportion = float(matrix[code, answer])
                    yield result_row(
                        proportion, value, part="wrong answer", known=number, method="corrected"
                    )


def _number(n: int) -> str:
    return NUMBERS[max(least for least in NUMBERS if least <= n)]


def _counted(right: Booleans) -> IntervalEstimate:
    proportion, z = float(right.mean()), NormalDist().inv_cdf((1 + LEVEL) / 2)
    lower, upper = wilson_interval(proportion, len(right), z=z).tolist()
    return IntervalEstimate(estimate=proportion, lower=lower, upper=upper, level=LEVEL)


def _summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Measure both numbers of categories together."""
    table = measure_rows(rows.drop(columns="categories"))
    in_all = [f"{n} of all" for n in KNOWN]
    order = {number: place for place, number in enumerate((*NUMBERS.values(), *in_all))}
    return table.sort_values(
        ["part", "known", "method", "misleading"],
        key=lambda column: column.map(order) if column.name == "known" else column,
    )


SIMULATION = Simulation(
    designs=[
        of_data_sets(
            (3, place),
            _rows,
            scenario,
            misleading,
            categories=scenario.n_categories,
            misleading=misleading,
        )
        for place, (scenario, misleading) in enumerate(product(SCENARIOS, MISLEADING))
    ],
    summarise=_summarise,
    data_sets=DATA_SETS,
)
