"""Estimates on the real crowds by truths that were found out with unequal probabilities.

    python -m experiments.benchmarks.real.unequal_truths CROWDS > unequal_truths.csv

deals each crowd as `lehner.empirical_prior.deals` says, chooses about 20 or 50 of the items of each
data set in four ways, and corrects the algebra by their truths, with the probabilities and without.
Items are chosen alike; with five times the probability where the system gives its rarer answers;
with four times the probability where raters disagree; or with a probability proportional to the
standard deviation that the algebra gives to whether the system is right ("active"). Crowds whose
files are not in the folder are left out. Numbers are means over crowds.
"""

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.benchmarks.real.sources import find_sources
from lehner import Ratings, correct_by_truth, estimate_algebraic, probabilities_right
from lehner.core.arrays import Floats
from lehner.core.seeds import seed_of
from lehner.empirical_prior.deals import choose_panels, deal

DESIGNS = ("equal", "rare answers", "disagreement", "active")
KNOWN, DRAWS, SYSTEMS = (20, 50), 3, 3
LEAST_SPREAD = 0.1
"""With a smaller one, a mistake of which the algebra is sure would weigh too much."""


def shares(ratings: Ratings, right: Floats) -> dict[str, Floats]:
    """Give how probable it is that each item is chosen, relative to others, by design."""
    answers = np.asarray(ratings.system)
    common = np.bincount(answers).argmax()
    agreed = ratings.votes().max(axis=1) == ratings.votes().sum(axis=1)
    values = (
        np.ones(len(answers)),
        np.where(answers == common, 1.0, 5.0),
        np.where(agreed, 1.0, 4.0),
        np.sqrt(np.clip(right * (1 - right), LEAST_SPREAD**2, None)),
    )
    return dict(zip(DESIGNS, values, strict=True))


def crowd_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Error, coverage and width of each draw of known items."""
    for source in find_sources():
        if not all(path.exists() for path in source.paths(folder)):
            continue
        crowd = source.reader(source.paths(folder))
        for panel in choose_panels(crowd, "like")[:SYSTEMS]:
            seed = seed_of(1, source.name, panel.system)
            dealt = deal(panel, "3", seed)
            if dealt is not None:
                for row in _rows(dealt, np.random.default_rng(seed)):
                    yield {"crowd": source.name} | row


def _rows(dealt: Ratings, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    algebra = estimate_algebraic(dealt.with_truth(None), aggregation="likelihood", interval=None)
    if algebra.system_accuracy.estimate is None:
        return
    truth = np.asarray(dealt.truth)
    accuracy = float(np.mean(truth == dealt.system))
    of_designs = shares(dealt, probabilities_right(dealt, algebra))
    for (design, share), n_known, _ in product(of_designs.items(), KNOWN, range(DRAWS)):
        if 2 * n_known > len(truth):
            continue
        chance = np.minimum(share * n_known / share.sum(), 0.99)
        known = rng.random(len(truth)) < chance
        if not known.any():
            continue
        seen = np.where(known, truth, -1)
        with_weights = correct_by_truth(dealt.with_truth(seen, chance), algebra)
        without = correct_by_truth(dealt.with_truth(seen), algebra)
        for method, found in {
            "weighted": with_weights.system_accuracy_in_sample,
            "weighted, known items alone": with_weights.known_items_alone,
            "without weights": without.system_accuracy_in_sample,
        }.items():
            assert found.estimate is not None
            assert found.lower is not None and found.upper is not None
            yield {
                "design": design,
                "known": n_known,
                "method": method,
                "squared_error": (found.estimate - accuracy) ** 2,
                "coverage": found.lower <= accuracy <= found.upper,
                "width": found.upper - found.lower,
            }


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Make a row for each design, number of known items and method."""
    by = ["design", "known", "method"]
    measured = rows.groupby([*by, "crowd"], sort=False).mean().groupby(by, sort=False)
    table, error = measured.mean(), measured.sem()
    table["rmse"] = np.sqrt(table.pop("squared_error"))
    table["coverage_se"], table["width_se"] = error["coverage"], error["width"]
    table["crowds"] = measured.size()
    return table.reset_index()


if __name__ == "__main__":
    found = pd.DataFrame(crowd_rows(Path(sys.argv[1])))
    print(summarise(found).round(4).to_csv(index=False), end="")
