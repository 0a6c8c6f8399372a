"""Estimates corrected by a few gold labels, drawn at random among the items of a fit."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.benchmarks.real.run import Task
from experiments.simulations.methods import LEVEL
from experiments.study.cells import Cell, Row
from lehner import Ratings, correct_by_truth
from lehner.core.seeds import seed_of

NUMBERS_KNOWN = (10, 20, 50, 100)
MOST_KNOWN = 0.5
ALONE = "known_items_alone"
BY_PPI = "ppi_"
SHARED = ("crowd", "design", "system", "per_item", "seed", "n_items", "truth")
"""What a fit's corrections have in common with it."""


def correction_cells(fits: pd.DataFrame, folder: Path, draws: int) -> list[Cell]:
    """Cells in which fits are corrected.

    Parameters
    ----------
    fits : pandas.DataFrame
        As read from the cells of tasks.
    folder : Path
        With the files.
    draws : int
        How often labelled items are drawn for each fit.

    Returns
    -------
    list of Cell
    """
    if fits.empty:
        return []
    cells = []
    for fit in fits[fits["right"].notna()].to_dict("records"):
        task = Task(**{field.name: fit[field.name] for field in fields(Task)})
        cell = Cell(
            name=f"{task.name} {draws}",
            place=(),
            values={name: fit[name] for name in SHARED},
            simulate=partial(_correct, task, folder, fit["right"], fit["variance"], draws),
        )
        cells.append(cell)
    return cells


def _correct(
    task: Task,
    folder: Path,
    right: Sequence[float],
    variance: float,
    draws: int,
    _: np.random.SeedSequence,
) -> Iterator[Row]:
    drawn = task.drawn(folder)
    assert drawn is not None
    return corrected_rows(task, drawn, right, variance, draws)


def corrected_rows(
    task: Task, drawn: Ratings, right: Sequence[float], variance: float, draws: int
) -> Iterator[Row]:
    """Correct one fit by 10, 20, 50 and 100 gold labels, at most half of the items.

    Parameters
    ----------
    task : Task
        Its method plays no part in which items are known.
    drawn : Ratings
        With truth.
    right : sequence of float, length n_items
        Probability by the method that the system is right.
    variance : float
        With which the method states their mean.
    draws : int

    Yields
    ------
    dict
        `known`, `draw`, `method`, `estimate`, `lower`, `upper`: the method corrected, by PPI++, and
        without it, by the labelled items alone.
    """
    n, key = drawn.n_items, (task.crowd, task.system, task.per_item)
    numbers = [known for known in NUMBERS_KNOWN if known <= MOST_KNOWN * n]
    for known, draw in product(numbers, range(draws)):
        rng = np.random.default_rng(seed_of(task.seed, *key, str(known), str(draw)))
        labelled = np.isin(np.arange(n), rng.choice(n, known, replace=False))
        ratings = drawn.with_truth(np.where(labelled, np.asarray(drawn.truth), -1))
        correction = correct_by_truth(ratings, right, variance=variance, level=LEVEL)
        for method, estimate in (
            (task.method, correction.system_accuracy_in_sample),
            (BY_PPI + task.method, correction.prediction_powered),
            (ALONE, correction.known_items_alone),
        ):
            ends = {"estimate": estimate.estimate, "lower": estimate.lower, "upper": estimate.upper}
            yield {"known": known, "draw": draw, "method": method} | ends


def known_folder(output: Path, draws: int) -> Path:
    """Folder of the corrected estimates."""
    return output / f"known_{draws}"
