"""The numbers of priors are data: a model has those it is given, whatever it was built with."""

from dataclasses import replace

import numpy as np
import pytest

from bayes_models import MODELS, find_model, observe
from bayes_models.models.deferred import without_c_compiler
from bayes_models.models.families import is_zero
from bayes_models.models.priors import choose_priors
from bayes_models.sampling import compiled
from bayes_models.sampling.density_check import python_mode
from lehner import Scenario, simulate

SCENARIO = Scenario(n_items=30, n_categories=3, initial_rater_accuracy=(0.5, 0.6, 0.7))


@pytest.fixture(scope="module")
def observed():
    """Ratings of ordered categories, which all priors of all models are of use to."""
    ratings = simulate(SCENARIO, 1)
    return observe(
        type(ratings)(ratings.flat, [1, 2, 3], ratings.raters, ordered=True, system=ratings.system)
    )


def other_numbers(name, model):
    """Priors whose numbers are all different, each another than by default."""
    usual = choose_priors(name)
    numbers = {
        one.variable: replace(one, element=None).of(usual[one.variable])
        for one in data_of_priors(model).values()
    }
    return {
        variable: 1.3 * values + 0.1 + np.arange(values.size).reshape(values.shape) / 50
        for variable, values in numbers.items()
    }


def data_of_priors(model):
    tags = {variable.name: variable.tag for variable in model.data_vars}
    return {n: tag.prior_numbers for n, tag in tags.items() if hasattr(tag, "prior_numbers")}


@pytest.mark.parametrize("name", MODELS)
def test_new_numbers_make_the_model_that_is_built_with_them(name, observed):
    build = find_model(name).build
    model = build(observed)
    changed = other_numbers(name, model)
    assert set(changed) == set(choose_priors(name)) - set(find_model(name).compiled_in)
    built = build(observed, changed)
    with without_c_compiler():
        density = model.compile_logp(mode=python_mode(), sum=False)
        expected = built.compile_logp(mode=python_mode(), sum=False)
        point = {k: v + 0.2 for k, v in built.initial_point(random_seed=0).items()}
        before = np.concatenate([np.ravel(part) for part in density(point)])
        for data, one in data_of_priors(model).items():
            model.set_data(data, one.of(changed[one.variable]))
        after = np.concatenate([np.ravel(part) for part in density(point)])
        theirs = np.concatenate([np.ravel(part) for part in expected(point)])
    np.testing.assert_allclose(after, theirs, rtol=1e-12)
    assert (before != after).sum() >= len(changed)


@pytest.mark.parametrize("name", MODELS)
def test_where_chains_start_does_not_depend_on_the_numbers(name, observed, monkeypatch):
    monkeypatch.setattr(compiled, "compile_density", lambda model: None)
    usual = choose_priors(name)
    changed = other_numbers(name, find_model(name).build(observed))
    starts = [compiled._compile(name, observed, usual | new).start for new in ({}, changed)]
    for variable, default in starts[0].defaults.items():
        np.testing.assert_array_equal(starts[1].defaults[variable], default)


def test_a_zero_is_one_number():
    assert is_zero(0) and is_zero(0.0) and is_zero(np.array(0.0))
    assert not any(map(is_zero, (0.1, (0, 0), [0.0], "diagonal", [], [[1, 2], [3]])))
