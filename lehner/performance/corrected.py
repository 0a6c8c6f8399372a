"""Measures of a system corrected by known truths, as recall and specificity.

Which items are truly of a category is not known, but to which ones the system gave this answer, and
to which another: among both, the proportion of the category is recalibrated by the known items.
From the two numbers of items that result, right and missed ones, follow all measures of a category,
and with two categories the whole confusion matrix.
"""

from itertools import product

import numpy as np

from lehner.core.arrays import Booleans, Floats
from lehner.core.checks import check_level
from lehner.core.estimate import Estimate, IntervalEstimate
from lehner.data.ratings import Ratings
from lehner.known_truths.correction import own_variance, probabilities_with_answer
from lehner.known_truths.partly_known import partly_known
from lehner.known_truths.posterior import RECALIBRATED, WEIGHTED
from lehner.known_truths.recalibration import proportion_posterior
from lehner.performance.measures import OF_ALL_CATEGORIES, RATIOS, performance_measures

N_QUANTILES = 64
OF_ONE = ("recall", "specificity", "f1")
"""Measures that follow from one category against all others."""

type Measures = dict[tuple[str, ...], IntervalEstimate]


def correct_measures(
    ratings: Ratings, estimate: Estimate, *, costs: Floats | None = None, level: float = 0.9
) -> Measures:
    """Correct measures of the system by the known truths of some items.

    These are a random sample, or the ratings have the probabilities with which they were chosen.

    Parameters
    ----------
    ratings : Ratings
        With a system and the truth of some items.
    estimate : Estimate
        From the same ratings without their truths, by a method with truth probabilities.
    costs : ndarray, shape (n_categories, n_categories), optional
        Cost of each answer (column) when each category (row) is true.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    dict of tuple to IntervalEstimate
        By name of the measure and category, as ("recall", "A"): `recall`, `specificity` and `f1` of
        the items that the system answered. With two categories also the likelihood ratios, and by
        their names alone `balanced_accuracy`, `mcc`, `kappa_with_truth` and, with costs,
        `expected_cost`; and ("confusion", truth, answer). There is no estimate where a measure is
        undefined.

    Raises
    ------
    InputError
        If the method has no truth probabilities, or they are undefined for these data.

    Notes
    -----
    In simulations (`experiments/simulations/known_truths_by_category.csv`) 90% intervals contain
    recall in 87% or more of the cases, and specificity in 85% or more, however few items of the
    category are known, and the error is .3 to .6 times that of the known items of the category
    alone. If none is known, the interval rests on the prior of the method's bias and is very wide.

    Examples
    --------
    >>> from lehner import Scenario, estimate_algebraic, simulate
    >>> scenario = Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3, misleading=0.2)
    >>> ratings = simulate(scenario, 1)
    >>> some = ratings.with_truth(np.where(np.arange(ratings.n_items) < 40, ratings.truth, -1))
    >>> algebra = estimate_algebraic(ratings.with_truth(None), interval=None)
    >>> print(correct_measures(some, algebra)["recall", "A"])
    0.765 [0.703, 0.827]
    """
    level = check_level(level)
    probability, variance = probabilities_with_answer(ratings, estimate), own_variance(estimate)
    assert ratings.system is not None and ratings.truth is not None
    answered = (ratings.system >= 0) & (ratings.weights > 0)
    names = list(map(str, ratings.categories))
    found: Measures = {}
    kind = RECALIBRATED if ratings.truth_probability is None else WEIGHTED
    two = len(names) == 2
    # Of two categories one number of right and one of missed items determine both.
    for code in [1] if two else range(len(names)):
        own, true = ratings.system == code, ratings.truth == code
        right, missed = (
            _numbers_of(ratings, true, probability[:, code], rows, variance)
            for rows in (answered & own, answered & ~own)
        )
        n_given = float(ratings.weights[answered & own].sum())
        n_others = float(ratings.weights[answered].sum()) - n_given
        rates, confusion = _tables(right[:, None], missed, n_given, n_others)
        measures = performance_measures(rates, confusion, costs if two else None)
        for measure, (place, name) in product(
            (*OF_ONE, *RATIOS) if two else OF_ONE,
            enumerate(names) if two else [(1, names[code])],
        ):
            values = measures[measure][..., place]
            found[measure, name] = _interval(values, level, kind, ratio=measure in RATIOS)
        if two:
            for measure in (*OF_ALL_CATEGORIES, *(["expected_cost"] if costs is not None else [])):
                found[(measure,)] = _interval(measures[measure], level, kind)
            for (i, truth), (j, answer) in product(enumerate(names), repeat=2):
                found["confusion", truth, answer] = _interval(confusion[..., i, j], level, kind)
    return found


def _numbers_of(
    ratings: Ratings, true: Booleans, probability: Floats, rows: Booleans, variance: float
) -> Floats:
    """Equally probable numbers of items of a category among some rows."""
    if not rows.any():
        return np.zeros(1)
    items = partly_known(ratings, rows, probability, true)
    posterior = proportion_posterior(items, variance)
    middle = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    places = np.searchsorted(np.cumsum(posterior.probability), middle)
    return posterior.values[np.minimum(places, len(posterior.values) - 1)] * items.n_items


def _tables(
    right: Floats, missed: Floats, n_given: float, n_others: float
) -> tuple[Floats, Floats]:
    """Base rates and confusion matrices of others (first) and a category (last)."""
    own = right + missed
    wrong, rest = n_given - right, n_given + n_others - own
    with np.errstate(divide="ignore", invalid="ignore"):
        of_rest, of_own = wrong / rest, right / own
    rates = np.stack([rest, own], axis=-1) / (n_given + n_others)
    rows = [np.stack([1 - part, part], axis=-1) for part in (of_rest, of_own)]
    return rates, np.stack(rows, axis=-2)


def _interval(values: Floats, level: float, kind: str, *, ratio: bool = False) -> IntervalEstimate:
    values = values[~np.isnan(values)]
    if not values.size:
        return IntervalEstimate(estimate=None)
    ends = [(1 - level) / 2, (1 + level) / 2]
    lower, upper = np.quantile(values, ends, method="nearest").tolist()
    # The mean of a ratio need not exist.
    middle = np.quantile(values, 0.5, method="nearest") if ratio else values.mean()
    return IntervalEstimate(
        estimate=float(middle), lower=lower, upper=upper, level=level, kind=kind
    )
