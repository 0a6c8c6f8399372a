"""Error and coverage of accuracies in two groups of items and their difference, by simulation."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.simulations.system_measures import LEVEL, RESAMPLES, dawid_skene
from experiments.study.cells import result_row
from lehner import Ratings
from lehner.contrasts.group_draws import GroupDraws, group_rows
from lehner.contrasts.item_groups import group_by_algebra
from lehner.core.arrays import Floats, Integers, draw_categories
from lehner.core.seeds import child_seeds
from lehner.core.warning import Warning
from lehner.estimation.results import value_of

GROUPS = ("easy", "hard")
BASE_RATES = ((0.5, 0.3, 0.2), (0.3, 0.3, 0.4))


@dataclass(frozen=True, kw_only=True)
class GroupCell:
    """Accuracies in two groups of items, a third of which are in the second."""

    system: tuple[float, float]
    raters: tuple[tuple[float, float, float], tuple[float, float, float]]


CELLS = {
    "no difference": GroupCell(system=(0.85, 0.85), raters=((0.65, 0.75, 0.85),) * 2),
    "the system is worse": GroupCell(system=(0.95, 0.75), raters=((0.65, 0.75, 0.85),) * 2),
    "system and raters are worse": GroupCell(
        system=(0.9, 0.75), raters=((0.75, 0.8, 0.85), (0.6, 0.65, 0.7))
    ),
}


def estimate(seed: int, cell: str, items: int) -> Iterator[dict[str, Any]]:
    """Estimate accuracies in both groups and their difference."""
    import bayes_models

    data, fit = child_seeds(seed, 2)
    group, truth, ratings = draw_groups(CELLS[cell], items, np.random.default_rng(data))
    names = np.array(GROUPS)[group]
    right = np.asarray(ratings.system) == truth
    in_sample = [float(right[group == g].mean()) for g in range(2)]
    algebra = group_by_algebra(ratings, names, resamples=RESAMPLES)
    yield from _rows("algebraic", algebra, ratings, CELLS[cell], in_sample)
    estimate = dawid_skene(ratings, fit)
    if estimate.draws is not None and estimate.system_accuracy.estimate is not None:
        groups = bayes_models.accuracy_by_group(estimate.draws, ratings, names)
        yield from _rows(estimate.method, groups, ratings, CELLS[cell], in_sample)


def draw_groups(
    cell: GroupCell, size: int, rng: np.random.Generator
) -> tuple[Integers, Integers, Ratings]:
    """Groups, truths and the ratings of items; all errors are equally probable."""
    group = (rng.permutation(size) < size // 3).astype(np.int64)
    truth = draw_categories(np.array(BASE_RATES), rng.random(size), group)

    def answers(accuracy: Floats) -> Integers:
        right = rng.random(size) < accuracy[group]
        return np.where(right, truth, (truth + rng.integers(1, 3, size)) % 3)

    codes = np.stack([answers(one) for one in np.array(cell.raters).T], axis=1)
    system = answers(np.array(cell.system))
    return group, truth, Ratings(codes, ["a", "b", "c"], system=system)


def _rows(
    method: str, found: GroupDraws, ratings: Ratings, cell: GroupCell, in_sample: list[float]
) -> Iterator[dict[str, Any]]:
    told = {
        (one["quantity"], one["group"]): value_of(one)
        for one in group_rows(found, ratings, grouping="group", level=LEVEL)
        if not isinstance(one, Warning)
    }
    easy, hard = GROUPS
    expected, name, sample = cell.system, "system_accuracy", "system_accuracy_in_sample"
    for quantity, truth, place in (
        ("accuracy, easy", expected[0], (name, easy)),
        ("accuracy, hard", expected[1], (name, hard)),
        ("accuracy in sample, easy", in_sample[0], (sample, easy)),
        ("accuracy in sample, hard", in_sample[1], (sample, hard)),
        ("difference", expected[0] - expected[1], (f"{name}_difference", easy)),
        (
            "difference in sample",
            in_sample[0] - in_sample[1],
            (f"{sample}_difference", easy),
        ),
    ):
        yield result_row(truth, told[place], method=method, quantity=quantity)
