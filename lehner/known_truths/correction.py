r"""A system's accuracy, as estimated by any method, corrected by the gold labels of some items.

The method's probabilities are recalibrated.
The method's probability that item i has a property (that the system is right on it), found without
the gold labels, is :math:`f_i`, and :math:`h_i` is 1 if it has the property and 0 if not. The
labelled items are a random sample of all. The model is

.. math:: h_i \sim \mathrm{Bernoulli}(\sigma(\alpha + \beta \operatorname{logit} f_i))

where :math:`\beta`, between 0 and 1, is how well the probabilities distinguish items, and
:math:`\alpha` is such that the mean over all items is :math:`\bar f + b`: b is the bias of the
method. It may be large, so its prior has heavy tails: it is Cauchy with scale :math:`\sqrt{.15^2 +
v}`, where v is the variance of :math:`\bar f` according to the method. Sums over a grid give the
posterior of b and β, and with it the distribution of the number of unknown items that have the
property.

Which items an expert should label is drawn at random, in proportion to the votes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats, Integers, Seed, make_rng, poisson_binomial
from lehner.core.errors import (
    InputError,
    Warning,
    check_level,
    check_number,
    check_whole_number,
    compose,
    find,
    warn,
)
from lehner.core.estimate import Estimate, IntervalEstimate
from lehner.core.lazy import special
from lehner.core.resampling import find_widening
from lehner.core.text import pluralise, write_p
from lehner.data.columns import LEAST_PROBABILITY, Label
from lehner.data.estimable import count_truths
from lehner.data.ratings import Ratings
from lehner.known_truths import partly_known as gold
from lehner.known_truths.partly_known import KnownSample, PartlyKnown, ProportionPosterior

BIAS_SCALE = 0.15
CALIBRATION_SLOPES = np.linspace(0.05, 1.0, 8)
CERTAIN_ITEM = 0.002
LOG_ODDS_STEP = 0.05
INTERCEPTS = np.linspace(-20.0, 20.0, 401)
LEAST_MEAN = 1e-5
N_MEANS = 100
REFINEMENTS = 3
NEGLIGIBLE = 1e-5
SUSPICIOUS_P_VALUE = 0.01
N_ACCURACIES = 401
LEAST_SPREAD = 1e-9
MOST_CHANCE = 0.999


def infer_proportion(items: PartlyKnown, variance: float = 0.0) -> ProportionPosterior:
    """Find the posterior of the proportion of all items that have the property.

    If truths were found out with known unequal probabilities, it is that of the weighted difference
    estimator.

    Parameters
    ----------
    items : PartlyKnown
    variance : float
        Variance of the mean of the probabilities according to the method.

    Returns
    -------
    ProportionPosterior
    """
    if items.chance is not None:
        return _weigh_labelled(items, variance)
    effect = items.effect_of_known
    log_odds = special.logit(np.clip(items.probability, CERTAIN_ITEM, 1 - CERTAIN_ITEM))
    levels, level = np.unique(np.round(log_odds / LOG_ODDS_STEP), return_inverse=True)
    counts = np.bincount(level, items.counts, len(levels))
    seen = np.bincount(level, items.counts * items.labelled, len(levels))
    holding = np.bincount(level, items.counts * items.holds, len(levels))
    # The axes are slopes, mean probabilities or intercepts, and levels of the log odds.
    scaled = CALIBRATION_SLOPES[:, None, None] * (levels * LOG_ODDS_STEP)
    reached = special.expit(INTERCEPTS[:, None] + scaled) @ counts / counts.sum()
    informative = seen > 0
    holding, failing = holding[informative], (seen - holding)[informative]
    ends = np.array([LEAST_MEAN, 1 - LEAST_MEAN])
    for _ in range(REFINEMENTS):
        grid = np.linspace(ends[0], ends[1], N_MEANS)
        intercepts = [
            np.interp(special.logit(grid), special.logit(means), INTERCEPTS) for means in reached
        ]
        logits = np.array(intercepts)[..., None] + scaled
        seen_logits = logits[..., informative]
        log = special.log_expit(seen_logits) @ holding + special.log_expit(-seen_logits) @ failing
        log /= effect
        log -= np.log1p((grid - items.mean) ** 2 / (BIAS_SCALE**2 + variance))
        weight = np.exp(log - log.max())
        possible = np.flatnonzero(weight.max(axis=0) > NEGLIGIBLE)
        ends = grid[[max(possible[0] - 1, 0), min(possible[-1] + 1, N_MEANS - 1)]]
        if np.ptp(ends) > np.ptp(grid) / 2:
            break
    return _add_unknown(items, special.expit(logits), counts - seen, weight / weight.sum())


def _weigh_labelled(items: PartlyKnown, variance: float) -> ProportionPosterior:
    """Weight the labelled items; if none was chosen by chance, only the prior of the bias stays."""
    rest = items.uncertain
    if not rest.n_items:
        return ProportionPosterior(values=np.array([items.to_all(0.0)]), probability=np.ones(1))
    if rest.n_known:
        posterior = gold.weigh_posterior(rest)
    else:
        posterior = infer_proportion(replace(rest, chance=None), variance)
    return replace(posterior, values=items.to_all(posterior.values))


def _add_unknown(
    items: PartlyKnown, probability: Floats, unknown: Floats, weight: Floats
) -> ProportionPosterior:
    """Add the unknown items; given bias and slope, their number with the property is normal."""
    n_unknown = items.n_items - items.n_known
    number = np.linspace(0, n_unknown, min(n_unknown, gold.MOST_VALUES) + 1)
    step = number[1] if len(number) > 1 else 1.0
    kept = weight > NEGLIGIBLE * weight.max()
    expected = (probability @ unknown)[kept]
    variance = ((probability * (1 - probability)) @ unknown)[kept] * items.effect_of_known
    density = np.exp(-0.5 * (number[:, None] - expected) ** 2 / np.maximum(variance, step**2 / 4))
    total = density / density.sum(axis=0) @ weight[kept]
    return ProportionPosterior(
        values=(items.n_holding + number) / items.n_items, probability=total / total.sum()
    )


def correct_base_rates(ratings: Ratings, truth: Floats, level: float) -> Floats:
    """Correct the proportions of the true categories among these items.

    The probabilities of each category are recalibrated by the gold labels, as `correct_accuracy`
    does with the probabilities that the system is right. The proportions are the means of the
    recalibrated probabilities, divided by their sum.

    Parameters
    ----------
    ratings : Ratings
        Ratings with the truth of some items, which are a random sample of all.
    truth : ndarray, shape (n_rows, n_categories)
        Probabilities by a method that did not use these truths.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    ndarray, shape (n_categories, 3)
        Estimates, and the ends of intervals, which are for each category alone.
    """
    counted, labels = ratings.weights > 0, np.asarray(ratings.truth)
    posteriors = [
        infer_proportion(gold.collect_known(ratings, counted, truth[:, k], labels == k))
        for k in range(ratings.n_categories)
    ]
    means = np.array([posterior.mean for posterior in posteriors])
    ends = [posterior.interval(level) for posterior in posteriors]
    return np.column_stack([means / means.sum(), ends])


@dataclass(frozen=True, kw_only=True)
class TruthCorrection:
    """A method's estimate corrected by gold labels, and estimates from the gold labels alone.

    Parameters
    ----------
    system_accuracy_in_sample : IntervalEstimate
        Proportion of the answered items that the system got right.
    system_accuracy : IntervalEstimate
        Expected accuracy on items like these.
    known_items_alone, prediction_powered : IntervalEstimate
        The accuracy in the sample estimated from the labelled items alone, and by
        prediction-powered inference (PPI++).
    n_known : int
        Number of answered items of which the truth is known.
    p_value : float
        Probability of as great a difference between how many labelled items the system is right on
        and how many the method expects, if the method's assumptions hold: see
        `check_contradiction`.
    warnings : tuple of Warning
        Reasons for doubt: "truths-contradict" if the gold labels contradict the method, and
        "truths-not-random" if the labelled items are probably not a random sample.
    """

    system_accuracy_in_sample: IntervalEstimate
    system_accuracy: IntervalEstimate
    known_items_alone: IntervalEstimate
    prediction_powered: IntervalEstimate
    n_known: int
    p_value: float
    warnings: tuple[Warning, ...] = ()


def correct_accuracy(
    ratings: Ratings,
    estimate: Estimate | ArrayLike,
    *,
    variance: float | None = None,
    level: float = 0.9,
) -> TruthCorrection:
    """Correct a method's estimate of the system's accuracy by the gold labels of some items.

    The labelled items must be a random sample of all: items whose truth was easy to find, or on
    which raters disagree, are not representative. Draw them by `lehner ask`. If they were chosen
    with known unequal probabilities, and the ratings have these, they are weighted instead, see
    `lehner.known_truths.partly_known`.

    The method's probabilities are recalibrated by the labelled items, with a prior of the method's
    bias that allows for a large bias: see `lehner.known_truths.correction`. Nothing is fitted
    again. The probabilities may come from any method that did not use these truths.

    Parameters
    ----------
    ratings : Ratings
        With a system and the truth of some items.
    estimate : Estimate or array_like, shape (n_rows,)
        An estimate from the same ratings without their truths, by a method with truth
        probabilities. Or for each row the probability that the system is right, from 0 to 1, by any
        method that did not use the truths; rows without an answer of the system may have any value.
    variance : float, optional
        Variance of the accuracy in the sample according to the method, 0 or more. By default that
        of the estimate. Probabilities in an array are by default taken to be those of a method
        whose parameters are known: each is the proportion of such items on which the system is
        right.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    TruthCorrection
        The corrected accuracies with their intervals, and estimates from the labelled items alone.

    Raises
    ------
    InputError
        If there is no system or no gold label, or if an argument is not as above.

    Notes
    -----
    In simulations (`experiments/simulations/known_truths.csv`) with 20 of 200 truths known, the
    error is .6 to .9 times that of the labelled items alone, and 90% intervals contain the truth in
    85 to 98% of the data sets. The error is 1.2 times that of the labelled items alone if raters
    with accuracies .3, .4 and .5 violate all K-properties and the algebra has a bias of .24. If a
    method has no bias, a few gold labels make its estimate worse, because the correction allows for
    a bias.

    References
    ----------
    Angelopoulos, Duchi & Zrnic (2023), PPI++: efficient prediction-powered inference,
    https://arxiv.org/abs/2311.01453, for `prediction_powered`.

    Examples
    --------
    >>> from lehner import Scenario, estimate_algebraic, simulate
    >>> ratings = simulate(Scenario(initial_rater_accuracy=(0.7,) * 3, misleading=0.3), 1)
    >>> some = ratings.with_truth(np.where(np.arange(200) < 20, ratings.truth, -1))
    >>> algebra = estimate_algebraic(ratings, interval=None)
    >>> found = correct_accuracy(some, algebra)
    >>> print(algebra.system_accuracy, "corrected:", found.system_accuracy_in_sample)
    0.897 corrected: 0.753 [0.615, 0.870]
    >>> float(np.mean(ratings.truth == ratings.system))
    0.635
    """
    level = check_level(level)
    if variance is not None:
        variance = check_number("variance", variance, 0, np.inf, "give a number, 0 or more")
    right = predict_correctness(ratings, estimate) if isinstance(estimate, Estimate) else estimate
    items, stated = gold.collect_right(ratings, right), variance or 0.0
    of_parameters = max(0.0, stated - items.variance_of_proportion)
    if isinstance(estimate, Estimate) and variance is None:
        stated = find_variance(estimate.system_accuracy_in_sample)
        of_parameters = estimate_parameter_variance(estimate, items)
    if items.n_known == 0:
        problem = "no truth is known of an item that the system answered"
        raise InputError(problem, compose("give some, with {truth}"))
    posterior = infer_proportion(items, stated)
    in_sample = posterior.mean, *posterior.interval(level), level, posterior.kind
    p_value = check_contradiction(items, of_parameters)
    return TruthCorrection(
        system_accuracy_in_sample=IntervalEstimate(*in_sample),
        system_accuracy=_expect_accuracy(posterior, count_effective_items(items, level), level),
        known_items_alone=gold.estimate_alone(items, level),
        prediction_powered=gold.prediction_powered(items, level),
        n_known=items.n_known,
        p_value=p_value,
        warnings=tuple(_warn(items, p_value, gold.examine_known(ratings))),
    )


def predict_correctness(ratings: Ratings, estimate: Estimate) -> np.ndarray:
    """Compute the probability by a method that the system is right, for each row.

    It is the truth probability of the system's answer. The algebra's truth probabilities depend on
    the raters only. The system's answer is therefore combined with them by Bayes' rule, as the
    rating of one more rater with equal errors and the accuracy that the algebra estimates.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    estimate : Estimate
        An estimate with truth probabilities, from ratings without gold labels.

    Returns
    -------
    ndarray, shape (n_rows,)
        Probabilities from 0 to 1, NaN where the system gave no answer.

    Raises
    ------
    InputError
        If the method has no truth probabilities, or they are undefined for these data.

    Examples
    --------
    >>> from lehner import estimate_algebraic, load_dataset
    >>> ratings = load_dataset("lehner_table2")
    >>> algebra = estimate_algebraic(ratings, interval=None)
    >>> predict_correctness(ratings, algebra).round(2).tolist()[:4]
    [0.35, 0.95, 0.99, 0.93]
    """
    answer = np.maximum(-1 if ratings.system is None else ratings.system, 0)
    right = predict_truth(ratings, estimate)[np.arange(ratings.n_rows), answer]
    return np.where(ratings.system >= 0, right, np.nan)  # type: ignore[operator]


def predict_truth(ratings: Ratings, estimate: Estimate) -> Floats:
    """Compute the truth probabilities that use the system's answer, (n_rows, n_categories)."""
    truth = estimate.arrays.get("truth_probabilities")
    accuracy = estimate.system_accuracy.estimate
    if truth is None or ratings.system is None or accuracy is None:
        problem = f"{estimate.method} gives no probabilities that the system is right"
        raise InputError(problem, "choose a method with truth probabilities")
    if not estimate.by_raters_alone:
        return np.asarray(truth.values)
    agrees = ratings.system[:, None] == np.arange(ratings.n_categories)
    likelihood = np.where(agrees, accuracy, (1 - accuracy) / (ratings.n_categories - 1))
    joint = truth.values * np.where(ratings.system[:, None] >= 0, likelihood, 1.0)
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1.0), truth.values)


