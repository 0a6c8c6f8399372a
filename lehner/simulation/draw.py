"""Simulation: ratings by item, estimates of many samples, and of infinitely many items.

Samples are drawn from the probability of each pattern of ratings, or of votes, with each answer of
the system. Given the level of difficulty and the category as which an item is perceived (together,
the latent state), raters and system answer independently, except for raters who copy. Raters are
added one by one. The work is proportional to the number of possible votes, which stays in the
thousands when there are far too many patterns of ratings.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np

from lehner.algebra.algebraic import VOTE_METHODS, estimate_from_votes, find_vote_methods
from lehner.core.arrays import Floats, Integers, Seed, derive_seeds, draw_categories, make_rng
from lehner.core.errors import InputError, check_choice, check_whole_number, make_error
from lehner.core.lazy import xr
from lehner.core.text import name_raters
from lehner.data.columns import name_categories
from lehner.data.counts import VoteTable, count_agreeing
from lehner.data.ratings import Ratings
from lehner.latent_class import em
from lehner.simulation.scenario import (
    DrawnParameters,
    Scenario,
    choose_batch,
    draw_parameters,
    expect_system_accuracy,
    find_perception,
)


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
    return simulate_items(scenario, make_rng(seed))[0]


def simulate_items(scenario: Scenario, rng: np.random.Generator) -> tuple[Ratings, float]:
    """Simulate ratings as `simulate` does, and give the system's expected accuracy with them."""
    parameters = draw_parameters(scenario, 1, rng)
    n = scenario.n_items
    truth = draw_categories(parameters.base_rates[0], rng.random(n))
    perceived = draw_categories(find_perception(scenario), rng.random(n), truth)
    level = draw_categories(scenario.level_probabilities, rng.random(n))
    by_rater = parameters.confusion[0].swapaxes(0, 1)
    answers = draw_categories(by_rater, rng.random((len(by_rater), n)), level, perceived).T
    for rater, probability in enumerate(scenario.copying):
        copied = rng.random(n) < probability
        answers[copied, rater] = answers[copied, 0]
    codes = np.where(rng.random((n, scenario.n_raters)) < scenario.missing, -1, answers[:, :-1])
    ratings = Ratings(
        codes,
        name_categories(scenario.n_categories),
        name_raters(scenario.n_raters),
        np.arange(1, n + 1),
        answers[:, -1],
        truth,
        ordered=scenario.asymmetric_dispersion > 1,
    )
    return ratings, float(expect_system_accuracy(scenario, parameters)[0])


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
        Methods that need only votes: "algebraic", "algebraic_paper" and "majority_agreement".
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
    check_whole_number("replicates", replicates, 1)
    require_few_outcomes(scenario, count_cells(scenario))
    methods = find_vote_methods(methods)
    chunks = list(_simulate_chunks(scenario, replicates, methods, seed, in_sample=in_sample))
    return xr.Dataset(
        {
            name: ("replicate", np.concatenate([chunk[name] for chunk in chunks]))
            for name in chunks[0]
        },
        coords={"replicate": np.arange(replicates)},
    )


def _simulate_chunks(
    scenario: Scenario, replicates: int, methods: Sequence[str], seed: Seed, *, in_sample: bool
) -> Iterator[dict[str, Floats]]:
    """Simulate samples by counts, each from its own parameters, some at a time."""
    size = choose_batch(count_cells(scenario), scenario)
    starts = range(0, replicates, size)
    table = vote_table(scenario.n_raters, scenario.n_categories, missing=scenario.missing > 0)
    for start, child in zip(starts, derive_seeds(seed, len(starts)), strict=True):
        rng = np.random.default_rng(child)
        # A whole chunk is always drawn, so that more replicates do not change the first ones.
        parameters = draw_parameters(scenario, size, rng)
        probability = list_probabilities(scenario, parameters)
        # With many raters, rounding errors add up to more than the generator tolerates.
        scaled = probability / np.maximum(probability.sum(axis=(1, 2), keepdims=True), 1.0)
        counts = rng.multinomial(scenario.n_items, scaled.reshape(size, -1))
        answers = counts.astype(float).reshape(probability.shape).swapaxes(1, 2)
        drawn = estimate_from_votes(table, answers, methods)
        drawn["system_accuracy"] = expect_system_accuracy(scenario, parameters)
        if in_sample:
            right = list_probabilities(scenario, parameters, right=True)
            probability_right = np.divide(
                right, probability, out=np.zeros_like(right), where=probability > 0
            )
            n_right = rng.binomial(
                counts, np.minimum(probability_right, 1.0).reshape(size, -1)
            ).sum(axis=1)
            drawn["system_accuracy_in_sample"] = n_right / scenario.n_items
        yield {name: values[: replicates - start] for name, values in drawn.items()}


