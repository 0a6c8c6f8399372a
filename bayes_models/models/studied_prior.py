"""What models expect of raters with earlier studies, before there are ratings."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayes_models.likelihood.observations import group_index, observe
from bayes_models.models.families import FAMILIES
from bayes_models.models.power_prior import BY_ACCURACY, Studied
from lehner import Ratings
from lehner.core.arrays import Floats
from lehner.core.estimate import IntervalEstimate

LOG_ODDS = np.linspace(-12.0, 12.0, 2401)
KNOWING = 1 / (1 + np.exp(-LOG_ODDS))
N_MEANS, N_SPREADS, FARTHEST = 61, 40, 3.5
"""The grid of raters' mean log odds and their spread, and how many standard deviations it spans."""


def prior_intervals(
    model: str, ratings: Ratings, rows: Sequence[Studied], priors: Mapping[str, Any], level: float
) -> list[IntervalEstimate]:
    """Give mean and central interval of what each row is about, with all studies, before ratings.

    Parameters
    ----------
    model : {"dawid_skene", "one_coin_by_rater"}
    ratings : Ratings
    rows : sequence of Studied
    priors : mapping
        As `power_prior` gives them, numbers only.
    level : float
        Probability of the intervals, between 0 and 1.
    """
    if model != BY_ACCURACY:
        confusion = priors["confusion"]
        return [beta_interval(confusion[one.cell[:2]], one.cell[2], level) for one in rows]
    counts, group = priors["earlier_answers"], group_index(observe(ratings))
    raters = [one.cell[0] for one in rows]
    right_or_guessed = KNOWING + (1 - KNOWING) / ratings.n_categories
    found = []
    for rater in raters:
        if rater == ratings.n_raters:
            log = FAMILIES["logistic"].log_density(LOG_ODDS, priors["system_log_odds"])
            log += FAMILIES["answers"].log_density(KNOWING, counts[rater])
            found.append(_interval(KNOWING, np.exp(log - log.max()), level))
            continue
        others = [
            one
            for one in raters
            if one not in (rater, ratings.n_raters)
            if group[one] == group[rater]
        ]
        own, *further = (
            FAMILIES["answers"].log_density(right_or_guessed, counts[one])
            for one in (rater, *others)
        )
        density = _of_population(priors, further) * np.exp(own - own.max())
        found.append(_interval(right_or_guessed, density, level))
    return found


def _of_population(priors: Mapping[str, Any], studies: Sequence[Floats]) -> Floats:
    """Density of a rater's log odds of knowing, given studies of others of the same population."""
    mean, sd = priors["mean_log_odds"]
    means = mean + sd * np.linspace(-FARTHEST, FARTHEST, N_MEANS)
    spreads = priors["rater_spread"] * FARTHEST * (np.arange(N_SPREADS) + 0.5) / N_SPREADS
    squares = ((LOG_ODDS - means[:, None]) / spreads[:, None, None]) ** 2
    of_rater = np.exp(-squares / 2)
    of_rater /= of_rater.sum(axis=-1, keepdims=True)
    log = FAMILIES["normal"].log_density(means, priors["mean_log_odds"])
    log = log + FAMILIES["half_normal"].log_density(spreads, priors["rater_spread"])[:, None]
    weight = np.exp(log)
    for one in studies:
        weight = weight * (of_rater @ np.exp(one - one.max()))
    density: Floats = np.tensordot(weight, of_rater, 2)
    return density


def _interval(values: Floats, density: Floats, level: float) -> IntervalEstimate:
    probability = density / density.sum()
    ends = np.interp([(1 - level) / 2, (1 + level) / 2], np.cumsum(probability), values)
    lower, upper = map(float, ends)
    mean = float(values @ probability)
    return IntervalEstimate(estimate=mean, lower=lower, upper=upper, level=level, kind="prior")


def beta_interval(concentration: Floats, place: int, level: float) -> IntervalEstimate:
    """Mean and central interval of one probability of a Dirichlet distribution."""
    from scipy.special import betaincinv

    this, all_ = float(concentration[place]), float(concentration.sum())
    lower, upper = betaincinv(this, all_ - this, [(1 - level) / 2, (1 + level) / 2])
    return IntervalEstimate(
        estimate=this / all_, lower=float(lower), upper=float(upper), level=level, kind="prior"
    )
