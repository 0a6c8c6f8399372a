"""Estimates by truths that were found out with unequal probabilities: error and coverage.

Three raters right on .75 of the items and a system on .85, two categories of unequal base rates,
and two groups of items. Some of the items mislead everybody. Positives of the system are verified
five times as often as negatives; items on which raters disagree four times as often as others; or
items of one of three sites nine times as often as those of another, in samples of fixed size.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from experiments.simulations.simulation import Simulation, of_data_sets
from experiments.study.cells import result_row
from lehner import Ratings, Scenario, correct_by_truth, estimate_algebraic, simulate
from lehner.core.arrays import Booleans, Floats
from lehner.core.seeds import child_seeds
from lehner.estimation.known_truths import correct_parts, subtract_independent
from lehner.groups.membership import GroupColumn
from lehner.performance.corrected import correct_measures

BASE = Scenario(
    n_categories=2,
    n_items=300,
    initial_rater_accuracy=(0.75,) * 3,
    initial_system_accuracy=0.85,
    base_rates=(0.7, 0.3),
)
MISLEADING = (0.0, 0.2)
DESIGNS = ("equal", "positives", "disagreement", "sites")
KNOWN = (20, 60)
LEVEL = 0.9
DATA_SETS = 300


def draw_known(
    ratings: Ratings, design: str, n_known: int, rng: np.random.Generator
) -> tuple[Booleans, Floats]:
    """Draw which items are known, about so many, and give the probabilities."""
    n = ratings.n_items
    positive, agreed = ratings.system == 1, ratings.votes().max(axis=1) == ratings.n_raters
    share = {
        "equal": np.ones(n),
        "positives": np.where(positive, 5.0, 1.0),
        "disagreement": np.where(agreed, 1.0, 4.0),
        "sites": np.repeat([1.0, 3.0, 9.0], n // 3),
    }[design]
    chance = np.minimum(share * n_known / share.sum(), 1.0)
    if design != "sites":
        return rng.random(n) < chance, chance
    known = np.zeros(n, bool)
    for site in np.split(np.arange(n), 3):
        size = max(1, round(chance[site].sum()))
        chance[site] = size / len(site)
        known[rng.permutation(site)[:size]] = True
    return known, chance


def _rows(
    design: str, misleading: float, n_known: int, seed: np.random.SeedSequence
) -> Iterator[dict[str, Any]]:
    data, order = child_seeds(seed, 2)
    rng = np.random.default_rng(order)
    full = simulate(replace(BASE, misleading=misleading), data)
    truth, right = np.asarray(full.truth), np.asarray(full.truth == full.system)
    algebra = estimate_algebraic(full.with_truth(None), interval=None)
    known, chance = draw_known(full, design, n_known, rng)
    if algebra.system_accuracy.estimate is None or not known.any():
        return
    group = rng.random(full.n_items) < 0.5
    seen = np.where(known, truth, -1)
    for name, some in {
        "weighted": full.with_truth(seen, chance),
        "without weights": full.with_truth(seen),
    }.items():
        found, measures = correct_by_truth(some, algebra), correct_measures(some, algebra)
        values = {
            "accuracy in the sample": (right.mean(), found.system_accuracy_in_sample),
            "accuracy, known items alone": (right.mean(), found.known_items_alone),
            "recall of positives": (right[truth == 1].mean(), measures["recall", "B"]),
            "recall of negatives": (right[truth == 0].mean(), measures["recall", "A"]),
        }
        names = GroupColumn(column="group", names=np.where(group, "1", "2"), note="")
        parts = correct_parts(some, algebra, names, LEVEL)
        groups = [replace(one.accuracy, corrected=True) for one in parts if one.part == "groups"]
        if len(groups) == 2:
            difference = right[group].mean() - right[~group].mean()
            values["difference of groups"] = (difference, subtract_independent(*groups)[0])
        for quantity, (true, value) in values.items():
            yield result_row(float(true), value, method=name, quantity=quantity)


SIMULATION = Simulation(
    designs=[
        of_data_sets(
            (4, place),
            _rows,
            design,
            misleading,
            known,
            design=design,
            misleading=misleading,
            known=known,
        )
        for place, (design, misleading, known) in enumerate(product(DESIGNS, MISLEADING, KNOWN))
    ],
    data_sets=DATA_SETS,
)
