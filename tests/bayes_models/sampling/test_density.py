"""The sampler's C functions: PyMC's density, the data by pointer; what if they are wrong."""

import pickle
import sys
from dataclasses import replace
from types import SimpleNamespace

import numba
import numpy as np
import pymc as pm
import pymc.pytensorf
import pytensor
import pytensor.tensor as pt
import pytest
from numpy.testing import assert_allclose
from nutpie import compile_pymc
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch import numba_funcify
from scipy.special import erfcx

from bayes_models import find_model, observe
from bayes_models.sampling import density, library_internals
from bayes_models.sampling.density import compile_density, compile_publicly
from bayes_models.sampling.density_check import by_pymc, evaluate, python_mode
from bayes_models.sampling.kept_models import find_kept, keep
from bayes_models.sampling.nuts import _run_chains
from lehner import Scenario, simulate

VALUES = np.array([1.5, -0.5, 2.0])
NUMBERS = np.array([3, 1, 2])


def regression(values: np.ndarray = VALUES, numbers: np.ndarray = NUMBERS) -> pm.Model:
    """A model with data of three shapes and two types, in one of its functions or in both."""
    with pm.Model() as model:
        seen = pm.Data("values", values)
        weights = pm.Data("numbers", numbers)
        table = pm.Data("table", np.outer(values, numbers))
        offset = pm.Data("offset", 0.25)
        slope = pm.Flat("slope", shape=2)
        pm.Deterministic("total", offset * slope * weights[-1])
        mean = offset + (table * weights).sum(axis=1) * slope[0] + weights * slope[1]
        pm.Potential("fit", -((seen - mean) ** 2).sum())
    return model


POINT = np.array([0.4, -0.7])
pytensorf_compile = pymc.pytensorf.compile


@pytest.fixture(scope="module")
def compiled():
    return compile_density(regression())


def test_density_gradient_and_variables_are_those_of_the_model_with_the_data_given_last(compiled):
    values, numbers = np.array([0.3, 0.1]), np.array([5, 4])
    data = {"values": values, "numbers": numbers, "table": np.outer(values, numbers)}
    now = regression(values, numbers)
    now["offset"].set_value(-1.0)
    value, gradient, kept = evaluate(compiled, POINT, **data, offset=-1.0)
    start = {"slope": POINT}
    assert_allclose(value, now.compile_logp(mode="FAST_COMPILE")(start))
    assert_allclose(gradient, now.compile_dlogp(mode="FAST_COMPILE")(start))
    assert_allclose(kept, [*POINT, *(-4 * POINT)])


def test_the_reference_adds_more_terms_than_numpy_takes_at_once():
    terms = [pt.dscalar() for _ in range(70)]
    add = pytensor.function(terms, pt.add(*terms), mode=python_mode())
    assert add(*range(70)) == sum(range(70))


def test_the_reference_evaluates_a_model_of_more_raters_than_numpy_adds_at_once():
    raters = Scenario(n_categories=2, n_items=20, initial_rater_accuracy=(0.7,) * 70)
    model = find_model("one_coin_by_rater").build(observe(simulate(raters, 1)))
    start = model.initial_point(random_seed=0)
    value, _, _ = by_pymc(model)(np.concatenate([np.ravel(one) for one in start.values()]))
    assert_allclose(value, model.compile_logp()(start))


def test_data_of_another_name_or_shape_are_refused(compiled):
    for data in ({"value": VALUES}, {"values": [VALUES]}):
        with pytest.raises(ValueError, match="no such data"):
            compiled.with_data(**data)


def draws(density) -> np.ndarray:
    options = {"chains": 2, "draws": 20, "tune": 20, "seed": 1}
    chains, _ = _run_chains(density.with_data(), POINT, np.ones(2), **options)
    return np.array([chain.column("total").flatten().to_numpy() for chain in chains])


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("DENSITY_TEXT", "[()] = value", "[()] = value * (1 + 1e-6)"),
        ("DENSITY_TEXT", "slope[free[i]]", "slope[free[-1 - i]]"),
        ("VARIABLES_TEXT", "found[kept[i]]", "found[kept[-1 - i]]"),
        # As if the sampler laid the data out in another way.
        ("DENSITY_TEXT", "carray(data[4]", "1 + carray(data[4]"),
        ("DENSITY_TEXT", "value, slope", "value, slope, more"),
    ],
)
def test_what_does_not_give_what_pymc_gives_is_not_used(
    monkeypatch, caplog, compiled, text, right, wrong
):
    monkeypatch.setattr(density, text, getattr(density, text).replace(right, wrong))
    used = []
    monkeypatch.setattr(density, "compile_publicly", used.append)
    compile_density(regression())
    assert len(used) == 1
    (line,) = caplog.messages
    assert line.startswith("compiled by nutpie, again in each process: ")


