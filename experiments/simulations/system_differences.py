"""Error and coverage of the difference between two systems, by simulation.

Three raters right on .7 of the items and two systems right on .8 and .75, three categories. The
systems err independently; or the second copies half of its answers from the first; or items
differ in difficulty for raters and systems alike.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.study.cells import result_row
from lehner import (
    Estimate,
    Ratings,
    Scenario,
    estimate_algebraic,
    simulate,
    true_parameters,
)
from lehner.algebra.algebraic import VOTE_METHODS
from lehner.contrasts.contrast import Points
from lehner.contrasts.system_draws import JointDraws, bootstrap_systems, by_votes, compare_systems
from lehner.core.estimate import ESTIMANDS
from lehner.core.seeds import child_seeds
from lehner.estimation.results import value_of

BASE = Scenario(
    n_categories=3,
    initial_rater_accuracy=(0.7, 0.7, 0.7, 0.75),
    initial_system_accuracy=0.8,
    base_rates="equal",
)
PROCESSES: dict[str, tuple[Scenario, float]] = {
    "independent": (BASE, 0.0),
    "half copied": (BASE, 0.5),
    "unequal difficulty": (replace(BASE, easiness=(-0.2, 0.0, 0.2)), 0.0),
}
LEVEL = 0.9
RESAMPLES = 500
WITHOUT_CHECKS: dict[str, Any] = {"checks": False, "log_likelihood": False}
FITS: dict[str, dict[str, Any]] = {
    "dawid_skene": {"engine": "gibbs", "chains": 2, "draws": 1000, "tries": 1} | WITHOUT_CHECKS,
    "relaxed_k": {"chains": 2, "draws": 500, "tries": 1} | WITHOUT_CHECKS,
}
"""How each model is fitted."""


def simulate_pair(
    scenario: Scenario, copied: float, seed: np.random.SeedSequence
) -> tuple[Ratings, dict[str, float]]:
    """Ratings of two systems; the scenario's fourth rater serves as the second.

    Parameters
    ----------
    scenario : Scenario
    copied : float
        Proportion of answers that the second system copies from the first.
    seed : numpy.random.SeedSequence

    Returns
    -------
    ratings : Ratings
        Of the systems `one` and `two`, without truths.
    difference : dict
        By estimand, how much more accurate the first is.
    """
    data_seed, copy_seed = child_seeds(seed, 2)
    ratings = simulate(scenario, data_seed)
    one, two = np.asarray(ratings.system), ratings.codes[:, 3]
    two = np.where(np.random.default_rng(copy_seed).random(len(one)) < copied, one, two)
    parameters = true_parameters(scenario)
    second = parameters["confusion"].isel(rater=3).weighted(parameters["level_probabilities"])
    right = np.diagonal(second.mean("level").values) @ parameters["base_rates"].values
    expected = float(parameters["system_accuracy"] - right)
    truth = np.asarray(ratings.truth)
    both = Ratings(
        ratings.codes[:, :3],
        ratings.categories,
        system=np.column_stack([one, two]),
        systems=("one", "two"),
    )
    return both, {
        "system_accuracy": (1 - copied) * expected,
        "system_accuracy_in_sample": float(np.mean(one == truth) - np.mean(two == truth)),
    }


def compare(
    seed: int, process: str, items: int, methods: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Estimate the difference of two systems by several methods."""
    scenario, copied = PROCESSES[process]
    of_all = np.random.SeedSequence(seed)
    ratings, truth = simulate_pair(replace(scenario, n_items=items), copied, of_all)
    for method in methods:
        estimate = by_resampling if method == "algebraic" else by_model
        differences = map(value_of, compare_systems(estimate(method, ratings, of_all), level=LEVEL))
        for (estimand, value), difference in zip(truth.items(), differences, strict=True):
            yield result_row(value, difference, method=method, estimand=estimand)


def by_resampling(method: str, ratings: Ratings, seed: np.random.SeedSequence) -> JointDraws:
    """Joint draws of both systems by the algebra and its resamples."""
    draws = bootstrap_systems(
        by_votes(VOTE_METHODS[method]), ratings.systems, ratings, resamples=RESAMPLES, seed=seed
    )
    estimates = {
        name: estimate_algebraic(ratings.for_system(name), interval=None)
        for name in ratings.systems
    }
    return replace(draws, points=_points(estimates))


def by_model(model: str, ratings: Ratings, seed: np.random.SeedSequence) -> JointDraws:
    """Joint draws of both systems by a Bayesian model of `FITS`."""
    import bayes_models

    trees = {}
    with warnings.catch_warnings():
        # Whether a fit converged does not decide whether it counts.
        warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
        for name in ratings.systems:
            one = ratings.for_system(name)
            trees[name] = bayes_models.fit(model, one, seed=seed, **FITS[model])
    estimates = {
        name: bayes_models.estimate_from_draws(tree, level=LEVEL) for name, tree in trees.items()
    }
    draws = bayes_models.joint_draws(trees, ratings, seed=seed)
    return replace(draws, points=_points(estimates))


def _points(estimates: Mapping[str, Estimate]) -> tuple[Points, Points]:
    expected, in_sample = (
        {name: getattr(one, of).estimate for name, one in estimates.items()} for of in ESTIMANDS
    )
    return expected, in_sample
