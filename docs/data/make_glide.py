"""Make experiments/benchmarks/one_judge.csv: a proportion by one judge, by lehner and by GLIDE.

400 items, of which 60% are good, a judge who is right about .85 of the good and .8 of the others,
and gold labels of some. It needs glide-py: `python docs/data/make_glide.py` takes a minute.
"""

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from glide.estimators.ppi import PPIMeanEstimator

from lehner import Ratings, compare

N, GOOD, RECALL, LEVEL, REPLICATES = 400, 0.6, (0.8, 0.85), 0.9, 150
LABELS = (20, 60)
OURS = ("post_stratified", "prediction_powered")


def estimate_by_glide(truth, judge):
    """Estimate by PPI++ of GLIDE; -1 is no label."""
    shown = np.where(truth < 0, np.nan, truth.astype(float))
    result = PPIMeanEstimator().estimate(shown, judge.astype(float), confidence_level=LEVEL)
    ends = result.confidence_interval
    return result.mean, ends.lower_bound, ends.upper_bound


def estimate(method, truth, judge):
    """Estimate by a method of lehner."""
    ratings = Ratings(judge[:, None], ["bad", "good"], truth=truth)
    rows = compare(ratings, "good", methods=method, level=LEVEL).select(quantity="base_rates")
    row = rows[rows["category"] == "good"].iloc[0]
    return row["estimate"], row["lower"], row["upper"]


def measure():
    """Give error, coverage, width and seconds of each method on the same data."""
    for n_labels in LABELS:
        rows = []
        for seed in range(REPLICATES):
            rng = np.random.default_rng(seed)
            truth = (rng.random(N) < GOOD).astype(int)
            right = rng.random(N) < np.take(RECALL, truth)
            judge, shown = (
                np.where(right, truth, 1 - truth),
                np.where(np.arange(N) < n_labels, truth, -1),
            )
            for method in (*OURS, "GLIDE, PPI++"):
                start = time.process_time()
                if method in OURS:
                    point, lower, upper = estimate(method, shown, judge)
                else:
                    point, lower, upper = estimate_by_glide(shown, judge)
                seconds = time.process_time() - start
                covered = np.nan if pd.isna(lower) else float(lower <= GOOD <= upper)
                rows.append((method, point - GOOD, covered, upper - lower, seconds))
        table = pd.DataFrame(rows, columns=["method", "error", "covered", "width", "seconds"])
        for method, part in table.dropna().groupby("method", sort=False):
            share = part["covered"].mean()
            yield {
                "labels": n_labels,
                "method": method,
                "n": len(part),
                "rmse": np.sqrt((part["error"] ** 2).mean()),
                "coverage": share,
                "coverage_se": np.sqrt(share * (1 - share) / len(part)),
                "interval_width": part["width"].mean(),
                "milliseconds": 1000 * part["seconds"].median(),
            }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    folder = Path(__file__).parents[2] / "experiments" / "benchmarks"
    table = pd.DataFrame(measure()).round({"milliseconds": 1}).round(4)
    table.to_csv(folder / "one_judge.csv", index=False, lineterminator="\n")
