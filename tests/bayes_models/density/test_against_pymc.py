"""The density that is sampled against PyMC’s, and its compiled functions."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
import xarray as xr

import bayes_models
from bayes_models import MODELS, build_model, find_model, observe
from bayes_models.density import log_density as module
from bayes_models.density.log_density import are_on_disk, can_keep, compile_c_functions, is_kept
from bayes_models.models.log_odds import SCALES
from bayes_models.models.registry import choose_priors
from bayes_models.sampling import nuts
from bayes_models.sampling.nuts import compile_model
from bayes_models.sampling.start import start_at_vote
from lehner import Ratings, Scenario, simulate
from tests.reference.pymc_model import by_pymc

ACCURACIES = (0.5, 0.6, 0.7, 0.8)


def rated(n_raters=3, n_categories=3):
    accuracy = ACCURACIES[:n_raters]
    scenario = Scenario(n_items=25, n_categories=n_categories, initial_rater_accuracy=accuracy)
    return simulate(scenario, 1)


def with_missing(ratings, n_truths=0):
    """Some ratings and answers are missing, and some truths known."""
    codes = ratings.codes.copy()
    codes[::3, 0] = -1
    codes[1::4, -1] = -1
    system = ratings.system.copy()
    system[::5] = -1
    truth = np.where(np.arange(len(codes)) < n_truths, ratings.truth, -1)
    names = ratings.categories
    return Ratings(codes, names, ratings.raters, system=system, truth=truth)


def ordered(ratings=None):
    ratings = ratings or rated(3, 4)
    names = [1, 2, 3, 4]
    return Ratings(
        ratings.codes,
        names,
        ratings.raters,
        system=ratings.system,
        truth=ratings.truth,
        ordered=True,
    )


def in_populations(ratings):
    return ratings.with_populations(np.arange(ratings.n_rows) % 2)


def without_system(ratings):
    return Ratings(ratings.codes, ratings.categories, ratings.raters)


DATA = {
    "3 raters, 5 categories": lambda: rated(3, 5).with_truth(None),
    "4 raters, 4 categories": lambda: rated(4, 4),
    "2 raters, 2 categories": lambda: rated(2, 2).with_truth(None),
    "missing": lambda: with_missing(rated()),
    "ordered": ordered,
    "no system": lambda: without_system(rated(3, 4)),
}
PRIORS = [
    *((name, set_name) for name in MODELS for set_name in list(find_model(name).priors)[1:]),
    ("relaxed_k", {"system_slope": (1.7, 0.0), "base_rates": [1.0, 2.0, 3.0, 4.0]}),
    ("relaxed_k", {"system_slope": (0.2, 0.9), "system_log_odds": (0.4, 2.0)}),
    ("relaxed_k", {"distance_decay": 0, "system_error_spread": 0, "error_spread": 0}),
    ("relaxed_k", {"category_spread": 0, "common_error_spread": 0, "mean_log_odds": (1, 0.3)}),
    ("relaxed_k", dict.fromkeys(SCALES, 0.0)),
]


def evaluate(compiled, point):
    """Log density, gradient, and the model's variables, as the sampler calls for them."""
    sampled = compiled.sampled
    value, gradient, kept = np.empty(1), np.empty_like(point), np.empty(sampled.n_expanded)
    calls = (
        (sampled.compiled_logp_func, (len(point),), (point, gradient, value)),
        (sampled.compiled_expand_func, (len(point), len(kept)), (point, kept)),
    )
    for function, sizes, arrays in calls:
        arguments = [*sizes, *(array.ctypes.data for array in (*arrays, sampled.user_data))]
        call = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_uint64] * len(arguments))
        assert call(function.address)(*arguments) == 0
    names, slices, shapes = sampled.shape_info
    drawn = {
        name: kept[place].reshape(1, 1, *shape)
        for name, place, shape in zip(names, slices, shapes, strict=True)
    }
    return value[0], gradient, compiled.label(drawn).isel(chain=0, draw=0)


