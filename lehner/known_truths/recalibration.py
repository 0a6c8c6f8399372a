r"""A method's probabilities recalibrated by the items of which the truth is known.

The method's probability that item i has a property (that the system is right on it), found without
the known truths, is :math:`f_i`, and :math:`h_i` is 1 if it has the property and 0 if not. The
known items are a random sample of all. The model is

.. math:: h_i \sim \mathrm{Bernoulli}(\sigma(\alpha + \beta \operatorname{logit} f_i))

where :math:`\beta`, between 0 and 1, is how well the probabilities distinguish items, and
:math:`\alpha` is such that the mean over all items is :math:`\bar f + b`: b is the bias of the
method. It may be large, so its prior has heavy tails: it is Cauchy with scale :math:`\sqrt{.15^2 +
v}`, where v is the variance of :math:`\bar f` according to the method. Sums over a grid give the
posterior of b and β, and with it the distribution of the number of unknown items that have the
property.
"""

from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Floats
from lehner.known_truths.partly_known import PartlyKnown

BIAS_SCALE = 0.15
CALIBRATION_SLOPES = np.linspace(0.05, 1.0, 8)
CERTAIN_ITEM = 0.002
LOG_ODDS_STEP = 0.05
INTERCEPTS = np.linspace(-20.0, 20.0, 401)
LEAST_MEAN = 1e-5
N_MEANS = 100
REFINEMENTS = 3
NEGLIGIBLE = 1e-5
MOST_VALUES = 2000


@dataclass(frozen=True, kw_only=True, eq=False)
class ProportionPosterior:
    """The posterior of a proportion of the items.

    Parameters
    ----------
    values : ndarray, shape (n_values,)
        The possible shares, in increasing order.
    probability : ndarray, shape (n_values,)
        Probability of each share; they sum to 1.
    """

    values: Floats
    probability: Floats

    @property
    def mean(self) -> float:
        """Posterior mean."""
        return float(self.values @ self.probability)

    def interval(self, level: float) -> tuple[float, float]:
        """Equal-tailed interval."""
        below = np.cumsum(self.probability)
        ends = np.searchsorted(below, [(1 - level) / 2, (1 + level) / 2])
        lower, upper = self.values[np.minimum(ends, len(below) - 1)]
        return float(lower), float(upper)


def proportion_posterior(items: PartlyKnown, variance: float = 0.0) -> ProportionPosterior:
    """Find the posterior of the proportion of all items that have the property.

    Parameters
    ----------
    items : PartlyKnown
    variance : float
        Variance of the mean of the probabilities according to the method.

    Returns
    -------
    ProportionPosterior
    """
    levels = _levels(items)
    curves = [_curve(slope, levels) for slope in CALIBRATION_SLOPES]
    ends = np.array([LEAST_MEAN, 1 - LEAST_MEAN])
    for _ in range(REFINEMENTS):
        grid = np.linspace(ends[0], ends[1], N_MEANS)
        parts = [_given_slope(curve, grid, levels) for curve in curves]
        log = np.stack([part.log_likelihood for part in parts])
        log = log - np.log1p((grid - items.mean) ** 2 / (BIAS_SCALE**2 + variance))
        weight = np.exp(log - log.max())
        possible = np.flatnonzero(weight.max(axis=0) > NEGLIGIBLE)
        ends = grid[[max(possible[0] - 1, 0), min(possible[-1] + 1, N_MEANS - 1)]]
        if np.ptp(ends) > np.ptp(grid) / 2:
            break
    return _complete(items, parts, weight / weight.sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class _Levels:
    """Numbers of items by the log odds of their probability: all, known, with the property."""

    log_odds: Floats
    counts: Floats
    known: Floats
    holding: Floats


def _levels(items: PartlyKnown) -> _Levels:
    from scipy.special import logit

    log_odds = logit(np.clip(items.probability, CERTAIN_ITEM, 1 - CERTAIN_ITEM))
    unique, level = np.unique(np.round(log_odds / LOG_ODDS_STEP), return_inverse=True)

    def total(counts: Floats) -> Floats:
        return np.bincount(level, counts, len(unique))

    return _Levels(
        log_odds=unique * LOG_ODDS_STEP,
        counts=total(items.counts),
        known=total(items.counts * items.known),
        holding=total(items.counts * items.holds),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Curve:
    """For one slope: the log odds times the slope, and the mean probability for each intercept."""

    log_odds: Floats
    means: Floats


def _curve(slope: float, levels: _Levels) -> _Curve:
    from scipy.special import expit

    log_odds = slope * levels.log_odds
    means = expit(INTERCEPTS[:, None] + log_odds) @ levels.counts / levels.counts.sum()
    return _Curve(log_odds=log_odds, means=means)


@dataclass(frozen=True, kw_only=True, eq=False)
class _GivenSlope:
    """For each mean of a grid: likelihood, and number of unknown items with the property."""

    log_likelihood: Floats
    expected: Floats
    variance: Floats


def _given_slope(curve: _Curve, means: Floats, levels: _Levels) -> _GivenSlope:
    from scipy.special import expit, log_expit, logit

    intercepts = np.interp(logit(means), logit(curve.means), INTERCEPTS)
    logits = intercepts[:, None] + curve.log_odds
    probability = expit(logits)
    unknown = levels.counts - levels.known
    return _GivenSlope(
        log_likelihood=log_expit(logits) @ levels.holding
        + log_expit(-logits) @ (levels.known - levels.holding),
        expected=probability @ unknown,
        variance=(probability * (1 - probability)) @ unknown,
    )


def _complete(items: PartlyKnown, parts: list[_GivenSlope], weight: Floats) -> ProportionPosterior:
    """Add the unknown items; given bias and slope, their number with the property is normal."""
    n_unknown = items.n_items - items.n_known
    number = np.linspace(0, n_unknown, min(n_unknown, MOST_VALUES) + 1)
    step = number[1] if len(number) > 1 else 1.0
    kept = weight.ravel() > NEGLIGIBLE * weight.max()
    expected = np.concatenate([part.expected for part in parts])[kept]
    variance = np.concatenate([part.variance for part in parts])[kept]
    density = np.exp(-0.5 * (number[:, None] - expected) ** 2 / np.maximum(variance, step**2 / 4))
    probability = density / density.sum(axis=0) @ weight.ravel()[kept]
    return ProportionPosterior(
        values=(items.n_holding + number) / items.n_items,
        probability=probability / probability.sum(),
    )
