"""Groups with the same confusion matrices and other base rates, by maximum likelihood."""

import numpy as np
import pytest

from lehner import Scenario, estimate_latent_class, fit_latent_class, simulate
from lehner.contrasts.groups import group_by_likelihood, list_group_rows
from lehner.data.ratings import Ratings
from lehner.latent_class.em import Samples, Search
from lehner.latent_class.fit import fit_by_likelihood
from lehner.latent_class.intervals import fit_samples
from tests.lehner.questions import collect_rows


def two_populations(n, seed, n_raters=2):
    """Hui and Walter's design: two categories, base rates .8 and .3, and a system right in .9."""
    parts = [
        simulate(
            Scenario(
                n_categories=2,
                n_items=n,
                initial_rater_accuracy=(0.8,) * n_raters,
                initial_system_accuracy=0.9,
                base_rates=rates,
            ),
            seed + place,
        )
        for place, rates in enumerate([(0.8, 0.2), (0.3, 0.7)])
    ]
    codes = np.concatenate([part.codes for part in parts])
    system = np.concatenate([part.system for part in parts])
    return Ratings(codes, ["no", "yes"], system=system), np.repeat(["x", "y"], n)


def in_populations(ratings, groups, **options):
    result = group_by_likelihood(ratings.with_populations(groups), **options)
    return collect_rows(list_group_rows(result, grouping="population", level=0.9))


def test_base_rates_and_accuracies_are_found():
    ratings, groups = two_populations(3000, 1)
    result = in_populations(ratings, groups, resamples=30)
    for group, rate in (("x", 0.8), ("y", 0.3)):
        of_no = result.value("base_rates", group=group, category="no").estimate
        assert of_no == pytest.approx(rate, abs=0.04)
        of_system = result.value("system_accuracy", group=group)
        assert of_system.estimate == pytest.approx(0.9, abs=0.03)
        assert of_system.lower < of_system.estimate < of_system.upper
        of_rater = result.value("rater_accuracy", group=group, rater="1").estimate
        assert of_rater == pytest.approx(0.8, abs=0.03)
    assert result.warnings[0].code == "groups-alike"


def test_a_model_with_equal_accuracies_has_no_difference_to_estimate():
    ratings, groups = two_populations(200, 2)
    result = in_populations(ratings, groups, model="one_coin", resamples=30)
    difference = result.select(quantity="system_accuracy_difference").iloc[0]
    assert np.isnan(difference["estimate"]) and np.isnan(difference["probability"])
    in_sample = result.value("system_accuracy_in_sample_difference", group="x", versus="y")
    assert in_sample.estimate != 0
    assert "no difference to estimate" in str(result.warnings[-1])


def test_it_is_the_fit_with_groups():
    ratings, groups = two_populations(150, 3, n_raters=3)
    fit = fit_latent_class(ratings.with_populations(groups))
    result = in_populations(ratings, groups, resamples=5)
    right = np.diagonal(fit.confusion.values, axis1=1, axis2=2)
    classes = fit.truth_probabilities.values[np.arange(300), ratings.system]
    for name in "xy":
        rates = fit.base_rates.sel(group=name).values
        accuracy = result.value("system_accuracy", group=name).estimate
        assert accuracy == pytest.approx(rates @ right[-1])
        in_sample = result.value("system_accuracy_in_sample", group=name).estimate
        assert in_sample == pytest.approx(classes[groups == name].mean(), abs=1e-5)


def test_populations_of_ratings_enter_the_estimate():
    """The same fit as with groups; the accuracy of all is that of populations by their sizes."""
    ratings, groups = two_populations(200, 3, n_raters=2)
    ratings = ratings.take(np.r_[0:200, 200:280])
    groups = groups[np.r_[0:200, 200:280]]
    fit = fit_latent_class(ratings.with_populations(groups))
    estimate = estimate_latent_class(ratings.with_populations(groups), resamples=20)
    assert estimate.diagnostics["log_likelihood"] == pytest.approx(fit.log_likelihood)
    assert estimate.system_accuracy.estimate == pytest.approx(float(fit.accuracy[-1]))
    by_population = in_populations(ratings, groups, resamples=5)
    x, y = by_population.select(quantity="system_accuracy")["estimate"]
    whole = (200 * x + 80 * y) / 280
    assert estimate.system_accuracy.estimate == pytest.approx(whole)
    interval = estimate.system_accuracy
    assert interval.lower < interval.estimate < interval.upper


def test_resamples_are_fitted_as_the_fit_itself():
    ratings, groups = two_populations(150, 9)
    fitted = fit_by_likelihood(ratings.with_populations(groups), "dawid_skene")
    weights = np.random.default_rng(1).multinomial(300, fitted.table.counts / 300).astype(float)
    bare = Samples(weights=weights[None], items=np.zeros((1, 2, 2)), ratings=np.zeros((1, 3, 2, 2)))
    (refit,) = fit_samples(fitted, bare, np.random.default_rng(1))
    rows = np.array([np.flatnonzero(fitted.table.inverse == p)[0] for p in range(len(weights))])
    kept = weights > 0
    sample = ratings.take(rows[kept], weights[kept].astype(int))
    taken = sample.with_populations(groups[rows[kept]])
    again = fit_by_likelihood(taken, "dawid_skene", search=Search(tolerance=0))
    assert refit["group_rates"][0] == pytest.approx(again.group_rates, abs=2e-3)
    recall = np.diagonal(again.confusion, axis1=1, axis2=2)
    assert refit["recall"][0] == pytest.approx(recall, abs=2e-3)
    assert again.group_rates.min() > 0.05


def test_known_truths_enter():
    ratings, groups = two_populations(150, 11)
    gold = np.where(np.arange(300) % 3 == 0, ratings.system, -1)
    some = ratings.with_truth(gold)
    fit = fit_latent_class(some.with_populations(groups))
    result = in_populations(some, groups, resamples=5)
    for name in "xy":
        expected = float(fit.base_rates.sel(group=name, category="no"))
        of_no = result.value("base_rates", group=name, category="no").estimate
        assert of_no == pytest.approx(expected, abs=1e-6)
    without = fit_latent_class(ratings.with_populations(groups)).base_rates.sel(
        group="x", category="no"
    )
    of_no = result.value("base_rates", group="x", category="no").estimate
    assert abs(of_no - float(without)) > 0.005
