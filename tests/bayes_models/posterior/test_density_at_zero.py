"""Bayes factors of parameters against exact ones, from draws that depend on one another."""

import numpy as np
import pytest
import xarray as xr
from scipy.signal import lfilter
from scipy.stats import norm

from bayes_models import fit_many, read_k_properties
from bayes_models.models.registry import write_priors
from lehner import Ratings
from tests.reference.rater_spread import UNEQUAL_RATERS, bayes_factor_of_unequal_raters

SCALE = 0.6
GRID = np.linspace(0, 4, 8001)
HALF_NORMAL = 2 * norm.pdf(GRID, scale=SCALE)


def likelihood_of_spread(n_groups, sd_of_group, seed):
    """Likelihood of the means of groups whose effects are normal with a spread, at each spread.

    The mean of the groups is integrated out, with a flat prior.
    """
    means = np.random.default_rng(seed).normal(0, np.hypot(sd_of_group, 0.3), n_groups)
    variance = GRID**2 + sd_of_group**2
    squares = ((means - means.mean()) ** 2).sum()
    return variance ** (-(n_groups - 1) / 2) * np.exp(-squares / variance / 2)


def reflected(mean, sd):
    return norm.pdf(GRID, mean, sd) + norm.pdf(-GRID, mean, sd)


# Likelihoods of a spread; none of them was used to choose the method.
CASES = {
    "flat": np.ones(len(GRID)),
    "peak at zero": reflected(0, 0.15),
    "mode near zero": reflected(0.35, 0.25),
    "mode away from zero": reflected(0.55, 0.25),
    "peak and mode": 0.1 * reflected(0, 0.07) + 0.9 * reflected(0.7, 0.2),
    "four groups": likelihood_of_spread(4, 0.25, 11),
    "six groups": likelihood_of_spread(6, 0.15, 14),
    "twenty groups": likelihood_of_spread(20, 0.4, 3),
}


QUICK = ("peak at zero", "peak and mode", "six groups")


def exact_factor(likelihood):
    """Divide the marginal likelihoods of a free spread and of a spread of zero."""
    return float(np.trapezoid(likelihood * HALF_NORMAL, GRID) / likelihood[0])


def chains(likelihood, n_effective, seed, n_draws=1000):
    """Draw spreads from the posterior: autoregressive normal numbers, mapped to its quantiles."""
    memory = max(0.0, (4 * n_draws - n_effective) / (4 * n_draws + n_effective))
    rng = np.random.default_rng(seed)
    start, noise = rng.normal(size=(4, 1)), rng.normal(size=(4, n_draws))
    noise *= np.sqrt(1 - memory**2)
    normal = lfilter([1], [1, -memory], noise, axis=1, zi=memory * start)[0]
    posterior = likelihood * HALF_NORMAL
    middles = (posterior[1:] + posterior[:-1]) / 2
    cumulative = np.append(0, np.cumsum(middles)) / middles.sum()
    return np.interp(norm.cdf(normal), cumulative, GRID)


def parameter_of(draws, name="rater_spread"):
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset({name: (("chain", "draw"), draws)})})
    tree.attrs |= {"model": "relaxed_k", "priors": write_priors("relaxed_k", {name: SCALE})}
    return read_k_properties(tree)[0]


@pytest.mark.parametrize("n_effective", [400, 4000])
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=() if case in QUICK else pytest.mark.slow) for case in CASES]
)
def test_the_error_of_a_bayes_factor_includes_its_bias(case, n_effective):
    exact = exact_factor(CASES[case])
    result = [parameter_of(chains(CASES[case], n_effective, seed)) for seed in range(40)]
    off = [
        parameter.bayes_factor > exact
        if parameter.is_lower_bound
        else abs(parameter.bayes_factor - exact) > parameter.bayes_factor_error
        for parameter in result
    ]
    # With errors that cover 90%, more than 8 of 40 are off in 2% of such tests.
    assert sum(off) <= 8
    factors = [parameter.bayes_factor for parameter in result if not parameter.is_lower_bound]
    if len(factors) == len(result):
        assert np.median(factors) == pytest.approx(exact, rel=0.06 if n_effective == 4000 else 0.12)


def test_the_error_is_not_much_larger_than_needed():
    exact = exact_factor(CASES["flat"])
    result = [parameter_of(chains(CASES["flat"], 4000, seed)) for seed in range(40)]
    assert np.mean([parameter.bayes_factor_error for parameter in result]) < 0.15 * exact


@pytest.mark.parametrize(("mean", "sd"), [(0.0, 0.3), (0.5, 0.3), (-0.7, 0.35)])
def test_a_number_of_either_sign(mean, sd):
    exact = norm.pdf(0, scale=SCALE) / norm.pdf(0, mean, sd)
    off = 0
    for seed in range(40):
        draws = np.random.default_rng(seed).normal(mean, sd, (4, 500))
        parameter = parameter_of(draws, "distance_decay")
        off += abs(parameter.bayes_factor - exact) > parameter.bayes_factor_error
    assert off <= 8


@pytest.mark.parametrize(("mean", "sd"), [(1.0, 0.25), (0.6, 0.05)])
@pytest.mark.parametrize("n_effective", [400, 4000])
def test_draws_far_from_zero_give_true_lower_bounds(mean, sd, n_effective):
    likelihood = reflected(mean, sd)
    exact = exact_factor(likelihood)
    result = [parameter_of(chains(likelihood, n_effective, seed)) for seed in range(40)]
    assert all(parameter.is_lower_bound for parameter in result)
    # With bounds that hold in 95%, more than 5 of 40 fail in 1% of such tests.
    assert sum(parameter.bayes_factor > exact for parameter in result) <= 5
    assert np.median([parameter.bayes_factor for parameter in result]) > 1


@pytest.mark.slow
def test_bayes_factors_of_fits_are_those_of_marginal_likelihoods():
    rng, data, off = np.random.default_rng(6), [], []
    for n_items, accuracy in (
        (30, (0.8, 0.8, 0.8)),
        (60, (0.95, 0.8, 0.6)),
        (60, (0.9, 0.6, 0.8)),
        (60, (0.75, 0.75, 0.75)),
        (60, (0.98, 0.55, 0.8)),
        (60, (0.98, 0.98, 0.55)),
    ):
        truth = rng.integers(0, 2, (n_items, 1))
        data.append(np.where(rng.random((n_items, 3)) < accuracy, truth, 1 - truth))
    ratings = [Ratings(codes, ["a", "b"]) for codes in data]
    trees = fit_many("relaxed_k", ratings, priors=UNEQUAL_RATERS)
    for tree, codes in zip(trees, data, strict=True):
        (parameter,), exact = read_k_properties(tree), bayes_factor_of_unequal_raters(codes)
        if parameter.is_lower_bound:
            off.append(parameter.bayes_factor > exact)
        else:
            off.append(abs(parameter.bayes_factor - exact) > parameter.bayes_factor_error)
    assert sum(off) <= 1
