"""A model's density and its gradient as C functions that the sampler calls.

The functions that the sampler would make itself contain the data as constants, so that each process
would have to compile them again, which takes as long as fifty fits. The functions made here read
the data through pointers, so that they can be kept on disk.

If the functions cannot be made, or do not return the same values as PyMC, the model is compiled by
nutpie's public function instead: the fits are the same, but each process has to compile.
`experiments/benchmarks/fit.md` describes what else was tried.
"""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import carray, types
from numpy.typing import NDArray

from bayes_models.models.deferred import nutpie, pt
from bayes_models.sampling.library_internals import (
    MachineCode,
    compile_function,
    numba_function,
    sampler_model,
)
from lehner.core.arrays import Floats, Integers

if TYPE_CHECKING:
    import pymc as pm

logger = logging.getLogger(__name__)

DOUBLES = types.CPointer(types.double)
# `data` has addresses in the order of `Density.with_data`.
DATA = types.CPointer(types.voidptr)
BEFORE_ARRAYS = 5
DENSITY = types.int64(types.uint64, DOUBLES, DOUBLES, DOUBLES, DATA)
DENSITY_TEXT = """
def density(n_parameters, point, gradient, log_density, data):
    try:
        whole = carray(data[0], ({n_whole},), np.float64).copy()
        free = carray(data[1], (n_parameters,), np.int64)
        sizes = carray(data[4], ({n_sizes},), np.int64)
        for i in range(n_parameters):
            whole[free[i]] = point[i]
        value, slope = function(whole{arrays})
        result = carray(log_density, ())
        result[()] = value
        result[()] -= carray(data[3], (), np.float64)[()]
        finite = True
        for i in range(n_parameters):
            gradient[i] = slope[free[i]]
            finite = finite and np.isfinite(gradient[i])
        if not finite:
            return 3
        if not np.isfinite(result[()]):
            return 4
    except Exception:
        return 1
    return 0
"""
VARIABLES = types.int64(types.uint64, types.uint64, DOUBLES, DOUBLES, DATA)
VARIABLES_TEXT = """
def variables(n_parameters, n_values, point, values, data):
    try:
        whole = carray(data[0], ({n_whole},), np.float64).copy()
        free = carray(data[1], (n_parameters,), np.int64)
        kept = carray(data[2], (n_values,), np.int64)
        sizes = carray(data[4], ({n_sizes},), np.int64)
        for i in range(n_parameters):
            whole[free[i]] = point[i]
        (found,) = function(whole{arrays})
        for i in range(n_values):
            values[i] = found[kept[i]]
    except Exception:
        return -2
    return 0
"""

type Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Density:
    """What the sampler evaluates: the density, and the variables whose draws are kept.

    Parameters
    ----------
    shapes : dict
        Shapes of all variables by name, in the order in which they are kept; unconstrained
        parameters come first.
    data : dict
        Arrays by name, in the order in which the functions read them.
    log_density, variables : MachineCode
    whole_point : ndarray, shape (n_whole,)
        A point of the model that the functions were compiled from. Parameters that are not free
        have its values.
    free : ndarray, shape (n_parameters,)
        Positions of the free parameters in it: all of them, unless the functions were compiled from
        a more general model.
    kept : ndarray, shape (n_values,)
        Positions of the variables' values among those that the functions compute.
    constant : float
        Log density of the parameters that are not free, which does not count.
    """

    shapes: dict[str, tuple[int, ...]]
    data: dict[str, Array]
    log_density: MachineCode
    variables: MachineCode
    whole_point: Floats
    free: Integers
    kept: Integers
    constant: float = 0.0

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return len(self.free)

    def with_data(self, **data: Any) -> Any:
        """Replace data, and give the object that the sampler takes.

        Parameters
        ----------
        **data : array_like
            By name, of as many dimensions as before; data that are not given stay as they are.

        Returns
        -------
        nutpie's compiled model
        """
        arrays = {
            name: np.array(data.pop(name, old), dtype=old.dtype, order="C")
            for name, old in self.data.items()
        }
        wrong = [name for name, new in arrays.items() if new.ndim != self.data[name].ndim]
        if data or wrong:
            raise ValueError(f"there is no such data: {[*data, *wrong]}")
        sizes = np.array([size for new in arrays.values() for size in new.shape], np.int64)
        constant = np.array(self.constant)
        read = (self.whole_point, self.free, self.kept, constant, sizes, *arrays.values())
        return sampler_model(self.shapes, self.n_parameters, self.log_density, self.variables, read)