def differs_from_pymc(name, observed, priors=None):
    compiled = compile_model(name, observed, priors)
    reference = by_pymc(build_model(name, observed, priors))
    rng = np.random.default_rng(20150801)
    constants = []
    for scale in (0.3, 0.8):
        point = scale * rng.normal(size=compiled.sampled.n_dim)
        value, gradient, variables = evaluate(compiled, point)
        their_value, their_gradient, theirs = reference(point)
        np.testing.assert_allclose(gradient, their_gradient, rtol=1e-8, atol=1e-9)
        wanted = {variable for variable in theirs if not variable.endswith("__")}
        assert set(variables) == wanted
        for variable in wanted:
            first = ("population", "rater", "level")
            declared = variables[variable].transpose(*first, ..., missing_dims="ignore")
            np.testing.assert_allclose(declared, theirs[variable], rtol=1e-11, atol=1e-14)
        constants.append(value - their_value)
    # What does not depend on the parameters is left out.
    np.testing.assert_allclose(constants[0], constants[1], rtol=1e-10, atol=1e-9)


def test_centred_raters_have_the_same_posterior(monkeypatch):
    observed = observe(rated(4, 3).with_truth(None))
    compiled = compile_model("relaxed_k", observed)
    monkeypatch.setattr(nuts, "is_centred", lambda _: True)
    centred = compile_model("relaxed_k", observed)
    point = 0.5 * np.random.default_rng(1).normal(size=compiled.sampled.n_dim)
    # Two coordinates of base rates, the mean, the logarithm of the spread, and four effects.
    spread, effects = np.exp(point[3]), point[4:8]
    moved = point.copy()
    moved[4:8] = point[2] + spread * effects
    value, gradient, variables = evaluate(compiled, point)
    centred_value, centred_gradient, same = evaluate(centred, moved)
    np.testing.assert_allclose(centred_value, value - 4 * np.log(spread))
    xr.testing.assert_allclose(same, variables)
    gradient[2] -= gradient[4:8].sum() / spread
    gradient[3] -= effects @ gradient[4:8] + 4
    gradient[4:8] /= spread
    np.testing.assert_allclose(centred_gradient, gradient)
    start, scale = centred.start(start_at_vote(observed))
    assert (scale[2:8] == nuts.NOISE).all()
    np.testing.assert_allclose(np.exp(start[3]), start[4:8].std())
    assert centred.max_depth == nuts.DEPTH_OF_CENTRED
    alike = compile_model("relaxed_k", observed, {"rater_spread": 0})
    assert alike.max_depth == compiled.max_depth == nuts.DEPTH


@pytest.mark.slow
def test_density_and_gradient_are_those_of_pymc_at_large_log_odds():
    observed = observe(ordered().with_truth(None))
    compiled = compile_model("one_coin", observed)
    reference = by_pymc(build_model("one_coin", observed))
    typical = 0.3 * np.random.default_rng(1).normal(size=compiled.sampled.n_dim)
    constant = evaluate(compiled, typical)[0] - reference(typical)[0]
    # After those of the base rates.
    for place in (3, 4):
        for log_odds in (-45, 45, 200):
            point = typical.copy()
            point[place] = log_odds
            value, gradient, _ = evaluate(compiled, point)
            their_value, their_gradient, _ = reference(point)
            np.testing.assert_allclose(value - constant, their_value, rtol=1e-9)
            np.testing.assert_allclose(gradient, their_gradient, rtol=1e-7, atol=1e-7)


def test_the_gradient_is_that_of_the_density_at_large_log_odds():
    compiled = compile_model("one_coin", observe(ordered().with_truth(None)))
    typical = 0.3 * np.random.default_rng(1).normal(size=compiled.sampled.n_dim)
    # After those of the base rates.
    for place in (3, 4):
        for log_odds in (-200, -30, 30, 200):
            point, step = typical.copy(), np.zeros(len(typical))
            point[place], step[place] = log_odds, 1e-3
            _, gradient, _ = evaluate(compiled, point)
            ends = [evaluate(compiled, point + sign * step)[0] for sign in (1, -1)]
            assert gradient[place] == pytest.approx((ends[0] - ends[1]) / 2e-3, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", MODELS)
def test_density_gradient_and_variables_are_those_of_pymc(name, data):
    differs_from_pymc(name, observe(DATA[data]()))


@pytest.mark.parametrize("name", MODELS)
def test_they_are_with_gaps_truths_populations_and_other_numbers_of_every_prior(name):
    changed = {
        variable.name: 1.7
        if variable.family.rows
        else 1.3 * np.asarray(choose_priors(name)[variable.name]) + 0.1
        for variable in find_model(name).variables
    }
    everything = in_populations(ordered(with_missing(rated(3, 4), n_truths=8)))
    differs_from_pymc(name, observe(everything), changed)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "priors"), PRIORS, ids=str)
