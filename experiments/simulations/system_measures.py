"""Error and coverage of the system's recall, precision and accuracy, by simulation.

The system's recall differs between categories, and its errors are not alike: what `algebraic`
and `dawid_skene` give is compared with the parameters behind the answers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from experiments.simulations.methods import LEVEL, estimate_as_in_studies
from experiments.study.cells import result_row
from lehner import (
    Estimate,
    Ratings,
    Scenario,
    estimate,
    estimate_algebraic,
    simulate,
)
from lehner.core.arrays import Floats, Integers, draw_categories
from lehner.core.seeds import child_seeds
from lehner.performance.measures import performance_measures

RESAMPLES = 1000
DRAWS = 500


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
    """Ratings and answers without truths, and the truths."""
    ratings = simulate(cell.raters, of_data)
    truth = np.asarray(ratings.truth)
    luck = np.random.default_rng(of_answers).random(len(truth))
    answers = draw_categories(np.array(cell.confusion), luck, truth)
    return (
        Ratings(ratings.flat, ratings.categories, ratings.raters, ratings.items, system=answers),
        truth,
    )


CELLS = {
    "K 2, raters .8, K-properties hold": ConfusionCell(
        raters=Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3, base_rates=(0.7, 0.3)),
        confusion=((0.95, 0.05), (0.25, 0.75)),
    ),
    "K 3, raters .7, K-properties hold": ConfusionCell(
        raters=Scenario(
            n_categories=3, initial_rater_accuracy=(0.7,) * 3, base_rates=(0.5, 0.3, 0.2)
        ),
        confusion=((0.95, 0.04, 0.01), (0.15, 0.8, 0.05), (0.05, 0.25, 0.7)),
    ),
    "K 3, raters .6 .7 .8, unequal errors": ConfusionCell(
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


def estimate_measures(seed: int, cell: str, items: int) -> Iterator[dict[str, Any]]:
    """Estimate all measures of a system by the algebra and the model."""
    data, fit = child_seeds(seed, 2)
    design = CELLS[cell]
    design = replace(design, raters=replace(design.raters, n_items=items))
    ratings, _ = simulate_cell(design, *child_seeds(data, 2))
    measures = performance_measures(design.base_rates, np.array(design.confusion))
    for made in (algebra(ratings), dawid_skene(ratings, fit)):
        if made.system_accuracy.estimate is None:
            continue
        whole = {"method": made.method, "quantity": "accuracy", "category": "all"}
        yield result_row(design.accuracy, made.system_accuracy, **whole)
        performance = estimate(ratings, made, level=LEVEL, resamples=RESAMPLES)
        for quantity, truth in measures.items():
            for places, value in np.ndenumerate(truth):
                labels = [ratings.categories[place] for place in places]
                names = dict(zip(("category", "response"), labels, strict=False))
                shown = performance.value(quantity, **names)
                category = "".join(map(str, labels)) or "all"
                row = {"method": made.method, "quantity": quantity, "category": category}
                yield result_row(value, shown, **row)


def algebra(ratings: Ratings) -> Estimate:
    """Estimate of the algebra."""
    return estimate_algebraic(ratings, level=LEVEL, resamples=RESAMPLES)


def dawid_skene(ratings: Ratings, seed: np.random.SeedSequence) -> Estimate:
    """Estimate of the Bayesian model of Dawid and Skene."""
    number = int(seed.generate_state(1)[0])
    return estimate_as_in_studies("dawid_skene", ratings, number, draws=DRAWS)
