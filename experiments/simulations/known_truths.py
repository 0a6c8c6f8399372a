"""Error and coverage of the accuracy in the sample with 0 to 100 known truths, by simulation.

The same data sets for every method: the known items alone, PPI++, the recalibration of
`lehner.correct_by_truth`, and the simpler residual correction from which it was developed, with
the probabilities of the algebra and of a one-coin model fitted by maximum likelihood.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t

from experiments.simulations.simulation import MEASURES, Simulation, of_data_sets
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
    probabilities_right,
    simulate,
)
from lehner.core.arrays import Floats
from lehner.core.seeds import child_seeds
from lehner.known_truths.correction import SUSPICIOUS_P_VALUE, own_variance
from lehner.known_truths.partly_known import PartlyKnown, rightness
from lehner.known_truths.recalibration import BIAS_SCALE

BASE = Scenario(n_items=200, base_rates="equal")
VIOLATED = replace(
    BASE, easiness=(-0.2, 0.0, 0.2), asymmetric_dispersion=2.0, proportional_error_range=1.0
)
CELLS: dict[str, Scenario] = {
    "K-properties hold, K 2, raters .8, system .9": replace(
        BASE, n_categories=2, initial_rater_accuracy=(0.8,) * 3
    ),
    "K-properties hold, K 2, raters .7, system .6": replace(
        BASE, n_categories=2, initial_rater_accuracy=(0.7,) * 3, initial_system_accuracy=0.6
    ),
    "K-properties hold, K 5, raters .6, system .9": BASE,
    "violated, K 5, raters .5 .6 .7": replace(VIOLATED, initial_rater_accuracy=(0.5, 0.6, 0.7)),
    "violated, K 5, raters .3 .4 .5": replace(VIOLATED, initial_rater_accuracy=(0.3, 0.4, 0.5)),
    "rater 2 copies half of rater 1, K 3": replace(
        BASE, n_categories=3, initial_rater_accuracy=(0.7,) * 3, copying=(0.0, 0.5, 0.0)
    ),
    "15% of items mislead all, K 3": replace(
        BASE, n_categories=3, initial_rater_accuracy=(0.7,) * 3, misleading=0.15
    ),
    "30% of items mislead all, K 2": replace(
        BASE, n_categories=2, initial_rater_accuracy=(0.8,) * 3, misleading=0.3
    ),
}
KNOWN = (10, 20, 50, 100)
DATA_SETS = 200
LEVEL = 0.9
RESAMPLES = 200
BY = ["cell", "probabilities", "known", "method"]


def simulate_known(scenario: Scenario, seed: np.random.SeedSequence) -> Iterator[dict[str, Any]]:
    """Accuracy in a data set, estimated in all ways.

    Yields
    ------
    dict
        `probabilities`, `known`, `method`, `truth`, `estimate`, `lower`, `upper`, `alarm`.
    """
    data, order = child_seeds(seed, 2)
    ratings = simulate(scenario, data)
    shuffled = np.random.default_rng(order).permutation(scenario.n_items)
    truth = float(np.mean(ratings.truth == ratings.system))
    for name, found, probability, own in _methods(ratings.with_truth(None)):
        yield _row(name, 0, "alone", own, truth)
        for n in KNOWN:
            known = np.full(scenario.n_items, -1)
            known[shuffled[:n]] = np.asarray(ratings.truth)[shuffled[:n]]
            some = ratings.with_truth(known)
            correction = correct_by_truth(some, found, level=LEVEL)
            alarm = correction.p_value < SUSPICIOUS_P_VALUE
            yield _row(name, n, "known items alone", correction.known_items_alone, truth)
            yield _row(name, n, "PPI++", correction.prediction_powered, truth)
            variance = own_variance(found) if isinstance(found, Estimate) else 0.0
            simple = _residual_correction(rightness(some, probability), variance)
            yield _row(name, n, "residual correction", simple, truth)
            corrected = correction.system_accuracy_in_sample
            yield _row(name, n, "recalibrated", corrected, truth) | {"alarm": float(alarm)}


def _methods(ratings: Ratings) -> Iterator[tuple[str, Estimate | Floats, Floats, IntervalEstimate]]:
    """What is corrected, the probabilities that the system is right, and the own estimate."""
    algebra = estimate_algebraic(
        ratings, aggregation="likelihood", level=LEVEL, resamples=RESAMPLES
    )
    own = algebra.system_accuracy_in_sample
    if own.estimate is not None:
        yield "algebra", algebra, probabilities_right(ratings, algebra), own
    fit = fit_latent_class(ratings, "one_coin")
    classes = fit.truth_probabilities.values
    probability = classes[np.arange(len(classes)), np.asarray(ratings.system)]
    yield "one_coin", probability, probability, IntervalEstimate(estimate=float(probability.mean()))


def _row(
    probabilities: str, known: int, method: str, found: IntervalEstimate, truth: float
) -> dict[str, Any]:
    if found.lower is None:
        # Where PPI++ states no interval, as its residuals do not vary, it holds nothing else.
        found = replace(found, lower=found.estimate, upper=found.estimate)
    return result_row(truth, found, probabilities=probabilities, known=known, method=method)


def _residual_correction(items: PartlyKnown, variance: float) -> IntervalEstimate:
    r"""Method corrected by its mean residual on the known items, with a heavy-tailed prior.

    The bias b has the prior Cauchy(0, √(.15² + v)), and :math:`(\bar r - b)/\sqrt V` Student's t
    with m - 1 degrees of freedom, V being the variance of the mean of m of n residuals, two made
    up ones included: one item that is right, one that is wrong.
    """
    n, m, mean = items.n_items, items.n_known, items.mean
    residuals = (items.holds - items.probability)[items.known]
    bias = residuals.mean()
    squares = ((residuals - bias) ** 2).sum() + mean**2 + (1 - mean) ** 2
    error = np.sqrt((1 - m / n) / m * squares / (m + 1))
    share = (items.n_holding + np.arange(n - m + 1)) / n
    prior = 1 / (1 + (share - mean) ** 2 / (BIAS_SCALE**2 + variance))
    weight = prior * t.pdf((bias - (share - mean)) / error, m - 1)
    weight /= weight.sum()
    ends = np.searchsorted(np.cumsum(weight), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    lower, upper = share[np.minimum(ends, n - m)]
    return IntervalEstimate(
        estimate=float(share @ weight), lower=float(lower), upper=float(upper), level=LEVEL
    )


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Measures of each method, with Monte Carlo standard errors.

    Returns
    -------
    pandas.DataFrame
        Columns `cell`, `probabilities`, `known`, `method`, `n`, each of `MEASURES` with its
        standard error in `…_se`, and `alarms`: how often the known truths were said to contradict
        the method.
    """
    wide = measure_wide(rows, BY, MEASURES)
    groups = rows.groupby(BY, sort=False)
    # A method that never states an interval has no coverage.
    never = wide["interval_width"] == 0
    wide.loc[never, [f"{name}{end}" for name in MEASURES[2:] for end in ("", "_se")]] = np.nan
    wide["n"], wide["alarms"] = groups.size(), groups["alarm"].mean()
    return wide.reset_index()


SIMULATION = Simulation(
    designs=[
        of_data_sets((place,), simulate_known, scenario, cell=cell)
        for place, (cell, scenario) in enumerate(CELLS.items())
    ],
    summarise=summarise,
    data_sets=DATA_SETS,
)
