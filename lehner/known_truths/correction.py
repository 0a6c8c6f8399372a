"""A system's accuracy, as estimated by any method, corrected by the known truths of some items."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats, poisson_binomial
from lehner.core.errors import InputError, check_level, check_number
from lehner.core.estimate import Estimate, IntervalEstimate
from lehner.core.resampling import widening
from lehner.core.text import counted, printed_p_value
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings
from lehner.known_truths.partly_known import (
    PartlyKnown,
    known_items_alone,
    prediction_powered,
    rightness,
)
from lehner.known_truths.partly_known import ProportionPosterior
from lehner.known_truths.random_sample import KnownSample, examine_known
from lehner.known_truths.correction import CERTAIN_ITEM, proportion_posterior

SUSPICIOUS_P_VALUE = 0.01
N_ACCURACIES = 401
NEGLIGIBLE = 1e-5
LEAST_SPREAD = 1e-9


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
    expected_right, right : float
        On how many of these the system is right: expected by the method, and observed.
    p_value : float
        Probability of as great a difference between the two if the method's assumptions hold: see
        `contradiction`.
    warnings : tuple of Warning
        Reasons for doubt: "truths-contradict" if the gold labels contradict the method, and
        "truths-not-random" if the labelled items are probably not a random sample.
    """

    system_accuracy_in_sample: IntervalEstimate
    system_accuracy: IntervalEstimate
    known_items_alone: IntervalEstimate
    prediction_powered: IntervalEstimate
    n_known: int
    expected_right: float
    right: float
    p_value: float
    warnings: tuple[Warning, ...] = ()


def correct_by_truth(
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
    >>> algebra = estimate_algebraic(ratings, aggregation="likelihood", interval=None)
    >>> found = correct_by_truth(some, algebra)
    >>> print(algebra.system_accuracy, "corrected:", found.system_accuracy_in_sample)
    0.903 corrected: 0.753 [0.615, 0.870]
    >>> float(np.mean(ratings.truth == ratings.system))
    0.635
    """
    level = check_level(level)
    if variance is not None:
        variance = check_number("variance", variance, 0, np.inf, "give a number, 0 or more")
    items, own, of_parameters = _read(ratings, estimate, variance)
    if items.n_known == 0:
        raise InputError(
            "no truth is known of an item that the system answered", "give some, with truth=…"
        )
    posterior = proportion_posterior(items, own)
    lower, upper = posterior.interval(level)
    p_value = contradiction(items, of_parameters)
    return TruthCorrection(
        system_accuracy_in_sample=IntervalEstimate(
            estimate=posterior.mean, lower=lower, upper=upper, level=level, kind=posterior.kind
        ),
        system_accuracy=_expected_accuracy(posterior, effective_items(items, level), level),
        known_items_alone=known_items_alone(items, level),
        prediction_powered=prediction_powered(items, level),
        n_known=items.n_known,
        expected_right=items.n_known * items.mean_of_known,
        right=items.n_holding,
        p_value=p_value,
        warnings=_warnings(items, p_value, examine_known(ratings)),
    )


def _read(
    ratings: Ratings, estimate: Estimate | ArrayLike, variance: float | None
) -> tuple[PartlyKnown, float, float]:
    """Items, the variance of the accuracy in the sample, and that of the parameters."""
    if isinstance(estimate, Estimate):
        items = rightness(ratings, probabilities_right(ratings, estimate))
        if variance is None:
            return items, own_variance(estimate), parameter_variance(estimate, items)
    else:
        items = rightness(ratings, estimate)
    return items, variance or 0.0, max(0.0, (variance or 0.0) - items.variance_of_proportion)


def probabilities_right(ratings: Ratings, estimate: Estimate) -> np.ndarray:
    """Probability by a method that the system is right, for each row.

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
    >>> probabilities_right(ratings, algebra).round(2).tolist()[:4]
    [0.35, 0.95, 0.99, 0.93]
    """
    answer = np.maximum(-1 if ratings.system is None else ratings.system, 0)
    right = probabilities_with_answer(ratings, estimate)[np.arange(ratings.n_rows), answer]
    return np.where(ratings.system >= 0, right, np.nan)  # type: ignore[operator]


def probabilities_with_answer(ratings: Ratings, estimate: Estimate) -> Floats:
    """Truth probabilities that use the system's answer, (n_rows, n_categories)."""
    truth = estimate.arrays.get("truth_probabilities")
    accuracy = estimate.system_accuracy.estimate
    if truth is None or ratings.system is None or accuracy is None:
        raise InputError(
            f"{estimate.method} gives no probabilities that the system is right",
            "choose a method with truth probabilities",
        )
    if not estimate.by_raters_alone:
        return np.asarray(truth.values)
    agrees = ratings.system[:, None] == np.arange(ratings.n_categories)
    given = np.where(agrees, accuracy, (1 - accuracy) / (ratings.n_categories - 1))
    joint = truth.values * np.where(ratings.system[:, None] >= 0, given, 1.0)
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1.0), truth.values)


