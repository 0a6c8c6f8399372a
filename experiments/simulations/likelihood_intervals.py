"""Coverage and width of intervals by maximum likelihood, by simulation.

Pseudo-ratings and their number were chosen on other data sets of the cells in which errors are
equally probable; the last two cells were looked at once.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from experiments.simulations.simulation import Simulation, of_data_sets
from experiments.simulations.system_measures import ConfusionCell, simulate_cell
from experiments.study.cells import result_row
from lehner import Scenario, estimate_latent_class, system_performance
from lehner.core.seeds import child_seeds
from lehner.latent_class.models import LIKELIHOOD_METHODS
from lehner.performance.measures import performance_measures

LEVEL = 0.9
DATA_SETS = 100
RESAMPLES = 200


def equal_errors(k: int, items: int, raters: tuple[float, ...], system: float) -> ConfusionCell:
    """Cell in which all errors are equally probable, for raters and the system."""
    scenario = Scenario(
        n_categories=k,
        n_items=items,
        initial_rater_accuracy=raters,
        base_rates=(1 / k,) * k,
    )
    wrong = (1 - system) / (k - 1)
    confusion = np.where(np.eye(k, dtype=bool), system, wrong)
    return ConfusionCell(raters=scenario, confusion=tuple(map(tuple, confusion.tolist())))


UNSEEN = {
    "K 4, 100 items, 4 raters .6 to .9, errors to neighbours": ConfusionCell(
        raters=Scenario(
            n_categories=4,
            n_items=100,
            initial_rater_accuracy=(0.6, 0.7, 0.8, 0.9),
            asymmetric_dispersion=3.0,
            base_rates=(0.4, 0.3, 0.2, 0.1),
        ),
        confusion=(
            (0.9, 0.08, 0.01, 0.01),
            (0.1, 0.8, 0.08, 0.02),
            (0.02, 0.18, 0.7, 0.1),
            (0.05, 0.05, 0.2, 0.7),
        ),
    ),
    "K 3, 80 items, 6 raters .75, a third missing": ConfusionCell(
        raters=Scenario(
            n_categories=3,
            n_items=80,
            initial_rater_accuracy=(0.75,) * 6,
            missing=1 / 3,
            base_rates=(0.5, 0.3, 0.2),
        ),
        confusion=((0.98, 0.01, 0.01), (0.1, 0.85, 0.05), (0.1, 0.3, 0.6)),
    ),
}
CELLS = {
    f"K {k}, {items} items, {n} raters {rater}, system {system}": equal_errors(
        k, items, (rater,) * n, system
    )
    for k, items, n, rater, system in (
        (2, 50, 3, 0.7, 0.5),
        (2, 50, 3, 0.7, 0.9),
        (2, 50, 3, 0.85, 0.9),
        (2, 200, 5, 0.7, 0.9),
        (3, 50, 5, 0.7, 0.9),
        (3, 50, 5, 0.85, 0.5),
        (5, 200, 5, 0.7, 0.5),
        (5, 200, 5, 0.7, 0.9),
        (5, 200, 5, 0.85, 0.9),
    )
} | UNSEEN
EVERY_MODEL = "K 3, 50 items, 5 raters 0.7, system 0.9"
"""The cell in which each model is right, and has intervals simulated; else Dawid–Skene."""


def _estimate(
    cell: ConfusionCell, models: Iterable[str], seed: np.random.SeedSequence
) -> Iterator[dict[str, Any]]:
    of_data, of_answers, of_fit = child_seeds(seed, 3)
    ratings, truth = simulate_cell(cell, of_data, of_answers)
    in_sample = float(np.mean(ratings.system == truth))
    measures = performance_measures(cell.base_rates, np.array(cell.confusion))
    for model in models:
        found = estimate_latent_class(
            ratings, model, level=LEVEL, resamples=RESAMPLES, restarts=0, seed=of_fit
        )
        performance = system_performance(ratings, found, resamples=RESAMPLES, seed=of_fit)
        row = partial(result_row, method=found.method)
        yield row(cell.accuracy, found.system_accuracy, quantity="accuracy")
        sample = found.system_accuracy_in_sample
        yield row(in_sample, sample, quantity="accuracy in the sample")
        for quantity in ("recall", "precision"):
            for category, value in zip(ratings.categories, measures[quantity], strict=True):
                shown = performance.value(quantity, category)
                yield row(float(value), shown, quantity=quantity)


def _models(name: str) -> tuple[str, ...]:
    return tuple(LIKELIHOOD_METHODS.values()) if name == EVERY_MODEL else ("dawid_skene",)


SIMULATION = Simulation(
    designs=[
        of_data_sets((place,), _estimate, cell, _models(name), cell=name)
        for place, (name, cell) in enumerate(CELLS.items())
    ],
    data_sets=DATA_SETS,
)
