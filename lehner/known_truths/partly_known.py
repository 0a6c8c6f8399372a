r"""Items with the probability that the system is right, or of another property, known for some.

Whether these can be a random sample of all is tested. Estimates without a prior are from the
labelled items alone, and by prediction-powered inference. If truths were found out with known
unequal probabilities, they are weighted:

Item i was chosen with probability :math:`\pi_i`, so that its weight is :math:`w_i = 1 / \pi_i`. The
method's probability that it has the property, found without the gold labels, is :math:`f_i`, and
:math:`h_i` is 1 if it has the property and 0 if not. The weighted difference estimator is

.. math:: \hat\theta = \lambda \bar f + \frac{\sum_s w_i (h_i - \lambda f_i)}{\sum_s w_i}

where s are the labelled items. Whatever the method's probabilities are worth, it is right in large
samples, and they only make it more precise. :math:`\lambda`, from 0 to 1, minimises the variance

.. math:: V = \frac{m}{m - 1} \frac{\sum_s w_i (w_i - 1) (e_i - \bar e)^2}{(\sum_s w_i)^2},

where :math:`e_i = h_i - \lambda f_i` has the weighted mean :math:`\bar e`. With equal probabilities
it is PPI++. With λ = 0 it is the mean of Hájek, and among items that all have the same probability,
such as those with one answer of the system, the correction of verification bias by Begg & Greenes.

An interval from V alone is too narrow if few labelled items have the property, or few have not. The
interval is therefore that of a beta distribution of as many items as would have this variance,

.. math::
    n_e = \frac{(\sum_s w_i)^2}{\sum_s w_i (w_i - 1)} \Big/ \frac{m_V v + 2}
    {m_V \hat\theta (1 - \hat\theta) + 2}, \quad
    m_V = \frac{(\sum_s w_i (w_i - 1))^2}{\sum_s w_i^2 (w_i - 1)^2}

where v is the variance of the residuals, weighted as in V. The first factor is the number of items
if residuals did not depend on weights and the method's probabilities were of no use (Kish); the
second says what they make of it, as far as :math:`m_V` items can tell.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Booleans, Floats, Integers, poisson_binomial
from lehner.core.errors import InputError, Warning, warn
from lehner.core.estimate import IntervalEstimate
from lehner.core.lazy import special, stats
from lehner.core.resampling import design_effect, estimate_effect, estimate_wilson
from lehner.data.estimable import is_partly_labelled
from lehner.data.ratings import Ratings

PROBABILITY_ROUNDING = 1e-6
PPI = "PPI++, finite population"
RECALIBRATED = "recalibrated, equal-tailed"
WEIGHTED = "weighted difference, equal-tailed"
PRIOR_EVENTS = 2.0
MOST_VALUES = 2000
NOT_RANDOM = 0.005
# If more of the items are of a kind that has no gold label, labels are left out.
UNSEEN_SHARE = 0.05
NEWTON_STEPS, CONVERGED = 50, 1e-8


@dataclass(frozen=True, kw_only=True, eq=False)
class ProportionPosterior:
    """The posterior of a proportion of the items.

    Parameters
    ----------
    values : ndarray, shape (n_values,)
        The possible proportions, in increasing order.
    probability : ndarray, shape (n_values,)
        Probability of each of them; they sum to 1.
    kind : str
        How it was made, as the kind of its intervals.
    """

    values: Floats
    probability: Floats
    kind: str = RECALIBRATED

    @property
    def mean(self) -> float:
        """Posterior mean."""
        return float(self.values @ self.probability)

    @property
    def variance(self) -> float:
        """Posterior variance."""
        return float((self.values - self.mean) ** 2 @ self.probability)

    def quantiles(self, probabilities: ArrayLike) -> Floats:
        """Give the proportions below which there is so much probability."""
        ends = np.searchsorted(np.cumsum(self.probability), probabilities)
        return np.asarray(self.values[np.minimum(ends, len(self.values) - 1)])

    def interval(self, level: float) -> tuple[float, float]:
        """Compute the equal-tailed interval of probability `level` or more, with the mean in it."""
        lower, upper = self.quantiles([(1 - level) / 2, (1 + level) / 2]).tolist()
        return min(lower, self.mean), max(upper, self.mean)

    def keep_likely(self, least: float) -> "ProportionPosterior":
        """Leave out proportions that are less probable than a part of the most probable one."""
        kept = self.probability > least * self.probability.max()
        probability = self.probability[kept]
        return replace(self, values=self.values[kept], probability=probability / probability.sum())

    def mix_betas(self, n_items: float, accuracy: Floats) -> Floats:
        """Compute the probability that the proportion of items like these is below each accuracy.

        These are a sample, of `n_items` independent ones: a mixture of Jeffreys' posteriors.
        """
        right = self.values * n_items
        mixed = special.betainc(right + 0.5, n_items - right + 0.5, accuracy[:, None])
        return np.asarray(mixed @ self.probability)

    def shortest_interval(self, level: float) -> tuple[float, float]:
        """Compute the shortest interval of probability `level` or more, with the mean in it."""
        below = np.concatenate([[0.0], np.cumsum(self.probability)])
        last = np.searchsorted(below, below[:-1] + level * below[-1]) - 1
        first = np.flatnonzero(last < len(self.values))
        width = self.values[last[first]] - self.values[first]
        best = first[np.argmin(width)]
        lower, upper = float(self.values[best]), float(self.values[last[best]])
        return min(lower, self.mean), max(upper, self.mean)


@dataclass(frozen=True, kw_only=True, eq=False)
class PartlyKnown:
    """Rows of items, each with the probability of a property, and whether it has it, if known.

    Parameters
    ----------
    probability : ndarray, shape (n_rows,)
        Probability of the property, by a method that did not use the gold labels.
    counts : ndarray, shape (n_rows,)
        Number of items of each row.
    labelled : ndarray of bool, shape (n_rows,)
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
    labelled: Booleans
    holds: Booleans
    cluster: Integers | None = None
    chance: Floats | None = None

    @property
    def uncertain(self) -> "PartlyKnown":
        """The items that were not sure to be known; none if all are known."""
        assert self.chance is not None
        rows = (self.chance < 1) & (self.n_known < self.n_items)
        fields = {name: values for name, values in vars(self).items() if values is not None}
        return PartlyKnown(**{name: values[rows] for name, values in fields.items()})

    def to_all[Number: (float, Floats)](self, proportion: Number) -> Number:
        """Compute the proportion of all items from that of those not sure to be labelled."""
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
        return int(self.counts[self.labelled].sum())

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
        expected = np.where(self.labelled, self.holds, self.probability)
        mean = self.counts @ expected / self.n_items
        shown = self.counts @ (expected - mean) ** 2 / self.n_items
        if shown <= 0:
            return design_effect(expected, self.counts, self.cluster)
        added = design_effect(expected, self.counts, self.cluster) - 1
        return float(1 + added * np.maximum(mean * (1 - mean) / shown, 1.0))

    @property
    def effect_of_known(self) -> float:
        """By what factor variances are larger since whole clusters are known; else 1."""
        return estimate_effect(self.holds.astype(float), self.counts, self.labelled, self.cluster)