def estimate_parameter_variance(estimate: Estimate, items: PartlyKnown) -> float:
    """Compute the variance of the mean probability that is due to the method's parameters.

    The interval of the expected accuracy also contains how far the accuracy in the sample is from
    it by chance, and on which items the system is right, given the ratings. These are subtracted.

    Parameters
    ----------
    estimate : Estimate
    items : PartlyKnown
        The items with the estimate's probabilities.

    Returns
    -------
    float
        The variance; 0 if there is no interval.
    """
    accuracy = items.mean
    by_chance = accuracy * (1 - accuracy) / items.n_items + items.variance_of_proportion
    return max(0.0, find_variance(estimate.system_accuracy) - by_chance)


def find_variance(stated: IntervalEstimate) -> float:
    """Compute the variance of a number from the width of its interval; 0 if there is none."""
    if stated.lower is None or stated.upper is None or stated.level is None:
        return 0.0
    z = NormalDist().inv_cdf((1 + stated.level) / 2)
    return ((stated.upper - stated.lower) / (2 * z)) ** 2


def check_contradiction(items: PartlyKnown, variance: float = 0.0) -> float:
    """Test whether the labelled items contradict a method.

    If the probabilities are right, the number of labelled items on which the system is right is a
    sum of independent events with these probabilities, whatever proportion of the items is known.
    An error of the method's parameters, which is normal, moves all probabilities alike.

    Parameters
    ----------
    items : PartlyKnown
    variance : float
        Variance of the mean of the probabilities that is due to the method's parameters.

    Returns
    -------
    float
        The two-sided p-value. The number that was observed counts half in each tail (mid-p), since
        there are few possible numbers if few items are known.

    References
    ----------
    Lancaster (1961), Significance tests in discrete distributions,
    https://doi.org/10.1080/01621459.1961.10482105, for the mid-p-value.
    """
    m = items.n_known
    numbers = np.arange(m + 1)
    right = np.clip(items.probability.round(3), CERTAIN_ITEM, 1 - CERTAIN_ITEM)
    by_chance = float((items.counts * right * (1 - right))[items.labelled].sum())
    spread = np.sqrt(m**2 * variance + (items.effect_of_known - 1) * by_chance)
    spread = max(spread, LEAST_SPREAD)
    number_right = poisson_binomial(right[items.labelled], items.counts[items.labelled])
    below = float(number_right @ special.ndtr((items.n_holding - numbers) / spread))
    return min(1.0, max(0.0, 2 * min(below, 1 - below)))


