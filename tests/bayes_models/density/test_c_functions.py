"""The compiled functions: kept on disk, and compiled again if their source is another."""

import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import bayes_models
from bayes_models.density import log_density as module
from bayes_models.density.log_density import are_on_disk, can_keep, compile_c_functions, is_kept
from bayes_models.sampling import nuts
from lehner import Scenario, simulate

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
