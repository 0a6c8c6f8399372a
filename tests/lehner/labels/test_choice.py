"""The choice among models: what it is made of, and what it comes to in simulated crowds."""

import numpy as np
import pytest

from lehner import Ratings, Scenario, load_dataset, simulate
from lehner.labels.choice import FEW_RATERS, ROUNDS, HeldOut, _choose, choose_models, hold_out
from lehner.labels.mean_field import FIRST_PRIOR, LABEL_MODELS, MAJORITY


def bare(scenario, seed=1):
    return simulate(scenario, seed).without_system().with_truth(None)


def means_of(**means):
    """Make held-out log probabilities with these means, all differences far from chance."""
    noise = np.tile([0.01, -0.01], 500)
    log = {name: mean + noise * (1 + number) for number, (name, mean) in enumerate(means.items())}
    held = HeldOut(n_ratings=1000, item_index=np.arange(1000), log_probability=log)
    return held, means


def raters_alike(n_raters):
    return bare(Scenario(n_items=40, n_categories=2, initial_rater_accuracy=(0.8,) * n_raters))


FLAT = {"majority": -1.0, "one_coin_vb": -0.99, "one_coin_by_rater_vb": -0.9}


@pytest.mark.parametrize(
    ("n_raters", "full", "ebcc", "first"),
    [
        (50, -0.8, -0.79, "ebcc"),
        (50, -0.8, -0.7, "one_coin_vb"),  # raters share many mistakes
        (50, -0.8, -0.81, "dawid_skene_vb"),
        (50, -0.95, -0.96, "one_coin_by_rater_vb"),
        (FEW_RATERS - 1, -0.8, -0.79, "dawid_skene_vb"),
    ],
)
def test_the_best_predicting_model_is_first(n_raters, full, ebcc, first):
    held, means = means_of(**FLAT, dawid_skene_vb=full, ebcc=ebcc)
    models, _ = _choose(held, means, raters_alike(n_raters))
    assert models[0] == first
    assert models[-1] in (MAJORITY, "one_coin_vb")
    assert list(models[:-1]) == sorted(models[:-1], key=means.get, reverse=True)
    # Where full matrices fail, one accuracy a rater is no way out.
    assert first == "one_coin_by_rater_vb" or "one_coin_by_rater_vb" not in models


def test_standard_errors_are_of_items():
    gain = np.repeat(np.random.default_rng(1).normal(0.1, 1, 400), 5)
    log = {"a": gain, "b": np.zeros(2000)}
    of_items = np.repeat(np.arange(400), 5)
    by_item = HeldOut(n_ratings=2000, item_index=of_items, log_probability=log)
    by_rating = HeldOut(n_ratings=2000, item_index=np.arange(2000), log_probability=log)
    ratio = by_rating.standard_errors_between("a", "b") / by_item.standard_errors_between("a", "b")
    assert ratio == pytest.approx(np.sqrt(5))
    items = gain[::5]
    error = items.std() / np.sqrt(400)
    assert by_item.standard_errors_between("a", "b") == pytest.approx(items.mean() / error)


def test_held_out_probabilities_of_the_majority_by_hand():
    # Two raters always agree: held out, a rating is predicted by the other rater's.
    ratings = Ratings(np.repeat(np.arange(400)[:, None] % 2, 2, axis=1), ["no", "yes"])
    held = hold_out(ratings, (MAJORITY,), 1)
    accuracy = FIRST_PRIOR.right / (FIRST_PRIOR.right + FIRST_PRIOR.wrong)
    assert np.all(held.log_probability[MAJORITY] < 0)
    assert np.exp(held.mean(MAJORITY)) > accuracy
    # Each rating is held out once in each of the rounds in which its item has another one.
    assert held.n_ratings <= ratings.n_ratings
    assert len(held.item_index) <= ROUNDS * ratings.n_ratings
    assert np.bincount(held.item_index).max() <= 2 * ROUNDS


def test_raters_alike_count_the_same():
    choice = choose_models(bare(Scenario(n_categories=3, initial_rater_accuracy=(0.7,) * 5)), 1)
    assert choice.models[0] in (MAJORITY, "one_coin_vb")
    assert "no model in which raters differ" in choice.reason


def test_raters_apart_do_not():
    scenario = Scenario(
        n_categories=4, n_items=300, initial_rater_accuracy=(0.95, 0.6, 0.4, 0.4, 0.4)
    )
    assert choose_models(bare(scenario), 1).models[0] == "one_coin_by_rater_vb"


def test_raters_who_copy_another_are_not_taken_for_the_more_accurate():
    # The second and the third repeat the worst of five in .7 of their ratings.
    scenario = Scenario(
        n_categories=3,
        n_items=300,
        initial_rater_accuracy=(0.6, 0.7, 0.7, 0.7, 0.7),
        copying=(0.0, 0.7, 0.7, 0.0, 0.0),
    )
    for seed in range(3):
        choice = choose_models(bare(scenario, seed), 1)
        assert choice.means["one_coin_by_rater_vb"] > choice.means["majority"]
        assert choice.models[0] in (MAJORITY, "one_coin_vb")
        assert "agree more than their accuracies explain" in choice.reason


def test_the_choice_does_not_hang_on_the_seed():
    ratings = load_dataset("llmbar").without_system().with_truth(None)
    assert len({choose_models(ratings, seed).models for seed in (1, 2, 3)}) == 1


def test_anonymous_raters_count_the_same():
    ratings = Ratings.from_counts([[3, 1], [0, 4], [4, 0]] * 20, ["no", "yes"])
    assert set(choose_models(ratings, 1).means) == {MAJORITY, "one_coin_vb"}


def test_nothing_to_hold_out_leaves_the_majority():
    choice = choose_models(Ratings([[0, 1]], ["no", "yes"]), 5)
    assert choice.models == (MAJORITY,) or choice.n_held_out > 0


def test_every_model_is_scored_on_the_same_ratings():
    held = hold_out(bare(Scenario(n_items=40, n_categories=2)), tuple(LABEL_MODELS), 1)
    assert {len(values) for values in held.log_probability.values()} == {len(held.item_index)}
    again = hold_out(bare(Scenario(n_items=40, n_categories=2)), tuple(LABEL_MODELS), 1)
    np.testing.assert_array_equal(held.log_probability["ebcc"], again.log_probability["ebcc"])
