"""Fits: against published posteriors, and what a PyMC user expects of the result."""

import json
from dataclasses import replace

import arviz as az
import numpy as np
import pytest
import xarray as xr

import bayes_models
from bayes_models import ConvergenceWarning, Diagnostics, estimate_from_draws, observe
from bayes_models.sampling.nuts import compile_model, sample
from bayes_models.sampling.start import start_at_vote
from lehner import InputError, Ratings, Scenario, load_dataset, simulate
from lehner.core.arrays import derive_seeds

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


def test_the_posterior_of_anesthesia_is_the_published_one(anesthesia_fit):
    means = anesthesia_fit["posterior"].to_dataset().mean(("chain", "draw"))
    for category, expected in BASE_RATES.items():
        value = float(means["base_rates"].sel(true_category=category))
        assert value == pytest.approx(expected, abs=0.005)
    for (category, response), expected in CONFUSION.items():
        cell = means["confusion"].sel(rater="1", category=category, response=response)
        assert float(cell) == pytest.approx(expected, abs=0.005)
    # The Monte Carlo SE of these is up to .0035 with 20,000 draws.
    check_truths(anesthesia_fit, tolerance=0.015)


@pytest.mark.slow
def test_true_categories_of_the_patients_to_half_a_percent():
    data = load_dataset("anesthesia").with_independent_repeats()
    long = {"draws": 40_000, "tune": 500}
    check_truths(bayes_models.fit("dawid_skene", data, seed=11, **long), tolerance=0.005)


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


def test_a_fit_that_converged_has_no_warnings_of_it_and_kept_its_labels(anesthesia_fit):
    # Of its chains.
    result = json.loads(anesthesia_fit.attrs["diagnostics"])
    assert Diagnostics(**result).list_warnings() == ()
    assert result["relabelled"] == 0


def test_arviz_takes_the_result(table_2_fit):
    summary = az.summary(table_2_fit, round_to="none")
    assert {"system_accuracy", "system_accuracy_in_sample", "base_rates[A]"} <= set(summary.index)
    az.plot_forest(table_2_fit, var_names=["accuracy"])


def test_netcdf_gives_back_what_was_saved(table_2_fit, tmp_path):
    table_2_fit.to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
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


def test_nuts_and_gibbs_find_the_same_posterior(table_2_fit):
    ratings = load_dataset("lehner_table2")
    options = {"draws": 3000, "checks": False, "check": "estimands", "tries": 1}
    other = bayes_models.fit("dawid_skene", ratings, engine="gibbs", seed=2, **options)
    assert set(other["posterior"].data_vars) == set(table_2_fit["posterior"].data_vars)
    assert other.attrs["engine"] == "gibbs" and "sample_stats" not in other
    for name, draws in table_2_fit["posterior"].data_vars.items():
        result = other["posterior"][name]
        assert result.dims == draws.dims
        for moment in ("mean", "std"):
            a, b = (getattr(x, moment)(("chain", "draw")).values for x in (result, draws))
            np.testing.assert_allclose(a, b, atol=0.025)
    a, b = (tree["truth"]["truth_probabilities"].values for tree in (other, table_2_fit))
    np.testing.assert_allclose(a, b, atol=0.05)


def test_same_seed_same_draws_whatever_the_cores_and_a_hopeless_fit_says_so(table_2_fit):
    data = load_dataset("lehner_table2")
    short = {"seed": 3, "draws": 5, "tune": 5, "chains": 2}
    with pytest.warns(ConvergenceWarning, match="too few effective draws"):
        first = bayes_models.fit("dawid_skene", data, cores=1, **short)
    with pytest.warns(ConvergenceWarning):
        again = bayes_models.fit("dawid_skene", data, cores=2, **short)
    for group in ("posterior", "truth", "log_likelihood"):
        xr.testing.assert_equal(first[group].to_dataset(), again[group].to_dataset())
    assert json.loads(first.attrs["warnings"])
    result = json.loads(first.attrs["diagnostics"])
    assert result["tries"] == 2
    assert first["posterior"].sizes["draw"] == 20
    assert float(first["sample_stats"]["acceptance_rate"].mean()) > 0.5


@pytest.fixture(scope="module")
def samples():
    """Data sets of different size, the same raters and categories."""
    return [
        simulate(
            Scenario(n_categories=4, initial_rater_accuracy=(0.6, 0.7, 0.6, 0.5), n_items=n), n
        ).with_truth(None)
        for n in (10, 80, 400)
    ]


