"""Bayes factors of what relaxes K-properties, against exact ones and on known data."""

from dataclasses import replace

import numpy as np
import pymc as pm
import pytest
import xarray as xr
from scipy.signal import lfilter
from scipy.stats import norm

from bayes_models import fit_many, read_k_properties
from bayes_models.models.registry import write_priors
from bayes_models.posterior.bayes_factors import weigh_against_zero
from lehner import InputError, Ratings, Scenario, simulate
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


# What relaxes K-properties against known densities, and on data whose violations are known.


def tree_of(priors=None, **draws):
    posterior = xr.Dataset({name: (("chain", "draw"), values) for name, values in draws.items()})
    tree = xr.DataTree.from_dict({"posterior": posterior})
    tree.attrs |= {"model": "relaxed_k", "priors": write_priors("relaxed_k", priors)}
    return tree


def test_dials_give_mean_interval_direction_and_verdict():
    rng = np.random.default_rng(2)
    tree = tree_of(
        rater_spread=abs(rng.normal(0, 0.03, (4, 2000))),
        distance_decay=rng.normal(1.0, 0.2, (4, 2000)),
    )
    spread, decay = read_k_properties(tree, level=0.9)
    assert (spread.name, decay.name) == ("rater_spread", "distance_decay")
    assert spread.probability_of_direction is None
    assert decay.probability_of_direction > 0.999
    assert decay.value.estimate == pytest.approx(1.0, abs=0.02)
    assert decay.value.lower == pytest.approx(1 - 0.2 * 1.645, abs=0.03)
    assert (spread.verdict(), decay.verdict()) == ("supported", "rejected")


def test_other_models_relax_no_k_property():
    tree = tree_of(rater_spread=np.ones((2, 5)))
    tree.attrs["model"] = "one_coin"
    with pytest.raises(InputError, match="fit relaxed_k"):
        read_k_properties(tree)


@pytest.mark.slow
def test_the_data_reject_the_property_that_fails():
    scenario = Scenario(
        n_categories=3, n_items=1000, initial_rater_accuracy=(0.4, 0.9, 0.65), base_rates="equal"
    )
    same = Scenario(n_categories=3, n_items=1000, base_rates="equal")
    data = (simulate(each, 1).with_truth(None) for each in (scenario, same))
    trees = fit_many("relaxed_k", data, priors=UNEQUAL_RATERS)
    (fails,), (holds,) = map(read_k_properties, trees)
    assert fails.name == "rater_spread" and fails.bayes_factor > 3
    assert holds.bayes_factor < 1 < fails.bayes_factor


def test_a_lower_bound_is_written_as_one():
    far = abs(np.random.default_rng(1).normal(1, 0.1, (4, 400)))
    for draws, sign in ((far, "> "), (0.1 * far, "> "), (abs(far - 1), "")):
        (parameter,) = read_k_properties(tree_of(rater_spread=draws))
        assert parameter.is_lower_bound == bool(sign)
        number, *error = parameter.evidence().removeprefix(sign).split(" ± ")
        assert parameter.evidence().startswith(sign) and float(number) > 0
        assert (parameter.bayes_factor_error is None) == (not error) == bool(sign)


@pytest.mark.parametrize(
    ("bound", "shown", "verdict"),
    [(10.9, "> 10", "rejected"), (9.999, "> 9.99", "undecided"), (0.05, "> 0.05", "undecided")],
)
def test_a_lower_bound_is_not_rounded_up_and_supports_nothing(bound, shown, verdict):
    far = abs(np.random.default_rng(1).normal(1, 0.1, (4, 400)))
    (parameter,) = read_k_properties(tree_of(rater_spread=far))
    changed = replace(parameter, bayes_factor=bound)
    assert (changed.evidence(), changed.verdict()) == (shown, verdict)


def test_the_error_counts_draws_that_depend_on_one_another_as_fewer():
    draws = abs(np.random.default_rng(4).normal(0.3, 0.3, (4, 500)))
    (once,) = read_k_properties(tree_of(rater_spread=draws))
    (each_four_times,) = read_k_properties(tree_of(rater_spread=np.repeat(draws, 4, axis=1)))
    ratio = each_four_times.bayes_factor_error / once.bayes_factor_error
    assert 0.75 < ratio < 1.5


@pytest.mark.parametrize(
    ("factor", "error", "verdict"),
    [
        (12.0, 1.9, "rejected"),
        (12.0, 2.1, "undecided"),
        (0.08, 0.019, "supported"),
        (0.08, 0.021, "undecided"),
    ],
)
def test_a_bayes_factor_is_strong_only_if_its_error_does_not_change_that(factor, error, verdict):
    (parameter,) = read_k_properties(
        tree_of(rater_spread=abs(np.random.default_rng(4).normal(0, 1, (4, 50))))
    )
    changed = replace(parameter, bayes_factor=factor, bayes_factor_error=error)
    assert changed.verdict() == verdict


@pytest.mark.parametrize("scale", [np.float32(0.5), np.int64(1), np.array(0.5), 0.05])
def test_the_bayes_factor_is_against_the_prior_that_the_fit_was_made_with(scale):
    draws = abs(np.random.default_rng(1).normal(0, 0.2, (4, 2000)))
    (parameter,) = read_k_properties(tree_of({"rater_spread": scale}, rater_spread=draws))
    assert parameter.bayes_factor == pytest.approx(weigh_against_zero(draws, float(scale))[0])


def test_a_prior_that_is_a_distribution_has_no_bayes_factor_and_a_reason():
    draws = abs(np.random.default_rng(1).normal(0, 0.2, (4, 2000)))
    other = {"rater_spread": pm.Gamma.dist(2, 3)}
    spread, decay = read_k_properties(tree_of(other, rater_spread=draws, distance_decay=draws))
    assert (spread.bayes_factor, spread.verdict(), spread.evidence()) == (None, "not tested", "")
    assert decay.bayes_factor
