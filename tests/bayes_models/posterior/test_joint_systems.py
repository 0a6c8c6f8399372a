"""Draws of several systems side by side: margins, correlation, and pairing by items."""

import warnings

import numpy as np
import pytest
import xarray as xr

import bayes_models
import lehner
from lehner import InputError, Ratings
from tests.lehner.contrasts.test_systems import easy_and_hard, two_systems

GIBBS = {"engine": "gibbs", "chains": 2, "draws": 500, "tries": 1, "checks": False}


IN_SAMPLE = "system_accuracy_in_sample"


def by_system(draws, quantity="system_accuracy"):
    return dict(zip(draws.coords["system"], draws.drawn[quantity].T, strict=True))


def fits(ratings: Ratings, seed: int = 1) -> dict[str, xr.DataTree]:
    """Fit Dawid and Skene's model to each system."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
        return {
            name: bayes_models.fit("dawid_skene", ratings.select_system(name), seed=seed, **GIBBS)
            for name in ratings.systems
        }


def test_each_system_keeps_its_own_posterior() -> None:
    """Joint draws are the draws of the fit in another order."""
    ratings = two_systems(200).with_truth(None)
    trees = fits(ratings)
    draws = bayes_models.join_draws(trees, ratings)
    for name, tree in trees.items():
        own = tree["posterior"]["system_accuracy"].values.ravel()
        assert np.array_equal(np.sort(by_system(draws)[name]), np.sort(own))
        in_sample = tree["posterior"]["system_accuracy_in_sample"].values.ravel()
        assert np.array_equal(np.sort(by_system(draws, IN_SAMPLE)[name]), np.sort(in_sample))


@pytest.mark.slow
def test_the_correlation_is_that_of_estimates_over_samples() -> None:
    """Draws are correlated as the posterior means are over new samples of items."""
    shared = 0.8
    means = []
    for seed in range(40):
        ratings = two_systems(150, seed=seed, shared=shared).with_truth(None)
        trees = fits(ratings)
        means.append(
            [float(tree["posterior"]["system_accuracy"].mean()) for tree in trees.values()]
        )
    over_samples = np.corrcoef(np.transpose(means))[0, 1]
    draws = bayes_models.join_draws(trees, ratings)
    joint = np.corrcoef(by_system(draws)["gpt"], by_system(draws)["base"])[0, 1]
    # The standard error of a correlation of .8 from 40 samples is .06.
    assert joint == pytest.approx(over_samples, abs=0.2)
    independent = two_systems(150, seed=1).with_truth(None)
    draws = bayes_models.join_draws(fits(independent), independent)
    assert abs(np.corrcoef(by_system(draws)["gpt"], by_system(draws)["base"])[0, 1]) < 0.4


def test_a_system_under_two_names_does_not_differ_from_itself() -> None:
    """Every joint difference is 0, expected and in the sample."""
    ratings = two_systems(100, shared=1.0).with_truth(None)
    draws = bayes_models.join_draws(fits(ratings), ratings)
    assert np.array_equal(by_system(draws)["gpt"], by_system(draws)["base"])
    assert np.array_equal(by_system(draws, IN_SAMPLE)["gpt"], by_system(draws, IN_SAMPLE)["base"])


def test_items_that_both_answer_alike_do_not_tell_systems_apart() -> None:
    """In the sample the difference is surer than if the systems' draws were unrelated."""
    ratings = two_systems(200, shared=0.9).with_truth(None)
    draws = bayes_models.join_draws(fits(ratings), ratings)
    difference = by_system(draws, IN_SAMPLE)["gpt"] - by_system(draws, IN_SAMPLE)["base"]
    unrelated = by_system(draws, IN_SAMPLE)["gpt"] - np.roll(by_system(draws, IN_SAMPLE)["base"], 7)
    assert difference.std() < 0.5 * unrelated.std()


def test_fits_of_other_ratings_are_refused() -> None:
    """The fit must be of the raters that the ratings have."""
    ratings = two_systems(60).with_truth(None)
    trees = fits(ratings)
    fewer = ratings.take(np.arange(50))
    with pytest.raises(InputError, match="not those of the fit"):
        bayes_models.join_draws(trees, fewer)
    other = {"gpt": trees["gpt"], "base": trees["base"].copy()}
    other["base"].attrs["model"] = "one_coin"
    with pytest.raises(InputError, match="2 models"):
        bayes_models.join_draws(other, ratings)


def test_grouped_rows_count_as_their_items() -> None:
    """Ratings collapsed to patterns give the same correlation and the same in-sample spread."""
    ratings = two_systems(300, shared=0.5).with_truth(None)
    rows, counts = np.unique(
        np.column_stack([ratings.codes, ratings.answers]), axis=0, return_counts=True
    )
    grouped = Ratings(
        rows[:, :3], ratings.categories, system=rows[:, 3:], systems=ratings.systems, counts=counts
    )
    first, other = (
        by_system(bayes_models.join_draws(fits(data), data), IN_SAMPLE)
        for data in (ratings, grouped)
    )
    wide = [np.std(draws["gpt"] - draws["base"]) for draws in (first, other)]
    assert wide[1] == pytest.approx(wide[0], rel=0.15)
    assert lehner.estimate_algebraic(grouped.select_system("gpt")).system == "gpt"


def test_systems_that_answered_different_items_are_put_on_those_in_common() -> None:
    """Equal systems, one on the easier half: different by their own items, not by common ones."""
    everything = easy_and_hard()
    ratings = Ratings(
        everything.codes,
        everything.categories,
        system=everything.answers[:, :2],
        systems=everything.systems[:2],
    )
    with pytest.raises(InputError, match="the systems answered different items; fit each to"):
        bayes_models.join_draws(fits(ratings), ratings)
    common = ratings.select_common_items()
    draws = bayes_models.join_draws(fits(common), common)
    together = by_system(draws)["whole"] - by_system(draws)["easier"]
    assert abs(np.median(together)) < 0.05 and np.quantile(together, 0.95) > 0
