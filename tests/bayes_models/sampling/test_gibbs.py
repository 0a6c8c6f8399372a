"""Gibbs sampling against an exact posterior and against NUTS."""

import itertools
import json
import warnings

import numpy as np
import pymc as pm
import pytest
from scipy.special import gammaln

import bayes_models
from bayes_models import ConvergenceWarning, fit, fit_many, make_diagonal_concentration, observe
from bayes_models.sampling.gibbs import sample_conjugate
from bayes_models.sampling.nuts import JITTER, NOISE, start_variables
from bayes_models.sampling.start import _take_steps, find_modes, start_at_vote
from lehner import InputError, Ratings, Scenario, simulate
from lehner.core.errors import read_warnings

# Two categories, gaps and repeated ratings, an unanswered item and a known truth.
ROWS = {
    "item": [0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5],
    "rater": list("abbabaabababa"),
    "occasion": [1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1],
    "rating": list("xxyyyxyyxxyxx"),
}


def small():
    ratings = Ratings.from_long(ROWS, occasion="occasion")
    answers = np.array([0, 1, 1, -1, 0, 0])
    truth = np.array([-1, -1, 1, -1, -1, -1])
    named = ratings.categories, ratings.raters, ratings.items
    return Ratings(ratings.entries, *named, answers, truth).with_independent_repeats()


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
    priors = json.loads(tree.attrs["priors"])
    assert priors == {"base_rates": [1.0, 2.5], **kept}
    (again,) = fit_many("dawid_skene", [small()], engine="gibbs", priors=priors, tries=1)
    assert again["posterior"].to_dataset().equals(tree["posterior"].to_dataset())


def test_hundreds_of_ratings_of_an_item_do_not_underflow():
    codes = np.random.default_rng(1).integers(0, 3, (4, 1000))
    ratings = Ratings(codes, ["a", "b", "c"])
    posterior = sample_conjugate(
        "dawid_skene", observe(ratings), seed=1, draws=50, tune=1, chains=1
    )
    assert np.isfinite(posterior["confusion"]).all()


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


# Modes that chains started at one point never see.


def two_schools(seed, n_items=100):
    """Draw answers of two pairs that each know a category of their own, the system in the first.

    Each item is there twice, with the pairs exchanged, so that either may know the truth; then one
    on which only the second pair agrees is left out, which makes the first the better. A fourth
    rater guesses.
    """
    rng = np.random.default_rng(seed)
    answers = np.repeat(rng.integers(0, 2, (n_items, 2)), 2, axis=1)
    said = np.where(rng.random(answers.shape) > 0.9, 1 - answers, answers)
    said = np.vstack([said, said[:, [2, 3, 0, 1]]])
    only_second = (said[:, 2] == said[:, 3]) & (said[:, 0] != said[:, 1])
    said = np.delete(said, np.flatnonzero(only_second)[0], axis=0)
    codes = np.column_stack([said[:, 1:], rng.integers(0, 2, len(said))])
    return Ratings(codes, ["no", "yes"], system=said[:, 0])