MOST_OUTCOMES = 10_000_000


def count_patterns(scenario: Scenario) -> int:
    """Count the patterns of ratings and system answer."""
    symbols = scenario.n_categories + (scenario.missing > 0)
    return int(symbols) ** scenario.n_raters * scenario.n_categories


def require_few_outcomes(scenario: Scenario, n_outcomes: int) -> None:
    """Raise an InputError if there are too many outcomes to enumerate.

    Parameters
    ----------
    scenario : Scenario
    n_outcomes : int
        Number of combinations of the raters' ratings, or votes, and the system's answer.
    """
    if n_outcomes > MOST_OUTCOMES:
        problem = f"the answers of {scenario.n_raters} raters in {scenario.n_categories} categories"
        problem += f" and of the system can combine in {n_outcomes:,} ways, more than "
        raise InputError(f"{problem}{MOST_OUTCOMES:,}", "take fewer raters or categories")


def _find_latent_probabilities(
    scenario: Scenario, parameters: DrawnParameters, *, right: bool
) -> Floats:
    """Give each latent state's probability.

    Parameters
    ----------
    scenario : Scenario
    parameters : DrawnParameters
        Of n_samples.
    right : bool
        Whether to give, for each system answer, the probability that it is also the true category.

    Returns
    -------
    ndarray, shape (n_samples, 1 or n_categories, n_levels * n_categories)
        The second dimension has the answers if `right` is set.
    """
    seen = find_perception(scenario)
    if right:
        perceived = parameters.base_rates[:, :, None] * seen
    else:
        perceived = (parameters.base_rates @ seen)[:, None]
    level = scenario.level_probabilities[:, None]
    joint = level * perceived[:, :, None]
    return joint.reshape(*perceived.shape[:2], -1)


def count_cells(scenario: Scenario) -> int:
    """Count the combinations of votes and system answer that a scenario can give.

    Examples
    --------
    >>> count_cells(Scenario(n_categories=5, initial_rater_accuracy=(0.6, 0.6, 0.6)))
    175
    """
    k, symbols = scenario.n_categories, scenario.n_categories + (scenario.missing > 0)
    return comb(scenario.n_raters + symbols - 1, symbols - 1) * k


@lru_cache(maxsize=64)
def vote_table(n_raters: int, n_categories: int, *, missing: bool) -> VoteTable:
    """Enumerate the votes that raters can give, in lexical order.

    Parameters
    ----------
    n_raters, n_categories : int
    missing : bool
        Whether ratings may be missing.

    Returns
    -------
    VoteTable

    Examples
    --------
    >>> vote_table(2, 2, missing=False).votes.tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    votes = _list_compositions(n_raters, n_categories + missing)[:, :n_categories]
    agreeing, pairs = count_agreeing(votes)
    return VoteTable(votes=votes, agreeing=agreeing, pairs=pairs)


def list_patterns(n_raters: int, n_categories: int, *, missing: bool) -> Integers:
    """List the patterns of ratings that raters can give, in lexical order.

    Parameters
    ----------
    n_raters, n_categories : int
    missing : bool
        Whether ratings may be missing.

    Returns
    -------
    ndarray of int, shape (n_patterns, n_raters)
        Category indices; -1 for a missing rating, which comes last.

    Examples
    --------
    >>> list_patterns(2, 2, missing=False).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    symbols = np.array([*range(n_categories), *([-1] if missing else [])])
    return symbols[np.indices((len(symbols),) * n_raters).reshape(n_raters, -1).T]


# A function of the numbers of raters and symbols gives the index of each outcome when one more
# rater has rated.
type Extend = Callable[[int, int], Integers]


