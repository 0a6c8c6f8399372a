"""Estimates corrected by a few known truths, drawn at random among the items of a fit."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.benchmarks.real.protocol import Dealt, seed_of
from experiments.benchmarks.real.run import LEVEL, Task
from experiments.study.parts import keep_parts, missing_parts
from lehner import IntervalEstimate, Ratings, correct_by_truth

NUMBERS_KNOWN = (10, 20, 50, 100)
MOST_KNOWN = 0.5
ALONE = "known_items_alone"
BY_PPI = "ppi_"

type Row = dict[str, Any]


def correct_tasks(
    tasks: Sequence[Task], folder: Path, output: Path, draws: int, workers: int = 1
) -> Iterator[int]:
    """Correct what was fitted and has not been corrected yet; keep each result at once.

    Parameters
    ----------
    tasks : sequence of Task
    folder : Path
        With the files.
    output : Path
        Where results are kept.
    draws : int
        How often known items are drawn for each fit.
    workers : int
        Processes at work.

    Yields
    ------
    int
        How many are still to be done.
    """
    missing = missing_parts(
        {
            known_folder(output, draws) / fitted.name: partial(_part, task, folder, fitted, draws)
            for task in tasks
            if (fitted := task.path(output)).exists()
        }
    )
    kept = keep_parts(missing, workers=workers, modules=["lehner"])
    for done, _ in enumerate(kept, start=1):
        yield len(missing) - done


def corrected_rows(
    task: Task, dealt: Dealt, right: Sequence[float], variance: float, draws: int
) -> Iterator[Row]:
    """Correct one fit by 10, 20, 50 and 100 known truths, at most half of the items.

    Parameters
    ----------
    task : Task
        Its method plays no part in which items are known.
    dealt : Dealt
    right : sequence of float, length n_items
        Probability by the method that the system is right.
    variance : float
        With which the method states their mean.
    draws : int

    Yields
    ------
    dict
        `known`, `draw`, `method`, `estimate`, `lower`, `upper`: the method corrected, by PPI++, and
        without it, by the known items alone.
    """
    data, n, method = dealt.ratings, dealt.ratings.n_items, task.method
    key = (task.crowd, task.system, task.per_item)
    for known in NUMBERS_KNOWN:
        if known > MOST_KNOWN * n:
            continue
        for draw in range(draws):
            rng = np.random.default_rng(seed_of(task.seed, *key, str(known), str(draw)))
            truth = np.full(n, -1)
            chosen = rng.choice(n, known, replace=False)
            truth[chosen] = dealt.truth[chosen]
            ratings = Ratings(
                data.flat, data.categories, data.raters, data.items, data.system, truth
            )
            correction = correct_by_truth(ratings, right, variance=variance, level=LEVEL)
            estimates: dict[str, IntervalEstimate] = {
                method: correction.system_accuracy_in_sample,
                BY_PPI + method: correction.prediction_powered,
                ALONE: correction.known_items_alone,
            }
            for name, estimate in estimates.items():
                numbers = {end: getattr(estimate, end) for end in ("estimate", "lower", "upper")}
                yield {"known": known, "draw": draw, "method": name} | numbers


def known_folder(output: Path, draws: int) -> Path:
    """Give the folder of the corrected estimates."""
    return output / f"known_{draws}"


def _part(task: Task, folder: Path, fitted: Path, draws: int) -> str:
    part = json.loads(fitted.read_text(encoding="utf-8"))
    rows: list[Row] = []
    if part["n_items"] and part["right"] is not None:
        dealt = task.dealt(folder)
        assert dealt is not None
        rows = list(corrected_rows(task, dealt, part["right"], part["variance"], draws))
    return json.dumps(asdict(task) | {"rows": rows})
