"""Modes that chains started at one point never see."""

import json
import warnings

import numpy as np
import pytest

import bayes_models
from bayes_models import ConvergenceWarning, make_diagonal_concentration, observe
from bayes_models.sampling.nuts import JITTER, NOISE, start_variables
from bayes_models.sampling.start import _take_steps, find_modes, start_at_vote
from lehner import Ratings, Scenario, simulate
from lehner.core.errors import read_warnings


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
