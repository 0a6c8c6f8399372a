"""Error and coverage of the difference between two systems, corrected by known truths.

200 items, three raters right on .7 of them and two systems right on .8 and .75, three categories;
some of the truths are known, drawn at random. The systems err independently; or a fifth of the
items mislead everybody; or the second system copies 40% of its answers from the first rater, so
that both make the same mistakes.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np

from experiments.simulations.simulation import Simulation, of_data_sets
from experiments.study.cells import result_row
from lehner import (
    IntervalEstimate,
    Ratings,
    Scenario,
    bootstrap_systems,
    compare_systems,
    estimate_algebraic,
    simulate,
)
from lehner.core.arrays import Floats
from lehner.core.seeds import child_seeds
from lehner.systems.corrected import correct_systems

BASE = Scenario(
    n_items=200,
    n_categories=3,
    initial_rater_accuracy=(0.7, 0.7, 0.7, 0.75),
    initial_system_accuracy=0.8,
    base_rates=(0.5, 0.3, 0.2),
)
PROCESSES: dict[str, tuple[Scenario, float]] = {
    "independent": (BASE, 0.0),
    "items mislead everybody": (replace(BASE, misleading=0.2), 0.0),
    "one system copies a rater": (BASE, 0.4),
}
KNOWN = (10, 20, 50, 100)
LEVEL = 0.9
RESAMPLES = 300
MANY_ITEMS = 200_000
DATA_SETS = 300


def _simulate(
    scenario: Scenario, copied: float, seed: np.random.SeedSequence
) -> tuple[Ratings, Floats]:
    """Simulate two systems, and by how much more items the first is right on each."""
    data_seed, copy_seed = child_seeds(seed, 2)
    full = simulate(scenario, data_seed)
    one, two = np.asarray(full.system), full.codes[:, 3]
    copies = np.random.default_rng(copy_seed).random(len(one)) < copied
    two = np.where(copies, full.codes[:, 0], two)
    truth = np.asarray(full.truth)
    ratings = Ratings(
        full.codes[:, :3],
        full.categories,
        system=np.stack([one, two], axis=1),
        systems=("one", "two"),
        truth=truth,
    )
    return ratings, (one == truth).astype(float) - (two == truth)


@cache
def _expected(process: str) -> float:
    """Find how much more accurate the first system is in many items."""
    scenario, copied = PROCESSES[process]
    many = replace(scenario, n_items=MANY_ITEMS)
    return float(_simulate(many, copied, np.random.SeedSequence(1))[1].mean())


def _rows(process: str, seed: np.random.SeedSequence) -> Iterator[dict[str, Any]]:
    data_seed, order = child_seeds(seed, 2)
    full, difference = _simulate(*PROCESSES[process], data_seed)
    expected, in_sample = _expected(process), float(difference.mean())
    truth, ratings = np.asarray(full.truth), full.with_truth(None)
    found = {name: estimate_algebraic(ratings.for_system(name)) for name in ratings.systems}
    if any(each.system_accuracy.estimate is None for each in found.values()):
        return
    points = {name: (e.system_accuracy, e.system_accuracy_in_sample) for name, e in found.items()}
    draws = bootstrap_systems("algebraic", ratings, resamples=RESAMPLES, seed=order)
    (without,) = compare_systems(points, draws, level=LEVEL)
    shuffled = np.random.default_rng(order).permutation(len(truth))
    for n in KNOWN:
        known = np.full(len(truth), -1)
        known[shuffled[:n]] = truth[shuffled[:n]]
        points, draws = correct_systems(ratings.with_truth(known), found, level=LEVEL)
        (corrected,) = compare_systems(points, draws, level=LEVEL)
        for method, of_sample, of_others in (
            ("corrected", corrected.difference_in_sample, corrected.difference),
            ("without the known truths", without.difference_in_sample, without.difference),
            ("known items alone", _paired(difference[shuffled[:n]], len(truth)), None),
        ):
            yield result_row(in_sample, of_sample, known=n, method=method, estimand="in sample")
            if of_others is not None:
                yield result_row(expected, of_others, known=n, method=method, estimand="expected")


def _paired(difference: Floats, n_items: int) -> IntervalEstimate:
    """Give the mean difference of the known items, with the normal interval of a finite sample."""
    n, mean = len(difference), float(difference.mean())
    error = np.sqrt(difference.var(ddof=1) / n * (1 - n / n_items))
    half = float(NormalDist().inv_cdf((1 + LEVEL) / 2) * error)
    return IntervalEstimate(estimate=mean, lower=mean - half, upper=mean + half, level=LEVEL)


SIMULATION = Simulation(
    designs=[
        of_data_sets((place,), _rows, process, process=process)
        for place, process in enumerate(PROCESSES)
    ],
    data_sets=DATA_SETS,
)
