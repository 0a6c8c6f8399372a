r"""Bayes factors of what is zero where an assumption holds: K-properties.

A Bayes factor against zero is the prior density at zero divided by the posterior density there
(Dickey 1971).

The parameters of `relaxed_k` are zero where K-properties hold. The posterior density at zero is
estimated from draws, with an error that includes its bias. A kernel estimate is biased where the
density bends. Here the draws nearest to zero are counted in bins, and the log density is a smooth
curve through the counts (Eilers & Marx 1996): as smooth as these counts make probable, averaged
over how smooth that is. Such a curve is still drawn toward a straight line by about its standard
error, so that it is made less smooth (Hall 1992): the bias is then small beside the error, which
grows. Only the distance from zero counts. Its density does not change if the sign of the distance
does: the effects of a spread are symmetric, so that the ratings are as probable with the spread
reflected at zero, and the density of the distance of a number from zero is the sum of that of both
signs.

References
----------
Dickey (1971), https://doi.org/10.1214/aoms/1177693507
"""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.models.log_odds import SPECS
from bayes_models.models.spec import Variable, name_distribution
from bayes_models.posterior.draws import compute_ess, read_group
from lehner import InputError, IntervalEstimate
from lehner.core.arrays import Floats
from lehner.core.estimate import average_draws

NEAREST = 0.2
N_BINS = 20
SMOOTHNESS = np.exp(np.arange(-2, 20, 1.5))
# Number of steps of `SMOOTHNESS`, which make the curve twenty times less smooth.
LESS_SMOOTH = 2
LARGEST_STEP = 2.0
MOST_STEPS = 60
# 97.5% quantiles of gamma distributions with these shapes.
NEAR_AT_MOST = {1: 3.69, 8: 14.43}