def list_probabilities(
    scenario: Scenario, parameters: DrawnParameters, *, by_rater: bool = False, right: bool = False
) -> Floats:
    """Compute the joint probability of each outcome of the raters and each system answer.

    Raters are added one by one.

    Parameters
    ----------
    scenario : Scenario
    parameters : DrawnParameters
        Of n_samples.
    by_rater : bool
        Whether an outcome is a pattern of ratings, in the order of `list_patterns`, and not the
        votes, in the order of `vote_table`.
    right : bool
        Whether only right answers are included.

    Returns
    -------
    ndarray, shape (n_samples, n_categories, n_outcomes)
        By system answer and outcome.
    """
    confusion = parameters.confusion
    if confusion.strides[0] == 0:
        # The parameters are not random, so that all samples share one.
        confusion = confusion[:1]
    n, n_levels, n_answering, k, _ = confusion.shape
    # Raters and responses are the first axes, so that samples and latent states are contiguous in
    # memory.
    rows = confusion.transpose(2, 4, 0, 1, 3).reshape(n_answering, k, n, n_levels * k)
    extend = _extend_patterns if by_rater else _extend_votes
    given_state = _find_outcomes(scenario, rows[:-1], extend)
    latent = _find_latent_probabilities(scenario, parameters, right=right)
    answers = latent.swapaxes(1, 2) * rows[-1].transpose(1, 2, 0)
    return (given_state.swapaxes(0, 1) @ answers).swapaxes(1, 2)


def _find_outcomes(scenario: Scenario, rows: Floats, extend: Extend) -> Floats:
    """Give each outcome's probability given the latent state, (n_outcomes, n_samples, n_states)."""
    if not any(scenario.copying):
        return _add_raters(scenario, rows, extend)
    copying = np.array(scenario.copying)[:, None, None, None]
    total = np.zeros(())
    for first in range(scenario.n_categories):
        copied = np.zeros((scenario.n_categories, 1, 1))
        copied[first] = 1
        given_first = (1 - copying) * rows + copying * copied
        given_first[0] = rows[0] * copied
        total = total + _add_raters(scenario, given_first, extend)
    return np.asarray(total)


def _add_raters(scenario: Scenario, rows: Floats, extend: Extend) -> Floats:
    n_raters, _, n, n_states = rows.shape
    if scenario.missing > 0:
        missing = scenario.missing * rows.sum(axis=1, keepdims=True)
        rows = np.concatenate([(1 - scenario.missing) * rows, missing], axis=1)
    given_state = np.ones((1, n, n_states))
    for rater in range(n_raters):
        after = extend(rater, rows.shape[1])
        joined = np.zeros((after.max() + 1, n, n_states))
        for symbol, probability in enumerate(rows[rater]):
            joined[after[:, symbol]] += given_state * probability
        given_state = joined
    return given_state


def _extend_patterns(n_raters: int, symbols: int) -> Integers:
    """Give the patterns with one more rater, (n_patterns, symbols), for each possible rating."""
    return np.arange(symbols ** (n_raters + 1)).reshape(-1, symbols)


@lru_cache(maxsize=256)
def _extend_votes(n_raters: int, symbols: int) -> Integers:
    """Give the votes with one more rater, (n_votes, symbols), for each possible rating."""
    # Python integers are used, because with many categories the numbers exceed 64 bits.
    base = np.array([(n_raters + 2) ** i for i in reversed(range(symbols))], dtype=object)
    before = _list_compositions(n_raters, symbols) @ base
    keys = _list_compositions(n_raters + 1, symbols) @ base
    return np.searchsorted(keys, before[:, None] + base)


@lru_cache(maxsize=256)
def _list_compositions(total: int, parts: int) -> Integers:
    """Enumerate the ways to write a total as a sum of parts, in lexical order."""
    bars = np.array(list(combinations(range(total + parts - 1), parts - 1)), dtype=np.int64)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, total + parts - 1)))
    return np.diff(edges, axis=1) - 1


# Population values: what a method estimates in the limit of infinitely many items.

POPULATION_METHODS = (*VOTE_METHODS, *em.LIKELIHOOD_METHODS)

PAPER = "algebraic_paper"
# With so many items the sampling error is far above the tolerance for ties, and below the digits
# that are reported.
LARGE_SAMPLE = 10**14
LARGE_SAMPLES = 25
MOST_SPREAD = 1e-4
ITEMS_OF_POPULATION = 1_000_000
TO_THE_END = em.Search(tolerance=0)

AT_CHANCE = "raters agree at or below chance"
UNINFORMATIVE = "the ratings tell nothing about the items that the system answers"
NO_LIMIT = (
    "large samples of the same scenario give different values: the highest truth probability of "
    "some items is 1/K, at the edge of two bins, or shared by two categories, so that chance "
    "decides how the paper's step 4 treats them"
)