def compile_density(model: "pm.Model") -> Any:
    """Compile the functions that the sampler evaluates.

    Parameters
    ----------
    model : pymc.Model

    Returns
    -------
    Density, or nutpie's compiled model
        Both have `with_data`, which gives the object that the sampler takes, and give the same
        draws.
    """
    from bayes_models.sampling.density_check import why_wrong

    try:
        density = _compile_functions(model)
        reason = why_wrong(density, model)
    except Exception as error:  # Whatever has changed, the public function remains.
        reason = f"{type(error).__name__}: {error}"
    if not reason:
        return density
    logger.warning("compiled by nutpie, again in each process: %s", reason)
    return compile_publicly(model)


def compile_publicly(model: "pm.Model") -> Any:
    """Compile by nutpie's public function."""
    return nutpie.compile_pymc_model(model, backend="numba")


def _compile_functions(model: "pm.Model") -> Density:
    """Compile the C functions of a model."""
    density, variables, shapes, n_parameters = _graph_functions(model)
    shared = list(dict.fromkeys([*density.get_shared(), *variables.get_shared()]))
    data = {variable: np.array(variable.get_value(), order="C") for variable in shared}
    if len({variable.name for variable in shared}) < len(shared):
        raise ValueError("data have the same name")
    return Density(
        shapes=shapes,
        data={variable.name: array for variable, array in data.items()},
        log_density=_c_function(DENSITY, DENSITY_TEXT, density, n_parameters, data),
        variables=_c_function(VARIABLES, VARIABLES_TEXT, variables, n_parameters, data),
        whole_point=np.zeros(n_parameters),
        free=np.arange(n_parameters),
        kept=np.arange(sum(map(math.prod, shapes.values()))),
    )


def _graph_functions(model: "pm.Model") -> tuple[Any, Any, dict[str, tuple[int, ...]], int]:
    """Compile PyTensor's functions of all parameters in one vector, and name what they give.

    The first gives the log density and its gradient; the second all variables in one vector, the
    unconstrained parameters first.
    """
    from pymc.pytensorf import compile as compile_graph
    from pytensor.graph import clone_replace, rewrite_graph

    parameters = [model.rvs_to_values[variable] for variable in model.free_RVs]
    kept = {value.name: value for value in [*parameters, *model.unobserved_value_vars]}
    shapes = _shapes(model, kept)
    ends = np.cumsum([0, *(math.prod(shapes[value.name]) for value in parameters)]).tolist()
    point = pt.TensorType("float64", shape=(ends[-1],))("_unconstrained_point")
    parts = [point[start:end] for start, end in pairwise(ends)]
    places = {
        value: part.reshape(shapes[value.name]).astype(value.dtype)
        for value, part in zip(parameters, parts, strict=True)
    }
    log_density = rewrite_graph(model.logp(), include=["canonicalize", "stabilize"])
    gradient = pt.concatenate([slope.ravel() for slope in pt.grad(log_density, parameters)])
    others = list(kept.values())[len(parameters) :]
    every = pt.concatenate([*parts, *(value.ravel() for value in others)])
    with model:
        return (
            compile_graph((point,), clone_replace([log_density, gradient], places), mode="NUMBA"),
            compile_graph((point,), [every], givens=list(places.items()), mode="NUMBA"),
            shapes,
            ends[-1],
        )


def _shapes(model: "pm.Model", variables: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Evaluate the shapes of variables, those of data included."""
    import pytensor

    start = model.initial_point(random_seed=0)
    given = [(value, start[name]) for name, value in variables.items() if name in start]
    wanted = [pt.as_tensor(value.shape) for value in variables.values()]
    found = pytensor.function(
        [], wanted, givens=given, mode="FAST_COMPILE", on_unused_input="ignore"
    )()
    return {name: tuple(map(int, shape)) for name, shape in zip(variables, found, strict=True)}


def _c_function(
    signature: Any, template: str, compiled: Any, n_whole: int, data: Mapping[Any, Array]
) -> MachineCode:
    """Wrap PyTensor's function of a point and some of the data."""
    shared = list(data)
    first_size = np.cumsum([0, *(array.ndim for array in data.values())])
    arrays = ""
    for variable in compiled.get_shared():
        i, array = shared.index(variable), data[variable]
        shape = "".join(f"sizes[{at}], " for at in range(first_size[i], first_size[i + 1]))
        arrays += f", carray(data[{i + BEFORE_ARRAYS}], ({shape}), np.{array.dtype})"
    text = template.format(n_sizes=first_size[-1], n_whole=n_whole, arrays=arrays)
    names: dict[str, Any] = {"np": np, "carray": carray, "function": numba_function(compiled)}
    exec(text, names)
    return compile_function(signature, names[template.split("(")[0].split()[1]])