def own_variance(estimate: Estimate) -> float:
    """Variance of the accuracy in the sample according to a method.

    Parameters
    ----------
    estimate : Estimate

    Returns
    -------
    float
        The variance, from the width of the interval; 0 if there is no interval.
    """
    return _variance(estimate.system_accuracy_in_sample)


def parameter_variance(estimate: Estimate, items: PartlyKnown) -> float:
    """Variance of the mean probability that is due to the method's parameters.

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
    return max(0.0, _variance(estimate.system_accuracy) - by_chance)


def _variance(stated: IntervalEstimate) -> float:
    if stated.lower is None or stated.upper is None or stated.level is None:
        return 0.0
    z = NormalDist().inv_cdf((1 + stated.level) / 2)
    return ((stated.upper - stated.lower) / (2 * z)) ** 2


def contradiction(items: PartlyKnown, variance: float = 0.0) -> float:
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
    from scipy.special import ndtr

    m = items.n_known
    numbers = np.arange(m + 1)
    right = np.clip(items.probability.round(3), CERTAIN_ITEM, 1 - CERTAIN_ITEM)
    by_chance = float((items.counts * right * (1 - right))[items.known].sum())
    spread = np.sqrt(m**2 * variance + (items.effect_of_known - 1) * by_chance)
    spread = max(spread, LEAST_SPREAD)
    number_right = poisson_binomial(right[items.known], items.counts[items.known])
    below = float(number_right @ ndtr((items.n_holding - numbers) / spread))
    return min(1.0, max(0.0, 2 * min(below, 1 - below)))


def _warnings(items: PartlyKnown, p_value: float, sample: KnownSample) -> tuple[Warning, ...]:
    m, warnings = items.n_known, []
    if p_value < SUSPICIOUS_P_VALUE:
        text = (
            f"gold labels contradict the method: of {counted(m, 'labelled item')} it expects the "
            f"system to be right on {m * items.mean_of_known:.1f}, but the system is right on "
            f"{items.n_holding} ({printed_p_value(p_value)}); rely on the corrected estimate"
        )
        warnings.append(warn("truths-contradict", text))
    if not sample.random:
        text = f"{sample.doubt}, and the corrected estimate assumes that they are: {sample}"
        warnings.append(warn("truths-not-random", text))
    return tuple(warnings)


def effective_items(items: PartlyKnown, level: float) -> float:
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
    return items.n_items / widening(items.design_effect, n_clusters, level) ** 2


def _expected_accuracy(
    posterior: ProportionPosterior, n_items: float, level: float
) -> IntervalEstimate:
    """Treat the items as a sample of items like these: a mixture of Jeffreys' posteriors."""
    from scipy.special import betainc

    kept = posterior.probability > NEGLIGIBLE * posterior.probability.max()
    weight = posterior.probability[kept] / posterior.probability[kept].sum()
    right = posterior.values[kept] * n_items
    accuracy = np.linspace(0, 1, N_ACCURACIES)
    below = betainc(right + 0.5, n_items - right + 0.5, accuracy[:, None]) @ weight
    lower, upper = np.interp([(1 - level) / 2, (1 + level) / 2], below, accuracy).tolist()
    mean = float(weight @ (right + 0.5) / (n_items + 1))
    return IntervalEstimate(
        estimate=mean, lower=lower, upper=upper, level=level, kind=posterior.kind
    )