def test_they_are_with_other_priors(name, priors):
    differs_from_pymc(name, observe(ordered()), priors)


# The compiled functions: kept on disk, and compiled again if their source is another.


PACKAGE = Path(bayes_models.__file__).parent
FIT = """
import logging, sys
import bayes_models
from lehner import Scenario, simulate

logging.basicConfig(level="INFO", format="%(message)s", stream=sys.stdout)
for n_categories in (2, 3):
    accuracy = (0.6, 0.7, 0.8)[: n_categories + 1]
    scenario = Scenario(n_items=40, n_categories=n_categories, initial_rater_accuracy=accuracy)
    ratings = simulate(scenario, 1).with_truth(None)
    for model in ("relaxed_k", "dawid_skene", "one_coin"):
        tree = bayes_models.fit(model, ratings, draws=20, tune=20, tries=1)
        print(repr(float(tree.posterior["system_accuracy"].mean())))
print("pymc" in sys.modules)
"""


@pytest.fixture
def no_cache():
    """Have nothing remembered, before and after."""
    _forget()
    yield
    _forget()


def _forget():
    compile_c_functions.cache_clear()
    module._define_functions.cache_clear()


def test_another_source_is_compiled_again(monkeypatch, tmp_path, no_cache):
    compile_c_functions()
    assert are_on_disk()
    shutil.copytree(PACKAGE / "density", tmp_path / "density")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "density" / "log_density.py"))
    module._define_functions.cache_clear()
    assert are_on_disk()
    with (tmp_path / "density" / "priors.py").open("a") as file:
        file.write("\n")
    module._define_functions.cache_clear()
    assert not are_on_disk()


def test_where_nothing_can_be_kept_it_is_said(monkeypatch, caplog, no_cache):
    monkeypatch.setattr(module, "can_keep", lambda function: False)
    options = []
    monkeypatch.setattr(numba, "cfunc", lambda _, **keywords: options.append(keywords) or repr)
    compile_c_functions()
    assert options == [{"cache": False}] * 2
    assert caplog.messages == [module.NO_FOLDER] and "NUMBA_CACHE_DIR" in module.NO_FOLDER


def test_a_function_without_a_file_cannot_be_kept():
    names = {}
    exec("def function(x): return x", names)
    assert not can_keep(names["function"])
    assert not is_kept(names["function"], numba.types.int64(numba.types.int64))


def with_other_fields(**fields):
    raise TypeError("unexpected keyword argument '_coords'")


def test_if_the_sampler_has_changed_nutpie_compiles_the_model(monkeypatch, caplog):
    monkeypatch.setattr(nuts.nutpie.compile_pymc, "CompiledPyMCModel", with_other_fields)
    monkeypatch.setattr(nuts, "compile_pymc_model", lambda *_: "PyMC's")
    scenario = Scenario(n_items=20, n_categories=2, initial_rater_accuracy=(0.6, 0.7))
    observed = bayes_models.observe(simulate(scenario, 1).with_truth(None))
    assert nuts.compile_model("dawid_skene", observed) == "PyMC's"
    assert "compiled by nutpie, in each process: unexpected keyword" in caplog.text


@pytest.mark.slow
def test_one_compilation_is_for_all_models_shapes_and_processes(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    lines = [
        subprocess.run(
            [sys.executable, "-c", FIT], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for _ in range(2)
    ]
    compiling = [[line for line in run if line.startswith("compiling")] for run in lines]
    assert [len(run) for run in compiling] == [1, 0]
    numbers = [[line for line in run if line.startswith("0.")] for run in lines]
    assert numbers[0] == numbers[1] and len(numbers[0]) == 6
    assert lines[0][-1] == lines[1][-1] == "False"
