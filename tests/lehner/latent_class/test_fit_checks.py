"""Calibration and residual correlation: by loops, for a right model and for a wrong one."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import xarray as xr

from lehner import (
    InputError,
    Ratings,
    fit_latent_class,
    load_dataset,
    rating_calibration,
    residual_correlation,
)
from tests.reference.tap import class_probabilities, rating_probability

pytestmark = pytest.mark.filterwarnings("error")

T, A = [0.5, 0.3, 0.2], [0.4, 0.6, 0.7, 0.5]
P = [[0.2, 0.3, 0.5], [0.4, 0.3, 0.3], [0.1, 0.1, 0.8], [0.3, 0.6, 0.1]]


@dataclass
class Known:
    """The model that made the ratings."""

    base_rates: xr.DataArray
    confusion: xr.DataArray


def known(n_raters=4):
    confusion = [
        [[rating_probability(A[j], P[j], k, r) for r in range(3)] for k in range(3)]
        for j in range(n_raters)
    ]
    names = [str(j + 1) for j in range(n_raters)]
    return Known(
        xr.DataArray(T, {"category": [0, 1, 2]}),
        xr.DataArray(confusion, {"rater": names, "category": [0, 1, 2], "response": [0, 1, 2]}),
    )


def draw(n, seed, copying=0.0, missing=0.0):
    """The second rater copies the first's rating with some probability."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n, p=T)
    guesses = np.stack([rng.choice(3, n, p=p) for p in P], axis=1)
    codes = np.where(rng.random((n, 4)) < A, truth[:, None], guesses)
    codes[:, 1] = np.where(rng.random(n) < copying, codes[:, 0], codes[:, 1])
    return np.where(rng.random((n, 4)) < missing, -1, codes)


def calibration_by_loops(rows, n_bins):
    """Predicted, observed and the standard error of their difference, by category and bin."""
    cells = {}
    for i, row in enumerate(rows):
        given = [(j, c) for j, c in enumerate(row) if c >= 0]
        for j, came in given if len(given) > 1 else []:
            classes = class_probabilities([x for x in given if x[0] != j], T, A, P)
            for r in range(3):
                p = sum(z * rating_probability(A[j], P[j], k, r) for k, z in enumerate(classes))
                cells.setdefault((r, math.ceil(round(p * n_bins, 8)) - 1), []).append(
                    (i, p, came == r)
                )
    table = np.full((4, 3, n_bins), np.nan)
    for cell, found in cells.items():
        item, p, came = map(np.array, zip(*found, strict=True))
        by_item = [(came - p)[item == i].sum() for i in set(item)]
        error = np.sqrt(np.square(by_item).sum()) / len(p)
        table[(slice(None), *cell)] = p.mean(), came.mean(), error, len(p)
    return table


def test_calibration_is_that_of_loops_over_left_out_ratings():
    codes = draw(150, 1, missing=0.3)
    unique, counts = np.unique(codes, axis=0, return_counts=True)
    expected = calibration_by_loops(codes.tolist(), 10)
    for ratings in (Ratings(codes, range(3)), Ratings(unique, range(3), counts=counts)):
        found = rating_calibration(ratings, known())
        for name, values in zip(
            ("predicted", "observed", "standard_error"), expected, strict=False
        ):
            np.testing.assert_allclose(found[name], values, atol=1e-10, err_msg=name)
        np.testing.assert_array_equal(found.n_ratings, np.nan_to_num(expected[3]))


def z_of(table):
    used = table.n_ratings.values > 100
    z = (table.observed - table.predicted) / table.standard_error
    return z.values[used]


def test_a_right_model_is_calibrated_and_its_standard_errors_are_right():
    """Over 30 samples of 1500 items the mean square of z is 1, with the model known."""
    z = [z_of(rating_calibration(Ratings(draw(1500, s), range(3)), known())) for s in range(30)]
    square = np.array([np.mean(one**2) for one in z])
    assert abs(square.mean() - 1) < 4 * square.std(ddof=1) / np.sqrt(30)


def test_predictions_from_all_ratings_would_not_be_calibrated():
    """Why ratings are left out: here a rating is among the evidence for itself."""
    codes = draw(20_000, 3)
    fit, ratings = known(), Ratings(codes, range(3))
    theta = fit.confusion.values
    joint = np.array(T) * np.prod([theta[j][:, codes[:, j]].T for j in range(4)], axis=0)
    classes = joint / joint.sum(axis=1, keepdims=True)
    high = classes @ theta[0][:, 0] > 0.4
    predicted = (classes @ theta[0][:, 0])[high].mean()
    observed = (codes[high, 0] == 0).mean()
    assert observed > predicted + 0.03
    assert np.abs(z_of(rating_calibration(ratings, fit))).max() < 4


def test_a_model_that_takes_raters_for_better_than_they_are_is_not_calibrated():
    fit = known()
    sharper = Known(fit.base_rates, 0.5 * fit.confusion + 0.5 * np.eye(3))
    assert np.abs(z_of(rating_calibration(Ratings(draw(2000, 4), range(3)), sharper))).max() > 6


