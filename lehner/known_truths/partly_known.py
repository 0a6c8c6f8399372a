"""Items with the probability that the system is right, or of another property, known for some.

Estimates without a prior are from the labelled items alone, and by prediction-powered inference.
"""

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.errors import InputError
from lehner.core.estimate import IntervalEstimate
from lehner.core.resampling import design_effect, effect_of_known, wilson_interval
from lehner.data.ratings import Ratings
from lehner.known_truths.partly_known import WEIGHTED
from lehner.known_truths.partly_known import weighted_difference, weighted_posterior

PROBABILITY_ROUNDING = 1e-6
WILSON, PPI = "Wilson, finite population", "PPI++, finite population"


@dataclass(frozen=True, kw_only=True, eq=False)
class PartlyKnown:
    """Rows of items, each with the probability of a property, and whether it has it, if known.

    Parameters
    ----------
    probability : ndarray, shape (n_rows,)
        Probability of the property, by a method that did not use the gold labels.
    counts : ndarray, shape (n_rows,)
        Number of items of each row.
    known : ndarray of bool, shape (n_rows,)
        Whether it is known if these items have the property.
    holds : ndarray of bool, shape (n_rows,)
        Whether these items have the property; False where that is not known.
    cluster : ndarray of int, shape (n_rows,), optional
        The cluster of each row; None if items are independent.
    chance : ndarray of float, shape (n_rows,), optional
        Probability with which the items of each row were chosen to be known, above 0 and at most 1;
        None if the labelled items are a simple random sample.
    """

    probability: Floats
    counts: Floats
    known: Booleans
    holds: Booleans
    cluster: Integers | None = None
    chance: Floats | None = None

    @property
    def uncertain(self) -> "PartlyKnown":
        """The items that were not sure to be known; none if all are known."""
        assert self.chance is not None
        rows = (self.chance < 1) & (self.n_known < self.n_items)
        return PartlyKnown(
            probability=self.probability[rows],
            counts=self.counts[rows],
            known=self.known[rows],
            holds=self.holds[rows],
            chance=self.chance[rows],
        )

    def of_all[Number: (float, Floats)](self, proportion: Number) -> Number:
        """Proportion of all items, from that of those that were not sure to be known."""
        rest = self.uncertain
        sure = self.n_holding - rest.n_holding
        return (sure + rest.n_items * proportion) / self.n_items

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.counts.sum())

    @property
    def n_known(self) -> int:
        """Number of items for which it is known whether they have the property."""
        return int(self.counts[self.known].sum())

    @property
    def n_holding(self) -> int:
        """Number of items that are known to have the property."""
        return int(self.counts[self.holds].sum())

    @property
    def mean(self) -> float:
        """Mean probability over all items: the proportion that the method expects."""
        return float(self.counts @ self.probability / self.counts.sum())

    @property
    def variance_of_proportion(self) -> float:
        """Variance of the proportion that has the property if the probabilities are right."""
        probability = self.probability
        return float(self.counts @ (probability * (1 - probability))) / self.n_items**2

    @property
    def design_effect(self) -> float:
        """By what factor clusters of items raise the variance of the proportion in other samples.

        Probabilities vary less than what they are probabilities of: the part of its variance that
        is theirs is the part of the correlation within clusters that they show.
        """
        if self.cluster is None:
            return 1.0
        expected = np.where(self.known, self.holds, self.probability)
        mean = self.counts @ expected / self.n_items
        shown = self.counts @ (expected - mean) ** 2 / self.n_items
        if shown <= 0:
            return design_effect(expected, self.counts, self.cluster)
        added = design_effect(expected, self.counts, self.cluster) - 1
        return float(1 + added * np.maximum(mean * (1 - mean) / shown, 1.0))

    @property
    def effect_of_known(self) -> float:
        """By what factor variances are larger since whole clusters are known; else 1."""
        return effect_of_known(self.holds.astype(float), self.counts, self.known, self.cluster)

    @property
    def mean_of_known(self) -> float:
        """Mean probability over the known items; NaN if there are none."""
        counts = self.counts * self.known
        return float(counts @ self.probability / counts.sum()) if self.n_known else np.nan


def rightness(ratings: Ratings, probabilities_right: ArrayLike) -> PartlyKnown:
    """Collect on which items the system is right, as far as that is known.

    Parameters
    ----------
    ratings : Ratings
        Ratings with a system and the truth of some items.
    probabilities_right : array_like, shape (n_rows,)
        Probability that the system is right. Rows without an answer of the system are left out.

    Returns
    -------
    PartlyKnown

    Raises
    ------
    InputError
        If there is no system, or if there is not a probability from 0 to 1 for each row.
    """
    if ratings.system is None or not (ratings.weights[ratings.system >= 0] > 0).any():
        raise InputError("there is no answer of a system", "give ratings with a system")
    answered = (ratings.system >= 0) & (ratings.weights > 0)
    truth = np.full(len(answered), -1) if ratings.truth is None else ratings.truth
    return partly_known(ratings, answered, probabilities_right, truth == ratings.system)


def partly_known(
    ratings: Ratings, rows: Booleans, probability: ArrayLike, holds: Booleans
) -> PartlyKnown:
    """Collect in which of some rows of ratings something holds, as far as truths are known.

    Parameters
    ----------
    ratings : Ratings
    rows : ndarray of bool, shape (n_rows,)
    probability : array_like, shape (n_rows,)
        Of what holds, from 0 to 1; of other rows it may be anything.
    holds : ndarray of bool, shape (n_rows,)
        Whether it holds; where the truth is unknown, it may be anything.

    Returns
    -------
    PartlyKnown

    Raises
    ------
    InputError
        If there is not a probability from 0 to 1 for each of these rows.
    """
    known = np.zeros(ratings.n_rows, bool) if ratings.truth is None else ratings.truth >= 0
    chance = ratings.truth_probability
    return PartlyKnown(
        probability=check_probabilities(probability, ratings, rows)[rows],
        counts=ratings.weights[rows].astype(float),
        known=known[rows],
        holds=(known & holds)[rows],
        cluster=None if ratings.cluster is None else ratings.cluster[rows],
        chance=None if chance is None else chance[rows],
    )