def collect_right(ratings: Ratings, probabilities_right: ArrayLike) -> PartlyKnown:
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
    return collect_known(ratings, answered, probabilities_right, truth == ratings.system)


def collect_known(
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
    labelled = np.zeros(ratings.n_rows, bool) if ratings.truth is None else ratings.truth >= 0
    chance = ratings.truth_probability
    return PartlyKnown(
        probability=check_probabilities(probability, ratings, rows)[rows],
        counts=ratings.weights[rows].astype(float),
        labelled=labelled[rows],
        holds=(labelled & holds)[rows],
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
        problem = f"the probabilities have shape {probabilities.shape} for {len(needed)} rows"
        raise InputError(f"{problem} of ratings", "give one for each row")
    bad = needed & ~(np.abs(probabilities - 0.5) <= 0.5 + PROBABILITY_ROUNDING)
    if bad.any():
        row = int(np.argmax(bad))
        problem = f"the probability of item {ratings.items[row]} is {probabilities[row]:g}"
        raise InputError(problem, "give numbers between 0 and 1")
    return np.clip(probabilities, 0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class WeightedDifference:
    """A proportion of items, none of which was sure to be known.

    Parameters
    ----------
    estimate : float
        The proportion, from 0 to 1.
    variance : float
        Its variance, 0 or more, over which items are known.
    slope : float
        λ, from 0 to 1.
    n_effective : float
        Of how many items of a simple random sample the interval has the width.
    """

    estimate: float
    variance: float
    slope: float
    n_effective: float


def weigh_difference(items: PartlyKnown, *, helped: bool = True) -> WeightedDifference:
    """Estimate a proportion of items, none of which was sure to be known.

    Parameters
    ----------
    items : PartlyKnown
        Each with a `chance` below 1, and one labelled item at least.
    helped : bool
        Whether the method's probabilities help; if not, λ is 0.

    Returns
    -------
    WeightedDifference

    References
    ----------
    Angelopoulos, Duchi & Zrnic (2023), PPI++, https://arxiv.org/abs/2311.01453; Särndal, Swensson &
    Wretman (1992), Model assisted survey sampling, chapters 5 to 7; Begg & Greenes (1983),
    https://doi.org/10.2307/2530820; Kish (1965), Survey sampling.

    Examples
    --------
    Positives are verified always, or nearly so, and negatives seldom:

    >>> positive = np.arange(100) < 40
    >>> labelled = positive | (np.arange(100) >= 88)
    >>> items = PartlyKnown(
    ...     probability=np.full(100, 0.5),
    ...     counts=np.ones(100),
    ...     labelled=labelled,
    ...     holds=labelled & (np.arange(100) % 4 == 0) | positive,
    ...     chance=np.where(positive, 0.999, 0.2),
    ... )
    >>> items.n_holding / items.n_known, round(weigh_difference(items).estimate, 2)
    (0.8269230769230769, 0.55)
    """
    assert items.chance is not None
    rows, f, m, n = items.labelled, items.probability, items.n_known, items.n_items
    h = items.holds[rows].astype(float)
    odds_against = items.counts * (1 / items.chance - 1)
    weight, added = items.counts[rows] / items.chance[rows], (odds_against / items.chance)[rows]
    correction = m / max(m - 1, 1)

    def centre(values: Floats) -> Floats:
        values = values - values[0]  # If all are equal, rounding must leave no variance.
        return np.asarray(values - weight @ values / weight.sum())

    slope = 0.0
    spread = odds_against @ (f - items.mean) ** 2 * n / max(n - 1, 1)
    if helped and spread > 0:
        both = added @ (centre(h) * centre(f[rows])) * correction
        slope = float(np.clip(both / spread, 0.0, 1.0))
    residual = h - slope * f[rows]
    mean = float(weight @ residual / weight.sum())
    estimate = float(np.clip(slope * items.mean + mean, 0.0, 1.0))
    squares = float(added @ centre(residual) ** 2) * correction
    m_v = added.sum() ** 2 / (added**2 / items.counts[rows]).sum()
    expected = m_v * estimate * (1 - estimate) + PRIOR_EVENTS
    observed = m_v * squares / added.sum() + PRIOR_EVENTS
    effect = items.effect_of_known
    return WeightedDifference(
        estimate=estimate,
        variance=float(squares / weight.sum() ** 2) * effect,
        slope=slope,
        n_effective=float(weight.sum() ** 2 / added.sum() * expected / observed) / effect,
    )


def weigh_posterior(items: PartlyKnown, *, helped: bool = True) -> ProportionPosterior:
    """Give the beta distribution of the weighted difference estimator, as far as it is possible.

    Parameters
    ----------
    items : PartlyKnown
        As in `weigh_difference`.
    helped : bool
        Whether the method's probabilities help.

    Returns
    -------
    ProportionPosterior
        Of the proportions that what is known of these items leaves possible.
    """
    difference = weigh_difference(items, helped=helped)
    n, n_unknown = difference.n_effective, items.n_items - items.n_known
    number = np.linspace(0, n_unknown, min(n_unknown, MOST_VALUES) + 1)
    values = (items.n_holding + number) / items.n_items
    borders = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [1.0]])
    right, wrong = difference.estimate * n + 0.5, (1 - difference.estimate) * n + 0.5
    probability = np.diff(special.betainc(right, wrong, borders))
    return ProportionPosterior(values=values, probability=probability, kind=WEIGHTED)


def estimate_alone(items: PartlyKnown, level: float = 0.9) -> IntervalEstimate:
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
    ...     probability=np.full(100, 0.8), counts=np.ones(100), labelled=first, holds=first
    ... )
    >>> str(estimate_alone(items))
    '1.000 [0.901, 1.000]'
    """
    n, m, effect = items.n_items, items.n_known, items.effect_of_known
    if m == 0:
        return IntervalEstimate(estimate=None)
    if items.chance is None:
        return estimate_wilson(items.n_holding / m, m / effect, level, population=n / effect)
    rest, proportion, ends = items.uncertain, 0.5, np.array([0.0, 1.0])
    if rest.n_known:
        proportion = weigh_difference(rest, helped=False).estimate
        ends = np.array(weigh_posterior(rest, helped=False).interval(level))
    estimate, lower, upper = map(items.to_all, (proportion, *ends.tolist()))
    return IntervalEstimate(estimate=estimate, lower=lower, upper=upper, level=level, kind=WEIGHTED)


def count_effective(items: PartlyKnown, effect: float = 1.0) -> tuple[int, int]:
    """Count labelled items, and those that have the property, as of a simple random sample.

    Parameters
    ----------
    items : PartlyKnown
    effect : float
        By what factor clusters of labelled items raise variances, if labels are not weighted.

    Returns
    -------
    n_known, n_holding : int
        Of a sample that tells about as much as the weighted or clustered labelled items.
    """
    m, n = items.n_known, items.n_items
    if items.chance is None:
        n_labelled = round(1 / (1 / n + effect * (1 / m - 1 / n)))
        return n_labelled, round(items.n_holding / m * n_labelled)
    rest = items.uncertain
    if not rest.n_known:
        return 0, 0
    alone = weigh_difference(rest, helped=False)
    effective = alone.n_effective * n / rest.n_items
    n_labelled = round(effective * n / (effective + n))
    return n_labelled, round(items.to_all(alone.estimate) * n_labelled)


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
    if items.chance is None:
        equal = items.n_known / items.n_items
        items = replace(items, chance=np.full(len(items.counts), equal))
    rest = items.uncertain
    if not rest.n_known:
        exact = None if rest.n_items or not items.n_known else items.to_all(0.0)
        return IntervalEstimate(estimate=exact)
    difference = weigh_difference(rest)
    estimate = items.to_all(difference.estimate)
    if difference.variance <= 0 or rest.n_known < 2:
        return IntervalEstimate(estimate=estimate)
    z, share = special.ndtri((1 + level) / 2), rest.n_items / items.n_items
    half = z * np.sqrt(difference.variance) * share
    lower, upper = float(max(estimate - half, 0.0)), float(min(estimate + half, 1.0))
    return IntervalEstimate(estimate=estimate, lower=lower, upper=upper, level=level, kind=PPI)


@dataclass(frozen=True, kw_only=True)
class KnownSample:
    """How often something holds for the items with gold labels, and how often for all items.

    Parameters
    ----------
    what : str
        What holds, as "raters all agree" or "most raters say 'yes'": that for which the labelled
        items are least like the others.
    n_known, n_items : int
        Number of items with gold labels with two answers or more, and of all such items. If there
        is a system, those that it did not answer are left out.
    holds_known, holds : int
        Number of these for which it holds.
    p_value : float
        Fisher's exact test, two-sided, that the labelled items are a random sample of all, adjusted
        by Bonferroni's method for the number of tests: that raters agree, that raters and system
        do, and for each category that most raters name it. If items were chosen with known unequal
        probabilities, a test that `holds_known` is what these make of it, as of independent draws.
    expected : float, optional
        How often it should hold for the labelled items by these probabilities; None without them.
    """

    what: str
    n_known: int
    n_items: int
    holds_known: int
    holds: int
    p_value: float
    expected: float | None = None

    @property
    def random(self) -> bool:
        """Whether the labelled items can be a random sample: whether the p-value is above .005."""
        return self.p_value > NOT_RANDOM

    @property
    def misses_kind(self) -> bool:
        """Whether many items have it, or many have it not, and none of these is labelled."""
        unseen = self.holds if not self.holds_known else 0
        if self.holds_known == self.n_known:
            unseen = self.n_items - self.holds
        return unseen > UNSEEN_SHARE * self.n_items

    @property
    def doubt(self) -> str:
        """What is probably so if they cannot be."""
        drawn = "" if self.expected is None else " with the probabilities given"
        return f"the items with gold labels are probably not a random sample{drawn}"

    def __str__(self) -> str:
        of_labelled = f"{self.what} on {self.holds_known} of {self.n_known} of them"
        if self.expected is not None:
            return f"{of_labelled}, where {self.expected:.1f} are expected"
        return f"{of_labelled}, but on {self.holds} of all {self.n_items} items"


def examine_known(ratings: Ratings) -> KnownSample:
    """Test whether the items with gold labels can be a random sample of all items.

    Items that were chosen because answers differ, because they agree, or because they are of some
    category, are found. Items that were chosen in other ways may not be. Where the ratings have
    probabilities of gold labels, the test is whether items were chosen with these.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    KnownSample

    Examples
    --------
    >>> ratings = Ratings([[0, 0, 0]] * 30 + [[0, 1, 1]] * 30, ["no", "yes"])
    >>> labelled = ratings.with_truth([-1] * 30 + [1] * 20 + [-1] * 10)
    >>> examine_known(labelled).random
    False
    >>> print(examine_known(labelled))
    raters all agree on 0 of 20 of them, but on 30 of all 60 items
    """
    samples = _test_properties(ratings)
    clearest = min(samples, key=lambda sample: sample.p_value)
    return replace(clearest, p_value=min(1.0, len(samples) * clearest.p_value))


def _test_properties(ratings: Ratings) -> list[KnownSample]:
    """Test for each property, alone, whether labelled items have it as often as others."""
    answered = (ratings.answers >= 0).all(axis=1)
    return [
        _test_property(ratings, what, answered & counted, holds)
        for what, counted, holds in _list_properties(ratings)
    ]


def weigh_labels(ratings: Ratings, *, in_model: bool = False) -> tuple[Ratings, list[Warning]]:
    """Give gold labels that are no random sample the probabilities with which items got one.

    The probabilities are estimated from the votes, the systems' answers and the populations, by
    logistic regression. Estimates that weight labels by their inverse are then unbiased if nothing
    else that is related to the truth decided which items were labelled (Begg & Greenes). Where
    items of a frequent kind have no label, no weight makes up for them, and labels are left out.

    Parameters
    ----------
    ratings : Ratings
        Those whose labels can be a random sample, or have probabilities, come back as they are.
    in_model : bool
        Whether models are fitted to the labels, which are then not left out.

    Returns
    -------
    ratings : Ratings
    warnings : list of Warning
        What was done, and what it assumes; empty for a random sample.

    References
    ----------
    Begg & Greenes (1983), https://doi.org/10.2307/2530820, and, for estimated probabilities,
    Alonzo & Pepe (2005), https://doi.org/10.1111/j.1467-9876.2005.00477.x

    Examples
    --------
    >>> ratings = Ratings([[0, 0]] * 50 + [[1, 1]] * 50, ["no", "yes"])
    >>> labelled = ratings.with_truth([0] * 5 + [-1] * 45 + [1] * 40 + [-1] * 10)
    >>> weighted, warnings = weigh_labels(labelled)
    >>> weighted.truth_probability.round(2).tolist()[::99], warnings[0].code
    ([0.11, 0.79], 'truths-weighted')
    """
    if not is_partly_labelled(ratings) or (sample := examine_known(ratings)).random:
        return ratings, []
    if ratings.truth_probability is not None:
        return ratings, [warn("truths-not-random", f"{sample.doubt}: {sample}")]
    missing = [kind for kind in _test_properties(ratings) if kind.misses_kind]
    if missing:
        text = f"{sample.doubt}: {missing[0]}, and say nothing of items of a kind that has no label"
        kept = ratings if in_model else ratings.with_truth(None)
        return kept, [warn("truths-not-random", text if in_model else f"{text}: they are left out")]
    text = (
        f"{sample.doubt} ({sample}): each is weighted by the inverse of its chance of a label, "
        "estimated from votes and answers, which is right if these alone decided what was labelled"
    )
    return ratings.with_truth(ratings.truth, _fit_chances(ratings)), [warn("truths-weighted", text)]


def _fit_chances(ratings: Ratings) -> Floats:
    """Estimate the probability of a gold label of each row, by penalised logistic regression."""
    votes, kinds = ratings.without_system().count_votes(), np.arange(ratings.n_categories)
    total = votes.sum(axis=1, keepdims=True)
    # An item without ratings is like the average one.
    shares = np.where(total > 0, votes / np.maximum(total, 1), votes.sum(axis=0) / votes.sum())
    columns = [shares, (votes > 0).sum(axis=1, keepdims=True) == 1]
    columns += [answer[:, None] == kinds for answer in ratings.answers.T]
    if ratings.population is not None:
        columns.append(ratings.population[:, None] == np.arange(len(ratings.populations)))
    weights, features = ratings.weights.astype(float), np.concatenate(columns, axis=1, dtype=float)
    features -= weights @ features / weights.sum()
    spread = np.sqrt(weights @ features**2 / weights.sum())
    features = features[:, spread > CONVERGED] / spread[spread > CONVERGED]
    design, labelled = np.c_[np.ones(len(features)), features], np.asarray(ratings.truth) >= 0
    mean = np.zeros(design.shape[1])
    mean[0] = special.logit(weights @ labelled / weights.sum())
    precision = np.where(np.arange(len(mean)) > 0, 1.0, 0.0)
    slopes = fit_logistic(design, labelled, weights, mean, precision)
    return np.asarray(special.expit(design @ slopes))


def fit_logistic(
    design: Floats, outcome: Floats | Booleans, weights: Floats, mean: Floats, precision: Floats
) -> Floats:
    """Find the mode of the slopes of a logistic regression with a normal prior, (n_columns,)."""
    slopes = mean.copy()
    for _ in range(NEWTON_STEPS):
        fitted = special.expit(design @ slopes)
        gradient = design.T @ (weights * (outcome - fitted)) - precision * (slopes - mean)
        bend = (design.T * (weights * fitted * (1 - fitted))) @ design + np.diag(precision)
        step = np.linalg.solve(bend, gradient)
        slopes += np.clip(step, -1, 1)
        if np.abs(step).max() < CONVERGED:
            break
    return slopes


def are_drawn_equally(ratings: Ratings) -> bool:
    """Tell whether some truths are known, of items that can be a simple random sample."""
    if ratings.truth is None or ratings.truth_probability is not None:
        return False
    return examine_known(ratings).random


def _list_properties(ratings: Ratings) -> Iterator[tuple[str, Booleans, Booleans]]:
    """List what may hold for an item, the items for which it can, and those for which it does."""
    votes = ratings.without_system().count_votes()
    several = ratings.votes.count_raters() >= 2
    yield "raters all agree", several, (votes > 0).sum(axis=1) == 1
    if ratings.systems:
        answers = ratings.answers[:, :, None] == np.arange(ratings.n_categories)
        named = ((votes + answers.sum(axis=1)) > 0).sum(axis=1)
        two = ratings.all_votes.count_raters() >= 2
        yield "raters and system all agree", two, named == 1
    for code, name in enumerate(ratings.categories):
        yield f"most raters say {str(name)!r}", several, 2 * votes[:, code] > votes.sum(axis=1)
        for system, answer in zip(ratings.systems, ratings.answers.T, strict=True):
            yield f"{system} says {str(name)!r}", answer >= 0, answer == code


def _test_property(ratings: Ratings, what: str, counted: Booleans, holds: Booleans) -> KnownSample:
    """Test whether a property is as frequent among labelled items as it should be."""
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    labelled, holds = counted & (truth >= 0), counted & holds
    numbers = [int(ratings.weights @ rows) for rows in (labelled, counted, labelled & holds, holds)]
    expected = None
    if ratings.truth_probability is None:
        n_known, n_items, of_known, of_all = numbers
        unlabelled = of_all - of_known, n_items - n_known - of_all + of_known
        weights = (ratings.weights * counted).astype(float)
        effect = estimate_effect(holds.astype(float), weights, labelled, ratings.cluster)
        table = np.array([(of_known, n_known - of_known), unlabelled]) / effect
        p_value = float(stats.fisher_exact(table.round().astype(int)).pvalue)
    else:
        chance = ratings.truth_probability[counted]
        of_items = ratings.weights[counted], labelled[counted], holds[counted]
        expected, p_value = _compare_with_expected(chance, *of_items)
    counts = dict(zip(("n_known", "n_items", "holds_known", "holds"), numbers, strict=True))
    return KnownSample(what=what, p_value=p_value, expected=expected, **counts)


def _compare_with_expected(
    chance: Floats, counts: Integers, labelled: Booleans, holds: Booleans
) -> tuple[float, float]:
    """Number of labelled items for which it should hold, given how many are known, and a p-value.

    The p-value is a mid-p value. It is that of the rarer of what holds and its opposite, whose
    number depends least on how many items are known.
    """
    n_known, weights = counts @ labelled, counts.astype(float)
    # Rounded to two decimals of the logarithm, few probabilities are different.
    rounded = 10 ** np.log10(chance).round(2)
    chance = np.minimum(rounded * float(n_known) / float(counts @ rounded), 1.0)
    expected = float(weights @ (chance * holds))
    rarer = holds if 2 * expected <= n_known else ~holds
    numbers = poisson_binomial(chance[rarer], weights[rarer])
    observed = int(counts @ (labelled & rarer))
    below = float(numbers[:observed].sum() + numbers[observed] / 2)
    return expected, min(1.0, 2 * min(below, 1 - below))
