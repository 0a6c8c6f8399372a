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
from experiments.simulations.cells import Simulation
from experiments.study.performance import measure_wide
from lehner import (
    Estimate,
    Ratings,
    Scenario,
    estimate_adjusted,
    estimate_algebraic,
    fit_violations,
    simulate,
    simulate_estimates,
    true_parameters,
)
from lehner.core.arrays import Floats

# The paper's figure, and how strongly random errors are preferred, which is not fitted.
SETTINGS = {
    "K-properties hold": (3, 0.0),
    "raters .5 .6 .7, violated": (10, 1.0),
    "raters .3 .4 .5, violated": (9, 1.0),
    "raters .5 .6 .7, PER 0": (10, 0.0),
    "raters .3 .4 .5, PER 0": (9, 0.0),
}
SIZES = (50, 200, 1000)
DATA_SETS = 80
COSTLY_EVERY = 2
SAMPLES = 100
GRID = np.linspace(0, 1, 6)
ORACLE_SAMPLES = 500
MEASURES = ("bias", "rmse", "coverage", "interval_width")


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Measure each method over all system accuracies and at .9.

    Parameters
    ----------
    rows : pandas.DataFrame
        Columns `setting`, `n_items`, `system`, `replicate`, `method`, `estimate`, `lower`,
        `upper`, `truth`.

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
    setting: str, n_items: int, accuracy: float, data_sets: int, seed: np.random.SeedSequence
) -> pd.DataFrame:
    figure, preference = SETTINGS[setting]
    scenario = replace(
        FIGURES[figure].scenario(accuracy), n_items=n_items, proportional_error_range=preference
    )
    return pd.DataFrame(
        {
            "setting": setting,
            "n_items": n_items,
            "system": accuracy,
            "replicate": replicate,
            "method": method,
            "estimate": estimate[0],
            "lower": estimate[1],
            "upper": estimate[2],
            "truth": truth,
        }
        for replicate, method, estimate, truth in _estimates(scenario, data_sets, seed)
    )


type Found = Iterator[tuple[int, str, tuple[float | None, float | None, float | None], float]]


def _data(
    scenario: Scenario, data_sets: int, chosen: np.random.SeedSequence
) -> Iterator[tuple[int, Ratings, float]]:
    # Settings that differ in preferences among errors alone have the same luck, so that places
    # have no part in the seeds; the seed 1 has data sets from 0 on, as they were numbered once.
    assert isinstance(chosen.entropy, int)
    first = 1_000_000 * (chosen.entropy - 1)
    for replicate in range(first, first + data_sets):
        place = (
            round(10 * scenario.initial_system_accuracy),
            round(100 * scenario.initial_rater_accuracy[0]),
        )
        seed = np.random.SeedSequence([scenario.n_items, *place, replicate])
        ratings = simulate(scenario, seed)
        # Ordered or not: under the K-properties too dispersion is to be fitted, not known.
        ordered = Ratings(ratings.codes, ratings.categories, system=ratings.system, ordered=True)
        yield replicate, ordered, float(true_parameters(scenario, seed).system_accuracy)


def _estimates(scenario: Scenario, data_sets: int, chosen: np.random.SeedSequence) -> Found:
    oracle = _oracle(replace(scenario, initial_system_accuracy=0.5))
    for replicate, ratings, truth in _data(scenario, data_sets, chosen):
        violations = fit_violations(ratings)
        paper = estimate_algebraic(ratings, aggregation="paper", interval=None)
        likelihood = estimate_algebraic(ratings, aggregation="likelihood", interval=None)
        options: dict[str, Any] = {"samples": SAMPLES, "seed": replicate}
        estimates = {
            "algebraic": estimate_algebraic(ratings, interval=None),
            "algebraic_paper": paper,
            "algebraic_likelihood": likelihood,
            "algebraic_paper_adjusted": estimate_adjusted(
                ratings, violations, aggregation="paper", **options
            ),
            "algebraic_paper_adjusted, by samples": estimate_adjusted(
                ratings, violations, aggregation="paper", inversion="sample", **options
            ),
        }
        if replicate % COSTLY_EVERY == 0:
            estimates["algebraic_adjusted"] = estimate_adjusted(ratings, violations, **options)
            estimates["algebraic_likelihood_adjusted"] = estimate_adjusted(
                ratings, violations, aggregation="likelihood", **options
            )
        for method, estimate in estimates.items():
            yield replicate, method, _numbers(estimate), truth
        observed = paper.system_accuracy.estimate
        value = None if observed is None else float(np.interp(observed, *oracle))
        name = "algebraic_paper_adjusted, violations known"
        yield replicate, name, (value, None, None), truth


def _numbers(estimate: Estimate) -> tuple[float | None, float | None, float | None]:
    accuracy = estimate.system_accuracy
    return accuracy.estimate, accuracy.lower, accuracy.upper


@lru_cache
def _oracle(scenario: Scenario) -> tuple[Floats, Floats]:
    """Give the algebra's mean in samples of the scenario, and the accuracy that belongs to it."""
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


SIMULATION = Simulation(
    cells={
        (place,): partial(_simulate, *cell)
        for place, cell in enumerate(product(SETTINGS, SIZES, PRESETS))
    },
    summarise=summarise,
    data_sets=DATA_SETS,
)
