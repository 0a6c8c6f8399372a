"""Coverage and width of intervals by maximum likelihood, by simulation.

Pseudo-ratings and their number were chosen on other data sets of the cells in which errors are
equally probable; the last two cells were looked at once.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.reporting.files import write_csv
from experiments.study.parts import keep_parts, read_parts
from experiments.study.performance import measure_wide
from experiments.system_performance.recovery import Cell
from lehner import (
    Ratings,
    Scenario,
    estimate_latent_class,
    simulate,
    system_performance,
)
from lehner.core.arrays import Floats
from lehner.core.draw_categories import draw_categories
from lehner.core.seeds import child_seeds
from lehner.latent_class.models import LIKELIHOOD_MODELS
from lehner.performance.measures import performance_measures

LEVEL = 0.9
DATA_SETS = 100
RESAMPLES = 200
MEASURES = ("bias", "rmse", "coverage", "interval_width")
BY = ["cell", "method", "quantity"]


def equal_errors(k: int, items: int, raters: tuple[float, ...], system: float) -> Cell:
    """Make a cell in which all errors are equally probable, for raters and the system."""
    scenario = Scenario(
        n_categories=k,
        n_items=items,
        initial_rater_accuracy=raters,
        base_rates=(1 / k,) * k,
    )
    wrong = (1 - system) / (k - 1)
    confusion = np.where(np.eye(k, dtype=bool), system, wrong)
    return Cell(raters=scenario, confusion=tuple(map(tuple, confusion.tolist())))


UNSEEN = {
    "K 4, 100 items, 4 raters .6 to .9, errors to neighbours": Cell(
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
    "K 3, 80 items, 6 raters .75, a third missing": Cell(
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
EVERY_MODEL = ("K 3, 50 items, 5 raters 0.7, system 0.9",)
"""Cells in which each model is right, and has intervals simulated; else Dawid–Skene."""


def write_simulation(folder: Path, data_sets: int, seed: int) -> Iterator[Path]:
    """Simulate the cells that are missing in the folder; write the table of all.

    Parameters
    ----------
    folder : Path
    data_sets : int
        For each cell.
    seed : int

    Yields
    ------
    Path
    """
    parts = {
        folder / "parts" / f"{place}_{model}_{data_sets}_{seed}.csv": partial(
            _part, name, model, data_sets, np.random.SeedSequence(seed, spawn_key=(place,))
        )
        for place, name in enumerate(CELLS)
        for model in (LIKELIHOOD_MODELS if name in EVERY_MODEL else ("dawid_skene",))
    }
    yield from keep_parts(parts)
    table = measure_wide(read_parts(parts), BY, MEASURES).reset_index()
    yield write_csv(table.round(4), folder / "intervals.csv")


def _part(name: str, model: str, data_sets: int, seed: np.random.SeedSequence) -> str:
    cell = CELLS[name]
    rows = [row for child in child_seeds(seed, data_sets) for row in _rows(cell, model, child)]
    return pd.DataFrame(rows).assign(cell=name, method=f"{model}_ml").to_csv(index=False)


def _rows(cell: Cell, model: str, seed: np.random.SeedSequence) -> Iterator[dict[str, Any]]:
    of_data, of_answers, of_fit = child_seeds(seed, 3)
    ratings, truth = simulate_cell(cell, of_data, of_answers)
    found = estimate_latent_class(
        ratings, model, level=LEVEL, resamples=RESAMPLES, restarts=0, seed=of_fit
    )
    performance = system_performance(ratings, found, resamples=RESAMPLES, seed=of_fit)
    confusion = np.array(cell.confusion)
    measures = performance_measures(cell.base_rates, confusion)
    yield _row("accuracy", float(cell.base_rates @ np.diagonal(confusion)), found.system_accuracy)
    in_sample = float(np.mean(ratings.system == truth))
    yield _row("accuracy in the sample", in_sample, found.system_accuracy_in_sample)
    for quantity in ("recall", "precision"):
        for category, value in zip(ratings.categories, measures[quantity], strict=True):
            yield _row(quantity, float(value), performance.value(quantity, category))


def simulate_cell(
    cell: Cell, of_data: np.random.SeedSequence, of_answers: np.random.SeedSequence
) -> tuple[Ratings, Floats]:
    """Simulate ratings without truths, and the truths."""
    ratings = simulate(cell.raters, of_data)
    truth = np.asarray(ratings.truth)
    luck = np.random.default_rng(of_answers).random(len(truth))
    answers = draw_categories(np.array(cell.confusion), luck, truth)
    return (
        Ratings(ratings.flat, ratings.categories, ratings.raters, ratings.items, system=answers),
        truth,
    )


def _row(quantity: str, truth: float, found: Any) -> dict[str, Any]:
    return {
        "quantity": quantity,
        "truth": truth,
        "estimate": found.estimate,
        "lower": found.lower,
        "upper": found.upper,
    }
