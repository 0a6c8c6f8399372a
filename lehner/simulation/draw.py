"""Simulation: ratings drawn item by item, and estimates of thousands of samples at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lehner.algebra.algebraic import estimate_from_votes, find_vote_methods
from lehner.core.arrays import Floats, Integers, draw_categories
from lehner.core.errors import check_whole_number
from lehner.core.lazy import xr
from lehner.core.seeds import Seed, child_seeds, generator
from lehner.core.text import rater_names
from lehner.data.categories import category_names
from lehner.data.ratings import Ratings
from lehner.simulation.parameters import (
    draw_parameters,
    expected_system_accuracy,
    perception,
    samples_at_once,
)
from lehner.simulation.probabilities import (
    n_cells,
    require_few_votes,
    vote_probabilities,
    vote_table,
)
from lehner.simulation.scenario import Scenario


def simulate(scenario: Scenario, seed: Seed = 1) -> Ratings:
    """Simulate ratings and system answers of items whose truth is known.

    Parameters
    ----------
    scenario : Scenario
        The number of items, and how raters and system behave.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same ratings.

    Returns
    -------
    Ratings
        Ratings with system and truth; the categories are ordered if errors depend on distance.

    Raises
    ------
    InputError
        If the seed is not a whole number of 0 or more.

    References
    ----------
    Lehner (2015), "Performance and robustness", simulation run, steps 1-3.

    Examples
    --------
    >>> simulate(Scenario(n_items=100), seed=1)
    Ratings: 100 items, 3 raters, 300 ratings, 5 categories (A, B, C, D, E), system, truth
    """
    return simulate_items(scenario, generator(seed)).to_ratings(scenario)


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedItems:
    """Simulated items as arrays.

    Parameters
    ----------
    codes : ndarray of int, shape (n_items, n_raters)
        Category index, -1 for a missing rating.
    system, truth : ndarray of int, shape (n_items,)
    system_accuracy : float
        Expected accuracy of the system under the parameters drawn.
    """

    codes: Integers
    system: Integers
    truth: Integers
    system_accuracy: float

    def to_ratings(self, scenario: Scenario) -> Ratings:
        """Label the items, raters and categories as the scenario does."""
        return Ratings(
            self.codes,
            category_names(scenario.n_categories),
            rater_names(scenario.n_raters),
            np.arange(1, scenario.n_items + 1),
            self.system,
            self.truth,
            ordered=scenario.asymmetric_dispersion > 1,
        )


def simulate_items(scenario: Scenario, rng: np.random.Generator) -> SimulatedItems:
    """Simulate items; see `simulate`."""
    parameters = draw_parameters(scenario, 1, rng)
    n = scenario.n_items
    truth = draw_categories(parameters.base_rates[0], rng.random(n))
    perceived = draw_categories(perception(scenario), rng.random(n), truth)
    level = draw_categories(scenario.level_probabilities, rng.random(n))
    by_rater = parameters.confusion[0].swapaxes(0, 1)
    answers = draw_categories(by_rater, rng.random((len(by_rater), n)), level, perceived).T
    for rater, probability in enumerate(scenario.copying):
        copied = rng.random(n) < probability
        answers[copied, rater] = answers[copied, 0]
    codes = np.where(rng.random((n, scenario.n_raters)) < scenario.missing, -1, answers[:, :-1])
    return SimulatedItems(
        codes=codes,
        system=answers[:, -1],
        truth=truth,
        system_accuracy=float(expected_system_accuracy(scenario, parameters)[0]),
    )


def simulate_estimates(
    scenario: Scenario,
    replicates: int,
    *,
    methods: Sequence[str] = ("algebraic",),
    in_sample: bool = True,
    seed: Seed = 1,
) -> "xr.Dataset":
    """Simulate samples and estimate the system's accuracy in each.

    Counts of votes and answers are drawn from their multinomial distribution, so that the cost
    does not depend on the number of items. Memory does not depend on the number of replicates:
    they are drawn in chunks of fixed size, each with its own seed.

    Parameters
    ----------
    scenario : Scenario
        The number of items of each sample, and how raters and system behave.
    replicates : int
        Number of samples, 1 or more.
    methods : sequence of str
        Methods that need only votes: "algebraic", "algebraic_likelihood", "algebraic_paper",
        "majority_agreement" and "mean_posterior".
    in_sample : bool
        Whether to draw the number of right answers too.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same samples; more replicates leave the first ones as they are.

    Returns
    -------
    xarray.Dataset
        Variables with dimension `replicate`: the estimates under the name of each method, NaN if
        undefined; the true `system_accuracy` and `system_accuracy_in_sample`; `kappa`; and
        `rater_accuracy` as estimated by the algebra.

    Raises
    ------
    InputError
        If there is no such method, if replicates or seed are not whole numbers, or if there are too
        many raters and categories for all votes to be enumerated.

    References
    ----------
    Lehner (2015), "Performance and robustness", simulation run.

    Examples
    --------
    >>> result = simulate_estimates(Scenario(initial_rater_accuracy=(0.8, 0.8, 0.8)), 1000)
    >>> float(result.algebraic.mean().round(2))
    0.9
    """
    samples = estimate_samples(scenario, replicates, methods, in_sample=in_sample, seed=seed)
    return xr.Dataset(
        {name: ("replicate", values) for name, values in samples.items()},
        coords={"replicate": np.arange(replicates)},
    )


def estimate_samples(
    scenario: Scenario, replicates: int, methods: Sequence[str], *, in_sample: bool, seed: Seed
) -> dict[str, Floats]:
    """Arrays that `simulate_estimates` labels, each of shape (replicates,)."""
    check_whole_number("replicates", replicates, 1)
    require_few_votes(scenario)
    methods = find_vote_methods(methods)
    chunks = list(_chunks(scenario, replicates, methods, seed, in_sample=in_sample))
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}


def _chunks(
    scenario: Scenario, replicates: int, methods: Sequence[str], seed: Seed, *, in_sample: bool
) -> Iterator[dict[str, Floats]]:
    """Simulate samples by counts, each from its own parameters, some at a time."""
    size = samples_at_once(n_cells(scenario), scenario)
    starts = range(0, replicates, size)
    table = vote_table(scenario.n_raters, scenario.n_categories, missing=scenario.missing > 0)
    for start, child in zip(starts, child_seeds(seed, len(starts)), strict=True):
        rng = np.random.default_rng(child)
        # A whole chunk is always drawn, so that more replicates do not change the first ones.
        parameters = draw_parameters(scenario, size, rng)
        probability = vote_probabilities(scenario, parameters)
        # With many raters, rounding errors add up to more than the generator tolerates.
        scaled = probability / np.maximum(probability.sum(axis=(1, 2), keepdims=True), 1.0)
        counts = rng.multinomial(scenario.n_items, scaled.reshape(size, -1))
        answers = counts.astype(float).reshape(probability.shape).swapaxes(1, 2)
        drawn = estimate_from_votes(table, answers, methods)
        drawn["system_accuracy"] = expected_system_accuracy(scenario, parameters)
        if in_sample:
            right = vote_probabilities(scenario, parameters, right=True)
            probability_right = np.divide(
                right, probability, out=np.zeros_like(right), where=probability > 0
            )
            n_right = rng.binomial(
                counts, np.minimum(probability_right, 1.0).reshape(size, -1)
            ).sum(axis=1)
            drawn["system_accuracy_in_sample"] = n_right / scenario.n_items
        yield {name: values[: replicates - start] for name, values in drawn.items()}
