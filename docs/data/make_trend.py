"""Make experiments/simulations/trend.csv: how often a trend of the precision is seen.

In six months of 1,000 items, 2% of them bad, the precision of one system stays .49, and that of
another falls to .11. `python docs/data/make_trend.py` takes half an hour.
"""

from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd

from lehner import Ratings
from lehner.contrasts.contrast import trend
from lehner.contrasts.labelled_systems import draw_tables
from lehner.core.arrays import derive_seeds
from lehner.performance.measures import Measure, draw_measure
from lehner.performance.replicates import resample_algebra

N, RATE, MONTHS, SHARED, LEVEL, NAMES = 6000, 0.02, 6, 0.16, 0.9, ["ok", "bad"]
RATERS, PER_ITEM = 10, 3
SYSTEMS = {
    "steady": (np.full(MONTHS, 0.55), np.full(MONTHS, 0.49)),
    "drifts": (np.full(MONTHS, 0.55), np.linspace(0.49, 0.11, MONTHS)),
}
PRECISION = Measure(name="precision", category="bad")
# By method, how many items have gold labels, and of how many data sets each number is.
DESIGNS = [("gold_labels", 1000, 300), ("gold_labels", 3000, 300), ("algebraic", 0, 400)]
quantile = np.vectorize(NormalDist().inv_cdf)


def draw(rng):
    """Draw true categories, the answers of both systems, those of raters, and months."""
    month, truth = np.sort(rng.integers(MONTHS, size=N)), (rng.random(N) < RATE).astype(int)
    difficulty = rng.normal(size=N)
    answers = []
    for recall, precision in SYSTEMS.values():
        false_alarms = recall * RATE * (1 - precision) / precision / (1 - RATE)
        z = np.sqrt(SHARED) * difficulty + np.sqrt(1 - SHARED) * rng.normal(size=N)
        alarm = -z < quantile(false_alarms)[month]
        answers.append(np.where(truth == 1, z < quantile(recall)[month], alarm).astype(int))
    sensitivity, specificity = rng.beta(16, 4, RATERS), rng.beta(97, 3, RATERS)
    who = np.argsort(rng.random((N, RATERS)), axis=1)[:, :PER_ITEM]
    z = np.sqrt(SHARED) * difficulty[:, None]
    z = z + np.sqrt(1 - SHARED) * rng.normal(size=(N, PER_ITEM))
    alarm = -z < quantile(1 - specificity)[who]
    said = np.where(truth[:, None] == 1, z < quantile(sensitivity)[who], alarm).astype(int)
    codes = np.full((N, RATERS), -1)
    np.put_along_axis(codes, who, said, 1)
    return truth, answers, codes, month


def draw_month(method, rows, seed):
    """Draw base rates and confusion matrix of a system from the items of a month."""
    answers, codes, shown = rows
    if method == "algebraic":
        return resample_algebra(Ratings(codes, NAMES, system=answers), resamples=400, seed=seed)
    ratings = Ratings(np.empty((len(shown), 0)), NAMES, system=answers, truth=shown)
    labelled = (shown >= 0).any()
    return draw_tables(ratings, ratings.systems, level=LEVEL, seed=seed) if labelled else None


def count_changes():
    """Count how often the interval of the trend excludes no change."""
    for method, labels, n in DESIGNS:
        changed = dict.fromkeys(SYSTEMS, 0)
        for seed in range(9000, 9000 + n):
            rng = np.random.default_rng(seed)
            truth, answers, codes, month = draw(rng)
            shown = np.where(rng.permutation(N) < labels, truth, -1)
            for name, answer in zip(SYSTEMS, answers, strict=True):
                parts = [
                    draw_month(method, [x[month == k] for x in (answer, codes, shown)], child)
                    for k, child in enumerate(derive_seeds(seed, MONTHS))
                ]
                draws = draw_measure(parts, PRECISION, NAMES)
                values = draws.point["precision"], draws.drawn["precision"]
                for row in trend("precision", range(MONTHS), *values, level=LEVEL, kind=""):
                    changed[name] += row["lower"] > 0 or row["upper"] < 0
        for name, count in changed.items():
            share = count / n
            numbers = {"changed": share, "changed_se": np.sqrt(share * (1 - share) / n)}
            yield {"method": method, "labels": labels, "system": name, "n": n} | numbers


if __name__ == "__main__":
    folder = Path(__file__).parents[2] / "experiments" / "simulations"
    table = pd.DataFrame(count_changes()).round(4)
    table.to_csv(folder / "trend.csv", index=False, lineterminator="\n")
