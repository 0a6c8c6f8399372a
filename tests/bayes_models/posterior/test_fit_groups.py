"""What a fit holds besides draws, as functions of ArviZ and PyMC take it."""

import arviz as az
import numpy as np
import pymc as pm
import pytest
import xarray as xr

import bayes_models
import lehner
from lehner import InputError

RATINGS = lehner.load_dataset("anesthesia", system="2").with_independent_repeats()


@pytest.fixture(scope="module")
def tree():
    options = {"engine": "gibbs", "chains": 2, "draws": 300, "tries": 1, "checks": False}
    return bayes_models.fit("dawid_skene", RATINGS, **options)


def test_items_are_what_is_left_out(tree):
    assert az.loo(tree).n_data_points == RATINGS.n_items


def test_a_fit_holds_its_ratings(tree):
    stored, votes = tree["observed_data"]["ratings"], RATINGS.all_votes
    np.testing.assert_array_equal(stored, votes.category_index)
    np.testing.assert_array_equal(stored["item_of_rating"], RATINGS.items[votes.item_index])
    raters = np.array(RATINGS.all_raters)[votes.rater_index]
    np.testing.assert_array_equal(stored["rater_of_rating"], raters)


def test_pymc_predicts_ratings_by_base_rates_and_confusion_matrices(tree):
    few = tree.isel(draw=slice(None, None, 5), missing_dims="ignore")
    with bayes_models.build_model("dawid_skene", RATINGS) as model:
        options = {"progressbar": False, "compile_kwargs": {"mode": "FAST_COMPILE"}}
        predicted = pm.sample_posterior_predictive(few, random_seed=1, **options)
    drawn = predicted["posterior_predictive"]["ratings"].values
    parameters = few["posterior"].to_dataset()
    rates = parameters["base_rates"].rename(true_category="category")
    shares = parameters["confusion"].dot(rates, dim="category")
    raters = model["raters"].get_value()
    for rater, name in enumerate(parameters["rater"].values):
        expected = shares.sel(rater=name).mean(("chain", "draw"))
        result = np.bincount(drawn[..., raters == rater].ravel(), minlength=4)
        np.testing.assert_allclose(result / result.sum(), expected, atol=0.03)


def test_a_missing_group_is_named_with_the_call_that_adds_it(tree):
    bare = xr.DataTree.from_dict({"posterior": tree["posterior"].to_dataset()})
    with pytest.raises(InputError, match=r"no group truth; fit the model by bayes_models\.fit"):
        bayes_models.estimate_from_draws(bare)
