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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

if TYPE_CHECKING:
    import pymc as pm

logger = logging.getLogger(__name__)

DOUBLES = types.CPointer(types.double)
# `data` has addresses in the order of `Density.with_data`.
DATA = types.CPointer(types.voidptr)
BEFORE_ARRAYS = 4
DENSITY = types.int64(types.uint64, DOUBLES, DOUBLES, DOUBLES, DATA)
DENSITY_TEXT = """
def density(n_parameters, point, gradient, log_density, data):
    try:
        sizes = carray(data[3], ({n_sizes},), np.int64)
        whole = carray(data[0], (sizes[0],), np.float64).copy()
        free = carray(data[1], (n_parameters,), np.int64)
        for i in range(n_parameters):
            whole[free[i]] = point[i]
        value, slope = function(whole{arrays})
        result = carray(log_density, ())
        result[()] = value
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
        sizes = carray(data[3], ({n_sizes},), np.int64)
        whole = carray(data[0], (sizes[0],), np.float64).copy()
        free = carray(data[1], (n_parameters,), np.int64)
        kept = carray(data[2], (n_values,), np.int64)
        for i in range(n_parameters):
            whole[free[i]] = point[i]
        (found,) = function(whole{arrays})
        for i in range(n_values):
            values[i] = found[kept[i]]
    except Exception:
        return -2
    return 0
"""

LOG_ZERO = -1000.0
"""Logarithm of a standard deviation that is exactly zero in double precision."""

