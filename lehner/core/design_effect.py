"""How much wider an interval is since items are in clusters, which are alike within."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.estimate import IntervalEstimate
from lehner.core.student_t import t_quantile

NEARLY_EQUAL = 1e-18
LEAST_CHANCE = 1e-6


def design_effect(values: Floats, weights: Floats, cluster: Integers | None) -> float:
    r"""Estimate by what factor the variance of a mean is larger if clusters are sampled, not items.

    .. math:: \frac{\frac{G}{G - 1} \sum_g \left(\sum_{i \in g} w_i (x_i - \bar x)\right)^2}
              {\frac{n}{n - 1} \sum_i w_i (x_i - \bar x)^2}

    Parameters
    ----------
    values : ndarray of float, shape (n_rows,)
        A number for each item, as whether the system is right, or its influence on an estimate.
    weights : ndarray of float, shape (n_rows,)
        Number of items of each row, 0 for rows that are left out.
    cluster : ndarray of int, shape (n_rows,), optional
        The cluster of each row, from 0; None if items are independent.

    Returns
    -------
    float
        1 or more; less would be chance. If all values are equal, as if clusters were single items.

    References
    ----------
    Kish (1965), Survey Sampling, section 8.2; the variance is that of linearised ratios, as in Rao
    & Scott (1992), https://doi.org/10.2307/2532311.

    Examples
    --------
    >>> values, four = np.array([1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]), np.ones(8)
    >>> design_effect(values, four, np.array([0, 0, 1, 1, 2, 2, 3, 3])).__round__(2)
    2.33
    """
    if cluster is None:
        return 1.0
    used = weights > 0
    values, weights, cluster = values[used], weights[used], cluster[used]
    n, sizes = weights.sum(), np.bincount(cluster, weights)
    deviation = values - weights @ values / n
    within = weights @ deviation**2 * n / max(n - 1, 1)
    if within <= NEARLY_EQUAL * n:
        return float(sizes @ sizes / n)
    g = int(np.count_nonzero(sizes))
    between = (np.bincount(cluster, weights * deviation) ** 2).sum() * g / max(g - 1, 1)
    return max(1.0, float(between / within))


def effect_of_known(
    values: Floats, weights: Floats, known: Booleans, cluster: Integers | None
) -> float:
    """Estimate by what factor variances are larger if whole clusters are known, not single items.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows,)
        What is known of the known rows; that of others is not used.
    weights : ndarray of float, shape (n_rows,)
        Number of items of each row.
    known : ndarray of bool, shape (n_rows,)
    cluster : ndarray of int, shape (n_rows,), optional

    Returns
    -------
    float
        1 if no more items of a cluster are known together than by chance, the design effect of the
        known items if all are, and in proportion between.
    """
    weight = weights * known
    m, n = weight.sum(), weights.sum()
    if cluster is None or not 0 < m < n:
        return 1.0
    others, others_known = (np.bincount(cluster, w)[cluster] - 1 for w in (weights, weight))
    most, together = weight @ others / m, weight @ others_known / m
    by_chance = most * (m - 1) / (n - 1)
    if together <= by_chance:
        return 1.0
    added = design_effect(values, weight, cluster) - 1
    return float(1 + added * (together - by_chance) / (most - by_chance))


def widening(effect: float, n_clusters: int, level: float) -> float:
    """Give the factor of the width of an interval: the root of the design effect, times t / z.

    Student's t has as many degrees of freedom as there are clusters but one (Korn & Graubard 1998,
    Survey Methodology 24, 193-201). It is 1 without clusters, whose design effect is 1.
    """
    upper = (1 + level) / 2
    student = t_quantile(upper, max(n_clusters - 1, 1)) / NormalDist().inv_cdf(upper)
    return float(np.sqrt(effect) * student)


def widened(interval: IntervalEstimate, factor: float) -> IntervalEstimate:
    """Move the ends of a proportion's interval away from the estimate, on the scale of log odds."""
    if interval.estimate is None or interval.lower is None or interval.upper is None:
        return interval
    ends = np.array([interval.lower, interval.estimate, interval.upper])
    chance = np.clip(ends, LEAST_CHANCE, 1 - LEAST_CHANCE)
    odds = np.log(chance / (1 - chance))
    moved = 1 / (1 + np.exp(-(odds[1] + factor * (odds - odds[1]))))
    error = interval.standard_error
    return replace(
        interval,
        lower=min(float(moved[0]), interval.lower),
        upper=max(float(moved[2]), interval.upper),
        kind=f"{interval.kind}, widened for clusters",
        standard_error=None if error is None else error * factor,
    )
