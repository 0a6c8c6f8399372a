"""The model that CONTRIBUTING.md adds, put in place word by word: one row, one file."""

import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import bayes_models
from bayes_models import MODELS, build_model, draw_from_prior, identify, models
from lehner import Scenario, simulate
from lehner.estimation.methods import find_method
from lehner.latent_class.em import LatentClassModel

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
