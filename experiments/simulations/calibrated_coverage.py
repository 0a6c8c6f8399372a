"""Coverage of `calibrated` where items are clustered, and for excellent systems, by simulation.

Raters and system err independently, which the prior does not know: its crowds make correlated
errors. Three raters are right in .8 where items are clustered; where systems are excellent, the
raters are right in .9, .95 or always.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from experiments.study.cells import result_row
from experiments.study.performance import measure_rows
from lehner import Ratings, estimate_calibrated


def estimate(
    seed: int,
    items: int,
    known: int,
    accuracy: float,
    rater: float,
    clusters: int = 0,
    correlation: float = 0.0,
    known_by: str = "item",
) -> Iterator[dict[str, Any]]:
    """Estimate in a data set; accuracies of clusters are drawn from a beta distribution."""
    rng = np.random.default_rng(seed)
    of_item, order = np.full(items, accuracy), rng.permutation(items)
    cluster = None
    if clusters:
        total = 1 / correlation - 1
        cluster = np.repeat(np.arange(clusters), items // clusters)
        of_item = rng.beta(accuracy * total, (1 - accuracy) * total, clusters)[cluster]
        if known_by == "cluster":
            order = np.argsort(rng.permutation(clusters)[cluster], kind="stable")
    truth = rng.integers(2, size=items)
    chance = np.column_stack([np.full((items, 3), rater), of_item])
    answers = np.where(rng.random((items, 4)) < chance, truth[:, None], 1 - truth[:, None])
    shown = np.full(items, -1)
    shown[order[:known]] = truth[order[:known]]
    ratings = Ratings(
        answers[:, :3], ["no", "yes"], system=answers[:, 3], truth=shown, cluster=cluster
    )
    yield result_row(accuracy, estimate_calibrated(ratings).system_accuracy)


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage and mean width of the intervals, with Monte Carlo standard errors."""
    independent = rows.fillna({"clusters": 0, "correlation": 0.0, "known_by": "item"})
    return measure_rows(independent, ("coverage", "interval_width"))
