"""The posterior of the true categories, against enumeration."""

import tracemalloc

import numpy as np
import pytest
import xarray as xr

from bayes_models.posterior import draws as truth
from bayes_models.posterior.draws import add_truth
from lehner import Ratings
from tests.bayes_models.models.test_likelihood import as_lists, random_parameters, random_ratings
from tests.reference.dawid_skene import log_likelihood, truth_probabilities


def posterior_of(base_rates, confusion, draws=1):
    """A posterior that repeats the given parameters in every draw."""
    shape = (2, draws)
    return xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {
                    "base_rates": (
                        ("chain", "draw", "category"),
                        np.broadcast_to(base_rates, (*shape, *base_rates.shape)),
                    ),
                    "confusion": (
                        ("chain", "draw", "rater", "category", "response"),
                        np.broadcast_to(confusion, (*shape, *confusion.shape)),
                    ),
                },
                {"chain": [0, 1], "draw": np.arange(draws), "category": ["a", "b", "c"]},
            )
        }
    )


@pytest.mark.parametrize("seed", range(4))
def test_truths_and_item_log_likelihoods_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    ratings = random_ratings(rng)
    base_rates, confusion = random_parameters(rng, ratings.n_raters + 1, 3)
    tree = posterior_of(base_rates, confusion)
    add_truth(tree, ratings, ratings.to_patterns(), rng)
    expected = truth_probabilities(as_lists(ratings), base_rates, confusion)
    np.testing.assert_allclose(tree["truth"]["truth_probabilities"], expected, atol=1e-10)
    per_item = [log_likelihood([item], base_rates, confusion) for item in as_lists(ratings)]
    np.testing.assert_allclose(tree["log_likelihood"]["ratings"][0, 0], per_item, atol=1e-10)
    assert list(tree["truth"]["item"].values) == list(ratings.items)


def test_accuracy_in_the_sample_counts_right_answers_among_those_given():
    rng = np.random.default_rng(0)
    ratings = random_ratings(rng)
    base_rates, confusion = random_parameters(rng, ratings.n_raters + 1, 3)
    tree = posterior_of(base_rates, confusion, draws=20_000)
    add_truth(tree, ratings, ratings.to_patterns(), rng)
    truth = np.array(truth_probabilities(as_lists(ratings), base_rates, confusion))
    answered = np.flatnonzero(ratings.system >= 0)
    right = truth[answered, ratings.system[answered]]
    draws = tree["posterior"]["system_accuracy_in_sample"].values.ravel()
    # Items are independent given the parameters: a Poisson-binomial count.
    spread = np.sqrt((right * (1 - right)).sum()) / len(answered)
    assert draws.mean() == pytest.approx(right.mean(), abs=5 * spread / np.sqrt(draws.size))
    assert draws.std() == pytest.approx(spread, rel=0.03)
    assert set(np.round(draws * len(answered), 9)) <= set(range(len(answered) + 1))


def test_grouped_rows_count_as_their_items():
    single = Ratings(
        [[0, 0, 1], [1, 2, 1], [1, 2, 1], [1, 2, 1]], ["a", "b", "c"], system=[0, 1, 1, 1]
    )
    grouped = Ratings([[0, 0, 1], [1, 2, 1]], ["a", "b", "c"], system=[0, 1], counts=[1, 3])
    base_rates, confusion = random_parameters(np.random.default_rng(1), 4, 3)
    trees = []
    for ratings in (single, grouped):
        tree = posterior_of(base_rates, confusion, draws=5)
        add_truth(tree, ratings, ratings.to_patterns(), np.random.default_rng(2))
        trees.append(tree)
    first, two = trees
    np.testing.assert_allclose(first["log_likelihood"]["ratings"], two["log_likelihood"]["ratings"])
    np.testing.assert_allclose(
        first["posterior"]["system_accuracy_in_sample"],
        two["posterior"]["system_accuracy_in_sample"],
    )
    np.testing.assert_allclose(
        first["truth"]["truth_probabilities"][:2], two["truth"]["truth_probabilities"]
    )


def test_without_a_system_there_is_no_accuracy_in_the_sample():
    ratings = random_ratings(np.random.default_rng(0), system=False)
    tree = posterior_of(*random_parameters(np.random.default_rng(1), ratings.n_raters, 3))
    add_truth(tree, ratings, ratings.to_patterns(), np.random.default_rng(2))
    assert "system_accuracy_in_sample" not in tree["posterior"]


@pytest.mark.parametrize(("wanted", "most"), [(False, 50_000_000), (True, 0)])
def test_item_log_likelihoods_that_are_not_kept_take_no_memory(wanted, most, monkeypatch):
    monkeypatch.setattr(truth, "CELLS_AT_ONCE", 100_000)
    monkeypatch.setattr(truth, "MOST_LOG_LIKELIHOODS", most)
    rng = np.random.default_rng(1)
    ratings = Ratings(rng.integers(0, 3, (500, 12)), ["a", "b", "c"])
    tree = posterior_of(*random_parameters(rng, 12, 3), draws=1000)
    patterns = ratings.to_patterns()
    tracemalloc.start()
    add_truth(tree, ratings, patterns, rng, log_likelihood=wanted)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "log_likelihood" not in tree
    np.testing.assert_allclose(tree["truth"]["truth_probabilities"].sum("category"), 1)
    assert peak < 2000 * len(patterns.counts) * 8


def test_probabilities_of_many_items_are_means_of_fewer_draws(monkeypatch):
    ratings = random_ratings(np.random.default_rng(0), system=False)
    means = []
    for most in (50_000_000, 50):
        tree = posterior_of(
            *random_parameters(np.random.default_rng(1), ratings.n_raters, 3), draws=40
        )
        monkeypatch.setattr(truth, "MOST_TRUTHS", most)
        rng = np.random.default_rng(2)
        add_truth(tree, ratings, ratings.to_patterns(), rng, log_likelihood=False)
        means.append(tree["truth"]["truth_probabilities"])
    np.testing.assert_allclose(*means, atol=1e-12)
    np.testing.assert_allclose(means[1].sum("category"), 1.0)
