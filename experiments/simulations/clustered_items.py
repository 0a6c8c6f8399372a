"""Coverage of 90% intervals where items are clustered, with and without `cluster`, by simulation.

In each cluster the base rates, and the accuracy of each rater and of the system, are drawn from
beta distributions, so that truths and right answers of a cluster correlate. Raters and systems are
independent of each other given the truth, so that the methods' other assumptions hold.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

import bayes_models
from experiments.simulations.methods import LEVEL, estimate_as_in_studies
from experiments.study.cells import result_row
from experiments.study.performance import measure_rows
from lehner import (
    Estimate,
    Ratings,
    agreement,
    correct_by_truth,
    estimate_algebraic,
    estimate_latent_class,
    majority_agreement,
)
from lehner.algebra.algebraic import VOTE_METHODS
from lehner.contrasts.system_draws import bootstrap_systems, by_votes, compare_systems
from lehner.core.arrays import Booleans, Floats
from lehner.core.estimate import ESTIMANDS, IntervalEstimate
from lehner.core.seeds import child_seeds
from lehner.estimation.results import value_of

N_ITEMS, N_KNOWN, N_RATERS = 300, 30, 5
CORRELATIONS, SIZES = (0.0, 0.1, 0.3, 0.6), (2, 5, 20)
BASE_RATE, RATER, SYSTEM = 0.6, 0.8, 0.85
RESAMPLES = 400
AGREES_WITH_MAJORITY = 0.809_456
"""A majority of five raters is right with probability .94208."""
AGREEMENT = RATER**2 + (1 - RATER) ** 2


def draw_clustered(
    correlation: float, size: int, rng: np.random.Generator, n_items: int = N_ITEMS
) -> Ratings:
    """Draw items in clusters of a size, with two systems and all truths."""
    n_clusters = n_items // size
    cluster = np.repeat(np.arange(n_clusters), size)

    def chance(mean: float) -> Floats:
        if not correlation:
            return np.full(n_items, mean)
        total = 1 / correlation - 1
        return rng.beta(mean * total, (1 - mean) * total, n_clusters)[cluster]

    truth = (rng.random(n_items) < chance(BASE_RATE)).astype(np.int64)
    accuracies = (RATER,) * N_RATERS + (SYSTEM,) * 2
    right = np.stack([rng.random(n_items) < chance(one) for one in accuracies], axis=1)
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    raters, systems = codes[:, :N_RATERS], codes[:, N_RATERS:]
    return Ratings(raters, ["no", "yes"], system=systems, truth=truth, cluster=cluster)


def estimate(seed: int, correlation: float, size: int) -> Iterator[dict[str, Any]]:
    """Estimate with clusters named and without."""
    data, of_fit = child_seeds(seed, 2)
    rng = np.random.default_rng(data)
    drawn = draw_clustered(correlation, size, rng)
    known = rng.permutation(N_ITEMS) < N_KNOWN
    one = drawn.for_system(drawn.systems[0]).with_truth(None)
    fit = estimate_as_in_studies("dawid_skene", one, int(of_fit.generate_state(1)[0])).draws
    assert fit is not None
    for clustered in (True, False):
        both = drawn if clustered else drawn.with_clusters(None)
        if not clustered:
            fit.attrs.pop("design_effects")
        for row in _rows(both, known, bayes_models.estimate_from_draws(fit, level=LEVEL)):
            yield row | {"cluster": clustered}


def _rows(drawn: Ratings, known: Booleans, fit: Estimate) -> Iterator[dict[str, Any]]:
    one = drawn.for_system(drawn.systems[0])
    truth, hidden = np.asarray(one.truth), one.with_truth(None)
    truths = (SYSTEM, float((truth == one.system).mean()))
    algebra = estimate_algebraic(hidden, resamples=RESAMPLES)
    some = one.with_truth(np.where(known, truth, -1))
    for name, found in {
        "algebraic": algebra,
        "dawid_skene_ml": estimate_latent_class(
            hidden, "dawid_skene", resamples=RESAMPLES, restarts=0
        ),
        "dawid_skene": fit,
        "algebraic, known truths": correct_by_truth(some, algebra, level=LEVEL),
    }.items():
        for estimand, value in zip(ESTIMANDS, truths, strict=True):
            yield result_row(value, getattr(found, estimand), method=name, quantity=estimand)
    majority, percent = majority_agreement(hidden), agreement(hidden, level=LEVEL)
    coefficient = percent["percent_agreement"]
    agrees = IntervalEstimate(
        estimate=coefficient.estimate, lower=coefficient.lower, upper=coefficient.upper
    )
    algebra_again = by_votes(VOTE_METHODS["algebraic"])
    unseen = drawn.with_truth(None)
    draws = bootstrap_systems(algebra_again, unseen.systems, unseen, resamples=RESAMPLES)
    both, _ = compare_systems(draws, level=LEVEL)
    of_majority = {"method": "majority_agreement", "quantity": "agreement with the majority"}
    yield result_row(AGREES_WITH_MAJORITY, majority.system_accuracy, **of_majority)
    yield result_row(AGREEMENT, agrees, method="agreement", quantity="percent agreement")
    yield result_row(0.0, value_of(both), method="algebraic", quantity="difference")


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage and mean width of intervals, with Monte Carlo standard errors."""
    return measure_rows(rows, ("coverage", "interval_width"))
