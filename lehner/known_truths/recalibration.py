r"""A method's probabilities recalibrated by the items of which the truth is known.

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
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.errors import InputError, check_level
from lehner.core.estimate import labelled
from lehner.data.ratings import Ratings
from lehner.known_truths.partly_known import PartlyKnown, partly_known
from lehner.known_truths.partly_known import ProportionPosterior
from lehner.known_truths.partly_known import weighted_posterior

if TYPE_CHECKING:
    import xarray as xr

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


def proportion_posterior(items: PartlyKnown, variance: float = 0.0) -> ProportionPosterior:
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
    from scipy.special import expit, log_expit, logit

    if items.chance is not None:
        return _weighted(items, variance)
    effect = items.effect_of_known
    log_odds = logit(np.clip(items.probability, CERTAIN_ITEM, 1 - CERTAIN_ITEM))
    levels, level = np.unique(np.round(log_odds / LOG_ODDS_STEP), return_inverse=True)
    counts, known, holding = (
        np.bincount(level, items.counts * which, len(levels))
        for which in (1.0, items.known, items.holds)
    )
    # By slope, by mean probability or intercept, and by level of the log odds.
    scaled = CALIBRATION_SLOPES[:, None, None] * (levels * LOG_ODDS_STEP)
    reached = expit(INTERCEPTS[:, None] + scaled) @ counts / counts.sum()
    ends = np.array([LEAST_MEAN, 1 - LEAST_MEAN])
    for _ in range(REFINEMENTS):
        grid = np.linspace(ends[0], ends[1], N_MEANS)
        intercepts = [np.interp(logit(grid), logit(means), INTERCEPTS) for means in reached]
        logits = np.array(intercepts)[..., None] + scaled
        log = log_expit(logits) @ holding + log_expit(-logits) @ (known - holding)
        log /= effect
        log -= np.log1p((grid - items.mean) ** 2 / (BIAS_SCALE**2 + variance))
        weight = np.exp(log - log.max())
        possible = np.flatnonzero(weight.max(axis=0) > NEGLIGIBLE)
        ends = grid[[max(possible[0] - 1, 0), min(possible[-1] + 1, N_MEANS - 1)]]
        if np.ptp(ends) > np.ptp(grid) / 2:
            break
    return _add_unknown(items, expit(logits), counts - known, weight / weight.sum())


def _weighted(items: PartlyKnown, variance: float) -> ProportionPosterior:
    """Weight the known items; if none was chosen by chance, only the prior of the bias is left."""
    rest = items.uncertain
    if not rest.n_items:
        return ProportionPosterior(values=np.array([items.of_all(0.0)]), probability=np.ones(1))
    if rest.n_known:
        found = weighted_posterior(rest)
    else:
        found = proportion_posterior(replace(rest, chance=None), variance)
    return replace(found, values=items.of_all(found.values))


def _add_unknown(
    items: PartlyKnown, probability: Floats, unknown: Floats, weight: Floats
) -> ProportionPosterior:
    """Add the unknown items; given bias and slope, their number with the property is normal."""
    n_unknown = items.n_items - items.n_known
    number = np.linspace(0, n_unknown, min(n_unknown, MOST_VALUES) + 1)
    step = number[1] if len(number) > 1 else 1.0
    kept = weight > NEGLIGIBLE * weight.max()
    expected = (probability @ unknown)[kept]
    variance = ((probability * (1 - probability)) @ unknown)[kept] * items.effect_of_known
    density = np.exp(-0.5 * (number[:, None] - expected) ** 2 / np.maximum(variance, step**2 / 4))
    total = density / density.sum(axis=0) @ weight[kept]
    return ProportionPosterior(
        values=(items.n_holding + number) / items.n_items, probability=total / total.sum()
    )


def correct_base_rates(
    ratings: Ratings, truth_probabilities: "xr.DataArray", *, level: float = 0.9
) -> "xr.Dataset":
    """Correct the proportions of the true categories among these items.

    The probabilities of each category are recalibrated by the gold labels, as `correct_by_truth`
    does with the probabilities that the system is right. The proportions are the means of the
    recalibrated probabilities, divided by their sum.

    Parameters
    ----------
    ratings : Ratings
        Ratings with the truth of some items, which are a random sample of all.
    truth_probabilities : xarray.DataArray, dims (item, category)
        Probabilities by a method that did not use these truths.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    xarray.Dataset, dims (category,)
        `estimate`, `lower`, `upper`; the intervals are not simultaneous, but for each category
        alone.

    Raises
    ------
    InputError
        If no truth is known, or a probability is not a number from 0 to 1.

    Examples
    --------
    >>> from lehner import Scenario, label_algebraic, simulate
    >>> ratings = simulate(Scenario(n_categories=3, initial_rater_accuracy=(0.7,) * 3), 1)
    >>> ratings = ratings.with_truth(np.where(np.arange(200) < 20, ratings.truth, -1))
    >>> labels = label_algebraic(ratings)
    >>> rates = correct_base_rates(ratings, labels.truth_probabilities)
    >>> float(rates.estimate.sum().round(6))
    1.0
    """
    import xarray as xr

    level = check_level(level)
    truth, counted = ratings.truth, ratings.weights > 0
    if truth is None or not (truth[counted] >= 0).any():
        raise InputError("no truth is known", "give the truth of some items")
    values = np.asarray(truth_probabilities)
    posteriors = [
        proportion_posterior(partly_known(ratings, counted, values[:, k], truth == k))
        for k in range(ratings.n_categories)
    ]
    means = np.array([posterior.mean for posterior in posteriors])
    lower, upper = np.transpose([posterior.interval(level) for posterior in posteriors])
    rates = {"estimate": means / means.sum(), "lower": lower, "upper": upper}
    return xr.Dataset({name: labelled(v, ratings, "category") for name, v in rates.items()})
