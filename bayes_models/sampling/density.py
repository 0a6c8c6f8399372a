"""A model's density and its gradient as C functions that the sampler calls.

The functions that the sampler would make itself contain the data as constants, so that each process
would have to compile them again, which takes as long as fifty fits. The functions made here read
the data through pointers, so that they can be kept on disk.

They use internal names of nutpie, PyTensor and Numba. If these have changed, or if the functions do
not return the same values as PyMC, the model is compiled by nutpie's public function instead: the
fits are the same, but each process has to compile. `experiments/benchmarks/fit.md` describes what
else was tried.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import carray, types
from numpy.typing import NDArray

from bayes_models.models.deferred import nutpie
from bayes_models.sampling.machine_code import MachineCode, compile_function
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
        lengths = [int(np.prod(shape)) for shape in self.shapes.values()]
        ends = np.cumsum(lengths).tolist()
        slices = [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]
        return nutpie.compile_pymc.CompiledPyMCModel(
            dims={},
            reparameterized_names=[],
            _coords={},
            _n_dim=self.n_parameters,
            n_expanded=ends[-1],
            _shapes=self.shapes,
            shape_info=(list(self.shapes), slices, list(self.shapes.values())),
            initial_point_func=None,
            logp_func=None,
            expand_func=None,
            compiled_logp_func=self.log_density,
            compiled_expand_func=self.variables,
            # A reference, so that the arrays keep their addresses.
            shared_data={str(i): array for i, array in enumerate(read)},
            shared_var_keys={},
            user_data=np.array([array.ctypes.data for array in read], np.uint64),
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
    from pymc.initial_point import make_initial_point_fn

    functions = nutpie.compile_pymc._make_functions(
        model,
        mode="NUMBA",
        compute_grad=True,
        join_expanded=True,
        pymc_initial_point_fn=make_initial_point_fn(model=model, return_transformed=True),
    )
    n_parameters, _, density, variables, _, (names, _, shapes), _ = functions
    shared = list(dict.fromkeys([*density.get_shared(), *variables.get_shared()]))
    data = {variable: np.array(variable.get_value(), order="C") for variable in shared}
    if len({variable.name for variable in shared}) < len(shared):
        raise ValueError("data have the same name")
    all_shapes = [tuple(map(int, shape)) for shape in shapes]
    return Density(
        shapes=dict(zip(names, all_shapes, strict=True)),
        data={variable.name: array for variable, array in data.items()},
        log_density=_c_function(DENSITY, DENSITY_TEXT, density, n_parameters, data),
        variables=_c_function(VARIABLES, VARIABLES_TEXT, variables, n_parameters, data),
        whole_point=np.zeros(n_parameters),
        free=np.arange(n_parameters),
        kept=np.arange(sum(int(np.prod(shape)) for shape in all_shapes)),
    )


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
    names: dict[str, Any] = {"np": np, "carray": carray, "function": compiled.vm.jit_fn}
    exec(text, names)
    return compile_function(signature, names[template.split("(")[0].split()[1]])
