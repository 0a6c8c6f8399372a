"""The Bayes factor against equal raters in `relaxed_k`, by quadrature, for three raters.

All spreads but `rater_spread` are zero, and there are two categories. The marginal likelihoods with
the spread free and at zero are integrals over base rate, mean, spread and three effects.
"""

import itertools

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.polynomial.legendre import leggauss
from scipy.special import expit
from scipy.stats import norm

from bayes_models.models.log_odds import SCALES

UNEQUAL_RATERS = {name: 0.0 for name in SCALES if name != "rater_spread"}
PATTERNS = np.array(list(itertools.product((0, 1), repeat=3)))
SD_OF_MEAN, SCALE, LARGEST_SPREAD = 1.2, 0.6, 3.0


def bayes_factor_of_unequal_raters(codes):
    """Divide the marginal likelihoods; codes (n_items, 3) of two categories."""
    counts = np.bincount(codes @ [4, 2, 1], minlength=8)
    means, of_mean = _normal_nodes(30)
    effects, of_effect = _normal_nodes(12)
    spreads, of_spread = _nodes(40, LARGEST_SPREAD)
    of_spread = of_spread * 2 * norm.pdf(spreads, scale=SCALE)
    three = np.array(list(itertools.product(effects, repeat=3)))
    of_three = np.prod(list(itertools.product(of_effect, repeat=3)), axis=1)
    equal = of_mean @ _likelihood(SD_OF_MEAN * means[:, None] * np.ones(3), counts)
    free = 0.0
    for mean, weight in zip(means, of_mean, strict=True):
        for spread, density in zip(spreads, of_spread, strict=True):
            log_odds = SD_OF_MEAN * mean + spread * three
            free += weight * density * (of_three @ _likelihood(log_odds, counts))
    return free / equal


def _likelihood(log_odds, counts):
    """Likelihood at log odds of knowing (n, 3), integrated over a uniform base rate."""
    knows = expit(log_odds)[:, None]
    right = knows + (1 - knows) / 2
    given_1 = np.where(PATTERNS == 1, right, 1 - right).prod(axis=2)
    given_0 = np.where(PATTERNS == 1, 1 - right, right).prod(axis=2)
    rates, weights = _nodes(24, 1.0)
    largest = counts @ np.log(np.maximum(counts, 1) / counts.sum())
    return sum(
        weight * np.exp(np.log(rate * given_1 + (1 - rate) * given_0) @ counts - largest)
        for rate, weight in zip(rates, weights, strict=True)
    )


def _nodes(n, end):
    nodes, weights = leggauss(n)
    return (nodes + 1) / 2 * end, weights / 2 * end


def _normal_nodes(n):
    nodes, weights = hermegauss(n)
    return nodes, weights / weights.sum()
