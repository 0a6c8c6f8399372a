"""Which K-properties the ratings reject, by the parameters of `relaxed_k` that relax them."""

import math
from dataclasses import dataclass
from typing import Any

import xarray as xr

from bayes_models.models.priors import distribution_name, kept_priors
from bayes_models.models.relaxed_k import SPEC
from bayes_models.posterior.density_at_zero import highest_density_at_zero, log_density_at_zero
from bayes_models.posterior.draws import credible_interval, group
from lehner import InputError, IntervalEstimate
from lehner.core.arrays import Floats

K_PROPERTY = {one.name: one.k_property for one in SPEC.variables if one.k_property}
STRONG = 10.0
WITHIN_90 = 1.645
LARGEST_ERROR = math.log(2)
"""Of the log of a Bayes factor; the error of the factor would be as large as the factor."""


@dataclass(frozen=True, kw_only=True)
class KPropertyParameter:
    """A parameter of `relaxed_k` that is zero where a K-property holds, with evidence against zero.

    Such a parameter is the standard deviation of the raters' log odds, `rater_spread`.

    Parameters
    ----------
    name : str
        Name of the parameter; with groups of raters as in "rater_spread[expert]".
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
    untested : str
        Why there is no Bayes factor; empty if there is one.
    """

    name: str
    k_property: str
    value: IntervalEstimate
    probability_of_direction: float | None
    bayes_factor: float | None
    bayes_factor_error: float | None
    is_lower_bound: bool
    untested: str = ""

    def evidence(self) -> str:
        """Bayes factor as text.

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
        """What the Bayes factor means for the K-property, in a word or two.

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
        One for each parameter that was not fixed at zero, and of `rater_spread` one for each group
        of raters if there are groups.

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
        raise InputError(
            f"a fit of {tree.attrs.get('model')!r} has no parameters that relax K-properties",
            "fit relaxed_k",
        )
    priors = kept_priors(tree)
    posterior = group(tree, "posterior")
    return tuple(
        _parameter(name, group, draws, priors[name], level)
        for name in K_PROPERTY
        if name in posterior
        for group, draws in _by_group(posterior[name])
    )


def _by_group(draws: xr.DataArray) -> list[tuple[str, Floats]]:
    """Draws of each group of raters, or all under no name."""
    if "rater_group" not in draws.dims:
        return [("", draws.values)]
    groups = draws["rater_group"].values
    return [(str(group), draws.sel(rater_group=group).values) for group in groups]


def _parameter(
    name: str, group: str, draws: Floats, prior: Any, level: float
) -> KPropertyParameter:
    above, distribution = float((draws > 0).mean()), distribution_name(prior)
    factor, error = (None, None) if distribution else against_zero(draws, float(prior))
    not_stored = "and a fit does not store the density of a PyMC distribution"
    return KPropertyParameter(
        name=f"{name}[{group}]" if group else name,
        k_property=f"{K_PROPERTY[name]} in {group}" if group else K_PROPERTY[name],
        value=credible_interval(draws.ravel(), level),
        probability_of_direction=max(above, 1 - above) if name == "distance_decay" else None,
        bayes_factor=factor,
        bayes_factor_error=error,
        is_lower_bound=factor is not None and error is None,
        untested=f"its prior is {distribution}, {not_stored}" if distribution else "",
    )


def against_zero(draws: Floats, scale: float) -> tuple[float, float | None]:
    """Prior density at zero over the posterior density at zero.

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
    >>> factor, error = against_zero(draws, 0.5)
    >>> round(factor, 1), round(error, 1)
    (2.0, 0.1)
    """
    # Of the distance from zero, as are the posterior densities.
    prior_density = math.sqrt(2 / math.pi) / scale
    log_density, error = log_density_at_zero(draws)
    if WITHIN_90 * error >= LARGEST_ERROR:
        return prior_density / highest_density_at_zero(draws), None
    factor = prior_density / math.exp(log_density)
    return factor, factor * math.expm1(WITHIN_90 * error)
