"""The sampler's C functions: PyMC's density, the data by pointer, and found again on disk."""

import ctypes

import numba
import numpy as np
import pymc as pm
from numpy.testing import assert_allclose
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch import numba_funcify

from bayes_models.sampling.density import compile_density

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


def evaluate(density, point: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Call the C functions as the sampler does: density, gradient, variables."""

    def pointer(array: np.ndarray) -> ctypes._Pointer:
        return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))

    value, gradient, kept = np.empty(1), np.empty(density.n_dim), np.empty(density.n_expanded)
    data = density.user_data.ctypes.data
    assert not density.compiled_logp_func.ctypes(
        density.n_dim, pointer(point), pointer(gradient), pointer(value), data
    )
    assert not density.compiled_expand_func.ctypes(
        density.n_dim, density.n_expanded, pointer(point), pointer(kept), data
    )
    return value[0], gradient, kept


def test_density_gradient_and_variables_are_those_of_the_model_with_the_data_given_last() -> None:
    compiled = compile_density(regression())
    values, numbers = np.array([0.3, 0.1]), np.array([5, 4])
    swapped = compiled.with_data(
        values=values, numbers=numbers, table=np.outer(values, numbers), offset=-1.0
    )
    now = regression(values, numbers)
    now["offset"].set_value(-1.0)
    point = np.array([0.4, -0.7])
    start = {"slope": point}
    value, gradient, kept = evaluate(swapped, point)
    assert_allclose(value, now.compile_logp(mode="FAST_COMPILE")(start))
    assert_allclose(gradient, now.compile_dlogp(mode="FAST_COMPILE")(start))
    assert_allclose(kept, [*point, *(-4 * point)])


def test_a_second_compilation_is_read_from_the_disk_and_gives_the_same() -> None:
    point = np.array([0.4, -0.7])
    first, again = compile_density(regression()), compile_density(regression())
    assert again.compiled_logp_func.cache_hits == 1
    assert again.compiled_expand_func.cache_hits == 1
    for before, now in zip(evaluate(first, point), evaluate(again, point), strict=True):
        assert np.array_equal(before, now)


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


def test_what_cannot_be_kept_on_disk_is_compiled_all_the_same() -> None:
    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Potential("more", Negative()(x))
    value, gradient, kept = evaluate(compile_density(model), np.array([0.5]))
    assert_allclose(value, -0.5 - 0.125 - np.log(2 * np.pi) / 2)
    assert_allclose(gradient, [-1.5])
    assert_allclose(kept, [0.5])
