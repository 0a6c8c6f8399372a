"""Items that no rater rated tell nothing of the accuracy, by any method."""

from dataclasses import replace

import numpy as np
import pytest

import lehner
from lehner import Ratings, Scenario, population_value, simulate
from lehner.algebra.algebraic import VOTE_METHODS
from lehner.contrasts.groups import group_by_algebra, group_by_likelihood
from lehner.estimation.methods import list_methods
from lehner.latent_class.em import LIKELIHOOD_METHODS
from tests.lehner.questions import resample

QUICK = [name for name, method in list_methods().items() if "in_study" not in method.takes]
RECALLS = np.array([0.95, 0.7, 0.6])
BASE_RATES = np.array([0.6, 0.25, 0.15])


def draw(n_rated: int, n_unrated: int, *, clustered: bool = False) -> Ratings:
    """Draw ratings of a system with unequal recalls; the rated items are always the same."""
    rng = np.random.default_rng(1)
    n = n_rated + n_unrated
    truth = rng.choice(3, 1000, p=BASE_RATES)[:n]
    shift = rng.integers(1, 3, (1000, 4))[:n]
    right = rng.uniform(size=(1000, 4))[:n] < np.column_stack(
        [np.full((n, 3), 0.8), RECALLS[truth]]
    )
    answers = np.where(right, truth[:, None], (truth[:, None] + shift) % 3)
    codes = answers[:, :3].copy()
    codes[n_rated:] = -1
    return Ratings(
        codes,
        ["a", "b", "c"],
        system=answers[:, 3],
        cluster=np.arange(n) // 5 if clustered else None,
    )


@pytest.mark.parametrize(
    ("method", "clustered"),
    [*((method, False) for method in QUICK), ("algebraic", True), ("dawid_skene_ml", True)],
)
def test_they_change_no_estimate_and_no_interval(method: str, clustered: bool) -> None:
    able = list_methods()[method]
    options = {"level": 0.9, "seed": 1} | dict.fromkeys({"resamples"} & set(able.takes), 100)
    alone = able.fit(draw(150, 0, clustered=clustered), **options)
    among = able.fit(draw(150, 600, clustered=clustered), **options)
    assert among.system_accuracy.estimate is not None
    for name in ("system_accuracy", "system_accuracy_in_sample"):
        first, other = getattr(alone, name), getattr(among, name)
        for end in ("estimate", "lower", "upper", "standard_error"):
            assert getattr(other, end) == pytest.approx(getattr(first, end), abs=1e-9)
    assert among.warnings == alone.warnings
    if "truth_probabilities" in among.arrays:
        assert among.arrays["truth_probabilities"].values.shape == (750, 3)


def test_the_command_leaves_them_out_and_says_so_once() -> None:
    ratings = draw(150, 600)
    groups = np.where(np.arange(750) % 2, "odd", "even")
    methods = ["majority_agreement", "algebraic", "learned_prior", "dawid_skene_ml"]
    alone = lehner.estimate(ratings.take(np.arange(150)), methods, groups=groups[:150])
    among = lehner.estimate(ratings, methods, groups=groups)
    assert among.table.equals(alone.table)
    said = [text for text in among.ratings.notes if "left out" in text]
    assert said == ["600 of 750 items, which no rater rated, are left out of all estimates"]
    assert among.ratings.n_items == 150


def test_known_truths_of_unrated_items_still_count() -> None:
    ratings = draw(150, 600)
    truth = np.full(750, -1)
    truth[140:170] = 0
    kept = lehner.estimate(ratings.with_truth(truth), ["algebraic"]).ratings
    assert kept.n_items == 170
    assert (kept.truth >= 0).sum() == 30


@pytest.mark.parametrize("method", [*VOTE_METHODS, *LIKELIHOOD_METHODS])
def test_they_enter_no_resample_of_several_systems(method: str) -> None:
    ratings = draw(150, 600)
    both = np.column_stack([ratings.system, np.roll(ratings.system, 1)])
    among = Ratings(ratings.codes, ratings.categories, system=both)
    draws = [
        resample(method, data, resamples=20, seed=3) for data in (among.take(np.arange(150)), among)
    ]
    for quantity, drawn in draws[0].drawn.items():
        np.testing.assert_allclose(draws[1].drawn[quantity], drawn)


def test_they_change_no_group_and_no_population() -> None:
    groups = np.where(np.arange(750) % 2, "odd", "even")
    few, many = draw(150, 0), draw(150, 600)
    for estimate in (group_by_algebra, group_by_likelihood):
        alone = estimate(few.with_populations(groups[:150]), resamples=50)
        among = estimate(many.with_populations(groups), resamples=50)
        assert np.array_equal(alone.point["n_items"], among.point["n_items"])
        first, other = (result.drawn["system_accuracy"] for result in (alone, among))
        np.testing.assert_allclose(first, other)


@pytest.mark.parametrize("method", ["algebraic", "one_coin_ml"])
def test_exact_values_are_those_of_rated_items(method: str) -> None:
    """Of three raters who miss most of their ratings, a third of the items has none."""
    scenario = Scenario(
        n_categories=3,
        initial_rater_accuracy=(0.8,) * 3,
        base_rates=(0.7, 0.2, 0.1),
        missing=0.7,
        initial_system_accuracy=0.7,
        asymmetric_dispersion=20.0,
        errors_affect="system",
    )
    ratings = simulate(replace(scenario, n_items=100_000), seed=1)
    rated = ratings.take(ratings.count_votes().sum(axis=1) > 0).with_truth(None)
    sampled = list_methods()[method].fit(rated, level=0.9, seed=1)
    exact = population_value(scenario, method)
    assert exact.estimate == pytest.approx(sampled.system_accuracy.estimate, abs=0.01)