@pytest.mark.slow
def test_what_nutpie_compiles_has_the_same_draws(compiled):
    assert np.array_equal(draws(compile_publicly(regression())), draws(compiled))


def compile_without_jit_fn(*arguments, **options):
    function = pytensorf_compile(*arguments, **options)
    del function.vm.jit_fn
    return function


def with_other_fields(**fields):
    raise TypeError("unexpected keyword argument '_coords'")


@pytest.mark.parametrize(
    ("owner", "name", "changed"),
    [
        (compile_pymc, "CompiledPyMCModel", with_other_fields),
        (pymc.pytensorf, "compile", compile_without_jit_fn),
    ],
)
def test_without_a_private_name_the_model_is_compiled_by_nutpie(
    monkeypatch, caplog, owner, name, changed
):
    monkeypatch.setattr(owner, name, changed)
    used = []
    monkeypatch.setattr(density, "compile_publicly", used.append)
    compile_density(regression())
    assert len(used) == 1 and "compiled by nutpie, again in each process" in caplog.text


def cfunc_without_library(signature):
    """Numba's function as it would be without `_library`."""

    def decorate(function):
        code = numba.cfunc(signature)(function)
        FUNCTIONS.append(code)
        return SimpleNamespace(address=code.address, native_name=code.native_name)

    return decorate


FUNCTIONS = []
"""What Numba compiled must stay alive for as long as it is called."""


def test_without_numbas_library_of_a_function_the_draws_are_the_same_and_it_is_not_kept(
    monkeypatch, tmp_path, compiled
):
    monkeypatch.setenv("LEHNER_CACHE", str(tmp_path))
    monkeypatch.setattr(library_internals, "numba", SimpleNamespace(cfunc=cfunc_without_library))
    without = compile_density(regression())
    assert np.array_equal(draws(without), draws(compiled))
    keep(without, "it")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["_final_module", "has_dynamic_globals", "serialize_using_object_code"]
)
def test_without_a_name_of_numbas_library_a_density_is_not_kept(
    monkeypatch, tmp_path, compiled, name
):
    monkeypatch.setenv("LEHNER_CACHE", str(tmp_path))
    library = compiled.log_density.library
    known = {one: getattr(library, one) for one in NEEDED if one != name}
    without = replace(compiled.log_density, library=SimpleNamespace(**known))
    keep(replace(compiled, log_density=without), "it")
    assert list(tmp_path.iterdir()) == []


NEEDED = ("_final_module", "has_dynamic_globals", "serialize_using_object_code")


@pytest.mark.parametrize("module", ["numba.core.registry", "numba.core.runtime"])
def test_without_a_module_of_numba_what_was_kept_is_not_found(
    monkeypatch, tmp_path, compiled, module
):
    monkeypatch.setenv("LEHNER_CACHE", str(tmp_path))
    keep(compiled, "it")
    assert find_kept("it") is not None
    monkeypatch.setitem(sys.modules, module, None)
    assert find_kept("it") is None


class Negative(Op):
    """An operation of a user's, of which PyTensor cannot tell whether its code has changed."""

    __props__ = ()

    def make_node(self, x) -> Apply:
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage) -> None:
        output_storage[0][0] = -inputs[0]

    def pullback(self, inputs, outputs, output_grads):
        return [-output_grads[0]]


@numba_funcify.register(Negative)
def _negative(op, node, **_):
    return numba.njit(lambda x: np.asarray(-x))


def test_an_operation_of_a_users_is_compiled_all_the_same() -> None:
    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Potential("more", Negative()(x))
    value, gradient, kept = evaluate(compile_density(model), np.array([0.5]))
    assert_allclose(value, -0.5 - 0.125 - np.log(2 * np.pi) / 2)
    assert_allclose(gradient, [-1.5])
    assert_allclose(kept, [0.5])


def test_what_asks_python_for_an_address_cannot_be_kept(compiled):
    """So does erfcx, which other processes could not call."""
    with pm.Model() as model:
        pm.Potential("fit", -pt.erfcx(pm.Flat("x")))
    density = compile_density(model)
    assert evaluate(density, np.array([0.5]))[0] == pytest.approx(-erfcx(0.5))
    with pytest.raises(pickle.PicklingError, match="calls Python"):
        pickle.dumps(density)
    copy = pickle.loads(pickle.dumps(compiled))
    assert_allclose(evaluate(copy, POINT)[0], evaluate(compiled, POINT)[0], rtol=0)
