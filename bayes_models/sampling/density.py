"""A model's density and its gradient as C functions, which are kept on disk.

The sampler's own hold the data as constants, so that each process compiles them anew, for as long
as fifty fits take. Here they are text that reads the data through pointers, and stay on disk under
the key that PyTensor has for their graph.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
import pymc as pm
from numba import types
from nutpie import compile_pymc
from pymc.initial_point import make_initial_point_fn
from pytensor.link.numba.cache import CACHED_SRC_FUNCTIONS, compile_numba_function_src

DOUBLES = types.CPointer(types.double)
DENSITY = types.int64(types.uint64, DOUBLES, DOUBLES, DOUBLES, types.voidptr)
DENSITY_TEXT = """
def density(n_parameters, point, gradient, log_density, data):
    try:
        whole = numba.carray(data, ({n_whole},), np.uint64)
        value, slope = function(numba.carray(point, (n_parameters,)){data})
        numba.carray(log_density, ())[()] = value
        numba.carray(gradient, (n_parameters,))[...] = slope
        if not np.all(np.isfinite(slope)):
            return 3
        if not np.isfinite(value):
            return 4
    except Exception:
        return 1
    return 0
"""
VARIABLES = types.int64(types.uint64, types.uint64, DOUBLES, DOUBLES, types.voidptr)
VARIABLES_TEXT = """
def variables(n_parameters, n_values, point, values, data):
    try:
        whole = numba.carray(data, ({n_whole},), np.uint64)
        (found,) = function(numba.carray(point, (n_parameters,)){data})
        numba.carray(values, (n_values,))[...] = found
    except Exception:
        return -2
    return 0
"""


def compile_density(model: pm.Model) -> compile_pymc.CompiledPyMCModel:
    """Compile what the sampler evaluates: the density, and the variables that are kept.

    Parameters
    ----------
    model : pymc.Model

    Returns
    -------
    compile_pymc.CompiledPyMCModel
        As from `nutpie.compile_pymc_model`, with the same draws.
    """
    functions = compile_pymc._make_functions(
        model,
        mode="NUMBA",
        compute_grad=True,
        join_expanded=True,
        pymc_initial_point_fn=make_initial_point_fn(model=model, return_transformed=True),
    )
    n_parameters, n_values, density, variables, initial_point, info, transformed = functions
    data = list(dict.fromkeys([*density.get_shared(), *variables.get_shared()]))
    keys = {variable: str(i) for i, variable in enumerate(data)}
    arrays = {key: np.array(variable.get_value(), order="C") for variable, key in keys.items()}
    dims, coords = compile_pymc._prepare_dims_and_coords(model, info, transformed)
    names, _, shapes = info
    return compile_pymc.CompiledPyMCModel(
        _n_dim=n_parameters,
        n_expanded=n_values,
        dims=dims,
        _coords=coords,
        _shapes=dict(zip(names, map(tuple, shapes), strict=True)),
        shape_info=info,
        reparameterized_names=transformed,
        initial_point_func=initial_point,
        logp_func=density,
        expand_func=variables,
        compiled_logp_func=_c_function(DENSITY, DENSITY_TEXT, density, data),
        compiled_expand_func=_c_function(VARIABLES, VARIABLES_TEXT, variables, data),
        shared_data=arrays,
        shared_var_keys=keys,
        user_data=compile_pymc.make_user_data(keys, arrays),
    )


def _c_function(
    signature: Any, template: str, compiled: Any, data: Sequence[Any]
) -> Callable[..., Any]:
    """Wrap PyTensor's function of a point and some of the data, or find it on disk."""
    function = compiled.vm.jit_fn
    # As the sampler lays them out: all pointers, all sizes, all shapes.
    shapes = np.cumsum([2 * len(data), *(variable.ndim for variable in data)])
    arrays = ""
    for variable in compiled.get_shared():
        i = data.index(variable)
        shape = "".join(f"whole[{at}], " for at in range(shapes[i], shapes[i + 1]))
        pointer = f"compile_pymc.address_as_void_pointer(whole[{i}])"
        arrays += f", numba.carray({pointer}, ({shape}), np.{variable.dtype})"
    text = template.format(n_whole=shapes[-1], data=arrays)
    graph = CACHED_SRC_FUNCTIONS.get(function.py_func)
    # What is kept names this module.
    kind = ("lehner", __name__, text, graph, numba.config.OPT)
    key = hashlib.sha256(repr(kind).encode()).hexdigest()
    wrapped = compile_numba_function_src(
        text,
        template.split("(")[0].split()[1],
        global_env=globals() | {"function": function},
        cache_key=None if graph is None else key,
    )
    return numba.cfunc(signature, cache=graph is not None)(wrapped)