type Array = NDArray[Any]
type Axes = tuple[tuple[str, int], ...]
"""For each axis: the dimension whose length it has, empty if none, and what is added to that."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Density:
    """What the sampler evaluates: the density, and the variables whose draws are kept.

    Parameters
    ----------
    axes : dict
        Axes of all variables by name, unconstrained parameters first.
    free : dict
        By name of a free parameter: its name among them. These are all parameters, unless the
        functions were compiled from a more general model.
    kept : dict
        The same for the variables whose draws are kept; free parameters come first.
    lengths : dict
        Lengths of the dimensions that the functions were compiled with.
    data : dict
        Arrays by name, in the order in which the functions read them.
    log_density, variables : MachineCode
    n_parameters : int
        Number of parameters in `axes`.
    """

    axes: dict[str, Axes]
    free: dict[str, str]
    kept: dict[str, str]
    lengths: dict[str, int]
    data: dict[str, Array]
    log_density: MachineCode
    variables: MachineCode
    n_parameters: int

    def with_data(self, **data: Any) -> Any:
        """Replace data, and give the object that the sampler takes.

        Parameters
        ----------
        **data : array_like
            By name, of as many dimensions as before, or the length of a dimension; data that are
            not given stay as they are.

        Returns
        -------
        nutpie's compiled model
        """
        lengths = {name: int(data.get(name, length)) for name, length in self.lengths.items()}
        given = data | lengths
        arrays = {
            name: np.array(given.get(name, old), dtype=old.dtype, order="C")
            for name, old in self.data.items()
        }
        wrong = [name for name, new in arrays.items() if new.ndim != self.data[name].ndim]
        wrong += data.keys() - arrays.keys() - lengths.keys()
        if wrong:
            raise ValueError(f"there is no such data: {wrong}")
        shapes = {
            name: tuple(lengths.get(dim, 0) + more for dim, more in axes)
            for name, axes in self.axes.items()
        }
        ends = np.cumsum([0, *map(math.prod, shapes.values())]).tolist()
        place = dict(zip(shapes, map(np.arange, ends, ends[1:]), strict=False))
        whole = np.zeros(ends[self.n_parameters])
        for name in list(shapes)[: self.n_parameters]:
            if name.endswith("_spread_log__"):
                # It has this value unless it is free.
                whole[place[name]] = LOG_ZERO
        free = np.concatenate([place[name] for name in self.free.values()])
        kept = np.concatenate([place[name] for name in self.kept.values()])
        sizes = [len(whole), *(size for new in arrays.values() for size in new.shape)]
        return sampler_model(
            {name: shapes[own] for name, own in self.kept.items()},
            len(free),
            self.log_density,
            self.variables,
            (whole, free, kept, np.array(sizes, np.int64), *arrays.values()),
        )


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
        reason = why_wrong(density.with_data(), model)
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
    parameters = [model.rvs_to_values[variable] for variable in model.free_RVs]
    axes = _axes(model, [*parameters, *model.unobserved_value_vars])
    density, variables = _graph_functions(model, parameters, axes)
    shared = list(dict.fromkeys([*density.get_shared(), *variables.get_shared()]))
    data = {variable: np.array(variable.get_value(), order="C") for variable in shared}
    if len({variable.name for variable in shared}) < len(shared):
        raise ValueError("data have the same name")
    return Density(
        axes=axes,
        free={value.name: value.name for value in parameters},
        kept={name: name for name in axes},
        lengths=_lengths(model),
        data={variable.name: array for variable, array in data.items()},
        log_density=_c_function(DENSITY, DENSITY_TEXT, density, data),
        variables=_c_function(VARIABLES, VARIABLES_TEXT, variables, data),
        n_parameters=len(parameters),
    )


def _graph_functions(
    model: "pm.Model", parameters: Sequence[Any], axes: Mapping[str, Axes]
) -> tuple[Any, Any]:
    """Compile PyTensor's functions of all parameters in one vector.

    The first gives the log density and its gradient; the second all variables in one vector, in the
    order of their axes.
    """
    from pymc.pytensorf import compile as compile_graph
    from pytensor.graph import clone_replace, rewrite_graph

    point = pt.dvector("_unconstrained_point")
    parts, places, end = [], {}, pt.as_tensor(0)
    for value in parameters:
        shape = [model.dim_lengths[dim] + more if dim else more for dim, more in axes[value.name]]
        start, end = end, end + pt.prod(pt.stack(shape)) if shape else end + 1
        parts.append(point[start:end])
        part = parts[-1].reshape(shape, ndim=len(shape)).astype(value.dtype)
        places[value] = value.type.filter_variable(part, allow_convert=True)
    log_density = rewrite_graph(model.logp(), include=["canonicalize", "stabilize"])
    gradient = pt.concatenate([slope.ravel() for slope in pt.grad(log_density, list(parameters))])
    kept = {value.name: value for value in model.unobserved_value_vars}
    others = [kept[name].ravel() for name in list(axes)[len(parameters) :]]
    every = pt.concatenate([*parts, *others])
    with model:
        return (
            compile_graph((point,), clone_replace([log_density, gradient], places), mode="NUMBA"),
            compile_graph((point,), [every], givens=list(places.items()), mode="NUMBA"),
        )


def _lengths(model: "pm.Model") -> dict[str, int]:
    """Give the lengths of the dimensions that have labels."""
    return {name: len(labels) for name, labels in model.coords.items() if labels is not None}


def _axes(model: "pm.Model", variables: Sequence[Any]) -> dict[str, Axes]:
    """Evaluate the shapes of variables, and compare them with the lengths of their dimensions."""
    import pytensor

    start, lengths = model.initial_point(random_seed=0), _lengths(model)
    given = [(value, start[value.name]) for value in variables if value.name in start]
    found = pytensor.function(
        [],
        [pt.as_tensor(value.shape) for value in variables],
        givens=dict(given),
        mode="FAST_COMPILE",
        on_unused_input="ignore",
    )()
    named = {value.name: rv.name for rv, value in model.rvs_to_values.items()}
    axes = {}
    for value, shape in zip(variables, found, strict=True):
        dims = model.named_vars_to_dims.get(named.get(value.name, value.name))
        of_dims = [(dim, lengths[dim]) for dim in dims] if dims else [("", 0)] * len(shape)
        sizes = map(int, shape)
        axes[value.name] = tuple(
            (dim, size - length) for (dim, length), size in zip(of_dims, sizes, strict=True)
        )
    return axes


def _c_function(
    signature: Any, template: str, compiled: Any, data: Mapping[Any, Array]
) -> MachineCode:
    """Wrap PyTensor's function of a point and some of the data."""
    shared = list(data)
    # The number of all parameters comes first.
    first_size = np.cumsum([1, *(array.ndim for array in data.values())])
    arrays = ""
    for variable in compiled.get_shared():
        i, array = shared.index(variable), data[variable]
        shape = "".join(f"sizes[{at}], " for at in range(first_size[i], first_size[i + 1]))
        arrays += f", carray(data[{i + BEFORE_ARRAYS}], ({shape}), np.{array.dtype})"
    text = template.format(n_sizes=first_size[-1], arrays=arrays)
    names: dict[str, Any] = {"np": np, "carray": carray, "function": numba_function(compiled)}
    exec(text, names)
    return compile_function(signature, names[template.split("(")[0].split()[1]])
