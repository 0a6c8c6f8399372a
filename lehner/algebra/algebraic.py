"""The algebraic method of Lehner (2015), and the naive measures: methods that need only votes.

The functions after `estimate_algebraic` are the paper's steps 1 to 3; step 4 is in
`system_accuracy.py`. They work on arrays with any leading dimensions, so that thousands of
bootstrap resamples are computed at once.

The naive measures are agreement with the majority, and the mean truth probability.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lehner.algebra.sparse import (
    SparseTruth,
    SparseVotes,
    find_sparse_votes,
    sparse_by_weights,
    sparse_truth,
)
from lehner.algebra.steps import (
    AGGREGATIONS,
    Aggregation,
    bin_table,
    brennan_prediger,
    by_bins,
    by_likelihood,
    by_weights,
    confusion_from_truth,
    equal_errors,
)
from lehner.core.arrays import Floats, Integers
from lehner.core.errors import check_level, find
from lehner.core.estimate import (
    Estimate,
    IntervalEstimate,
    labelled,
    number,
    require_estimable,
)
from lehner.core.lazy import xr
from lehner.core.resampling import bootstrap_interval, check_bootstrap, wilson_interval
from lehner.core.seeds import Seed
from lehner.core.text import percent
from lehner.core.warning import Warning, warn
from lehner.data.clusters import widening_of
from lehner.data.ratings import Ratings
from lehner.data.reading import names_of
from lehner.data.votes import CollapsedVotes, VoteTable, collapse_votes, count_rated

ALGEBRAIC_METHODS = ("algebraic", "algebraic_likelihood", "algebraic_paper")
CHANCE_TOLERANCE = 1e-12
# From this size of a sum on, a term too small for a float is less than its rounding error.
FULL_PRECISION = np.finfo(float).tiny / np.finfo(float).eps


def estimate_algebraic(
    ratings: Ratings,
    *,
    aggregation: Aggregation = "weighted",
    interval: Literal["percentile"] | None = "percentile",
    level: float = 0.9,
    resamples: int = 2000,
    seed: Seed = 1,
) -> Estimate:
    """Estimate the accuracy of the system by Lehner's algebra.

    The method rests on the K-properties: all raters are equally accurate, all errors are equally
    probable, and all items are equally difficult. It gives one estimate, with one interval, for
    both the expected accuracy and the accuracy in this sample. The interval describes how the
    estimate varies over samples of items, whose true categories vary too. It is therefore wider
    than it needs to be for the accuracy in this sample.

    Parameters
    ----------
    ratings : Ratings
        With a system. Ratings may be missing and items may have different numbers of raters.
    aggregation : {"weighted", "likelihood", "paper"}
        How step 4 combines the items: by Eq. 7 with a weight for the information in each item and
        category (least squares), by maximum likelihood, or in bins of the highest truth probability
        as in the paper, which is not consistent: see `lehner.algebra.steps`.
    interval : {"percentile"}, optional
        The bootstrap interval, from resamples of the items; None for no interval.
    level : float
        Probability of the interval, between 0 and 1.
    resamples : int
        Number of bootstrap resamples.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the resamples: the same seed gives the same interval.

    Returns
    -------
    Estimate
        With the confusion matrices of the raters, whose errors are equally probable, and of the
        system, whose need not be (see `lehner.algebra.steps`), and with `bins` (the
        paper's Table 4) if `aggregation` is "paper". Numbers that cannot be
        estimated from these data are None or NaN, and `warnings` gives the reason.

    Raises
    ------
    InputError
        If there is no system, if there are not two raters, two categories and an item rated by two
        raters, or if an argument is not as above.

    References
    ----------
    Lehner (2015), Eq. 1-7, https://doi.org/10.22237/jmasm/1430453520

    Examples
    --------
    >>> from lehner import load_dataset
    >>> ratings = load_dataset("lehner_table2")
    >>> round(estimate_algebraic(ratings, interval=None).system_accuracy.estimate, 4)
    0.804

    The number that the paper prints:

    >>> printed = estimate_algebraic(ratings, aggregation="paper", interval=None)
    >>> round(printed.system_accuracy.estimate, 4)
    0.7314
    """
    find("aggregation", aggregation, AGGREGATIONS)
    if interval is not None:
        check_bootstrap(interval, level, resamples)
    require_estimable(ratings)
    ratings = count_rated(ratings)
    collapsed = collapse_votes(ratings)
    counts = collapsed.counts(collapsed.weights[None, :].astype(float))
    answers = counts[..., :-1]
    steps = first_steps(collapsed.table, counts.sum(axis=-1))
    step_4 = AGGREGATIONS[aggregation]
    point = float(step_4(steps.truth, answers)[0])
    accuracy = IntervalEstimate(estimate=number(point))
    diagnostics = {"agreement": float(steps.agreement[0]), "kappa": float(steps.kappa[0])}
    warnings = _warnings(steps, point, ratings)
    if interval is not None and accuracy.estimate is not None:
        statistic = _statistic(collapsed, step_4)
        result = bootstrap_interval(statistic, collapsed.sampled, point, level, resamples, seed)
        accuracy = result.interval
        diagnostics |= {"resamples": resamples, "undefined_resamples": result.undefined}
        warnings += _interval_warnings(result.undefined)
    return Estimate(
        system=ratings.systems[0],
        method="algebraic" if aggregation == "weighted" else f"algebraic_{aggregation}",
        system_accuracy=accuracy,
        system_accuracy_in_sample=accuracy,
        arrays={
            "rater_accuracy": labelled(
                np.full(ratings.n_raters, steps.accuracy[0]), ratings, "rater"
            ),
            "base_rates": labelled(steps.base_rates[0], ratings, "category"),
            "confusion": _confusion(steps, answers, ratings),
            "truth_probabilities": labelled(
                steps.truth[0][collapsed.row], ratings, "item", "category"
            ),
        },
        bins=bin_table(steps.truth, answers) if aggregation == "paper" else None,
        warnings=tuple(warnings),
        diagnostics=diagnostics,
    )


def rater_accuracy(agreement: ArrayLike, n_categories: int) -> Floats:
    r"""Step 1: the accuracy of the raters from their agreement.

    .. math:: P_a = P_c^2 + \frac{(1 - P_c)^2}{K - 1} \tag{1}
    .. math:: P_c = \frac1K + \sqrt{\frac{(K - 1) P_a - (K - 1)/K}{K}} \tag{2}

    Parameters
    ----------
    agreement : array_like
        Proportion of agreeing pairs of ratings, between 0 and 1.
    n_categories : int
        K, 2 or more.

    Returns
    -------
    ndarray
        NaN where agreement is at or below the chance level 1/K.

    Examples
    --------
    >>> float(rater_accuracy(1 / 3, 4))
    0.5
    """
    kappa = brennan_prediger(agreement, n_categories)
    root = np.sqrt(np.where(kappa > CHANCE_TOLERANCE, kappa, np.nan))
    return np.asarray(1 / n_categories + (1 - 1 / n_categories) * root)


def base_rates(frequency: ArrayLike, accuracy: ArrayLike) -> Floats:
    r"""Step 2: base rates from how often the raters use each category.

    .. math:: P("A") = P_c P(A) + \frac{1 - P_c}{K - 1} (1 - P(A)) \tag{3, corrected}
    .. math:: P(A) = \frac{(K - 1) P("A") - 1 + P_c}{K P_c - 1} \tag{4, 5}

    Parameters
    ----------
    frequency : array_like, shape (..., n_categories)
        Proportion of all ratings in each category.
    accuracy : array_like, shape (...)
        P_c, above 1/K.

    Returns
    -------
    ndarray, shape (..., n_categories)
        May be negative in small samples: see `clip_base_rates`.

    Notes
    -----
    The paper prints the bracket of Eq. 3 in the wrong place; its Eq. 5 is correct.

    Examples
    --------
    >>> base_rates([0.275, 0.25, 0.25, 0.225], 0.5).round(3).tolist()
    [0.325, 0.25, 0.25, 0.175]
    """
    frequency = np.asarray(frequency, dtype=float)
    accuracy = np.asarray(accuracy, dtype=float)[..., None]
    k = frequency.shape[-1]
    return ((k - 1) * frequency - 1 + accuracy) / (k * accuracy - 1)


def clip_base_rates(rates: ArrayLike) -> Floats:
    """Set negative base rates to 0 and renormalise.

    Parameters
    ----------
    rates : array_like, shape (..., n_categories)

    Returns
    -------
    ndarray, shape (..., n_categories)
        Sums to 1.

    Examples
    --------
    >>> clip_base_rates([-0.1, 0.55, 0.55]).tolist()
    [0.0, 0.5, 0.5]
    """
    clipped = np.maximum(np.asarray(rates, dtype=float), 0.0)
    return clipped / clipped.sum(axis=-1, keepdims=True)


def truth_probabilities(votes: ArrayLike, accuracy: ArrayLike, rates: ArrayLike) -> Floats:
    """Step 3: the probability of each true category by Bayes' rule, raters independent.

    Parameters
    ----------
    votes : array_like of int, shape (n_items, n_categories)
        Number of ratings of each item in each category.
    accuracy : array_like, shape (...)
        P_c.
    rates : array_like, shape (..., n_categories)
        Base rates.

    Returns
    -------
    ndarray, shape (..., n_items, n_categories)
        An item without ratings has the base rates.

    Examples
    --------
    >>> truth_probabilities([[0, 0, 3, 1]], 0.5, [0.325, 0.25, 0.25, 0.175]).round(3).tolist()
    [[0.041, 0.032, 0.86, 0.067]]
    """
    votes = np.asarray(votes)
    accuracy = np.asarray(accuracy, dtype=float)
    log_odds = _log_odds(accuracy, votes.shape[-1])
    # Samples are the last axis in memory, because sums over few categories are then several times
    # faster.
    prior = np.moveaxis(np.asarray(rates, dtype=float), -1, 0)
    behind = votes.max(axis=1, keepdims=True) - votes
    ladder = np.exp(-np.multiply.outer(np.arange(behind.max(initial=0) + 1), log_odds))
    probability = prior * ladder[behind]
    total = probability.sum(axis=1, keepdims=True)
    if (total < FULL_PRECISION).any():
        probability = _from_logs(prior, -np.multiply.outer(behind, log_odds))
        total = probability.sum(axis=1, keepdims=True)
    return np.moveaxis(probability / total, (0, 1), (-2, -1))


def _log_odds(accuracy: Floats, n_categories: int) -> Floats:
    """Log odds of a right against a wrong rating, on which alone equal errors depend."""
    # The lower limit of wrong ratings stands for raters who are always right.
    error = np.maximum((1 - accuracy) / (n_categories - 1), np.finfo(float).tiny)
    return np.asarray(np.log(accuracy / error))


def _from_logs(prior: Floats, log_likelihood: Floats) -> Floats:
    """Multiply if all categories with enough votes to matter have a base rate of 0."""
    with np.errstate(divide="ignore"):
        log = np.log(prior) + log_likelihood
    return np.asarray(np.exp(log - log.max(axis=1, keepdims=True)))


@dataclass(frozen=True, kw_only=True, eq=False)
class FirstSteps:
    """The results of steps 1 to 3 for each sample.

    Parameters
    ----------
    agreement, kappa, accuracy : ndarray, shape (n_samples,)
        P_a, kappa and P_c.
    raw_base_rates, base_rates : ndarray, shape (n_samples, n_categories)
        Base rates by Eq. 5, before and after clipping to 0 or more.
    truth : ndarray, shape (n_samples, n_votes, n_categories)
        Truth probabilities of items with the same votes.
    """

    agreement: Floats
    kappa: Floats
    accuracy: Floats
    raw_base_rates: Floats
    base_rates: Floats
    truth: Floats


def first_steps(table: VoteTable, n_items: Floats) -> FirstSteps:
    """Take steps 1 to 3 for many samples at once.

    Parameters
    ----------
    table : VoteTable
    n_items : ndarray, shape (n_samples, n_votes)
        Number, or proportion, of items with these votes.

    Returns
    -------
    FirstSteps
    """
    totals = n_items @ table.votes
    agreement, accuracy, raw = _steps_1_and_2(n_items, table.agreeing, table.pairs, totals)
    rates = clip_base_rates(raw)
    return FirstSteps(
        agreement=agreement,
        kappa=brennan_prediger(agreement, table.votes.shape[1]),
        accuracy=accuracy,
        raw_base_rates=raw,
        base_rates=rates,
        truth=truth_probabilities(table.votes, accuracy, rates),
    )


def sparse_steps(sparse: SparseVotes, weights: Floats) -> tuple[Floats, Floats, SparseTruth | None]:
    """Take steps 1 to 3 for many samples of items whose ratings are in few of many categories.

    Parameters
    ----------
    sparse : SparseVotes
    weights : ndarray, shape (n_samples, n_cells)
        Number of items with each combination of votes and answer.

    Returns
    -------
    accuracy : ndarray, shape (n_samples,)
    base_rates : ndarray, shape (n_samples, n_categories)
    truth : SparseTruth or None
        None if probabilities are undefined or too small: `first_steps` computes them otherwise.
    """
    n_items = sparse.sum_cells @ weights.T
    totals = (sparse.votes.T @ n_items).T
    _, accuracy, raw = _steps_1_and_2(n_items.T, sparse.agreeing, sparse.pairs, totals)
    rates = clip_base_rates(raw)
    truth, least = sparse_truth(sparse, _log_odds(accuracy, rates.shape[1]), rates)
    return accuracy, rates, truth if least >= FULL_PRECISION else None


def _steps_1_and_2(
    n_items: Floats, agreeing: Integers, pairs: Integers, totals: Floats
) -> tuple[Floats, Floats, Floats]:
    """Agreement and accuracy of the raters, and base rates before they are clipped."""
    with np.errstate(invalid="ignore", divide="ignore"):
        agreement = n_items @ agreeing / (n_items @ pairs)
        frequency = totals / totals.sum(axis=1, keepdims=True)
    accuracy = rater_accuracy(agreement, totals.shape[1])
    return agreement, accuracy, base_rates(frequency, accuracy)


def _confusion(steps: FirstSteps, answers: Floats, ratings: Ratings) -> "xr.DataArray":
    """Matrices of raters, by the K-properties, and that of the system."""
    k = ratings.n_categories
    raters = np.broadcast_to(equal_errors(steps.accuracy[:1], k), (ratings.n_raters, k, k))
    system = confusion_from_truth(steps.truth[:1], answers[:1])
    return labelled(np.concatenate([raters, system]), ratings, "rater", "category", "response")


def _statistic(
    collapsed: CollapsedVotes, step_4: Callable[[Floats, Floats], Floats]
) -> Callable[[Floats], Floats]:
    def statistic(weights: Floats) -> Floats:
        counts = collapsed.counts(weights)
        steps = first_steps(collapsed.table, counts.sum(axis=-1))
        return step_4(steps.truth, counts[..., :-1])

    sparse = find_sparse_votes(collapsed) if step_4 is by_weights else None
    if sparse is None:
        return statistic

    def of_sparse_votes(weights: Floats) -> Floats:
        truth = sparse_steps(sparse, weights)[-1]
        if truth is None:
            return statistic(weights)
        return sparse_by_weights(sparse, truth, weights.T[sparse.has_answer])

    return of_sparse_votes


def first_warnings(steps: FirstSteps, ratings: Ratings) -> list[Warning]:
    """List what the user should know about steps 1 to 3 for the first sample.

    Parameters
    ----------
    steps : FirstSteps
    ratings : Ratings

    Returns
    -------
    list of Warning
    """
    k = ratings.n_categories
    if np.isnan(steps.accuracy[0]):
        return [agreement_at_chance(float(steps.agreement[0]), k)]
    raw = steps.raw_base_rates[0]
    negative = [str(c) for c, rate in zip(ratings.categories, raw, strict=True) if rate < -1e-12]
    if not negative:
        return []
    text = (
        f"Eq. 5 gives a negative base rate for {', '.join(negative)}: set to 0, and the others "
        "renormalised"
    )
    return [warn("negative-base-rate", text)]


def agreement_at_chance(agreement: float, n_categories: int) -> Warning:
    """Warn that raters agree no more than by chance."""
    return warn(
        "agreement-at-chance",
        f"raters agree on {agreement:.3f} of pairs, at or below the chance level 1/{n_categories} "
        f"= {1 / n_categories:.3f}: their accuracy and all that follows from it are undefined",
    )


def _warnings(steps: FirstSteps, point: float, ratings: Ratings) -> list[Warning]:
    k = ratings.n_categories
    warnings = first_warnings(steps, ratings)
    if np.isnan(steps.accuracy[0]):
        return warnings
    if steps.agreement[0] > 1 - CHANCE_TOLERANCE:
        text = (
            "raters agree on every item, so that the method takes them to be always right: system "
            "accuracy is its agreement with them, and the interval ignores their errors"
        )
        warnings.append(warn("raters-always-agree", text))
    if np.isnan(point):
        text = (
            f"given the ratings, each category that the system answered has probability 1/{k}: "
            "they tell nothing about its answers, and system accuracy is undefined"
        )
        warnings.append(warn("answers-undetermined", text))
    return warnings


def _interval_warnings(undefined: float) -> list[Warning]:
    if undefined == 0:
        return []
    text = (
        f"the estimate is undefined in {percent(undefined, 1)} of the bootstrap resamples "
        "(agreement at or below chance, or answers on no informative item); the interval counts "
        "them as possibly 0 and possibly 1"
    )
    return [warn("undefined-resamples", text)]


def majority_proportion(votes: Integers, answers: Floats) -> Floats:
    """Agreement of the system with the majority; tied categories share the item.

    Parameters
    ----------
    votes : ndarray of int, shape (n_votes, n_categories)
    answers : ndarray, shape (n_samples, n_votes, n_categories)
        Number of items with these votes and each system answer.

    Returns
    -------
    ndarray, shape (n_samples,)
    """
    used = (answers * (votes.sum(axis=1) > 0)[:, None]).sum(axis=(-2, -1))
    agreeing = (answers * majority_credit(votes)).sum(axis=(-2, -1))
    return np.asarray(agreeing / np.where(used > 0, used, np.nan))


def majority_credit(votes: Integers) -> Floats:
    """Give what an answer in each category counts, (n_votes, n_categories): 1/m if m are tied."""
    tied = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    return np.asarray(tied / np.maximum(tied.sum(axis=1, keepdims=True), 1))


def mean_truth_probability(truth: Floats, answers: Floats) -> Floats:
    """Average the truth probability of the system's answers; arrays as in step 4."""
    n_answers = answers.sum(axis=(-2, -1))
    return np.asarray((truth * answers).sum(axis=(-2, -1)) / np.where(n_answers, n_answers, np.nan))


type VoteMethod = Callable[[VoteTable, FirstSteps, Floats], Floats]

VOTE_METHODS: dict[str, VoteMethod] = {
    "algebraic": lambda table, steps, answers: by_weights(steps.truth, answers),
    "algebraic_likelihood": lambda table, steps, answers: by_likelihood(steps.truth, answers),
    "algebraic_paper": lambda table, steps, answers: by_bins(steps.truth, answers),
    "majority_agreement": lambda table, steps, answers: majority_proportion(table.votes, answers),
    "mean_posterior": lambda table, steps, answers: mean_truth_probability(steps.truth, answers),
}


def find_vote_methods(names: str | Sequence[str]) -> tuple[str, ...]:
    """Raise an InputError unless all are names of methods that need only votes."""
    names = names_of(names)
    for name in names:
        find("method that needs only votes called", name, VOTE_METHODS)
    return names


def estimate_from_votes(
    table: VoteTable, answers: Floats, methods: Sequence[str]
) -> dict[str, Floats]:
    """Estimate the system's accuracy in many samples in which the system answered every item.

    Parameters
    ----------
    table : VoteTable
    answers : ndarray, shape (n_samples, n_votes, n_categories)
        Number, or proportion, of items with these votes and each system answer.
    methods : sequence of str
        Names of `VOTE_METHODS`.

    Returns
    -------
    dict
        Arrays (n_samples,): the estimates by method, `kappa` and `rater_accuracy`.
    """
    rated = (table.votes.sum(axis=1) > 0)[:, None]
    # Samples are the last axis in memory, as they are in the truth probabilities.
    answers = np.asarray(answers * rated, dtype=float, order="F")
    steps = first_steps(table, answers.sum(axis=-1))
    estimates = {name: VOTE_METHODS[name](table, steps, answers) for name in methods}
    return estimates | {"kappa": steps.kappa, "rater_accuracy": steps.accuracy}


def majority_agreement(ratings: Ratings, *, level: float = 0.9) -> Estimate:
    """Take the majority of the raters for the truth and report the system's agreement with it.

    Categories that tie for the majority share the item: the system's answer counts 1/m if it
    is one of m. Items without ratings or without an answer of the system are left out.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    level : float
        Probability of the interval.

    Returns
    -------
    Estimate
        The interval of the system's accuracy is Wilson's, as if the majority were never wrong; in
        the sample there would be no error then, and there is no interval.

    Raises
    ------
    InputError
        If there is no system, or if there are not two raters, two categories and an item rated by
        two raters.

    References
    ----------
    Lehner (2015) compares the algebra with it.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> majority_agreement(load_dataset("lehner_table2")).system_accuracy.estimate
    0.5
    """
    require_estimable(ratings)
    check_level(level)
    votes, answers = ratings.votes(), _answers(ratings)
    agreeing = float(majority_proportion(votes, answers))
    reason = warn("too-few-ratings", "no item has both ratings and an answer")
    estimate = _point("majority_agreement", ratings, agreeing, reason)
    if np.isnan(agreeing):
        return estimate
    z = NormalDist().inv_cdf((1 + level) / 2)
    used = answers.sum(axis=1) * (votes.sum(axis=1) > 0)
    agrees = (majority_credit(votes) * (answers > 0)).sum(axis=1)
    factor = widening_of(ratings, agrees, used, level)
    lower, upper = wilson_interval(agreeing, used.sum() / factor**2, z=z)
    accuracy = IntervalEstimate(
        estimate=agreeing, lower=float(lower), upper=float(upper), level=level, kind="Wilson"
    )
    return replace(estimate, system_accuracy=accuracy)


def mean_posterior(ratings: Ratings) -> Estimate:
    """Average the algebra's truth probability of the system's answers.

    It underestimates the accuracy of a system better than the raters (Lehner 2015, after
    Table 4): the system's answer is evidence too.

    Parameters
    ----------
    ratings : Ratings
        With a system.

    Returns
    -------
    Estimate
        It has no interval.

    Raises
    ------
    InputError
        If there is no system, or if there are not two raters, two categories and an item rated by
        two raters.

    References
    ----------
    Lehner (2015), Table 3 for the truth probabilities.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> round(mean_posterior(load_dataset("lehner_table2")).system_accuracy.estimate, 3)
    0.466
    """
    algebra = estimate_algebraic(ratings, interval=None)
    truth = algebra.arrays["truth_probabilities"]
    point = float(mean_truth_probability(truth.values, _answers(count_rated(ratings))))
    return _point("mean_posterior", ratings, point, *algebra.warnings)


def _answers(ratings: Ratings) -> Floats:
    """Count the items of each row by the system's answer."""
    system = np.asarray(ratings.system)
    return (system[:, None] == np.arange(ratings.n_categories)) * ratings.weights[:, None]


def _point(method: str, ratings: Ratings, value: float, *reasons: Warning) -> Estimate:
    """The estimate, or the reasons why it is undefined."""
    accuracy = IntervalEstimate(estimate=number(value))
    return Estimate(
        method=method,
        system=ratings.systems[0],
        system_accuracy=accuracy,
        system_accuracy_in_sample=accuracy,
        warnings=reasons if np.isnan(value) else (),
    )