def _warn(items: PartlyKnown, p_value: float, sample: KnownSample) -> Iterator[Warning]:
    m, expected = items.n_known, float(items.counts * items.labelled @ items.probability)
    if p_value < SUSPICIOUS_P_VALUE:
        text = (
            f"gold labels contradict the method: of {pluralise(m, 'labelled item')} it expects the "
            f"system to be right on {expected:.1f}, but the system is right on "
            f"{items.n_holding} ({write_p(p_value)}); rely on the corrected estimate"
        )
        yield warn("truths-contradict", text)
    if not sample.random:
        text = f"{sample.doubt}, and the corrected estimate assumes that they are: {sample}"
        yield warn("truths-not-random", text)


def count_effective_items(items: PartlyKnown, level: float) -> float:
    """Give the number of independent items that would tell as much of others as clustered ones.

    Parameters
    ----------
    items : PartlyKnown
    level : float
        Probability of the interval that clusters widen.

    Returns
    -------
    float
        The number of items where there are no clusters.
    """
    if items.cluster is None:
        return items.n_items
    n_clusters = len(np.unique(items.cluster))
    return items.n_items / find_widening(items.design_effect, n_clusters, level) ** 2


def _expect_accuracy(
    posterior: ProportionPosterior, n_items: float, level: float
) -> IntervalEstimate:
    """Treat the items as a sample of items like these: a mixture of Jeffreys' posteriors."""
    likely, accuracy = posterior.keep_likely(NEGLIGIBLE), np.linspace(0, 1, N_ACCURACIES)
    below = likely.mix_betas(n_items, accuracy)
    lower, upper = np.interp([(1 - level) / 2, (1 + level) / 2], below, accuracy).tolist()
    mean = (likely.mean * n_items + 0.5) / (n_items + 1)
    return IntervalEstimate(mean, lower, upper, level, posterior.kind)