@dataclass(frozen=True, kw_only=True)
class PopulationValue:
    """What a method estimates in the limit of many items.

    Parameters
    ----------
    method : str
        Name of the method.
    estimate : float or None
        What the method estimates, averaged over the draws; None where it is undefined.
    system_accuracy : float
        The true expected accuracy.
    bias : float or None
        The estimate minus the accuracy.
    standard_error : float or None
        Monte Carlo standard error of the bias; 0 if nothing was drawn, None if the method is
        defined in fewer than two draws.
    undefined : float
        Proportion of the replicates in which the method has no limit; they are left out.
    reason : str
        The reason why it has none, if there are such replicates; else empty.
    """

    method: str
    estimate: float | None
    system_accuracy: float
    bias: float | None
    standard_error: float | None
    undefined: float
    reason: str = ""


def population_value(
    scenario: Scenario, method: str = "algebraic", *, replicates: int = 1000, seed: Seed = 1
) -> PopulationValue:
    """Compute what a method estimates in the limit of infinitely many items.

    All combinations of votes and system answers (for likelihood models, all patterns of ratings and
    answers) are enumerated with their probabilities, and the method is applied to these as if they
    were counts. For likelihood models that gives the pseudo-true value: the value for those
    parameters with which the model is nearest to the truth in Kullback-Leibler divergence. Maximum
    likelihood converges to it, and so do Bayesian estimates, because the weight of the prior
    vanishes.

    All methods but one depend continuously on these probabilities, so that this is their limit. The
    exception is "algebraic_paper", which jumps if the highest truth probability of an item is 1/K,
    lies at the edge of two bins, or is shared by two categories. It is applied to samples of 10^14
    items instead; if their estimates differ by more than .0001 there is no limit, and no estimate.

    Parameters
    ----------
    scenario : Scenario
        How raters and system behave; its number of items is not used.
    method : str
        A method that needs only votes, as "algebraic", or a latent-class model by maximum
        likelihood, as "dawid_skene_ml".
    replicates : int
        If base rates or confusion matrices are random, how many are drawn and averaged, 1 or
        more.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of what is drawn: the same seed gives the same value.

    Returns
    -------
    PopulationValue
        The value, the accuracy that is to be estimated, and the bias.

    Raises
    ------
    InputError
        If there is no such method, if there are over 10 million patterns, or if
        another argument is not as above.

    References
    ----------
    White (1982), Maximum likelihood estimation of misspecified models, Econometrica 50, 1-25.

    Examples
    --------
    >>> rates = (0.3, 0.25, 0.2, 0.15, 0.1)
    >>> scenario = Scenario(base_rates=rates, initial_rater_accuracy=(0.4, 0.6, 0.8))
    >>> round(population_value(scenario).estimate, 5)
    0.92792

    Raters of different accuracy, whose errors are mostly near the truth, bias the algebra; a model
    with a confusion matrix for each rater describes them.

    >>> scenario = Scenario(
    ...     initial_rater_accuracy=(0.5, 0.6, 0.7), asymmetric_dispersion=2, base_rates="equal"
    ... )
    >>> methods = ["majority_agreement", "algebraic", "dawid_skene_ml"]
    >>> [round(population_value(scenario, method).bias, 3) + 0 for method in methods]
    [-0.247, -0.031, 0.0]
    """
    if method + em.BY_LIKELIHOOD in em.LIKELIHOOD_METHODS:
        # The prior has no weight where there are infinitely many items.
        remedy = f"choose {method}{em.BY_LIKELIHOOD}: the Bayesian estimate has the same limit"
        raise make_error("method", method, remedy)
    check_choice("method", method, POPULATION_METHODS)
    check_whole_number("replicates", replicates, 1)
    require_few_outcomes(scenario, count_patterns(scenario))
    n = replicates if scenario.random_parameters else 1
    parts = zip(*_estimate_from_patterns(scenario, method, n, seed), strict=True)
    estimates, rater_accuracy, accuracy = map(np.concatenate, parts)
    defined = np.isfinite(estimates)
    bias = (estimates - accuracy)[defined]
    error: float | None = 0.0
    if scenario.random_parameters:
        error = float(bias.std(ddof=1) / np.sqrt(len(bias))) if len(bias) > 1 else None
    return PopulationValue(
        method=method,
        estimate=float(estimates[defined].mean()) if len(bias) else None,
        system_accuracy=float(accuracy.mean()),
        bias=float(bias.mean()) if len(bias) else None,
        standard_error=error,
        undefined=float(1 - defined.mean()),
        reason=_explain_undefined(method, rater_accuracy[~defined]),
    )