@pytest.mark.filterwarnings("ignore::bayes_models.ConvergenceWarning")
def test_many_fits_are_those_of_fit(samples):
    many = list(bayes_models.fit_many("dawid_skene", samples, seed=5, engine="gibbs", tries=1))
    options = {"engine": "gibbs", "draws": 500, "tune": 200, "tries": 1}
    for seed, ratings, tree in zip(derive_seeds(5, 3), samples, many, strict=True):
        single = bayes_models.fit("dawid_skene", ratings, seed=seed, **options)
        xr.testing.assert_equal(single["posterior"].to_dataset(), tree["posterior"].to_dataset())
        assert "log_likelihood" in single and "log_likelihood" not in tree


@pytest.mark.slow
def test_chains_of_nuts_start_where_they_are_told_the_best_start_having_most(samples):
    observed = observe(samples[2])
    model = compile_model("dawid_skene", observed)
    best = start_at_vote(observed)
    order = [1, 0, 3, 2]
    renamed = replace(best, items=best.items[order], ratings=best.ratings[..., order, :])
    options = {"seed": 1, "draws": 20, "tune": 20, "chains": 4, "target_accept": 0.9}
    first, two = (
        sample(model, starts=starts, **options)["posterior"] for starts in ([best], [best, renamed])
    )
    accuracy = two["system_accuracy"].mean("draw").values
    assert (accuracy[:3] > 0.8).all() and accuracy[3] < 0.7
    default = sample(model, **options)["posterior"]
    xr.testing.assert_equal(first, default)


@pytest.mark.filterwarnings("ignore::bayes_models.ConvergenceWarning")
def test_labels_are_those_of_the_data(samples):
    first = samples[0]
    renamed = Ratings(
        first.votes, ["w", "x", "y", "z"], ["Ann", "Bo", "Cy", "Di"], first.items, first.system
    )
    (tree,) = bayes_models.fit_many("dawid_skene", [renamed], engine="gibbs", draws=50, tries=1)
    assert list(tree["posterior"]["category"].values) == ["w", "x", "y", "z"]
    assert list(tree["posterior"]["rater"].values) == ["Ann", "Bo", "Cy", "Di", "system"]


def three_categories(n_items, seed):
    """Ratings of a shape that is compiled for other tests."""
    scenario = Scenario(n_categories=3, n_items=n_items, initial_rater_accuracy=(0.5, 0.6, 0.7))
    return simulate(scenario, seed)


def test_priors_change_what_is_compiled_and_estimated():
    ratings = three_categories(20, 1).with_truth(None)
    (default,) = bayes_models.fit_many("one_coin", [ratings])
    strong = {"base_rates": np.array([1e4, 1.0, 1.0])}
    (certain,) = bayes_models.fit_many("one_coin", [ratings], priors=strong)
    means = [tree["posterior"]["base_rates"].mean(("chain", "draw")) for tree in (default, certain)]
    assert float(means[0][0]) < 0.8 < 0.99 < float(means[1][0])


@pytest.mark.filterwarnings("ignore::bayes_models.ConvergenceWarning")
def test_twenty_known_truths_tighten_the_interval():
    narrower = []
    for seed in range(8):
        ratings = three_categories(60, seed)
        truths = np.where(np.arange(60) < 20, ratings.truth, -1)
        some = ratings.with_truth(truths)
        none, helped = bayes_models.fit_many(
            "one_coin", [ratings.with_truth(None), some], draws=200, tries=1
        )
        assert none.attrs["known_truths"] == 0 and helped.attrs["known_truths"] == 20
        certain = helped["truth"]["truth_probabilities"].values[np.arange(20), ratings.truth[:20]]
        np.testing.assert_allclose(certain, 1)
        narrower.append(
            [
                float(helped["posterior"][name].std() / none["posterior"][name].std())
                for name in ("system_accuracy", "system_accuracy_in_sample")
            ]
        )
    assert (np.mean(narrower, axis=0) < [0.95, 0.85]).all()


def test_a_fit_without_a_system_gives_no_estimate(anesthesia_fit):
    with pytest.raises(InputError, match="no system"):
        estimate_from_draws(anesthesia_fit)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        *(("draws", value, f"draws is {value}; give a ") for value in (0, 3, 2.5)),
        *(("tune", value, f"tune is {value}; give a ") for value in (-5, 0)),
        *(("chains", value, f"chains is {value}; give a ") for value in (0, 2.5)),
        *(("target_accept", value, f"target_accept is {value}; give") for value in (0, 1.0)),
        ("check", "some", "check"),
    ],
)
def test_options_of_sampling_are_checked(option, value, message):
    with pytest.raises(InputError, match=message):
        bayes_models.fit("dawid_skene", load_dataset("lehner_table2"), **{option: value})


def test_unknown_models_are_refused():
    with pytest.raises(InputError, match="dawid_skene"):
        bayes_models.fit("david_skene", load_dataset("lehner_table2"))
