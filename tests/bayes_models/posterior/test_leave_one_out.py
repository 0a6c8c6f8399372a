"""Items left out: as ArviZ predicts them."""

import arviz_stats
import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

from bayes_models.posterior.predictions import leave_one_out


def tree_of(log_likelihood, posterior):
    sample = {"chain": np.arange(len(posterior)), "draw": np.arange(posterior.shape[1])}
    ratings = (("chain", "draw", "item"), log_likelihood)
    items = sample | {"item": np.arange(log_likelihood.shape[2])}
    return xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset({"x": (("chain", "draw", "dim"), posterior)}, sample),
            "log_likelihood": xr.Dataset({"agreeing_pairs": ratings}, items),
        }
    )


@pytest.mark.parametrize(("n_chains", "n_draws"), [(4, 1000), (1, 500), (2, 30), (4, 60)])
@pytest.mark.filterwarnings("ignore:Estimated shape")
def test_predictions_are_those_of_arviz_for_light_and_heavy_tails(n_chains, n_draws):
    rng = np.random.default_rng(n_draws)
    posterior = rng.normal(size=(n_chains, n_draws, 3)).cumsum(axis=1) * 0.1
    posterior += rng.normal(size=posterior.shape)
    scale = np.array([0.01, 0.1, 0.3, 1.0, 2.0, 5.0])
    log_likelihood = -2 - rng.gamma(1, size=(n_chains, n_draws, 1)) * scale
    # Draws that are repeated, as where a proposal was rejected.
    log_likelihood[:, 1::3] = log_likelihood[:, :-1:3][:, : log_likelihood[:, 1::3].shape[1]]
    tree = tree_of(log_likelihood, posterior)
    elpd, pareto_k, highest_k = leave_one_out(tree)
    expected = arviz_stats.loo(tree, pointwise=True)
    assert_allclose(elpd, expected.elpd_i, rtol=1e-9)
    assert_allclose(pareto_k, expected.pareto_k, rtol=1e-7)
    assert highest_k == pytest.approx(expected.good_k)


def test_a_density_that_never_changes_is_its_own_prediction():
    rng = np.random.default_rng(1)
    tree = tree_of(np.full((2, 100, 2), -1.5), rng.normal(size=(2, 100, 1)))
    elpd, pareto_k, highest_k = leave_one_out(tree)
    assert_allclose(elpd, -1.5)
    assert not (pareto_k > highest_k).any()
