"""R-hat and effective sample sizes: as ArviZ computes them, one variable after another."""

import numpy as np
import pytest
from arviz_stats.base import array_stats
from numpy.testing import assert_allclose

from bayes_models.posterior import convergence
from bayes_models.posterior.convergence import ess_mean, ess_tail, r_hat_and_ess_bulk

AXES = {"chain_axis": 0, "draw_axis": 1}


def chains(n_chains, n_draws, seed):
    """Draws that remember, alternate, repeat themselves, drift apart, have few values."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n_chains, n_draws))
    walk = noise.cumsum(axis=1)
    remembering, alternating = noise.copy(), noise.copy()
    for t in range(1, n_draws):
        remembering[:, t] += 0.9 * remembering[:, t - 1]
        alternating[:, t] -= 0.7 * alternating[:, t - 1]
    stuck = np.where(rng.random(noise.shape) < 0.5, np.roll(noise, 1, axis=1), noise)
    apart = noise + np.arange(n_chains)[:, None]
    few = rng.integers(0, 3, noise.shape)
    rare = rng.random(noise.shape) < 1 / n_draws
    rare[0, 0] = True
    heavy = rng.standard_cauchy(noise.shape)
    every = [noise, walk, remembering, alternating, stuck, apart, few, rare, heavy]
    return np.stack(every, axis=2).astype(float)


@pytest.mark.parametrize(
    ("n_chains", "n_draws"), [(4, 1000), (2, 4), (3, 5), (4, 6), (2, 7), (3, 101), (4, 250)]
)
def test_they_are_those_of_arviz(monkeypatch, n_chains, n_draws):
    for at_once in (10, 1_000_000):
        monkeypatch.setattr(convergence, "AT_ONCE", at_once)
        draws = chains(n_chains, n_draws, n_draws)
        options = {"rtol": 1e-9, "equal_nan": True}
        r_hat, ess_bulk = r_hat_and_ess_bulk(draws)
        assert_allclose(r_hat, array_stats.rhat(draws, method="rank", **AXES), **options)
        assert_allclose(ess_bulk, array_stats.ess(draws, method="bulk", **AXES), **options)
        assert_allclose(ess_mean(draws), array_stats.ess(draws, method="mean", **AXES), **options)
        tail = array_stats.ess(draws, method="tail", prob=(0.05, 0.95), **AXES)
        assert_allclose(ess_tail(draws), tail, **options)


def test_one_chain_has_no_r_hat_but_an_effective_sample_size():
    draws = chains(1, 400, 1)
    r_hat, ess_bulk = r_hat_and_ess_bulk(draws)
    assert np.isnan(r_hat).all()
    expected = array_stats.ess(draws, method="bulk", **AXES)
    assert_allclose(ess_bulk, expected, rtol=1e-9)
