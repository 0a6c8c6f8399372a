"""What a fit holds besides draws: data, log density of the priors, predictions."""

from itertools import combinations

import arviz as az
import arviz_stats
import matplotlib.pyplot as pyplot
import numpy as np
import pymc as pm
import pytensor
import pytest
import xarray as xr
from scipy.stats import kstest

import bayes_models
import lehner
from bayes_models.posterior.predictive import compute_log_prior
from lehner import InputError

RATINGS = lehner.load_dataset("anesthesia", system="2").with_independent_repeats()


@pytest.fixture(scope="module")
def tree():
    """Give a fit of Dawid and Skene's model with all groups."""
    options = {"engine": "gibbs", "chains": 2, "checks": False}
    tree = bayes_models.fit("dawid_skene", RATINGS, **options)
    bayes_models.add_posterior_predictive(tree, RATINGS)
    bayes_models.add_prior(tree, RATINGS)
    return tree


def test_the_data_are_those_that_were_given(tree) -> None:
    """Ratings, in their order, can be read back from the fit, and how often they agree."""
    constant, flat = tree["constant_data"].to_dataset(), RATINGS.all_flat
    assert np.array_equal(constant["ratings"].values, flat.category_index)
    assert constant["rater_of_rating"].values[:7].tolist() == ["1"] * 3 + ["3", "4", "5", "2"]
    assert np.array_equal(constant["item_of_rating"].values, RATINGS.items[flat.item_index])
    assert (constant["known_truth"] == -1).all()
    pairs = [
        sum(a == b for a, b in combinations(flat.category_index[flat.item_index == item], 2))
        for item in range(RATINGS.n_items)
    ]
    assert tree["observed_data"]["agreeing_pairs"].values.tolist() == pairs


@pytest.mark.parametrize("group", ["posterior", "prior"])
def test_predictions_are_those_of_the_model(tree, group) -> None:
    """Pairs of ratings agree as often as base rates and confusion matrices say."""
    name = {"posterior": "posterior_predictive", "prior": "prior_predictive"}[group]
    predicted = tree[name]["agreeing_pairs"]
    parameters = tree[group].to_dataset()
    n_ratings = RATINGS.all_flat.item_index.size // RATINGS.n_items
    rater = parameters["confusion"].sel(rater=["1"] * 3 + ["3", "4", "5", "2"])
    other = rater.rename(rater="other")
    both = (rater * other * parameters["base_rates"]).sum(["category", "response"])
    upper = xr.DataArray(np.triu(np.ones((n_ratings, n_ratings)), 1), dims=("rater", "other"))
    expected = (both * upper).sum(["rater", "other"])
    by_draw = predicted.mean("item")
    assert float(by_draw.mean()) == pytest.approx(float(expected.mean()), rel=0.02)
    assert np.corrcoef(by_draw.values.ravel(), expected.values.ravel())[0, 1] > 0.5


def test_items_left_out_are_the_same_as_without_predictions(tree) -> None:
    """The log likelihood is that of all ratings of an item."""
    bare = bayes_models.fit("dawid_skene", RATINGS, engine="gibbs", chains=2, checks=False)
    assert "posterior_predictive" not in bare and "prior" not in bare
    assert az.loo(bare).elpd == az.loo(tree).elpd
    assert az.loo(tree).n_data_points == RATINGS.n_items


@pytest.mark.parametrize("model", sorted(bayes_models.MODELS))
def test_the_log_density_of_priors_is_that_of_pymc(model: str) -> None:
    """Each prior's log density at draws from the prior is the one that PyMC gives."""
    ratings = lehner.load_dataset("lehner_table2")
    drawn = bayes_models.prior_draws(model, ratings, 2)
    result = compute_log_prior(model, drawn, ratings.patterns())
    built = bayes_models.find_model(model).build(ratings, None)
    checked = set()
    for name in result.data_vars:
        if str(name) not in {variable.name for variable in built.free_RVs}:
            continue
        density = pm.logp(built[str(name)], drawn[name].values[0, 1]).sum()
        expected = float(pytensor.function([], density, mode="FAST_COMPILE")())
        assert result[name].values[0, 1] == pytest.approx(expected, rel=1e-6, abs=1e-6)
        checked.add(name)
    assert "base_rates" in checked
    assert set(result.data_vars) <= set(bayes_models.find_model(model).priors["default"])
    priors = bayes_models.find_model(model).priors["default"]
    assert {name for name in priors if name in drawn} == set(result.data_vars)


def test_arviz_takes_the_tree_as_it_is(tree) -> None:
    """Checks and comparisons of ArviZ work without more ado."""
    sensitivity = az.psense_summary(tree, var_names=["system_accuracy"])
    assert (sensitivity[["prior", "likelihood"]] > 0).all(axis=None)
    for plot in (
        az.plot_loo_pit,
        az.plot_loo_interval,
        az.plot_loo_pava,
        az.plot_ppc_dist,
        az.plot_ppc_interval,
        az.plot_ppc_pava,
        az.plot_ppc_pit,
        az.plot_ppc_rootogram,
        az.plot_ppc_tstat,
    ):
        plot(tree)
        pyplot.close("all")
    az.plot_ppc_dist(tree, group="prior_predictive")
    az.plot_prior_posterior(tree, var_names=["system_accuracy"])
    pyplot.close("all")


@pytest.mark.slow
def test_items_left_out_show_difficulty_that_the_model_does_not_have() -> None:
    """The probability integral transform is uniform if the model is right, and only then."""
    p_values = []
    for easiness in ((0,), (-0.35, 0.35)):
        scenario = lehner.Scenario(
            n_categories=3, n_items=800, initial_rater_accuracy=(0.65,) * 6, easiness=easiness
        )
        ratings = lehner.simulate(scenario, 1).with_truth(None)
        options = {"engine": "gibbs", "checks": False, "tries": 1}
        result = bayes_models.fit("dawid_skene", ratings, chains=2, draws=500, **options)
        bayes_models.add_posterior_predictive(result, ratings)
        values = arviz_stats.loo_pit(result)["agreeing_pairs"].values
        p_values.append(kstest(values, "uniform").pvalue)
    assert p_values[0] > 0.05 and p_values[1] < 0.01


def test_a_missing_group_is_named_with_the_call_that_adds_it(tree) -> None:
    """The error says what to do."""
    bare = xr.DataTree.from_dict({"posterior": tree["posterior"].to_dataset()})
    with pytest.raises(InputError, match=r"no group truth; fit the model by bayes_models\.fit"):
        bayes_models.estimate_from_draws(bare)


def test_a_prior_that_was_a_distribution_is_to_be_given_again(tree) -> None:
    """Its name does not make it."""
    again = tree.copy()
    again.attrs["priors"] = '{"base_rates": {"distribution": "Dirichlet([1. 1. 1. 1.])"}}'
    with pytest.raises(InputError, match="give the priors again"):
        bayes_models.add_prior(again, RATINGS)