def fit_quietly(ratings, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return bayes_models.fit(
            "dawid_skene", ratings, engine="gibbs", draws=400, tune=200, tries=1, **options
        )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_either_school_may_know_the_truth_and_the_diagnostics_say_so(seed):
    # Chains at the vote alone agree, R-hat 1.006 at most, on .51, .55 and .57 or on .87 to .90.
    tree = fit_quietly(two_schools(seed), check="estimands")
    result = json.loads(tree.attrs["diagnostics"])
    assert result["r_hat"] > 1.3
    assert len(result["mode_weights"]) == 2 and sum(result["mode_weights"]) == pytest.approx(1)
    first = read_warnings(tree.attrs["warnings"])[0]
    assert first.code == "not-converged"
    assert ", ".join(f"{weight:.2f}" for weight in result["mode_weights"]) in str(first)
    of_chains = np.sort(tree["posterior"]["system_accuracy"].mean("draw"))
    assert of_chains[0] < 0.6 and of_chains[-1] > 0.85


def density_by_loops(mode, ratings):
    """Give the highest log posterior density near a mode, item by item."""
    prior = make_diagonal_concentration(2)
    # At the mode that the vote leads to EM has taken ten steps only.
    start = mode.items[:, None], mode.ratings.swapaxes(1, 2)[..., None]
    items, by_response, _ = _take_steps(observe(ratings), *start, 300)
    confusion = by_response[..., 0].swapaxes(1, 2) + prior
    confusion /= confusion.sum(axis=-1, keepdims=True)
    rates = (items[:, 0] + 1) / (items + 1).sum()
    total = np.log(rates).sum() + (prior * np.log(confusion)).sum()
    for row in np.column_stack([ratings.codes, ratings.system]):
        joint = rates.copy()
        for rater, response in enumerate(row):
            joint *= confusion[rater, :, response]
        total += np.log(joint.sum())
    return total


def test_weights_are_the_ratio_of_posterior_densities():
    for seed in (1, 2, 3):
        ratings = two_schools(seed)
        modes = find_modes(observe(ratings), seed=1)
        log = np.array([density_by_loops(mode, ratings) for mode in modes])
        expected = np.exp(log - log.max()) / np.exp(log - log.max()).sum()
        np.testing.assert_allclose([mode.weight for mode in modes], expected, atol=0.005)
        assert modes[0].weight > modes[1].weight


@pytest.mark.parametrize(("n_categories", "accuracy"), [(2, 0.8), (3, 0.6), (5, 0.6)])
def test_ordinary_ratings_have_one_mode_and_the_start_of_the_vote(n_categories, accuracy):
    for seed in range(5):
        scenario = Scenario(
            n_categories=n_categories,
            initial_rater_accuracy=(accuracy,) * 3,
            n_items=50 + 150 * (seed % 2),
        )
        patterns = observe(simulate(scenario, seed).with_truth(None))
        (mode,) = find_modes(patterns, seed)
        assert mode.weight == 1
        vote = start_at_vote(patterns)
        assert (mode.items == vote.items).all() and (mode.ratings == vote.ratings).all()


def test_known_truths_say_which_school_is_right():
    ratings = two_schools(1)
    second, system = ratings.codes[:, 1], ratings.system
    for answers, right in ((second, 1), (system, 4)):
        truth = np.where(np.arange(len(answers)) < 60, answers, -1)
        some = Ratings(ratings.votes, ratings.categories, system=system, truth=truth)
        (mode,) = find_modes(observe(some), seed=1)
        shares = np.trace(mode.ratings, axis1=1, axis2=2) / ratings.n_items
        assert shares[right] > 0.9 and shares[5 - right] < 0.6


def test_what_em_does_not_know_starts_farther_apart():
    ratings = simulate(Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3), 1).with_truth(
        None
    )
    with bayes_models.build_model("one_coin_by_rater", ratings) as model:
        start = start_at_vote(observe(ratings))
        plausible = model.initial_point(random_seed=0)
        point, scale = start_variables("one_coin_by_rater", model, plausible, start)
    # Base rates, mean log odds; spread and three effects; the system's log odds.
    np.testing.assert_allclose(scale, [NOISE] * 2 + [JITTER] * 4 + [NOISE])
    assert point.shape == scale.shape


# EM from a vote, where chains start.


def test_known_truths_are_counted_as_they_are_known():
    codes = [[0, 0], [0, 1], [1, 1], [0, 1]]
    ratings = Ratings(codes, ["a", "b"], system=[0, 1, 1, -1], truth=[1, 1, 0, -1])
    start = start_at_vote(ratings.to_patterns())
    unknown = start.items - [1, 2]
    assert unknown.sum() == pytest.approx(1) and (unknown >= 0).all()
    np.testing.assert_allclose(start.ratings[2], [[0, 1], [1, 1]])
    first = start.ratings[0] - [[0, 1], [2, 0]]
    np.testing.assert_allclose(first, np.outer(unknown, [1, 0]), atol=1e-12)


def test_a_known_truth_that_a_thousand_ratings_deny_stays_known():
    codes = np.zeros((3, 1000), dtype=int)
    codes[2] = 1
    items = start_at_vote(Ratings(codes, ["a", "b"], truth=[1, -1, -1]).to_patterns()).items
    assert np.isfinite(items).all() and items.sum() == pytest.approx(3)
    assert items[1] >= 1


def test_the_start_of_many_items_is_near_the_parameters_they_were_drawn_with():
    scenario = Scenario(initial_rater_accuracy=(0.7, 0.8, 0.8, 0.9), n_items=20_000)
    ratings = simulate(scenario, 1)
    start = start_at_vote(observe(ratings.with_truth(None)))
    share = np.bincount(ratings.truth, minlength=5) / ratings.n_items
    np.testing.assert_allclose(start.base_rates, share, atol=0.02)
    diagonal = np.diagonal(start.confusion, axis1=1, axis2=2)
    np.testing.assert_allclose(diagonal @ share, [0.7, 0.8, 0.8, 0.9, 0.9], atol=0.02)
