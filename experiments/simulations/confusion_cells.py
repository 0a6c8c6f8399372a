"""Cells in which the system has a given confusion matrix, and raters are those of a scenario."""

from dataclasses import dataclass

import numpy as np

from lehner import Ratings, Scenario, simulate
from lehner.core.arrays import Floats, Integers
from lehner.core.draw_categories import draw_categories


@dataclass(frozen=True, kw_only=True)
class ConfusionCell:
    """Raters as a scenario has them, and the system's confusion matrix."""

    raters: Scenario
    confusion: tuple[tuple[float, ...], ...]

    @property
    def base_rates(self) -> Floats:
        """Of the scenario, which gives them."""
        return np.asarray(self.raters.base_rates, dtype=float)

    @property
    def accuracy(self) -> float:
        """Expected accuracy of the system."""
        return float(self.base_rates @ np.diagonal(self.confusion))


def simulate_cell(
    cell: ConfusionCell, of_data: np.random.SeedSequence, of_answers: np.random.SeedSequence
) -> tuple[Ratings, Integers]:
    """Simulate ratings and answers without truths, and the truths."""
    ratings = simulate(cell.raters, of_data)
    truth = np.asarray(ratings.truth)
    luck = np.random.default_rng(of_answers).random(len(truth))
    answers = draw_categories(np.array(cell.confusion), luck, truth)
    return (
        Ratings(ratings.flat, ratings.categories, ratings.raters, ratings.items, system=answers),
        truth,
    )