def draw_order(ratings: Ratings, seed: Seed) -> Integers:
    """Draw the order in which items are labelled one by one; labels are followed in the same."""
    return np.asarray(make_rng(seed).permutation(ratings.n_rows))


def choose_items(
    ratings: Ratings, n: int, *, enrich: Label | None = None, in_turn: bool = False, seed: Seed = 1
) -> Integers:
    """Choose items that an expert should label.

    Every item that the system answered and whose truth is unknown has the same probability of being
    chosen, so that the chosen items are representative of all. Of several systems only items count
    to which they gave different answers: other items say nothing of their differences, and the
    chosen ones represent no accuracy. Without a system, every item counts that somebody rated. It
    is a systematic sample of the items, sorted by the raters' votes and the votes for the system's
    answer, in which each kind of vote has about its proportion in the data. To choose more of the
    items on which raters disagree would be less informative, because raters who agree may all be
    wrong.

    Parameters
    ----------
    ratings : Ratings
        With a row per item.
    n : int
        Number of items, 1 or more.
    enrich : str or int, optional
        A rare category: half of the items are drawn from those that a rater or a system takes for
        it, and half from all others. `inclusion_probabilities` then gives the probabilities.
    in_turn : bool
        Draw items one by one, without regard to votes, as a confidence sequence needs them. With
        the same seed, those of the next call follow those that were labelled.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same items.

    Returns
    -------
    ndarray of int, shape (n,)
        Indices of their rows, in increasing order, or in that of the draws.

    Raises
    ------
    InputError
        If rows stand for several items, if there are fewer than n such items, or if there is
        nothing to enrich.

    References
    ----------
    Madow & Madow (1944), On the theory of systematic sampling,
    https://doi.org/10.1214/aoms/1177731312

    Examples
    --------
    >>> from lehner import load_dataset
    >>> choose_items(load_dataset("lehner_table2", system="System"), 3, seed=1).tolist()
    [3, 5, 6]
    """
    check_whole_number("n", n, 1)
    if ratings.grouped:
        problem = "rows stand for several items, and an expert labels single items"
        raise InputError(problem, "give a row for each item")
    if in_turn and enrich is not None:
        raise InputError("items of a category are not drawn one by one", "leave out one of both")
    rng = make_rng(seed)
    if enrich is not None:
        parts = _divide_by_category(ratings, n, enrich)
        drawn = [_draw_by_votes(ratings, rows, size, rng) for rows, size in parts]
        return np.sort(np.concatenate(drawn))
    rows = find_unlabelled(ratings)
    if n > len(rows):
        who = "the systems differ on" if len(ratings.systems) > 1 else "the system answered"
        who = who if ratings.systems else "the raters rated"
        problem = f"{pluralise(n, 'item')} asked for, but {who} only {len(rows)} of unknown truth"
        raise InputError(problem, f"ask for {len(rows)} or fewer")
    if in_turn:
        order = draw_order(ratings, rng)
        return order[np.isin(order, rows)][:n]
    return np.sort(_draw_by_votes(ratings, rows, n, rng))


