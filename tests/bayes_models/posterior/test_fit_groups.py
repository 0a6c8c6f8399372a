"""What a fit holds besides draws: data, log density of the priors, predictions."""

import arviz as az
import numpy as np
import pymc as pm
import pytensor
import pytest

import bayes_models
import lehner
from bayes_models.posterior.prior_draws import log_prior
from lehner import InputError

RATINGS = lehner.load_dataset("anesthesia", system="2").with_independent_repeats()


@pytest.fixture(scope="module")
def tree():
    """Give a fit of Dawid and Skene's model with all groups."""
    found = bayes_models.fit("dawid_skene", RATINGS, engine="gibbs", chains=2, checks=False)
    bayes_models.add_posterior_predictive(found, RATINGS)
    bayes_models.add_prior(found, RATINGS, draws=200)
    return found


def test_the_data_are_those_that_were_given(tree) -> None:
    """Ratings, in their order, can be read back from the fit."""
    observed = tree["observed_data"]["ratings"]
    flat = RATINGS.all_flat
    assert np.array_equal(observed.values, flat.category_index)
    assert observed["rater_of_rating"].values[:7].tolist() == ["1"] * 3 + ["3", "4", "5", "2"]
    assert np.array_equal(tree["constant_data"]["item_index"].values, flat.item_index)
    assert (tree["constant_data"]["known_truth"] == -1).all()


def test_predictions_look_like_data_of_the_model(tree) -> None:
    """Each rater gives each category as often as the draws' confusion matrices say."""
    predicted = tree["posterior_predictive"]["ratings"]
    of_five = predicted.isel(rating=(predicted["rater_of_rating"] == "5").values)
    posterior = tree["posterior"].to_dataset()
    expected = (posterior["confusion"].sel(rater="5") * posterior["base_rates"]).sum("category")
    shares = [float((of_five == code).mean()) for code in range(4)]
    assert shares == pytest.approx(expected.mean(("chain", "draw")).values, abs=0.01)


@pytest.mark.parametrize("model", sorted(bayes_models.MODELS))
def test_the_log_density_of_priors_is_that_of_pymc(model: str) -> None:
    """Each prior's log density at draws from the prior is the one that PyMC gives."""
    ratings = lehner.load_dataset("lehner_table2")
    drawn = bayes_models.prior_draws(model, ratings, 2)
    found = log_prior(model, drawn, ratings.patterns())
    built = bayes_models.find_model(model).build(ratings, None)
    checked = set()
    for name in found.data_vars:
        if str(name) not in {variable.name for variable in built.free_RVs}:
            continue
        density = pm.logp(built[str(name)], drawn[name].values[0, 1]).sum()
        expected = float(pytensor.function([], density, mode="FAST_COMPILE")())
        assert found[name].values[0, 1] == pytest.approx(expected, rel=1e-6, abs=1e-6)
        checked.add(name)
    assert "base_rates" in checked
    assert set(found.data_vars) <= set(bayes_models.find_model(model).priors["default"])
    priors = bayes_models.find_model(model).priors["default"]
    assert {name for name in priors if name in drawn} == set(found.data_vars)


def test_arviz_takes_the_tree_as_it_is(tree) -> None:
    """Checks and comparisons of ArviZ work without more ado."""
    sensitivity = az.psense_summary(tree, var_names=["system_accuracy"])
    assert (sensitivity[["prior", "likelihood"]] > 0).all(axis=None)
    az.plot_ppc_dist(tree)
    az.plot_prior_posterior(tree, var_names=["system_accuracy"])


def test_a_prior_that_was_a_distribution_is_to_be_given_again(tree) -> None:
    """Its name does not make it."""
    again = tree.copy()
    again.attrs["priors"] = '{"base_rates": {"distribution": "Dirichlet([1. 1. 1. 1.])"}}'
    with pytest.raises(InputError, match="give the priors again"):
        bayes_models.add_prior(again, RATINGS)
