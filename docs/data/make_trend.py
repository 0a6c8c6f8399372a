"""Make trend.csv and trend_anytime.csv in experiments/simulations: how trends are seen.

In six months of 1,000 items, 2% of them bad, the precision of one system stays .49, and that of
another falls to .11: how often a trend of it is seen. In six months of 200 items the accuracy
stays, or falls: whether its change is covered where one looks after each label and stops.
`python docs/data/make_trend.py` takes half an hour.
"""

from itertools import product
from pathlib import Path
from statistics import NormalDist
from unittest.mock import patch

import numpy as np
import pandas as pd

from lehner import Ratings
from lehner.algebra.algebraic import resample_algebra
from lehner.contrasts.contrast import find_trend_weights, trend
from lehner.contrasts.labelled_systems import draw_tables
from lehner.core.arrays import derive_seeds
from lehner.estimation import gold_labels
from lehner.known_truths.anytime import confidence_sequence
from lehner.known_truths.correction import draw_order
from lehner.performance.measures import Measure, draw_measure

N, RATE, MONTHS, SHARED, LEVEL, NAMES = 6000, 0.02, 6, 0.16, 0.9, ["ok", "bad"]
RATERS, PER_ITEM = 10, 3
SYSTEMS = {
    "steady": (np.full(MONTHS, 0.55), np.full(MONTHS, 0.49)),
    "drifts": (np.full(MONTHS, 0.55), np.linspace(0.49, 0.11, MONTHS)),
}
PRECISION = Measure(name="precision", category="bad")
# By method, how many items have gold labels, and of how many data sets each number is.
DESIGNS = [("gold_labels", 1000, 300), ("gold_labels", 3000, 300), ("algebraic", 0, 400)]
# Items, labels, data sets a cell, and those of them for which the usual interval is computed.
LENGTH, LABELS, REPLICATES, USUAL = 1200, 400, 100, 25
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


def follow_change(truth, ratings, order, month, seed):
    """Give the interval of the change after each label, and the usual one after the last."""
    shown = ratings.with_truth(np.where(np.isin(np.arange(LENGTH), order[:LABELS]), truth, -1))
    drawn = shown.with_populations(month).take(order)
    steps = []

    def keep(values, control, level):
        labelled = ~np.isnan(values)
        asked = values[labelled], LENGTH, control[labelled], control.mean()
        steps.append(confidence_sequence(*asked, level=level))
        return np.array([0.5, *steps[0][-1]])

    # The ends after the last label, on the scale of changes, tell what that of the steps is.
    with patch.object(gold_labels, "estimate_anytime", keep):
        (row,) = gold_labels.bet_on_trend(drawn, LEVEL)
    scale = (row["upper"] - row["lower"]) / np.ptp(steps[0][-1])
    ends = scale * (steps[0] - 0.5)
    if seed >= USUAL:
        return ends, None
    parts = [
        draw_tables(part, part.systems, level=LEVEL, seed=child)
        for k, child in enumerate(derive_seeds(seed, MONTHS))
        if (part := shown.take(month == k)).truth.max() >= 0
    ]
    draws = draw_measure(parts, Measure(name="system_accuracy"), NAMES)
    values = draws.point["system_accuracy"], draws.drawn["system_accuracy"]
    (row,) = trend("system_accuracy", range(len(parts)), *values, level=LEVEL, kind="")
    return ends, (row["lower"], row["upper"])


def look(change, raters):
    """Give the interval at which each rule stops, and the true change, for each data set."""
    for seed in range(REPLICATES):
        rng = np.random.default_rng(seed)
        month, truth = np.repeat(np.arange(MONTHS), LENGTH // MONTHS), rng.integers(2, size=LENGTH)
        accuracy = np.linspace(0.85, 0.85 + change, MONTHS)[month]
        chances = np.column_stack([*[np.full(LENGTH, 0.8)] * raters, accuracy])
        z = np.sqrt(SHARED) * rng.normal(size=(LENGTH, 1))
        right = z + np.sqrt(1 - SHARED) * rng.normal(size=chances.shape) < quantile(chances)
        codes = np.where(right, truth[:, None], 1 - truth[:, None])
        ratings = Ratings(codes[:, :-1], NAMES, system=codes[:, -1])
        by_month = np.array([right[month == k, -1].mean() for k in range(MONTHS)])
        true = by_month @ find_trend_weights(np.arange(MONTHS))
        ends, usual = follow_change(truth, ratings, draw_order(ratings, seed), month, seed)
        yield "anytime", f"after {LABELS} labels", ends[-1], true
        if usual is not None:
            yield "usual", f"after {LABELS} labels", usual, true
        lower, upper = ends.T
        rules = {"excludes the truth": (lower > true) | (upper < true)}
        rules |= {"excludes no change": lower * upper > 0, "is narrow": upper - lower <= 0.4}
        for rule, reached in rules.items():
            k = reached.argmax() if reached.any() else -1
            yield "anytime", f"when it {rule}", ends[k], true


def measure_looks():
    """Measure coverage of the change in these items, width, and how often it excludes no change."""
    for change, raters in product((0.0, -0.3), (0, 3)):
        rows = pd.DataFrame((x, stop, *ends, true) for x, stop, ends, true in look(change, raters))
        rows.columns = ["method", "stop", "lower", "upper", "true"]
        rows["coverage"] = (rows.lower <= rows.true) & (rows.true <= rows.upper)
        rows["interval_width"], rows["changed"] = (
            rows.upper - rows.lower,
            rows.lower * rows.upper > 0,
        )
        for (stop, method), part in rows.groupby(["stop", "method"]):
            share, design = part.coverage.mean(), {"change": change, "raters": raters}
            yield design | {
                "stop": stop,
                "method": method,
                "n": len(part),
                "coverage": share,
                "coverage_se": np.sqrt(share * (1 - share) / len(part)),
                "interval_width": part.interval_width.mean(),
                "changed": part.changed.mean(),
            }


if __name__ == "__main__":
    folder = Path(__file__).parents[2] / "experiments" / "simulations"
    for name, make in (("trend", count_changes), ("trend_anytime", measure_looks)):
        table = pd.DataFrame(make()).round(4)
        table.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
