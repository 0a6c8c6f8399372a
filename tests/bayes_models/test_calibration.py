"""Whether prior, likelihood and sampler fit together.

Few items are fitted, whose posterior prior draws weighted by their likelihood give too. In
simulation-based calibration the rank of a prior draw in the posterior is uniform: a thousand
simulations of each model are kept in `experiments/calibration`, and fifty are slow enough.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

import bayes_models
from bayes_models import MODELS, observe
from bayes_models.posterior.draws import infer_truth, take_states
from bayes_models.posterior.predictive import draw_from_prior, draw_ratings, mask_truths
from experiments.simulations.calibration import (
    DESIGNS,
    FIRST,
    _rank,
    calibrate,
    make_design,
    summarise_ranks,
)
from lehner import InputError, Ratings

# Fast cousins: `test_gibbs` (exact means) and `test_against_pymc` (densities).
EACH_MODEL = sorted(MODELS, reverse=True)
# Of their shape other tests compile these models, too.
OF_TABLE_2 = ("dawid_skene", "relaxed_k")


def few_items(n_raters):
    """Six items rated by two raters each and a system; as many categories as raters."""
    rng = np.random.default_rng(1)
    k = n_raters
    codes = np.where((np.arange(k) - np.arange(6)[:, None]) % k < k - 2, -1, 0)
    confusion = np.tile(0.4 * np.eye(k) + 0.6 / k, (k + 1, 1, 1))
    items = Ratings(codes, list("abcd")[:k], system=np.zeros(6, np.int64))
    rates = np.arange(k, 0, -1) / np.arange(k + 1).sum()
    drawn = draw_ratings(items, rates, confusion, rng)
    return Ratings(drawn.votes, drawn.categories, drawn.raters, drawn.items, drawn.system)


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH_MODEL)
def test_draws_are_prior_draws_weighted_by_their_likelihood(name):
    few = few_items(4 if name in OF_TABLE_2 else 3)
    tree = bayes_models.fit(name, few, tries=1)
    assert_weighted_prior_draws(few, draw_from_prior(name, few, 4000, seed=2), tree)


def assert_weighted_prior_draws(few, prior, tree):
    """Compare the means of draws with those of prior draws weighted by their likelihood."""
    patterns = observe(few)
    log = infer_truth(patterns, *take_states(prior))[1] @ patterns.counts
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    assert 1 / (weights**2).sum() > 150, "effective draws"
    for variable in ("base_rates", "accuracy", "system_accuracy"):
        weighted = prior[variable].values[0].reshape(4000, -1)
        mean = weights @ weighted
        errors = np.sqrt(weights**2 @ (weighted - mean) ** 2)
        draws = tree["posterior"][variable].mean(("chain", "draw")).values.ravel()
        np.testing.assert_array_less(abs(draws - mean), 4 * errors + 0.01, err_msg=variable)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_models_are_calibrated(name):
    ranks = calibrate(name, make_design(), 50, seed=4, chains=2, draws=500, tries=1)
    assert set(ranks) == {"base_rates", "accuracy", "system_accuracy", "system_accuracy_in_sample"}
    for quantity, values in ranks.items():
        assert kstest(values, "uniform").pvalue > 0.001, quantity


@pytest.mark.slow
def test_ranks_show_a_prior_that_is_not_the_one_simulated_from():
    prior = draw_from_prior("dawid_skene", make_design(), 50, seed=1)
    rng = np.random.default_rng(1)
    simulated = [
        draw_ratings(make_design(), *state, rng).with_truth(None)
        for state in zip(*take_states(prior), strict=True)
    ]
    wrong = {"base_rates": np.array([30.0, 1.0, 1.0])}
    trees = bayes_models.fit_many("dawid_skene", simulated, priors=wrong, chains=2, tries=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
        ranks = [
            _rank(tree["posterior"]["base_rates"].values[..., 0].ravel()[::8], true, rng)
            for true, tree in zip(prior["base_rates"].values[0, :, 0], trees, strict=True)
        ]
    assert kstest(ranks, "uniform").pvalue < 1e-6


def test_ranks_are_between_zero_and_one_and_break_ties_at_random():
    rng = np.random.default_rng(1)
    ranks = [_rank(np.zeros(99), 0.0, rng) for _ in range(2000)]
    assert kstest(ranks, "uniform").pvalue > 0.001
    assert _rank(np.arange(99.0), -1.0, rng) < 0.01
    assert _rank(np.arange(99.0), 100.0, rng) > 0.99
    # Draws that are all but equal to the value are below it, and not tied as well.
    nearly = [_rank(np.full(99, 0.3 - 1e-15), 0.3, rng) for _ in range(20)]
    assert 0.99 <= min(nearly) and max(nearly) <= 1


def test_drawn_ratings_have_the_gaps_of_the_design_and_the_parameters_given():
    rng = np.random.default_rng(1)
    codes = np.tile([[0, -1, 0], [0, 0, 0]], (5000, 1))
    ratings = Ratings(codes, list("abc"), system=np.tile([0, -1], 5000), ordered=True)
    rates = np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.1])
    confusion = rng.dirichlet(np.ones(3), size=(4, 6))
    drawn = draw_ratings(ratings, rates, confusion, rng)
    assert ((drawn.codes < 0) == (codes < 0)).all()
    assert ((drawn.system < 0) == (ratings.system < 0)).all()
    shares = np.bincount(drawn.truth, minlength=3) / 10_000
    np.testing.assert_allclose(shares, rates[:3] + rates[3:], atol=0.02)
    joint = rates @ confusion[0]
    np.testing.assert_allclose(np.bincount(drawn.codes[:, 0]) / 10_000, joint, atol=0.02)
    both = (rates[:, None, None] * confusion[0][:, :, None] * confusion[3][:, None, :]).sum(axis=0)
    answered = drawn.system >= 0
    table = np.zeros((3, 3))
    np.add.at(table, (drawn.codes[answered, 0], drawn.system[answered]), 1 / answered.sum())
    np.testing.assert_allclose(table, both, atol=0.025)


def test_a_grouped_row_is_drawn_item_by_item():
    grouped = Ratings([[0, 0], [1, 1]], ["a", "b"], counts=[3, 2])
    drawn = draw_ratings(
        grouped, np.array([1.0, 0.0]), np.full((2, 2, 2), 0.5), np.random.default_rng(1)
    )
    assert drawn.n_items == 5 and not drawn.grouped
    assert (drawn.truth == 0).all()


def test_truths_that_the_design_knows_are_data_and_the_others_are_not():
    few = make_design("K3_J2_n200_truths")
    drawn = draw_ratings(few, np.ones(3) / 3, np.full((3, 3, 3), 1 / 3), np.random.default_rng(1))
    seen = mask_truths(few, drawn)
    gold = few.truth >= 0
    assert gold.sum() == 50
    assert (seen.truth[gold] == drawn.truth[gold]).all() and (seen.truth[~gold] == -1).all()
    assert (seen.codes == drawn.codes).all() and (seen.system == drawn.system).all()
    assert mask_truths(make_design(), drawn).truth is None


def test_intervals_that_all_hold_leave_an_error_of_coverage():
    ranks = pd.DataFrame({"accuracy": np.full(100, 0.5)})
    table = summarise_ranks(ranks.assign(model="one_coin", design=FIRST))
    assert table["coverage_90"].item() == 1 and 0.005 < table["coverage_se"].item() < 0.02


def test_designs_differ_in_categories_raters_items_gaps_and_known_truths():
    for name in DESIGNS:
        result = make_design(name)
        k, n_raters, n_items = (int(part[1:]) for part in name.split("_")[:3])
        assert (result.n_categories, result.n_raters, result.n_items) == (k, n_raters, n_items)
        assert ("missing" in name) == bool((result.codes < 0).any())
        assert ("truths" in name) == (result.truth is not None)


def test_no_simulations_are_refused():
    with pytest.raises(InputError, match="0 simulations"):
        calibrate("one_coin", make_design(), 0)