def test_copying_is_seen_and_independence_is_not_mistaken_for_it():
    fit = known()
    independent = residual_correlation(Ratings(draw(5000, 5, missing=0.2), range(3)), fit)
    z = (independent.correlation / independent.standard_error).values
    assert np.nanmax(np.abs(z)) < 3.5
    copied = residual_correlation(Ratings(draw(5000, 6, copying=0.3), range(3)), fit).correlation
    assert float(copied[0, 1]) > 0.15
    np.testing.assert_array_equal(copied, copied.T)
    assert np.isnan(np.diag(copied)).all()
    fitted = fit_latent_class(Ratings(draw(5000, 6, copying=0.3), range(3)), "tap")
    left = residual_correlation(Ratings(draw(5000, 6, copying=0.3), range(3)), fitted)
    assert float((left.correlation / left.standard_error)[0, 1]) > 4


def test_standard_errors_are_the_spread_over_samples():
    """Over 200 samples, the model known; the spread has a standard error of 5%."""
    found = [residual_correlation(Ratings(draw(300, s), range(3)), known()) for s in range(200)]
    z = [(one.correlation / one.standard_error).values[0, 2] for one in found]
    assert abs(np.mean(z)) < 4 / np.sqrt(200)
    assert abs(np.std(z) - 1) < 4 * 0.05


def test_it_is_the_correlation_of_ratings_within_classes():
    """Where the classes are seen: the third rater always knows."""
    rng = np.random.default_rng(7)
    truth = rng.choice(2, 30_000, p=[0.6, 0.4])
    first = np.where(rng.random(30_000) < 0.7, truth, rng.integers(0, 2, 30_000))
    second = np.where(rng.random(30_000) < 0.4, first, rng.integers(0, 2, 30_000))
    theta = [
        [[(x[truth == k] == r).mean() for r in (0, 1)] for k in (0, 1)] for x in (first, second)
    ]
    rates = [(truth == 0).mean(), truth.mean()]
    fit = Known(
        xr.DataArray(rates, {"category": [0, 1]}),
        xr.DataArray(theta, {"rater": ["1", "2"], "category": [0, 1], "response": [0, 1]}),
    )
    residuals = [x - np.array(c)[truth, 1] for x, c in zip((first, second), theta, strict=True)]
    found = residual_correlation(Ratings(np.column_stack([first, second]), [0, 1]), fit)
    assert float(found.correlation[0, 1]) == pytest.approx(np.corrcoef(residuals)[0, 1], abs=1e-6)


def test_three_raters_in_two_categories_are_fitted_whatever_they_do():
    codes = np.minimum(draw(2000, 8, copying=0.3), 1)[:, :3]
    ratings = Ratings(codes, [0, 1])
    left = residual_correlation(ratings, fit_latent_class(ratings, "tap")).correlation
    np.testing.assert_allclose(left.values[~np.eye(3, dtype=bool)], 0, atol=1e-4)


def test_the_system_is_the_last_rater_if_it_was_fitted():
    codes = draw(400, 9)
    ratings = Ratings(codes[:, :3], range(3), system=codes[:, 3])
    fit = known()
    named = fit.confusion.assign_coords(rater=["1", "2", "3", "system"])
    found = residual_correlation(ratings, Known(fit.base_rates, named))
    assert found.rater.values.tolist() == ["1", "2", "3", "system"]
    plain = residual_correlation(Ratings(codes, range(3)), fit)
    np.testing.assert_allclose(found.correlation, plain.correlation)
    found = rating_calibration(ratings, Known(fit.base_rates, named))
    np.testing.assert_allclose(
        found.observed, rating_calibration(Ratings(codes, range(3)), fit).observed
    )
    assert residual_correlation(ratings, known(3)).sizes["rater"] == 3


def test_bad_input_is_refused():
    ratings, fit = Ratings(draw(20, 1), range(3)), known()
    with pytest.raises(InputError, match="unknown who gave which"):
        residual_correlation(load_dataset("wine"), fit)
    with pytest.raises(InputError, match="more than once"):
        data = load_dataset("anesthesia").with_independent_repeats()
        residual_correlation(data, fit_latent_class(data, "pooled_tap"))
    with pytest.raises(InputError, match="other raters or categories"):
        rating_calibration(load_dataset("caries"), fit)
    with pytest.raises(InputError, match="fewer raters"):
        rating_calibration(ratings, known(3))
    with pytest.raises(InputError, match="undefined numbers"):
        rating_calibration(ratings, Known(fit.base_rates * np.nan, fit.confusion))
    with pytest.raises(InputError, match="no item has two ratings"):
        rating_calibration(Ratings([[0, -1, -1, -1]], range(3)), fit)
    with pytest.raises(InputError, match="n_bins is 0"):
        rating_calibration(ratings, fit, n_bins=0)
