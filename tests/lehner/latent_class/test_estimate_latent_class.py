"""System accuracy by maximum likelihood: the fit, its resamples, and what is said of them."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import beta

from lehner import InputError, Ratings, Scenario, estimate_latent_class, fit_latent_class, simulate
from lehner.latent_class import em, intervals
from lehner.latent_class.em import LATENT_CLASS_MODELS
from lehner.latent_class.fit import fit_by_likelihood
from lehner.latent_class.intervals import (
    LEAST_WRONG,
    add_pseudo_ratings,
    average_pseudo_ratings,
    fit_samples,
    refit_samples,
)

SCENARIO = Scenario(
    n_categories=3, n_items=300, initial_rater_accuracy=(0.6, 0.7, 0.8, 0.7), base_rates="equal"
)
each_model = pytest.mark.parametrize("model", LATENT_CLASS_MODELS)


@pytest.fixture(scope="module")
def ratings():
    return simulate(SCENARIO, seed=3).with_truth(None)


@each_model
def test_the_estimate_is_that_of_the_fit(model, ratings):
    estimate = estimate_latent_class(ratings, model, interval=None)
    fit = fit_latent_class(ratings, model)
    assert estimate.method == f"{model}_ml"
    for name in ("base_rates", "confusion"):
        np.testing.assert_allclose(estimate.arrays[name].values, getattr(fit, name).values)
    right = np.diagonal(fit.confusion.values, axis1=1, axis2=2) @ fit.base_rates.values
    np.testing.assert_allclose(estimate.rater_accuracy.values, right[:-1])
    assert estimate.system_accuracy.estimate == pytest.approx(right[-1])
    of_answers = fit.truth_probabilities.values[np.arange(300), ratings.system]
    assert estimate.system_accuracy_in_sample.estimate == pytest.approx(of_answers.mean())
    assert estimate.confusion.dims == ("rater", "category", "response")
    assert estimate.system_accuracy.lower is None


def fit_without_pseudo_ratings(ratings, model, weights):
    fitted = fit_by_likelihood(ratings, model)
    rng = np.random.default_rng(1)
    drawn = add_pseudo_ratings(fitted, fitted.sum_rows(weights), rng)
    bare = replace(drawn, items=0 * drawn.items, ratings=0 * drawn.ratings)
    (result,) = fit_samples(fitted, bare, rng)
    return result, (result["base_rates"] * result["recall"][:, -1]).sum(axis=1)


@each_model
def test_a_resample_is_fitted_as_if_its_items_were_the_data(model, ratings):
    rows = np.random.default_rng(5).integers(300, size=(4, 300))
    weights = np.array([np.bincount(row, minlength=300) for row in rows])
    result, accuracies = fit_without_pseudo_ratings(ratings, model, weights)
    assert result["converged"].all()
    for resample, accuracy in zip(rows, accuracies, strict=True):
        taken = ratings.take(resample, None).replace(items=np.arange(300))
        alone = estimate_latent_class(taken, model, interval=None)
        assert accuracy == pytest.approx(alone.system_accuracy.estimate, abs=2e-4)


def test_newtons_method_leads_resamples_to_the_maxima_of_em(monkeypatch):
    many = simulate(replace(SCENARIO, n_items=5000), seed=3).with_truth(None)
    fitted = fit_by_likelihood(many, "dawid_skene")
    rng, here = np.random.default_rng(1), fitted.find_chance_right(fitted.classes[..., None])
    weights = intervals.draw_patterns(fitted, 20, rng)
    by_em = refit_samples(fitted, weights, seed=2)
    monkeypatch.setattr(intervals, "MANY_PATTERNS", 1)
    by_newton = refit_samples(fitted, weights, seed=2)
    np.testing.assert_allclose(by_newton["accuracy"], by_em["accuracy"], atol=0.002)
    assert by_newton["converged"].all()
    # How many answers are right changes as an E-step says.
    table, fit = fitted.table, fitted.parameters
    samples = add_pseudo_ratings(fitted, weights, rng)
    centre = fit.base_rates[None, None], fit.confusion[None]
    moved, more_right = em.follow_samples(table, fitted.classes, centre, samples)
    classes, _ = em.e_step(table, *em.take_logs(table, *moved))
    expected = table.counts @ (fitted.find_chance_right(classes) - here)
    np.testing.assert_allclose(more_right[:, 0], expected, atol=5.0)
    assert np.ptp(expected) > 60
    # Without a maximum each sample is searched.
    monkeypatch.setattr(em, "find_information", lambda *_: -np.eye(3))
    again = refit_samples(fitted, weights, seed=2)
    np.testing.assert_array_equal(again["accuracy"], by_em["accuracy"])


def test_weights_of_one_leave_the_estimate_and_its_share_right_as_they_are(ratings):
    fitted = fit_by_likelihood(ratings, "one_coin_by_rater")
    result = refit_samples(fitted, fitted.sum_rows(np.ones((400, 300))), seed=1)
    estimate = estimate_latent_class(ratings, "one_coin_by_rater", interval=None)
    _, accuracies = fit_without_pseudo_ratings(ratings, "one_coin_by_rater", np.ones((2, 300)))
    np.testing.assert_allclose(accuracies, estimate.system_accuracy.estimate, atol=1e-5)
    # What varies is the truth of the items: a sum of 300 that are right with probability p.
    right = estimate.truth_probabilities.values[np.arange(300), ratings.system]
    drawn = result["n_right"][:, 0] / 300
    assert drawn.mean() == pytest.approx(right.mean(), abs=5 * drawn.std() / 20)
    assert drawn.std() == pytest.approx(np.sqrt((right * (1 - right)).sum()) / 300, rel=0.15)


def test_pseudo_ratings_and_resamples_are_a_posterior_where_the_truth_is_clear():
    # Three raters who are always right tell the truth of 45 items of each of two categories; of
    # the first the system has no error, of the second 9.
    answers = np.repeat([0, 1, 1], [45, 36, 9])
    system = np.repeat([0, 1, 0], [45, 36, 9])
    ratings = Ratings(np.column_stack([answers] * 3), ["no", "yes"], system=system)
    fitted = fit_by_likelihood(ratings, "dawid_skene")
    rng = np.random.default_rng(1)
    weights = rng.multinomial(90, fitted.table.counts / 90, size=4000).astype(float)
    recall = refit_samples(fitted, weights, rng)["recall"][:, -1]
    mean = average_pseudo_ratings(fitted)[-1]
    assert mean[1, 0] == mean[0, 1] == LEAST_WRONG
    for truth, right in enumerate((45, 36)):
        a, b = right + mean[truth, truth], 45 - right + LEAST_WRONG
        expected = beta.ppf([0.05, 0.5, 0.95], a, b)
        result = np.quantile(recall[:, truth], [0.05, 0.5, 0.95])
        np.testing.assert_allclose(result, expected, atol=0.012)


@each_model
def test_pseudo_ratings_of_a_number_are_worth_as_much_in_every_model(model, ratings):
    mean = average_pseudo_ratings(fit_by_likelihood(ratings, model))
    # One accuracy of four raters, read off three rows of each of them; and so on.
    cells = {"one_coin": 12, "pooled": 4, "one_coin_by_rater": 3}.get(model, 1)
    np.testing.assert_allclose(mean[:-1].sum(axis=2) * cells, 3, atol=0.2)
    assert (mean >= 0).all()


def test_an_interval_of_a_system_without_an_error_has_a_width():
    answers = np.arange(45) % 3
    rng = np.random.default_rng(1)
    codes = np.where(rng.random((45, 4)) < 0.9, answers[:, None], (answers[:, None] + 1) % 3)
    ratings = Ratings(codes, ["a", "b", "c"], system=answers)
    accuracy = estimate_latent_class(ratings, resamples=200).system_accuracy
    assert accuracy.estimate == pytest.approx(1, abs=0.02)
    assert 0.85 < accuracy.lower < 0.97
    assert accuracy.upper >= accuracy.estimate


@pytest.mark.slow
def test_intervals_hold_as_often_as_they_say_where_the_model_is_right():
    scenario = replace(SCENARIO, n_items=200)
    inside = np.zeros((60, 2))
    for seed in range(60):
        ratings = simulate(scenario, seed)
        result = estimate_latent_class(
            ratings, "one_coin_by_rater", resamples=200, restarts=0, seed=seed
        )
        # The system is right in .9 of the items of any category.
        truths = (0.9, float((ratings.truth == ratings.system).mean()))
        for i, value in enumerate((result.system_accuracy, result.system_accuracy_in_sample)):
            inside[seed, i] = value.lower <= truths[i] <= value.upper
    # 90%, with a standard error of .039.
    assert (inside.mean(axis=0) > 0.9 - 3 * 0.039).all()


def test_bad_arguments_are_told(ratings):
    with pytest.raises(InputError, match="no latent-class model 'relaxed_k'"):
        estimate_latent_class(ratings, "relaxed_k")
    with pytest.raises(InputError, match="interval is 'normal'"):
        estimate_latent_class(ratings, interval="normal")
    with pytest.raises(InputError, match="no column or rater is the system"):
        estimate_latent_class(ratings.without_system())


def test_an_estimate_of_1_is_as_certain_as_known_truths_would_be():
    codes = np.tile([[0, 0, 0], [1, 1, 1]], (6, 1))
    ratings = Ratings(codes, ["a", "b"], system=codes[:, 0])
    result = estimate_latent_class(ratings, "one_coin", resamples=20)
    z = NormalDist().inv_cdf(0.95)
    for value in (result.system_accuracy, result.system_accuracy_in_sample):
        assert value.estimate == pytest.approx(1, abs=1e-4)
        assert (value.lower, value.upper) == pytest.approx((12 / (12 + z**2), 1))


@pytest.mark.parametrize("model", ["one_coin_by_rater", "dawid_skene"])
def test_the_order_of_the_rows_changes_nothing(model, ratings):
    few = ratings.take(np.arange(300) < 40)
    shuffled = few.take(np.random.default_rng(1).permutation(40))
    first, other = (estimate_latent_class(data, model, resamples=50) for data in (few, shuffled))
    for name in ("system_accuracy", "system_accuracy_in_sample"):
        assert getattr(first, name) == getattr(other, name)
