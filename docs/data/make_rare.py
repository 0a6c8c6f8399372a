"""Make experiments/simulations/rare_labels.csv: F1, recall and precision by gold labels alone.

Two systems answer 2,000 items, of which 2% or 20% are positive; some have gold labels, drawn at
random or by `lehner ask --enrich`. `python docs/data/make_rare.py` takes some minutes.
"""

from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd

from lehner import Ratings, choose_items, inclusion_probabilities
from lehner.contrasts.labelled_systems import draw_tables
from lehner.core.arrays import derive_seeds
from lehner.core.estimate import summarise_draws
from lehner.performance.measures import Measure

N, SHARED, LEVEL, REPLICATES = 2000, 0.16, 0.9, 300
# Recall and precision of both systems.
SYSTEMS = np.array([[0.8, 0.6], [0.6, 0.7]])
MEASURES = ("f1", "precision", "recall")
# Part of the positive items, gold labels, and whether they are drawn by --enrich.
DESIGNS = [(rate, labels, False) for rate in (0.02, 0.2) for labels in (50, 100, 200)]
DESIGNS += [(0.02, 100, True)]
quantile = np.vectorize(NormalDist().inv_cdf)


def draw(rng, rate, labels, enriched):
    """Draw the answers of both systems, whose errors are correlated, and label some items."""
    truth = (rng.random(N) < rate).astype(int)
    recall, precision = SYSTEMS.T
    false_alarms = recall * rate * (1 - precision) / precision / (1 - rate)
    z = np.sqrt(SHARED) * rng.normal(size=(N, 1)) + np.sqrt(1 - SHARED) * rng.normal(size=(N, 2))
    chance = np.where(truth[:, None] == 1, recall, 1 - false_alarms)
    answers = np.where(z < quantile(chance), truth[:, None], 1 - truth[:, None])
    ratings = Ratings(np.empty((N, 0)), ["no", "yes"], system=answers)
    shown, chances = np.full(N, -1), None
    if enriched:
        rows = choose_items(ratings, labels, enrich="yes", seed=rng)
        chances = inclusion_probabilities(ratings, labels, "yes")
    else:
        rows = rng.choice(N, labels, replace=False)
    shown[rows] = truth[rows]
    return ratings.with_truth(shown, chances)


def estimate(seed, rate, labels, enriched):
    """Give each measure of the first system, and how much higher its F1 is, with the truth."""
    data, fit = derive_seeds(seed, 2)
    ratings = draw(np.random.default_rng(data), rate, labels, enriched)
    recall, precision = SYSTEMS.T
    true = {"recall": recall, "precision": precision, "f1": 2 / (1 / recall + 1 / precision)}
    draws = draw_tables(ratings, ratings.systems, level=LEVEL, seed=fit)
    for name in MEASURES:
        measure = Measure(name=name, category="yes")
        point, drawn = (
            measure.compute(part, ratings.categories) for part in (draws.point, draws.drawn)
        )
        numbers = {name: (true[name][0], drawn[:, 0], point[0], 0.0)}
        if name == "f1":
            pair = [1, -1]
            numbers["f1_difference"] = true[name] @ pair, drawn @ pair, point @ pair, -1.0
        for quantity, (truth, values, middle, least) in numbers.items():
            _, lower, upper = summarise_draws(values, middle, LEVEL, (least, 1.0))
            covered = lower <= truth <= upper
            yield {"quantity": quantity, "coverage": covered, "interval_width": upper - lower}


def summarise():
    """Measure coverage and mean width of each design."""
    for rate, labels, enriched in DESIGNS:
        seeds = derive_seeds(1, REPLICATES)
        rows = pd.DataFrame(x for seed in seeds for x in estimate(seed, rate, labels, enriched))
        for quantity, part in rows.groupby("quantity"):
            share = part["coverage"].mean()
            design = {"positives": rate, "labels": labels, "enriched": enriched}
            yield design | {
                "quantity": quantity,
                "n": len(part),
                "coverage": share,
                "coverage_se": np.sqrt(share * (1 - share) / len(part)),
                "interval_width": part["interval_width"].mean(),
            }


if __name__ == "__main__":
    folder = Path(__file__).parents[2] / "experiments" / "simulations"
    table = pd.DataFrame(summarise()).round(4)
    table.to_csv(folder / "rare_labels.csv", index=False, lineterminator="\n")