def check_probabilities(values: ArrayLike, ratings: Ratings, needed: Booleans) -> Floats:
    """Raise an InputError unless there is a probability for each row that needs one.

    Parameters
    ----------
    values : array_like, shape (n_rows,)
    ratings : Ratings
    needed : ndarray of bool, shape (n_rows,)

    Returns
    -------
    ndarray, shape (n_rows,)
    """
    try:
        probabilities = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError("the probabilities are not all numbers", "give one for each row") from None
    if probabilities.shape != needed.shape:
        raise InputError(
            f"the probabilities have shape {probabilities.shape} for {len(needed)} rows of ratings",
            "give one for each row",
        )
    bad = needed & ~(
        (probabilities >= -PROBABILITY_ROUNDING) & (probabilities <= 1 + PROBABILITY_ROUNDING)
    )
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"the probability of item {ratings.items[row]} is {probabilities[row]:g}",
            "give numbers between 0 and 1",
        )
    return np.clip(probabilities, 0.0, 1.0)


def known_items_alone(items: PartlyKnown, level: float = 0.9) -> IntervalEstimate:
    """Treat the labelled items as a random sample: Wilson's interval for a finite population.

    If they were chosen with known unequal probabilities, they are weighted by their inverse.

    Parameters
    ----------
    items : PartlyKnown
    level : float
        Probability of the interval, between 0 and 1.

    Returns
    -------
    IntervalEstimate
        The proportion of all items. There is no estimate if no item is known.

    Examples
    --------
    >>> first = np.arange(100) < 20
    >>> items = PartlyKnown(
    ...     probability=np.full(100, 0.8), counts=np.ones(100), known=first, holds=first
    ... )
    >>> str(known_items_alone(items))
    '1.000 [0.901, 1.000]'
    """
    n, m = items.n_items, items.n_known
    if m == 0:
        return IntervalEstimate(estimate=None)
    if items.chance is not None:
        return _weighted_alone(items, level)
    proportion, effect = items.n_holding / m, items.effect_of_known
    ends = wilson_interval(proportion, m / effect, z=_z(level), population=n / effect)
    lower, upper = ends.tolist()
    return IntervalEstimate(estimate=proportion, lower=lower, upper=upper, level=level, kind=WILSON)


def _weighted_alone(items: PartlyKnown, level: float) -> IntervalEstimate:
    rest = items.uncertain
    proportion, (lower, upper) = 0.5, (0.0, 1.0)
    if rest.n_known:
        proportion = weighted_difference(rest, helped=False).estimate
        lower, upper = weighted_posterior(rest, helped=False).interval(level)
    estimate, lower, upper = map(items.of_all, (proportion, lower, upper))
    return IntervalEstimate(estimate=estimate, lower=lower, upper=upper, level=level, kind=WEIGHTED)


def effective_numbers(items: PartlyKnown) -> tuple[int, int]:
    """Count labelled items, and those that have the property, as of a simple random sample.

    Parameters
    ----------
    items : PartlyKnown

    Returns
    -------
    n_known, n_holding : int
        Of a sample that tells about as much as the weighted or clustered labelled items.
    """
    if items.chance is None:
        m, n = items.n_known, items.n_items
        known = round(1 / (1 / n + items.effect_of_known * (1 / m - 1 / n)))
        return known, round(items.n_holding / m * known)
    rest = items.uncertain
    if not rest.n_known:
        return 0, 0
    alone, n = weighted_difference(rest, helped=False), items.n_items
    effective = alone.n_effective * n / rest.n_items
    known = round(effective * n / (effective + n))
    return known, round(items.of_all(alone.estimate) * known)


def prediction_powered(items: PartlyKnown, level: float = 0.9) -> IntervalEstimate:
    """Add the mean residual of the labelled items to λ times the mean probability: PPI++.

    λ, from 0 to 1, minimises the variance. The population is finite: the interval is that of the
    proportion among these items, not among items like them. It is normal: see
    `lehner.known_truths.partly_known`.

    Parameters
    ----------
    items : PartlyKnown
    level : float
        Probability of the interval, between 0 and 1.

    Returns
    -------
    IntervalEstimate
        There is no interval if fewer than two items are known or their residuals are all equal,
        because its width would then be 0.

    References
    ----------
    Angelopoulos, Duchi & Zrnic (2023), PPI++: efficient prediction-powered inference,
    https://arxiv.org/abs/2311.01453. With a finite population it is the regression estimator of
    Cochran (1977), chapter 7.
    """
    effect = 1.0
    if items.chance is None:
        effect = items.effect_of_known
        equal = items.n_known / items.n_items
        items = replace(items, chance=np.full(len(items.counts), equal))
    rest = items.uncertain
    if not rest.n_known:
        exact = None if rest.n_items or not items.n_known else items.of_all(0.0)
        return IntervalEstimate(estimate=exact)
    found = weighted_difference(rest)
    estimate = items.of_all(found.estimate)
    if found.variance <= 0 or rest.n_known < 2:
        return IntervalEstimate(estimate=estimate)
    half = _z(level) * np.sqrt(found.variance * effect) * rest.n_items / items.n_items
    lower, upper = float(max(estimate - half, 0.0)), float(min(estimate + half, 1.0))
    return IntervalEstimate(estimate=estimate, lower=lower, upper=upper, level=level, kind=PPI)


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
