"""Simulation-based calibration: among prior draws, a rank in the posterior is uniform.

Parameters are drawn from the prior, ratings from the parameters, and the posterior is sampled; the
rank of the true value among the posterior draws is then uniform if and only if prior, likelihood
and sampler fit together (Talts et al. 2018, https://arxiv.org/abs/1804.06788).
"""

import numpy as np
import nutpie
import pytest
from scipy.stats import chisquare

from bayes_models import dawid_skene, diagonal_concentration
from bayes_models.likelihood import rating_slots
from bayes_models.start import vote_start
from bayes_models.truth import add_truth
from lehner import Ratings

K, RATERS, ITEMS, BINS = 3, 4, 30, 10


def draw_from_prior(rng):
    base_rates = rng.dirichlet(np.full(K, 3.0))
    rows = diagonal_concentration(K)
    confusion = np.array([[rng.dirichlet(row) for row in rows] for _ in range(RATERS)])
    truth = rng.choice(K, size=ITEMS, p=base_rates)
    answers = np.array([[rng.choice(K, p=confusion[j, z]) for j in range(RATERS)] for z in truth])
    answers[rng.random(answers.shape) < 0.2] = -1
    ratings = Ratings(answers[:, :-1], ["a", "b", "c"], system=answers[:, -1])
    answered = ratings.system >= 0
    diagonal = np.diagonal(confusion, axis1=1, axis2=2)
    values = {
        "base_rates": base_rates[0],
        "accuracy": diagonal[0] @ base_rates,
        "system_accuracy": diagonal[-1] @ base_rates,
        "system_accuracy_in_sample": (truth == ratings.system)[answered].mean(),
    }
    return ratings, values


def ranks(n, seed):
    rng = np.random.default_rng(seed)
    first, _ = draw_from_prior(rng)
    start = vote_start(rating_slots(first))
    compiled = nutpie.compile_pymc_model(dawid_skene(first), initial_points=start, jitter_rvs=set())
    found = {name: [] for name in draw_from_prior(rng)[1]}
    for i in range(n):
        ratings, values = draw_from_prior(rng)
        slots = rating_slots(ratings)
        data = {"codes": slots.codes, "rater_index": slots.rater_index, "counts": slots.counts}
        tree = nutpie.sample(
            compiled.with_data(**data),
            draws=4 * (20 * BINS - 2) + 1,  # every fourth is kept: 20 ranks a bin
            tune=400,
            chains=1,
            cores=1,
            seed=i,
            progress_bar=False,
        )
        add_truth(tree, ratings, rng)
        posterior = tree["posterior"].to_dataset().isel(draw=slice(0, None, 4))
        for name, value in values.items():
            draws = posterior[name].values.reshape(posterior.sizes["draw"], -1)[:, 0]
            ties = rng.integers(0, (draws == value).sum() + 1)
            found[name].append((draws < value).sum() + ties)
    return found, posterior.sizes["draw"]


def check_uniform(n, seed):
    found, n_draws = ranks(n, seed)
    for name, rank in found.items():
        counts = np.histogram(rank, bins=BINS, range=(-0.5, n_draws + 0.5))[0]
        assert chisquare(counts).pvalue > 0.001, (name, counts)


def test_dawid_skene_is_calibrated_on_a_hundred_simulations():
    check_uniform(100, seed=1)


@pytest.mark.slow
def test_dawid_skene_is_calibrated_on_a_thousand_simulations():
    check_uniform(1000, seed=2)
