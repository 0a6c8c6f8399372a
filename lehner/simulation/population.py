"""Population values: what a method estimates in the limit of infinitely many items."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lehner.algebra.algebraic import VOTE_METHODS, estimate_from_votes
from lehner.core.arrays import Floats, Integers, Seed, derive_seeds
from lehner.core.errors import check_choice, check_whole_number, make_error
from lehner.data.counts import VoteTable
from lehner.latent_class import em, models
from lehner.simulation import draw
from lehner.simulation.scenario import (
    DrawnParameters,
    Scenario,
    choose_batch,
    draw_parameters,
    expect_system_accuracy,
)

POPULATION_METHODS = (*VOTE_METHODS, *models.LIKELIHOOD_METHODS)

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
    if method + models.BY_LIKELIHOOD in models.LIKELIHOOD_METHODS:
        # The prior has no weight where there are infinitely many items.
        remedy = f"choose {method}{models.BY_LIKELIHOOD}: the Bayesian estimate has the same limit"
        raise make_error("method", method, remedy)
    check_choice("method", method, POPULATION_METHODS)
    check_whole_number("replicates", replicates, 1)
    draw.require_few_outcomes(scenario, draw.count_patterns(scenario))
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
    size, k = choose_batch(draw.count_patterns(scenario), scenario), scenario.n_categories
    missing = scenario.missing > 0
    table = draw.vote_table(scenario.n_raters, k, missing=missing)
    starts = range(0, n, size)
    for start, child in zip(starts, derive_seeds(seed, len(starts)), strict=True):
        rng = np.random.default_rng(child)
        parameters = draw_parameters(scenario, min(size, n - start), rng)
        answers = draw.list_probabilities(scenario, parameters).swapaxes(1, 2)
        by_votes = [] if method == PAPER or method not in VOTE_METHODS else [method]
        estimates = estimate_from_votes(table, answers, by_votes)
        if method == PAPER:
            estimates[method] = _limit_of_paper(table, answers, rng)
        elif not by_votes:
            probability = draw.list_probabilities(scenario, parameters, by_rater=True)
            raters = draw.list_patterns(scenario.n_raters, k, missing=missing)
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
    level, model = scenario.level_probabilities, models.LIKELIHOOD_METHODS[method]
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
    form = models.find_latent_class_model(model)
    possible = (weights > 0) & (codes[:, :-1] >= 0).any(axis=1)
    # If weights sum to 1, steps on a nearly flat likelihood gain less than rounding shows.
    counts = weights[possible] * (ITEMS_OF_POPULATION / weights[possible].sum())
    table = em.tabulate_codes(codes[possible], counts, len(truth.base_rates))
    fits = em.fit_starts(table, [truth, em.vote_start(table)], form, TO_THE_END)
    best = em.align_labels(table, max(fits, key=lambda fit: fit.log_likelihood))
    return float(best.base_rates @ np.diagonal(best.confusion[-1]))
