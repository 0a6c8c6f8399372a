"""Gibbs sampling against an exact posterior and against NUTS."""

import itertools
import warnings

import numpy as np
import pymc as pm
import pytest
from scipy.special import gammaln

from bayes_models import ConvergenceWarning, fit, fit_many, make_diagonal_concentration, observe
from bayes_models.models.registry import read_fitted_priors
from bayes_models.sampling.gibbs import sample_conjugate
from lehner import InputError, Ratings, Scenario, simulate

# Two categories, gaps and repeated ratings, an unanswered item and a known truth.
ROWS = {
    "item": [0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5],
    "rater": list("abbabaabababa"),
    "occasion": [1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1],
    "rating": list("xxyyyxyyxxyxx"),
}


def small(system=True):
    ratings = Ratings.from_long(ROWS, occasion="occasion")
    answers = np.array([0, 1, 1, -1, 0, 0])
    truth = np.array([-1, -1, 1, -1, -1, -1])
    n = ratings.n_items
    return Ratings(
        ratings.entries,
        ratings.categories,
        ratings.raters,
        ratings.items,
        answers[:n] if system else None,
        truth[:n],
    ).with_independent_repeats()


def exact_means(ratings, confusion, base_rates):
    """Sum over all truths of all items: the posterior means of base rates and accuracies."""
    votes = ratings.votes
    weights, means = [], []
    diagonal = isinstance(confusion, str)
    prior = make_diagonal_concentration(2) if diagonal else np.full((2, 2), confusion)
    for truths in itertools.product(range(2), repeat=ratings.n_items):
        truths = np.array(truths)
        if ((ratings.truth >= 0) & (truths != ratings.truth)).any():
            continue
        items = base_rates + np.bincount(truths, minlength=2)
        rated = np.tile(prior, (ratings.n_raters + 1, 1, 1))
        for item, rater, response in zip(
            votes.item_index, votes.rater_index, votes.category_index, strict=True
        ):
            rated[rater, truths[item], response] += 1
        for item, answer in enumerate(ratings.system):
            if answer >= 0:
                rated[-1, truths[item], answer] += 1
        weights.append(
            gammaln(items).sum() + (gammaln(rated).sum(-1) - gammaln(rated.sum(-1))).sum()
        )
        rates = items / items.sum()
        confusion = rated / rated.sum(-1, keepdims=True)
        means.append([*rates, *np.einsum("gkk,k->g", confusion, rates)])
    weight = np.exp(np.array(weights) - max(weights))
    return weight @ np.array(means) / weight.sum()


@pytest.mark.parametrize(
    ("confusion", "base_rates", "tolerance"),
    [
        ("diagonal", 3.0, 0.003),
        # These priors put probabilities near zero.
        (0.05, 0.05, 0.015),
        (2.0, 0.001, 0.01),
    ],
)
def test_means_are_those_of_the_exact_posterior(confusion, base_rates, tolerance):
    ratings = small()
    expected = exact_means(ratings, confusion, base_rates)
    priors = {"base_rates": base_rates, "confusion": confusion}
    posterior = sample_conjugate(
        "dawid_skene", observe(ratings), priors, seed=1, draws=50_000, tune=100, chains=4
    )
    means = posterior.mean(("chain", "draw"))
    result = [*means["base_rates"].values, *means["accuracy"].values]
    np.testing.assert_allclose(result, expected, atol=tolerance)


@pytest.mark.parametrize("concentration", [1e-3, 1e-9])
@pytest.mark.parametrize("variable", ["base_rates", "confusion"])
def test_a_prior_at_the_corners_does_not_underflow(variable, concentration):
    ratings = simulate(Scenario(n_categories=3, n_items=20, initial_rater_accuracy=(0.4, 0.5)), 1)
    truths = np.where(np.arange(20) < 6, ratings.truth, -1)
    some = ratings.with_truth(truths)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        options = {"draws": 200, "tries": 1, "checks": False, "log_likelihood": False}
        priors = {variable: concentration}
        tree = fit("dawid_skene", some, engine="gibbs", priors=priors, **options)
    posterior = tree["posterior"].to_dataset()
    np.testing.assert_allclose(posterior["confusion"].sum("response"), 1)
    np.testing.assert_allclose(posterior["base_rates"].sum("true_category"), 1)
    truth = tree["truth"]["truth_probabilities"].values
    np.testing.assert_allclose(truth[np.arange(6), truths[:6]], 1)
    assert (posterior["base_rates"].mean(("chain", "draw"))[np.unique(truths[:6])] > 0.01).all()


def test_a_fit_keeps_its_priors_those_not_given_too():
    priors = {"base_rates": np.array([1, 2.5])}
    (tree,) = fit_many("dawid_skene", [small()], engine="gibbs", priors=priors, tries=1)
    kept = {"confusion": "diagonal", "system_confusion": "weak_diagonal"}
    assert read_fitted_priors(tree) == {"base_rates": [1.0, 2.5], **kept}
    (again,) = fit_many(
        "dawid_skene", [small()], engine="gibbs", priors=read_fitted_priors(tree), tries=1
    )
    assert again["posterior"].to_dataset().equals(tree["posterior"].to_dataset())


def test_without_a_system_there_is_no_system_accuracy():
    posterior = sample_conjugate(
        "dawid_skene", observe(small(system=False)), seed=1, draws=10, tune=1, chains=2
    )
    assert posterior["accuracy"].sizes["rater"] == 2
    assert "system_accuracy" not in posterior


def test_hundreds_of_ratings_of_an_item_do_not_underflow():
    codes = np.random.default_rng(1).integers(0, 3, (4, 1000))
    ratings = Ratings(codes, ["a", "b", "c"])
    posterior = sample_conjugate(
        "dawid_skene", observe(ratings), seed=1, draws=50, tune=1, chains=1
    )
    assert np.isfinite(posterior["confusion"]).all()


def test_same_seed_same_draws():
    first, second, other = (
        next(fit_many("dawid_skene", [small()], seed=seed, engine="gibbs", tries=1))
        for seed in (1, 1, 2)
    )
    assert first["posterior"].to_dataset().equals(second["posterior"].to_dataset())
    assert not first["posterior"].to_dataset().equals(other["posterior"].to_dataset())


def test_other_models_and_priors_are_refused():
    with pytest.raises(InputError, match="'gibbs' does not sample relaxed_k"):
        fit("relaxed_k", small(), engine="gibbs")
    with pytest.raises(InputError, match="prior of base_rates is a PyMC distribution"):
        priors = {"base_rates": pm.Dirichlet.dist([1, 1])}
        fit("dawid_skene", small(), engine="gibbs", priors=priors)
    with pytest.raises(InputError, match="engine"):
        fit("dawid_skene", small(), engine="metropolis")


@pytest.mark.filterwarnings("ignore::bayes_models.ConvergenceWarning")
def test_items_that_no_rater_rated_change_no_draw() -> None:
    scenario = Scenario(n_categories=3, n_items=80, initial_rater_accuracy=(0.8,) * 3)
    ratings = simulate(scenario, seed=2).with_truth(None)
    codes = np.concatenate([ratings.codes, np.full((300, 3), -1)])
    system = np.concatenate([ratings.system, np.zeros(300, int)])
    among = Ratings(codes, ratings.categories, system=system)
    options = {"engine": "gibbs", "chains": 2, "draws": 200, "tune": 50, "checks": False}
    alone, other = (fit("dawid_skene", data, tries=1, **options) for data in (ratings, among))
    for name in ("system_accuracy", "system_accuracy_in_sample"):
        np.testing.assert_allclose(other.posterior[name], alone.posterior[name])
