"""The algebra and its adjustments on the same simulated data: bias, error and coverage.

The K-properties hold (raters of accuracy .6), or fail as in the paper's Figures 9 and 10, with
random preferences among errors as there or without them, for 50, 200 and 1,000 items.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from experiments.paper.figure_scenarios import FIGURES, PRESETS
from experiments.simulations.simulation import MEASURES, Design, Simulation
from experiments.study.cells import result_row
from experiments.study.performance import measure_wide
from lehner import (
    IntervalEstimate,
    Ratings,
    Scenario,
    estimate_adjusted,
    estimate_algebraic,
    fit_violations,
    simulate,
    simulate_estimates,
    true_parameters,
)
from lehner.algebra.system_accuracy import Aggregation
from lehner.core.arrays import Floats

# The paper's figure, and how strongly random errors are preferred, which is not fitted.
SETTINGS = {
    "K-properties hold": (3, 0.0),
    "raters .5 .6 .7, violated": (10, 1.0),
    "raters .3 .4 .5, violated": (9, 1.0),
    "raters .5 .6 .7, PER 0": (10, 0.0),
    "raters .3 .4 .5, PER 0": (9, 0.0),
}
AGGREGATIONS: dict[str, Aggregation] = {
    "algebraic": "weighted",
    "algebraic_paper": "paper",
    "algebraic_likelihood": "likelihood",
}
ADJUSTED: dict[str, dict[str, Any]] = {
    "algebraic_paper_adjusted": {"aggregation": "paper"},
    "algebraic_paper_adjusted, by samples": {"aggregation": "paper", "inversion": "sample"},
    "algebraic_adjusted": {"aggregation": "weighted"},
    "algebraic_likelihood_adjusted": {"aggregation": "likelihood"},
}
SIZES = (50, 200, 1000)
DATA_SETS = 80
COSTLY_EVERY = 2
SAMPLES = 100
GRID = np.linspace(0, 1, 6)
ORACLE_SAMPLES = 500


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Measures of each method over all system accuracies and at .9.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns `setting`, `n_items`, `system`, `method`, `estimate`, `lower`, `upper`, `truth`.

    Returns
    -------
    pandas.DataFrame
        Columns `setting`, `n_items`, `system` ("all" or 0.9), `method`, `n`, and each of
        `MEASURES` with its Monte Carlo standard error in `…_se`.
    """
    measures = []
    for system, part in (("all", rows), ("0.9", rows[rows.system == 0.9])):
        wide = measure_wide(part, ["setting", "n_items", "method"], MEASURES)
        measures.append(wide.assign(system=system).reset_index())
    return pd.concat(measures)[["setting", "n_items", "system", "method", *wide.columns]]


def _simulate(
    scenario: Scenario, data_sets: int, chosen: np.random.SeedSequence
) -> Iterator[dict[str, Any]]:
    # Settings that differ in preferences among errors alone have the same luck, so that places
    # have no part in the seeds; the seed 1 has data sets from 0 on, as they were numbered once.
    assert isinstance(chosen.entropy, int)
    first = 1_000_000 * (chosen.entropy - 1)
    place = (
        round(10 * scenario.initial_system_accuracy),
        round(100 * scenario.initial_rater_accuracy[0]),
    )
    for replicate in range(first, first + data_sets):
        seed = np.random.SeedSequence([scenario.n_items, *place, replicate])
        ratings = simulate(scenario, seed)
        # Ordered or not: under the K-properties too dispersion is to be fitted, not known.
        ordered = Ratings(ratings.codes, ratings.categories, system=ratings.system, ordered=True)
        truth = float(true_parameters(scenario, seed).system_accuracy)
        for method, estimate in _estimates(scenario, ordered, replicate):
            yield result_row(truth, estimate, replicate=replicate, method=method)


def _estimates(
    scenario: Scenario, ratings: Ratings, replicate: int
) -> Iterator[tuple[str, IntervalEstimate]]:
    violations = fit_violations(ratings)
    plain = {
        name: estimate_algebraic(ratings, aggregation=aggregation, interval=None).system_accuracy
        for name, aggregation in AGGREGATIONS.items()
    }
    yield from plain.items()
    for name, how in ADJUSTED.items():
        if how["aggregation"] == "paper" or replicate % COSTLY_EVERY == 0:
            adjusted = estimate_adjusted(
                ratings, violations, samples=SAMPLES, seed=replicate, **how
            )
            yield name, adjusted.system_accuracy
    observed = plain["algebraic_paper"].estimate
    oracle = _oracle(replace(scenario, initial_system_accuracy=0.5))
    value = None if observed is None else float(np.interp(observed, *oracle))
    yield "algebraic_paper_adjusted, violations known", IntervalEstimate(estimate=value)


@lru_cache
def _oracle(scenario: Scenario) -> tuple[Floats, Floats]:
    """The algebra's mean in samples of the scenario, and the accuracy that belongs to it."""
    estimates = [
        simulate_estimates(
            replace(scenario, initial_system_accuracy=initial),
            ORACLE_SAMPLES,
            methods=["algebraic_paper"],
            in_sample=False,
            seed=1,
        ).mean()
        for initial in GRID
    ]
    means = np.array([float(one.algebraic_paper) for one in estimates])
    return np.maximum.accumulate(means), np.array([float(one.system_accuracy) for one in estimates])


def _designs() -> Iterator[Design]:
    for place, (setting, n_items, system) in enumerate(product(SETTINGS, SIZES, PRESETS)):
        figure, preference = SETTINGS[setting]
        scenario = replace(
            FIGURES[figure].scenario(system), n_items=n_items, proportional_error_range=preference
        )
        values = {"setting": setting, "n_items": n_items, "system": system}
        yield Design(place=(place,), values=values, simulate=partial(_simulate, scenario))


SIMULATION = Simulation(designs=list(_designs()), summarise=summarise, data_sets=DATA_SETS)
