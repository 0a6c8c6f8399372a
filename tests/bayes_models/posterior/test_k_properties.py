"""What relaxes K-properties against known densities, and on data whose violations are known."""

from dataclasses import replace

import numpy as np
import pymc as pm
import pytest
import xarray as xr

from bayes_models import fit_many, read_k_properties
from bayes_models.models.registry import write_priors
from bayes_models.posterior.bayes_factors import weigh_against_zero
from lehner import InputError, Scenario, simulate
from tests.reference.rater_spread import UNEQUAL_RATERS


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