def _explain_undefined(method: str, rater_accuracy: Floats) -> str:
    at_chance = np.isnan(rater_accuracy)
    reasons = [AT_CHANCE] if at_chance.any() else []
    if not at_chance.all():
        reasons.append(NO_LIMIT if method == PAPER else UNINFORMATIVE)
    return "; ".join(reasons)


def _estimate_from_patterns(
    scenario: Scenario, method: str, n: int, seed: Seed
) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield estimates, the raters' accuracy by the algebra, and the system's, of some samples."""
    size, k = choose_batch(count_patterns(scenario), scenario), scenario.n_categories
    missing = scenario.missing > 0
    table = vote_table(scenario.n_raters, k, missing=missing)
    starts = range(0, n, size)
    for start, child in zip(starts, derive_seeds(seed, len(starts)), strict=True):
        rng = np.random.default_rng(child)
        parameters = draw_parameters(scenario, min(size, n - start), rng)
        answers = list_probabilities(scenario, parameters).swapaxes(1, 2)
        by_votes = [] if method == PAPER or method not in VOTE_METHODS else [method]
        estimates = estimate_from_votes(table, answers, by_votes)
        if method == PAPER:
            estimates[method] = _limit_of_paper(table, answers, rng)
        elif not by_votes:
            probability = list_probabilities(scenario, parameters, by_rater=True)
            raters = list_patterns(scenario.n_raters, k, missing=missing)
            codes = np.column_stack([np.tile(raters, (k, 1)), np.repeat(range(k), len(raters))])
            weights = probability.reshape(len(probability), -1)
            estimates[method] = _fit_model(scenario, parameters, codes, weights, method)
        accuracy = expect_system_accuracy(scenario, parameters)
        yield estimates[method], estimates["rater_accuracy"], accuracy


def _limit_of_paper(table: VoteTable, probability: Floats, rng: np.random.Generator) -> Floats:
    """Give the value on which very large samples agree, NaN if they do not."""
    scaled = probability / np.maximum(probability.sum(axis=(1, 2), keepdims=True), 1.0)
    votes = scaled.reshape(len(scaled), -1)
    samples = (
        rng.multinomial(LARGE_SAMPLE, votes).astype(float).reshape(probability.shape)
        for _ in range(LARGE_SAMPLES)
    )
    values = np.array([estimate_from_votes(table, counts, [PAPER])[PAPER] for counts in samples])
    agree = np.ptp(values, axis=0) <= MOST_SPREAD
    return np.where(agree, values.mean(axis=0), np.nan)


def _fit_model(
    scenario: Scenario, parameters: DrawnParameters, codes: Integers, weights: Floats, method: str
) -> Floats:
    """Compute the pseudo-true accuracies; the weights have a row for each sample."""
    level, model = scenario.level_probabilities, em.LIKELIHOOD_METHODS[method]
    truths = (
        em.LatentClasses(base_rates=rates, confusion=np.tensordot(level, confusion, 1))
        for rates, confusion in zip(parameters.base_rates, parameters.confusion, strict=True)
    )
    samples = zip(weights, truths, strict=True)
    return np.array([find_pseudo_true_accuracy(codes, *sample, model) for sample in samples])


def find_pseudo_true_accuracy(
    codes: Integers, weights: Floats, truth: em.LatentClasses, model: str
) -> float:
    """Compute the system's accuracy under the latent-class model that is nearest to the patterns.

    Parameters
    ----------
    codes : ndarray of int, shape (n_patterns, n_raters + 1)
        Category indices, -1 if missing; the system is last.
    weights : ndarray, shape (n_patterns,)
        Probabilities, or numbers of items.
    truth : LatentClasses
        One of the two starts; the other is the proportions of votes.
    model : str
        One of `LATENT_CLASS_MODELS`.

    Returns
    -------
    float
    """
    form = em.find_latent_class_model(model)
    possible = (weights > 0) & (codes[:, :-1] >= 0).any(axis=1)
    # If weights sum to 1, steps on a nearly flat likelihood gain less than rounding shows.
    counts = weights[possible] * (ITEMS_OF_POPULATION / weights[possible].sum())
    table = em.tabulate_codes(codes[possible], counts, len(truth.base_rates))
    fits = em.fit_starts(table, [truth, em.vote_start(table)], form, TO_THE_END)
    best = em.align_labels(table, max(fits, key=lambda fit: fit.log_likelihood))
    return float(best.base_rates @ np.diagonal(best.confusion[-1]))
