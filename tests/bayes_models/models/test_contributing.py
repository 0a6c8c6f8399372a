"""The model that CONTRIBUTING.md adds, put in place word by word: one row, one file."""

import json
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pymc as pm
import pytest

import bayes_models
from bayes_models import MODELS, build_model, draw_from_prior, find_model, identify, models, observe
from bayes_models.models.assemble import list_data
from bayes_models.models.registry import choose_priors, write_priors
from bayes_models.models.spec import name_distribution
from bayes_models.posterior.predictive import draw_ratings
from lehner import Ratings, Scenario, load_dataset, simulate
from lehner.estimation.methods import find_method
from lehner.latent_class.em import LatentClassModel
from tests.lehner.data.test_repeats import repeat

ROOT = Path(__file__).parents[3]


def blocks():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text.split("### A model\n")[1].split("\n### ")[0]
    return re.findall(r"```(?:toml|python)\n(.*?)```", section, re.DOTALL)


@pytest.fixture(autouse=True)
def name(monkeypatch, tmp_path):
    """Put the row into the table and the file among the models, as CONTRIBUTING says."""
    row, file = blocks()
    ((name, row),) = tomllib.loads(row).items()
    (tmp_path / f"{name}.py").write_text(file)
    monkeypatch.setattr(models, "__path__", [*models.__path__, str(tmp_path)])
    monkeypatch.setitem(MODELS, name, LatentClassModel(**row))
    yield name
    sys.modules.pop(f"bayes_models.models.{name}", None)
    vars(models).pop(name, None)


@pytest.fixture
def ratings():
    return simulate(
        Scenario(n_items=60, n_categories=3, initial_rater_accuracy=(0.6, 0.7, 0.8)), 1
    ).with_truth(None)


def test_it_can_be_drawn_from_with_numbers_of_ones_own(name, ratings):
    built = build_model(name, ratings)
    assert [variable.name for variable in built.free_RVs] == ["base_rates", "skill"]
    drawn = draw_from_prior(name, ratings, 400, priors={"skill": (70, 30)})
    assert drawn["skill"].dims == ("chain", "draw", "rater")
    assert float(drawn["skill"].mean()) == pytest.approx(0.7, abs=0.01)


@pytest.mark.slow
def test_it_is_fitted_and_estimates(name, ratings):
    (tree,) = bayes_models.fit_many(name, [ratings], draws=200, tries=1)
    posterior = tree["posterior"].to_dataset()
    # The probability of being right, up to rounding.
    np.testing.assert_allclose(posterior["skill"], posterior["accuracy"])
    assert identify(name, ratings).parameters == 2 + 4
    method = find_method(name)
    result = method.fit(ratings, level=0.9, seed=1)
    assert result.method == name and not result.warnings
    assert result.system_accuracy.lower < 0.9 < result.system_accuracy.upper
    assert (method.look.label, method.look.color) == (MODELS[name].label, MODELS[name].color)


# What a fit says of its priors.


@pytest.mark.parametrize("model", MODELS)
def test_named_sets_are_kept_as_the_numbers_they_are(model):
    for name, priors in find_model(model).priors.items():
        kept = json.loads(write_priors(model, name))
        assert set(kept) == set(priors)
        for variable, prior in priors.items():
            if isinstance(prior, str):
                assert kept[variable] == prior
            else:
                np.testing.assert_array_equal(kept[variable], prior)
        # What is kept is what a model takes.
        assert choose_priors(model, kept) == kept


def test_a_distribution_is_called_the_same_before_and_after_it_is_part_of_a_model():
    priors = {"rater_log_odds": pm.Uniform.dist(0, 1)}
    before = write_priors("one_coin", priors)
    assert json.loads(before)["rater_log_odds"] == {"distribution": "Uniform(0, 1)"}
    build_model("one_coin", load_dataset("lehner_table2"), priors)
    assert write_priors("one_coin", priors) == before
    assert name_distribution(json.loads(before)["rater_log_odds"]) == "Uniform(0, 1)"
    assert name_distribution(0.5) == name_distribution("diagonal") == ""


# Ratings that a rater repeats exactly change neither density nor draws.


def once(k: int) -> Ratings:
    scenario = Scenario(
        n_categories=k, n_items=40, initial_rater_accuracy=(0.7, 0.75, 0.8), missing=0.2
    )
    ratings = simulate(scenario, k)
    with_truths = ratings.with_truth(np.where(np.arange(40) < 9, ratings.truth, -1))
    return with_truths.with_populations(np.where(np.arange(40) % 3, "south", "north"))


@pytest.mark.parametrize(("k", "whose"), [(2, (0, 1, 2)), (3, (1,)), (4, (0, 2))])
def test_the_likelihood_reads_the_same_data(k, whose):
    ratings = once(k)
    twice = repeat(ratings, 3, whose)
    assert twice.n_ratings > ratings.n_ratings
    data, same = list_data(observe(ratings)), list_data(observe(twice))
    assert list(data) == list(same)
    for name in data:
        np.testing.assert_array_equal(same[name], data[name])


@pytest.mark.filterwarnings("ignore::bayes_models.ConvergenceWarning")
def test_gibbs_draws_are_the_same():
    ratings = once(3)
    fit, same = (
        bayes_models.fit(
            "dawid_skene", data, engine="gibbs", chains=2, draws=100, tries=1, checks=False, seed=2
        )
        for data in (ratings, repeat(ratings, 5))
    )
    for group in ("posterior", "truth", "log_likelihood"):
        if group in fit.children:
            assert same[group].to_dataset().identical(fit[group].to_dataset())


def test_predicted_ratings_repeat_where_repeats_count():
    ratings = repeat(once(2), 6).with_truth(None).with_populations(None)
    confusion = np.tile([[0.7, 0.3], [0.3, 0.7]], (4, 1, 1))
    for data in (ratings, ratings.with_independent_repeats()):
        drawn = draw_ratings(data, np.array([0.5, 0.5]), confusion, np.random.default_rng(1))
        np.testing.assert_array_equal(drawn.votes.rater_index, data.votes.rater_index)
