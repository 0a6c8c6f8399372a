"""ArviZ's table names each number as the draws do, in every group that has variables of a model."""

import itertools

import arviz as az
import numpy as np
import pytest
import xarray as xr

import bayes_models
from lehner import Scenario, simulate

SAMPLING = {"draws": 8, "tune": 8, "chains": 2, "tries": 1, "checks": False, "progressbar": False}


@pytest.fixture(scope="module")
def ratings():
    scenario = Scenario(n_items=60, n_categories=3, initial_rater_accuracy=(0.8, 0.7, 0.9, 0.6))
    simulated = simulate(scenario, 1)
    return simulated.with_populations(np.repeat(["a", "b"], 30))


def means_by_name(dataset):
    """Mean of each number, under the name that ArviZ should give it."""
    means = {}
    for name, array in dataset.mean(("chain", "draw")).items():
        for place in itertools.product(*(range(n) for n in array.shape)):
            number = array[place]
            labels = ", ".join(str(number[dim].values) for dim in array.dims)
            means[f"{name}[{labels}]" if labels else name] = float(number)
    return means


@pytest.mark.filterwarnings("ignore::bayes_models.ConvergenceWarning")
@pytest.mark.parametrize("model", bayes_models.MODELS)
def test_every_number_has_its_own_name(ratings, model):
    tree = bayes_models.fit(model, ratings, **SAMPLING)
    table = az.summary(tree, kind="stats", round_to="none")["mean"]
    assert table.to_dict() == pytest.approx(means_by_name(tree["posterior"]), abs=1e-12)
    assert tree.posterior["confusion"].dims[2:] == ("rater", "category", "response")


@pytest.mark.parametrize("model", bayes_models.MODELS)
def test_every_number_of_two_variables_has_its_own_name(ratings, model):
    """Of all pairs of variables with different dimensions, in both orders."""
    drawn = bayes_models.draw_from_prior(model, ratings, 4)
    with_dims = {drawn[name].dims[2:]: str(name) for name in drawn}
    expected = {name: means_by_name(drawn[[name]]) for name in with_dims.values()}
    means = drawn.mean(("chain", "draw")).expand_dims(summary=["mean"])
    for two in itertools.permutations(with_dims.values(), 2):
        names = az.dataset_to_dataframe(means[list(two)], sample_dims=["summary"]).loc["mean"]
        assert names.to_dict() == pytest.approx(expected[two[0]] | expected[two[1]], abs=1e-12)


def test_base_rates_and_confusion_are_summarised_by_name(ratings):
    drawn = bayes_models.draw_from_prior("dawid_skene", ratings, 4)
    for two in (["base_rates", "confusion"], ["accuracy", "base_rates_by_population", "confusion"]):
        table = az.summary(drawn, var_names=two, kind="stats", round_to="none")["mean"]
        assert table.to_dict() == pytest.approx(means_by_name(drawn[two]), abs=1e-12)


def test_every_number_drawn_from_the_prior_has_its_own_name(ratings):
    drawn = bayes_models.draw_from_prior("relaxed_k", ratings, 4)
    tree = xr.DataTree.from_dict({"prior": drawn})
    table = az.summary(tree, group="prior", kind="stats", round_to="none")["mean"]
    assert table.to_dict() == pytest.approx(means_by_name(drawn), abs=1e-12)
