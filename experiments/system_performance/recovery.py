"""Error and coverage of the system's recall, precision and accuracy, by simulation.

The system's recall differs between categories, and its errors are not alike: what `algebraic`
and `dawid_skene` give is compared with the parameters behind the answers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.study.cells import Cells, simulate_cells
from experiments.study.performance import measure_wide
from lehner import (
    Estimate,
    IntervalEstimate,
    Ratings,
    Scenario,
    estimate_algebraic,
    simulate,
    system_performance,
)
from lehner.core.arrays import Floats
from lehner.core.draw_categories import draw_categories
from lehner.core.seeds import child_seeds
from lehner.performance.measures import performance_measures

LEVEL = 0.9
DATA_SETS = 200
SIZES = (50, 200, 1000)
RESAMPLES = 1000
DRAWS = 500
MEASURES = ("bias", "rmse", "coverage", "interval_width")
BY = ["cell", "items", "method", "quantity", "category"]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Raters as a scenario has them, and the system's confusion matrix."""

    raters: Scenario
    confusion: tuple[tuple[float, ...], ...]

    @property
    def base_rates(self) -> Floats:
        """Of the scenario, which gives them."""
        return np.asarray(self.raters.base_rates, dtype=float)


CELLS = {
    "K 2, raters .8, K-properties hold": Cell(
        raters=Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3, base_rates=(0.7, 0.3)),
        confusion=((0.95, 0.05), (0.25, 0.75)),
    ),
    "K 3, raters .7, K-properties hold": Cell(
        raters=Scenario(
            n_categories=3, initial_rater_accuracy=(0.7,) * 3, base_rates=(0.5, 0.3, 0.2)
        ),
        confusion=((0.95, 0.04, 0.01), (0.15, 0.8, 0.05), (0.05, 0.25, 0.7)),
    ),
    "K 3, raters .6 .7 .8, unequal errors": Cell(
        raters=Scenario(
            n_categories=3,
            initial_rater_accuracy=(0.6, 0.7, 0.8),
            asymmetric_dispersion=2.0,
            proportional_error_range=0.5,
            base_rates=(0.5, 0.3, 0.2),
        ),
        confusion=((0.95, 0.04, 0.01), (0.15, 0.8, 0.05), (0.05, 0.25, 0.7)),
    ),
}


def write_recovery(folder: Path, data_sets: int, seed: int) -> Iterator[Path]:
    """Simulate the parts that are missing in the folder; write the table of all.

    Parameters
    ----------
    folder : Path
    data_sets : int
        For each cell and number of items.
    seed : int

    Returns
    -------
    iterator of Path
        See `simulate_cells`.
    """
    cells: Cells = {
        (place, size): partial(_part, cell, size)
        for place, cell in enumerate(CELLS)
        for size in SIZES
    }
    return simulate_cells(
        folder / "recovery.csv", cells, _summarise, data_sets=data_sets, seed=seed
    )


def _summarise(rows: pd.DataFrame) -> pd.DataFrame:
    return measure_wide(rows, BY, MEASURES).reset_index()


def _part(cell: str, size: int, data_sets: int, seed: np.random.SeedSequence) -> str:
    rows = pd.DataFrame(simulate_cell(CELLS[cell], size, data_sets, seed))
    return rows.assign(cell=cell, items=size).to_csv(index=False)


def simulate_cell(
    cell: Cell, size: int, data_sets: int, seed: np.random.SeedSequence
) -> Iterator[dict[str, Any]]:
    """Estimate the system's measures in each of some data sets.

    Yields
    ------
    dict
        `method`, `quantity`, `category`, `truth`, `estimate`, `lower`, `upper`.
    """
    names = simulate(cell.raters, 1).categories
    measures = performance_measures(cell.base_rates, np.array(cell.confusion))
    accuracy = float(cell.base_rates @ np.diagonal(cell.confusion))
    for child in child_seeds(seed, data_sets):
        data, fit = child_seeds(child, 2)
        ratings = simulate_ratings(cell, size, data)
        for estimate in (algebra(ratings), dawid_skene(ratings, fit)):
            if estimate.system_accuracy.estimate is None:
                continue
            performance = system_performance(ratings, estimate, level=LEVEL, resamples=RESAMPLES)
            yield _row(estimate, "accuracy", "", accuracy, estimate.system_accuracy)
            for quantity, truth in measures.items():
                for places, value in np.ndenumerate(truth):
                    labels = [names[place] for place in places]
                    shown = performance.value(quantity, *labels)
                    yield _row(estimate, quantity, "".join(map(str, labels)), value, shown)


def simulate_ratings(cell: Cell, size: int, seed: np.random.SeedSequence) -> Ratings:
    """Simulate ratings, and answers of a system with the confusion matrix of the cell."""
    data, answers = child_seeds(seed, 2)
    ratings = simulate(replace(cell.raters, n_items=size), data)
    luck = np.random.default_rng(answers).random(size)
    answered = draw_categories(np.array(cell.confusion), luck, np.asarray(ratings.truth))
    return Ratings(ratings.flat, ratings.categories, ratings.raters, ratings.items, system=answered)


def algebra(ratings: Ratings) -> Estimate:
    """Estimate by the algebra."""
    return estimate_algebraic(ratings, level=LEVEL, resamples=RESAMPLES)


def dawid_skene(ratings: Ratings, seed: np.random.SeedSequence) -> Estimate:
    """Estimate by the Bayesian model of Dawid and Skene."""
    import bayes_models
    from experiments.estimate.methods import fit_as_in_studies

    number = int(seed.generate_state(1)[0])
    tree = fit_as_in_studies("dawid_skene", ratings, number, engine="gibbs", draws=DRAWS)
    return bayes_models.estimate_from_draws(tree, level=LEVEL)


def _row(
    estimate: Estimate, quantity: str, category: str, truth: float, value: IntervalEstimate
) -> dict[str, Any]:
    return {
        "method": estimate.method,
        "quantity": quantity,
        "category": category or "all",
        "truth": truth,
        "estimate": value.estimate,
        "lower": value.lower,
        "upper": value.upper,
    }
