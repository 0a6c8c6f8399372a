"""The private names of nutpie, PyTensor and Numba that this package uses: all of them are here.

Without them each process would compile each model again. Where one has changed, `compile_density`
uses nutpie's public function, `keep` keeps nothing and `find_kept` finds nothing: the draws are the
same, and come later.
"""

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding
import numba
import numpy as np

from bayes_models.models.deferred import nutpie

CALLS_PYTHON = "numba_gil_ensure"


def numba_function(compiled: Any) -> Callable[..., Any]:
    """Numba's function inside a function of PyTensor."""
    function: Callable[..., Any] = compiled.vm.jit_fn
    return function


def sampler_model(
    shapes: Mapping[str, tuple[int, ...]],
    n_parameters: int,
    log_density: "MachineCode",
    variables: "MachineCode",
    arrays: Sequence[Any],
) -> Any:
    """Wrap C functions, and the arrays whose addresses they read, for `nutpie.sample`.

    Parameters
    ----------
    shapes : mapping
        Shapes of the variables that are kept, by name.
    n_parameters : int
    log_density, variables : MachineCode
    arrays : sequence of ndarray

    Returns
    -------
    nutpie's compiled model
    """
    lengths = [int(np.prod(shape)) for shape in shapes.values()]
    ends = np.cumsum(lengths).tolist()
    slices = [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]
    return nutpie.compile_pymc.CompiledPyMCModel(
        dims={},
        reparameterized_names=[],
        _coords={},
        _n_dim=n_parameters,
        n_expanded=ends[-1],
        _shapes=shapes,
        shape_info=(list(shapes), slices, list(shapes.values())),
        initial_point_func=None,
        logp_func=None,
        expand_func=None,
        compiled_logp_func=log_density,
        compiled_expand_func=variables,
        # A reference, so that the arrays keep their addresses.
        shared_data={str(i): array for i, array in enumerate(arrays)},
        shared_var_keys={},
        user_data=np.array([array.ctypes.data for array in arrays], np.uint64),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class MachineCode:
    """A C function in memory, which can be pickled for other processes.

    Numba's own cache finds functions by their Python source file, and functions made from a model's
    graph have none.

    Parameters
    ----------
    address : int
    symbol : str
        Its name in the library.
    library : numba's library
        The library that contains the function; None if Numba does not tell.
    pickled : tuple
        What it was made from, if it was pickled before: Numba cannot serialise such a library.
    """

    address: int
    symbol: str
    library: Any
    pickled: tuple[Any, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the machine code."""
        if self.pickled:
            return load_function, self.pickled
        if self.library.has_dynamic_globals:
            raise pickle.PicklingError("the code refers to addresses in this process")
        declared = [f.name for f in self.library._final_module.functions if f.is_declaration]
        if CALLS_PYTHON in declared:
            raise pickle.PicklingError("the code calls Python, as for the address of a function")
        calls = tuple(name for name in declared if not name.startswith("llvm."))
        name, kind, (code, _) = self.library.serialize_using_object_code()
        return load_function, (self.symbol, calls, (name, kind, (code, _names(self.symbol))))


def compile_function(signature: Any, function: Callable[..., Any]) -> MachineCode:
    """Compile a function by Numba, with a C signature."""
    compiled = numba.cfunc(signature)(function)
    library = getattr(compiled, "_library", None)
    return MachineCode(address=compiled.address, symbol=compiled.native_name, library=library)


def load_function(symbol: str, calls: Sequence[str], library: Any) -> MachineCode:
    """Load a function that was pickled, on a processor of the same kind.

    Parameters
    ----------
    symbol : str
    calls : sequence of str
        Names of the external functions that it calls.
    library : tuple
        Numba's serialised library.

    Returns
    -------
    MachineCode

    Raises
    ------
    ValueError
        If a function that it calls does not exist here; to load the code would then crash the
        process.
    """
    from numba.core.registry import cpu_target
    from numba.core.runtime import rtsys

    rtsys.initialize(cpu_target.target_context)
    missing = [name for name in calls if llvmlite.binding.address_of_symbol(name) is None]
    if missing:
        raise ValueError(f"there are no functions {missing}")
    loaded = cpu_target.target_context.codegen().unserialize_library(library)
    address = loaded.get_pointer_to_function(symbol)
    return MachineCode(
        address=address, symbol=symbol, library=loaded, pickled=(symbol, calls, library)
    )


def _names(symbol: str) -> bytes:
    """Bitcode with a function's name alone: Numba reads nothing else of the optimised code."""
    text = f'define void @"{symbol}"() {{ ret void }}'
    return bytes(llvmlite.binding.parse_assembly(text).as_bitcode())
