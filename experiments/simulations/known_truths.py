"""Error and coverage of the accuracy in the sample with 0 to 100 gold labels, by simulation.

The same data sets for every method: the labelled items alone, PPI++ and the recalibration of
`lehner.correct_by_truth`, with the probabilities of the algebra and of a one-coin model fitted by
maximum likelihood.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from experiments.study.cells import result_row
from experiments.study.performance import measure_wide
from lehner import (
    Estimate,
    IntervalEstimate,
    Ratings,
    Scenario,
    correct_by_truth,
    estimate_algebraic,
    fit_latent_class,
    simulate,
)
from lehner.core.arrays import Floats
from lehner.core.seeds import Seed, child_seeds
from lehner.known_truths.correction import SUSPICIOUS_P_VALUE

KNOWN = (10, 20, 50, 100)
MEASURES = ("bias", "rmse", "coverage", "interval_width")
LEVEL = 0.9
RESAMPLES = 200
BY = ["scenario", "probabilities", "known", "method"]


def simulate_known(seed: Seed, **fields: Any) -> Iterator[dict[str, Any]]:
    """Accuracy in a data set, estimated in all ways; fields are those of `Scenario`.

    Yields
    ------
    dict
        `probabilities`, `known`, `method`, `truth`, `estimate`, `lower`, `upper`, `alarm`.
    """
    data, order = child_seeds(seed, 2)
    scenario = Scenario(**fields)
    ratings = simulate(scenario, data)
    shuffled = np.random.default_rng(order).permutation(scenario.n_items)
    truth = float(np.mean(ratings.truth == ratings.system))
    for name, method_estimate, own in _methods(ratings.with_truth(None)):
        yield _row(name, 0, "alone", own, truth)
        for n in KNOWN:
            shown = np.full(scenario.n_items, -1)
            shown[shuffled[:n]] = np.asarray(ratings.truth)[shuffled[:n]]
            some = ratings.with_truth(shown)
            correction = correct_by_truth(some, method_estimate, level=LEVEL)
            alarm = {"alarm": float(correction.p_value < SUSPICIOUS_P_VALUE)}
            yield _row(name, n, "known items alone", correction.known_items_alone, truth)
            yield _row(name, n, "PPI++", correction.prediction_powered, truth)
            yield _row(name, n, "recalibrated", correction.system_accuracy_in_sample, truth) | alarm


def _methods(ratings: Ratings) -> Iterator[tuple[str, Estimate | Floats, IntervalEstimate]]:
    """What is corrected, and the own estimate."""
    algebra = estimate_algebraic(
        ratings, aggregation="likelihood", level=LEVEL, resamples=RESAMPLES
    )
    own = algebra.system_accuracy_in_sample
    if own.estimate is not None:
        yield "algebra", algebra, own
    fit = fit_latent_class(ratings, "one_coin")
    classes = fit.truth_probabilities.values
    probability = classes[np.arange(len(classes)), np.asarray(ratings.system)]
    yield "one_coin", probability, IntervalEstimate(estimate=float(probability.mean()))


def _row(
    probabilities: str, known: int, method: str, value: IntervalEstimate, truth: float
) -> dict[str, Any]:
    if value.lower is None:
        # Where PPI++ states no interval, as its residuals do not vary, it holds nothing else.
        value = replace(value, lower=value.estimate, upper=value.estimate)
    return result_row(truth, value, probabilities=probabilities, known=known, method=method)


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Measures of each method, with Monte Carlo standard errors.

    Returns
    -------
    pandas.DataFrame
        Columns `cell` (the scenario), `probabilities`, `known`, `method`, `n`, each of `MEASURES`
        with its standard error in `…_se`, and `alarms`: how often the gold labels were said to
        contradict the method.
    """
    wide = measure_wide(rows, BY, MEASURES)
    groups = rows.groupby(BY, sort=False)
    # A method that never states an interval has no coverage.
    never = wide["interval_width"] == 0
    wide.loc[never, [f"{name}{end}" for name in MEASURES[2:] for end in ("", "_se")]] = np.nan
    wide["n"], wide["alarms"] = groups.size(), groups["alarm"].mean()
    return wide.reset_index(names=["cell", *BY[1:]])
