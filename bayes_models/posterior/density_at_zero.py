"""The posterior density at zero, estimated from draws, with an error that includes its bias.

A kernel estimate is biased where the density bends. Here the draws nearest to zero are counted in
bins, and the log density is a smooth curve through the counts (Eilers & Marx 1996): as smooth as
these counts make probable, averaged over how smooth that is. Such a curve is still drawn toward a
straight line by about its standard error, so that it is made less smooth (Hall 1992): the bias is
then small beside the error, which grows.

Only the distance from zero counts. Its density does not change if the sign of the distance does:
the effects of a spread are symmetric, so that the ratings are as probable with the spread reflected
at zero, and the density of the distance of a number from zero is the sum of that of both signs.
"""

import numpy as np

from bayes_models.posterior.convergence import FEWEST_OF_CHAIN, ess_mean
from lehner.core.arrays import Floats

NEAREST = 0.2
N_BINS = 20
SMOOTHNESS = np.exp(np.arange(-2, 20, 1.5))
LESS_SMOOTH = 2
"""Number of steps of `SMOOTHNESS`, which make the curve twenty times less smooth."""
LARGEST_STEP = 2.0
MOST_STEPS = 60
NEAR_AT_MOST = {1: 3.69, 8: 14.43}
"""97.5% quantiles of gamma distributions with these shapes."""


def log_density_at_zero(draws: Floats) -> tuple[float, float]:
    """Estimate the log density of the distance from zero, where it is zero.

    Parameters
    ----------
    draws : ndarray, shape (n_chains, n_draws)
        Of a number that may have either sign, or of a standard deviation of symmetric effects.

    Returns
    -------
    log_density : float
    error : float
        Its standard error, including the bias.

    References
    ----------
    Eilers & Marx (1996), https://doi.org/10.1214/ss/1038425655; Hall (1992),
    https://doi.org/10.1214/aos/1176348651, for less smooth curves as a remedy for bias.

    Examples
    --------
    >>> draws = np.random.default_rng(1).normal(0, 1, (4, 1000))
    >>> log_density, error = log_density_at_zero(draws)
    >>> round(float(np.exp(log_density)), 2), round(error, 2)  # it is .80
    (0.82, 0.07)
    """
    distance = abs(draws)
    end, n_effective = float(np.quantile(distance, NEAREST)), effective_draws(draws)
    counts = np.histogram(distance, N_BINS, (0.0, end))[0]
    curves = _smooth_curves(np.asarray(counts * (n_effective / draws.size)))
    probability = np.exp(curves[:, 0] - curves[:, 0].max())[:-LESS_SMOOTH]
    probability /= probability.sum()
    at_zero, variance = curves[LESS_SMOOTH:, 1], curves[LESS_SMOOTH:, 2]
    mean = float(probability @ at_zero)
    error = float(np.sqrt(probability @ (variance + (at_zero - mean) ** 2)))
    return mean - float(np.log(n_effective * end / N_BINS)), error


def highest_density_at_zero(draws: Floats) -> float:
    """Upper bound of the density of the distance from zero, at zero, with probability 95%.

    This needs no curve, but that the density does not fall between zero and the nearest draws: it
    is then at most their proportion divided by their distance. The nearest draw, and the eighth
    nearest where that says more, have a probability of 97.5% each.

    Parameters
    ----------
    draws : ndarray, shape (n_chains, n_draws)
        As in `log_density_at_zero`.

    Returns
    -------
    float

    Examples
    --------
    >>> draws = np.random.default_rng(1).normal(5, 1, (4, 1000))
    >>> round(highest_density_at_zero(draws), 4)
    0.0007
    """
    distance, n_effective = np.sort(abs(draws), axis=None), effective_draws(draws)
    distance = np.maximum(distance, np.finfo(float).tiny)
    each = draws.size / n_effective
    ranks = {near: min(draws.size, round(near * each)) - 1 for near in NEAR_AT_MOST if near > 1}
    ends = {1: distance[0]} | {near: distance[rank] for near, rank in ranks.items()}
    return float(min(NEAR_AT_MOST[near] / (n_effective * end) for near, end in ends.items()))


def effective_draws(draws: Floats) -> float:
    """Count the independent draws that would tell as much of how probable it is to be near zero."""
    distance = abs(draws)
    near = (distance <= np.quantile(distance, NEAREST)).astype(float)
    if draws.shape[1] < FEWEST_OF_CHAIN:
        return 1.0
    return min(float(ess_mean(near[:, :, None])[0]), draws.size)


def _smooth_curves(counts: Floats) -> Floats:
    """Fit the log of expected counts by curves that are ever less smooth.

    A curve is symmetric around zero, and its second differences are normal with mean zero. Rows of
    the result are curves: log marginal likelihood of the counts (Laplace's approximation), height
    at zero, and variance of the height.
    """
    reflected = np.vstack([np.eye(N_BINS)[::-1], np.eye(N_BINS)])
    bends = np.diff(reflected, n=2, axis=0)
    penalty = bends.T @ bends / 2
    # A symmetric parabola through the middles of the first two bins.
    to_zero = np.zeros(N_BINS)
    to_zero[:2] = 9 / 8, -1 / 8
    curve, rows = np.full(N_BINS, np.log(counts.mean())), []
    for smoothness in SMOOTHNESS[::-1]:
        curve = _most_probable(counts, smoothness * penalty, curve)
        expected = np.exp(curve)
        precision = smoothness * penalty + np.diag(expected)
        log_likelihood = counts @ curve - expected.sum() - curve @ penalty @ curve * smoothness / 2
        volume = ((N_BINS - 1) * np.log(smoothness) - np.linalg.slogdet(precision)[1]) / 2
        variance = to_zero @ np.linalg.solve(precision, to_zero)
        rows.append((log_likelihood + volume, to_zero @ curve, variance))
    return np.array(rows)


def _most_probable(counts: Floats, penalty: Floats, curve: Floats) -> Floats:
    """Climb to the curve of greatest penalised likelihood by Newton's method."""
    for _ in range(MOST_STEPS):
        expected = np.exp(curve)
        slope = counts - expected - penalty @ curve
        step = np.linalg.solve(penalty + np.diag(expected), slope)
        largest = float(abs(step).max())
        curve = curve + step * min(1.0, LARGEST_STEP / max(largest, 1e-12))
        if largest < 1e-6:
            break
    return curve
