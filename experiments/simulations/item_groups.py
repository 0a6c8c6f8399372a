"""Error and coverage of accuracies in two groups of items and their difference, by simulation."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.simulations.system_measures import LEVEL, RESAMPLES, dawid_skene
from experiments.study.cells import result_row
from lehner import GroupEstimates, Ratings, estimate_groups
from lehner.core.arrays import Floats, Integers, draw_categories
from lehner.core.seeds import child_seeds

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
    algebra = estimate_groups(ratings, names, level=LEVEL, resamples=RESAMPLES)
    yield from _rows(algebra, CELLS[cell], in_sample)
    estimate = dawid_skene(ratings, fit)
    if estimate.draws is not None and estimate.system_accuracy.estimate is not None:
        groups = bayes_models.accuracy_by_group(estimate.draws, ratings, names, level=LEVEL)
        yield from _rows(groups, CELLS[cell], in_sample)


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
    groups: GroupEstimates, cell: GroupCell, in_sample: list[float]
) -> Iterator[dict[str, Any]]:
    (difference,) = groups.differences
    easy, hard = groups.groups
    expected, of_sample = cell.system, difference.difference_in_sample
    assert of_sample is not None
    for quantity, truth, found in (
        ("accuracy, easy", expected[0], easy.system_accuracy),
        ("accuracy, hard", expected[1], hard.system_accuracy),
        ("accuracy in sample, easy", in_sample[0], easy.system_accuracy_in_sample),
        ("accuracy in sample, hard", in_sample[1], hard.system_accuracy_in_sample),
        ("difference", expected[0] - expected[1], difference.difference),
        ("difference in sample", in_sample[0] - in_sample[1], of_sample),
    ):
        yield result_row(truth, found, method=groups.method, quantity=quantity)