def _draw_by_votes(ratings: Ratings, rows: Integers, n: int, rng: Generator) -> Integers:
    """Draw a systematic sample of some rows, sorted by votes."""
    shuffled = rng.permutation(rows)
    votes = ratings.count_votes()[shuffled]
    answer = ratings.answers[shuffled, 0] if ratings.systems else votes.argmax(axis=1)
    of_answer = votes[np.arange(len(votes)), answer]
    # The most frequent vote last, before the votes for the system's answer.
    ordered = shuffled[np.lexsort(np.column_stack([np.sort(votes, axis=1), of_answer]).T)]
    places = ((np.arange(n) + rng.uniform()) * len(rows) / n).astype(np.int64)
    return ordered[places]


def _divide_by_category(ratings: Ratings, n: int, category: Label) -> list[tuple[Integers, int]]:
    """Divide rows by whether anybody takes the item for a category, each with how many to draw."""
    codes = {str(label): code for code, label in enumerate(ratings.categories)}
    code = find("category", str(category), codes)
    if count_truths(ratings):
        problem = "there are gold labels, which were not drawn with these probabilities"
        raise InputError(problem, "leave them out, or ask for more of them at random")
    named = (ratings.count_votes()[:, code] > 0) | (ratings.answers == code).any(axis=1)
    parts = [np.flatnonzero(rows & (ratings.weights > 0)) for rows in (named, ~named)]
    if min(map(len, parts)) == 0 or not 2 <= n <= sum(map(len, parts)):
        problem = f"{len(parts[0])} of {pluralise(ratings.n_items, 'item')} are called "
        problem += f"{str(category)!r} by somebody"
        raise InputError(problem, "ask for 2 items or more, and draw at random if all or none are")
    first = max(min(n // 2, len(parts[0])), n - len(parts[1]))
    return list(zip(parts, (first, n - first), strict=True))


def inclusion_probabilities(ratings: Ratings, n: int, enrich: Label) -> Floats:
    """Find the probability with which `choose_items` chooses each item, if a category is enriched.

    Parameters
    ----------
    ratings, n, enrich
        As `choose_items` takes them.

    Returns
    -------
    ndarray, shape (n_rows,)
        Below 1, since an expert may be unable to tell some truths.

    Examples
    --------
    >>> ratings = Ratings([[0, 0]] * 6 + [[0, 1]] * 4, ["no", "yes"])
    >>> choose_items(ratings, 4, enrich="yes").tolist()
    [2, 3, 6, 8]
    >>> inclusion_probabilities(ratings, 4, "yes").round(2)[[0, 9]].tolist()
    [0.33, 0.5]
    """
    chances = np.full(ratings.n_rows, LEAST_PROBABILITY)
    for rows, size in _divide_by_category(ratings, n, enrich):
        chances[rows] = min(size / len(rows), MOST_CHANCE)
    return chances


def find_unlabelled(ratings: Ratings) -> Integers:
    """Give unlabelled rows that the system answered, or that several answered differently.

    Without a system, rows that somebody rated.
    """
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    answers = ratings.answers
    rows = (answers >= 0).all(axis=1) & (truth < 0) & (ratings.weights > 0)
    if len(ratings.systems) > 1:
        rows &= (answers != answers[:, :1]).any(axis=1)
    elif not ratings.systems:
        rows &= ratings.count_votes().any(axis=1)
    return np.flatnonzero(rows)