def estimate_density_at_zero(draws: Floats) -> tuple[float, float]:
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
    >>> log_density, error = estimate_density_at_zero(draws)
    >>> round(float(np.exp(log_density)), 2), round(error, 2)  # it is .80
    (0.82, 0.07)
    """
    distance = abs(draws)
    end, n_effective = float(np.quantile(distance, NEAREST)), count_near_zero(draws)
    counts = np.histogram(distance, N_BINS, (0.0, end))[0]
    curves = _fit_curves(np.asarray(counts * (n_effective / draws.size)))
    probability = np.exp(curves[:, 0] - curves[:, 0].max())[:-LESS_SMOOTH]
    probability /= probability.sum()
    at_zero, variance = curves[LESS_SMOOTH:, 1], curves[LESS_SMOOTH:, 2]
    mean = float(probability @ at_zero)
    error = float(np.sqrt(probability @ (variance + (at_zero - mean) ** 2)))
    return mean - float(np.log(n_effective * end / N_BINS)), error


def bound_density_at_zero(draws: Floats) -> float:
    """Bound the density of the distance from zero, at zero, from above, with probability 95%.

    This needs no curve, but that the density does not fall between zero and the nearest draws: it
    is then at most their proportion divided by their distance. The nearest draw, and the eighth
    nearest where that says more, have a probability of 97.5% each.

    Parameters
    ----------
    draws : ndarray, shape (n_chains, n_draws)
        As in `estimate_density_at_zero`.

    Returns
    -------
    float

    Examples
    --------
    >>> draws = np.random.default_rng(1).normal(5, 1, (4, 1000))
    >>> round(bound_density_at_zero(draws), 4)
    0.0007
    """
    distance, n_effective = np.sort(abs(draws), axis=None), count_near_zero(draws)
    distance = np.maximum(distance, np.finfo(float).tiny)
    each = draws.size / n_effective
    ranks = {near: min(draws.size, round(near * each)) - 1 for near in NEAR_AT_MOST if near > 1}
    ends = {1: distance[0]} | {near: distance[rank] for near, rank in ranks.items()}
    return float(min(NEAR_AT_MOST[near] / (n_effective * end) for near, end in ends.items()))


def count_near_zero(draws: Floats) -> float:
    """Count the independent draws that would tell as much of how probable it is to be near zero."""
    distance = abs(draws)
    near = (distance <= np.quantile(distance, NEAREST)).astype(float)
    return min(float(compute_ess(near, "mean")), draws.size)


def _fit_curves(counts: Floats) -> Floats:
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
        curve = _climb(counts, smoothness * penalty, curve)
        expected = np.exp(curve)
        precision = smoothness * penalty + np.diag(expected)
        log_likelihood = counts @ curve - expected.sum() - curve @ penalty @ curve * smoothness / 2
        volume = ((N_BINS - 1) * np.log(smoothness) - np.linalg.slogdet(precision)[1]) / 2
        variance = to_zero @ np.linalg.solve(precision, to_zero)
        rows.append((log_likelihood + volume, to_zero @ curve, variance))
    return np.array(rows)


def _climb(counts: Floats, penalty: Floats, curve: Floats) -> Floats:
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


STRONG = 10.0
WITHIN_90 = 1.645
# With this error of its log, the error of a Bayes factor is as large as the factor.
LARGEST_ERROR = math.log(2)


@dataclass(frozen=True, kw_only=True)
class KPropertyParameter:
    """A parameter of `relaxed_k` that is zero where a K-property holds, with evidence against zero.

    Such a parameter is the standard deviation of the raters' log odds, `rater_spread`.

    Parameters
    ----------
    name : str
        Name of the parameter.
    k_property : str
        The K-property that holds if the parameter is zero.
    value : IntervalEstimate
        Its posterior mean and credible interval; 0 or more for spreads, with no upper limit.
    probability_of_direction : float or None
        Posterior probability of the more probable sign of the parameter, .5 to 1; None for spreads,
        which have no sign.
    bayes_factor : float or None
        Evidence against zero: the prior density at zero over the posterior density there
        (Savage-Dickey). None where the prior is a PyMC distribution.
    bayes_factor_error : float or None
        The number after "±". With probability 90% the factor of infinitely many draws differs from
        `bayes_factor` by less. It is large if few draws are near zero; None for a lower bound.
    is_lower_bound : bool
        Whether the Bayes factor, if there is one, is only a lower bound, which holds with
        probability 95%: draws near zero are so few that the error would be as large as the factor.
    """

    name: str
    k_property: str
    value: IntervalEstimate
    probability_of_direction: float | None
    bayes_factor: float | None
    bayes_factor_error: float | None
    is_lower_bound: bool

    def evidence(self) -> str:
        """Give the Bayes factor as text.

        Returns
        -------
        str
            The number with its 90% error after "±", or with ">" before a lower bound; empty if
            there is none.
        """
        if self.bayes_factor is None:
            return ""
        digits = 2 if self.bayes_factor < STRONG else 0
        if self.bayes_factor_error is None:
            # A bound that is rounded up may be none.
            return f"> {math.floor(self.bayes_factor * 10**digits) / 10**digits:.{digits}f}"
        return f"{self.bayes_factor:.{digits}f} ± {self.bayes_factor_error:.{digits}f}"

    def verdict(self) -> str:
        """Say what the Bayes factor means for the K-property, in a word or two.

        Returns
        -------
        str
            "rejected" if the Bayes factor is 10 or more, "supported" if it is 1/10 or less,
            "undecided" if it is between these or beyond them by less than its error, or "not
            tested". A lower bound rejects or leaves undecided.
        """
        if self.bayes_factor is None:
            return "not tested"
        error = self.bayes_factor_error or 0.0
        if self.bayes_factor - error >= STRONG:
            return "rejected"
        supported = not self.is_lower_bound and self.bayes_factor + error <= 1 / STRONG
        return "supported" if supported else "undecided"


def read_k_properties(tree: xr.DataTree, *, level: float = 0.9) -> tuple[KPropertyParameter, ...]:
    """Read from a fit of `relaxed_k` how far the ratings are from each K-property.

    The model relaxes each K-property by parameters that are zero if the property is true. The Bayes
    factor of such a parameter divides its prior density at zero by its posterior density there,
    with the priors of the fit.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`; it keeps its priors.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    tuple of KPropertyParameter
        One for each parameter that was not fixed at zero.

    Raises
    ------
    InputError
        If the fit is of another model, or has no record of its priors.

    References
    ----------
    Dickey (1971), https://doi.org/10.1214/aoms/1177693507

    Examples
    --------
    In place of a fit there are draws of a spread here, which are nearer to zero than its
    half-normal prior with scale .6.

    >>> import numpy as np
    >>> draws = abs(np.random.default_rng(1).normal(0, 0.1, (2, 500)))
    >>> posterior = xr.Dataset({"rater_spread": (("chain", "draw"), draws)})
    >>> tree = xr.DataTree.from_dict({"posterior": posterior})
    >>> tree.attrs = {"model": "relaxed_k", "priors": '{"rater_spread": 0.6}'}
    >>> (spread,) = read_k_properties(tree)
    >>> spread.k_property, spread.evidence(), spread.verdict()
    ('equal accuracy of raters', '0.15 ± 0.04', 'undecided')

    After `tree = bayes_models.fit("relaxed_k", ratings)` there are nine of them.
    """
    if tree.attrs.get("model") != "relaxed_k":
        problem = f"a fit of {tree.attrs.get('model')!r} has no parameters that relax K-properties"
        raise InputError(problem, "fit relaxed_k")
    priors = json.loads(tree.attrs["priors"])
    posterior = read_group(tree, "posterior")
    return tuple(
        _summarise(variable, posterior[variable.name].values, priors[variable.name], level)
        for variable in SPECS["relaxed_k"].variables
        if variable.k_property and variable.name in posterior
    )


def _summarise(variable: Variable, draws: Floats, prior: Any, level: float) -> KPropertyParameter:
    above, factor, error = float((draws > 0).mean()), None, None
    has_sign = variable.name == "distance_decay"
    # A fit does not store the density of a PyMC distribution.
    if not name_distribution(prior):
        factor, error = weigh_against_zero(draws, float(prior))
    return KPropertyParameter(
        name=variable.name,
        k_property=variable.k_property,
        value=average_draws(draws.ravel(), level),
        probability_of_direction=max(above, 1 - above) if has_sign else None,
        bayes_factor=factor,
        bayes_factor_error=error,
        is_lower_bound=factor is not None and error is None,
    )


def weigh_against_zero(draws: Floats, scale: float) -> tuple[float, float | None]:
    """Compute the prior density at zero over the posterior density at zero.

    Parameters
    ----------
    draws : ndarray, shape (n_chains, n_draws)
        Draws of a number with a normal prior around zero, or of a spread with a half-normal prior.
    scale : float
        Standard deviation of the normal prior, or scale of the half-normal one, above 0.

    Returns
    -------
    factor : float
    error : float or None
        With probability 90% the factor is wrong by less, including its bias. None if this would be
        as much as the factor: the factor is then a lower bound, with probability 95%.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(1).normal(0, 1, (4, 5000))
    >>> factor, error = weigh_against_zero(draws, 0.5)
    >>> round(factor, 1), round(error, 1)
    (2.0, 0.1)
    """
    # This is the density of the distance from zero, as the posterior densities are.
    prior_density = math.sqrt(2 / math.pi) / scale
    log_density, error = estimate_density_at_zero(draws)
    if WITHIN_90 * error >= LARGEST_ERROR:
        return prior_density / bound_density_at_zero(draws), None
    factor = prior_density / math.exp(log_density)
    return factor, factor * math.expm1(WITHIN_90 * error)
