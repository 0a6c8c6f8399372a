"""Fits: against published posteriors, and what a PyMC user expects of the result."""

import json

import arviz as az
import numpy as np
import pytest
import xarray as xr

import bayes_models
from bayes_models import ConvergenceWarning, estimate_from_draws
from lehner import InputError, Ratings, load_dataset

# Posterior of the anesthesia data under the prior of R's rater, by a long Gibbs run
# (2 chains of 40,000) on the data as Dawid & Skene printed them.
BASE_RATES = {1: 0.3751, 2: 0.4066, 3: 0.1438, 4: 0.0745}
CONFUSION = {(1, 1): 0.8489, (1, 2): 0.1171}
TRUTH = {
    (2, 3): 0.9748,
    (2, 4): 0.0252,
    (3, 1): 0.4121,
    (3, 2): 0.5873,
    (4, 2): 0.9908,
    (7, 1): 0.9538,
    (12, 2): 0.8742,
    (36, 3): 0.7831,
    (38, 2): 0.7038,
}


def test_base_rates_of_anesthesia(anesthesia_fit):
    means = anesthesia_fit["posterior"]["base_rates"].mean(("chain", "draw"))
    for category, expected in BASE_RATES.items():
        assert float(means.sel(category=category)) == pytest.approx(expected, abs=0.005)


def test_confusion_of_the_first_anaesthetist(anesthesia_fit):
    means = anesthesia_fit["posterior"]["confusion"].mean(("chain", "draw")).sel(rater="1")
    for (category, response), expected in CONFUSION.items():
        value = float(means.sel(category=category, response=response))
        assert value == pytest.approx(expected, abs=0.005)


def test_true_categories_of_the_patients(anesthesia_fit):
    # The Monte Carlo SE of these is up to .0035 with 20,000 draws.
    check_truths(anesthesia_fit, tolerance=0.015)


@pytest.mark.slow
def test_true_categories_of_the_patients_to_half_a_percent():
    data = load_dataset("anesthesia")
    check_truths(bayes_models.fit("dawid_skene", data, seed=11, draws=40_000), tolerance=0.005)


def check_truths(tree, tolerance):
    truth = tree["truth"]["truth_probabilities"]
    for (item, category), expected in TRUTH.items():
        value = float(truth.sel(item=item, category=category))
        assert value == pytest.approx(expected, abs=tolerance)


def test_leave_one_out_is_finite_for_every_patient_and_has_the_known_sum(anesthesia_fit):
    loo = az.loo(anesthesia_fit, pointwise=True)
    assert loo.elpd_i.shape == (45,)
    assert np.isfinite(loo.elpd_i).all()
    # The Gibbs run gives -236.3, R's rater prints one digit.
    assert loo.elpd == pytest.approx(-236.3, abs=0.5)


def test_a_fit_that_converged_has_no_warnings_and_kept_its_labels(anesthesia_fit):
    assert json.loads(anesthesia_fit.attrs["warnings"]) == []
    assert json.loads(anesthesia_fit.attrs["diagnostics"])["relabelled"] == 0


def test_arviz_takes_the_result(table_2_fit):
    summary = az.summary(table_2_fit, round_to="none")
    assert {"system_accuracy", "system_accuracy_in_sample", "base_rates[A]"} <= set(summary.index)
    az.plot_forest(table_2_fit, var_names=["accuracy"])


def test_netcdf_gives_back_what_was_saved(table_2_fit, tmp_path):
    table_2_fit.to_netcdf(tmp_path / "fit.nc")
    back = az.from_netcdf(tmp_path / "fit.nc")
    for group in ("posterior", "truth", "log_likelihood"):
        xr.testing.assert_equal(back[group].to_dataset(), table_2_fit[group].to_dataset())
    assert back.attrs == table_2_fit.attrs


def test_the_estimate_is_the_mean_of_the_draws_and_its_interval_their_quantiles(table_2_fit):
    estimate = estimate_from_draws(table_2_fit, level=0.8)
    for name in ("system_accuracy", "system_accuracy_in_sample"):
        draws = table_2_fit["posterior"][name].values
        value = getattr(estimate, name)
        assert value.estimate == pytest.approx(draws.mean())
        assert (value.lower, value.upper) == pytest.approx(tuple(np.quantile(draws, [0.1, 0.9])))
    assert list(estimate.rater_accuracy["rater"].values) == [f"Rater {j}" for j in range(1, 5)]
    assert estimate.draws is table_2_fit


def test_system_accuracy_is_base_rates_times_the_systems_diagonal(table_2_fit):
    posterior = table_2_fit["posterior"].to_dataset()
    system = posterior["confusion"].sel(rater="system").values
    diagonal = np.diagonal(system, axis1=-2, axis2=-1)
    expected = (posterior["base_rates"].values * diagonal).sum(axis=-1)
    np.testing.assert_allclose(posterior["system_accuracy"], expected)


def test_same_seed_same_draws_and_a_hopeless_fit_says_so(table_2_fit):
    data = load_dataset("lehner_table2")
    with pytest.warns(ConvergenceWarning, match="too few effective draws"):
        first = bayes_models.fit("dawid_skene", data, seed=3, draws=20, tune=20, chains=2)
    with pytest.warns(ConvergenceWarning):
        again = bayes_models.fit("dawid_skene", data, seed=3, draws=20, tune=20, chains=2)
    for group in ("posterior", "truth", "log_likelihood"):
        xr.testing.assert_equal(first[group].to_dataset(), again[group].to_dataset())
    assert not first["posterior"].equals(table_2_fit["posterior"])
    assert json.loads(first.attrs["warnings"])


def test_unknown_models_and_empty_ratings_are_refused():
    with pytest.raises(InputError, match="dawid_skene"):
        bayes_models.fit("david_skene", load_dataset("lehner_table2"))
    with pytest.raises(InputError, match="0 items"):
        bayes_models.fit("dawid_skene", Ratings(np.empty((0, 2), dtype=int), ["a", "b"]))


def test_a_fit_without_a_system_gives_no_estimate(anesthesia_fit):
    with pytest.raises(InputError, match="no system"):
        estimate_from_draws(anesthesia_fit)
