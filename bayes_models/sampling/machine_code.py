"""C functions as bytes, so that another process need not compile them.

Numba's own cache finds functions by their Python source file, and these functions have none,
because they are made from a model's graph. This module uses internal names of Numba; its callers
must be able to do without it if these have changed.
"""

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding
import numba
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

CALLS_PYTHON = "numba_gil_ensure"


@dataclass(frozen=True, kw_only=True, eq=False)
class MachineCode:
    """A C function in memory.

    Parameters
    ----------
    address : int
    symbol : str
        Its name in the library.
    library : numba's library
        The library that contains the function.
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
    """Compile a function.

    Parameters
    ----------
    signature : numba's signature
    function : callable
        A function that Numba can compile.

    Returns
    -------
    MachineCode
    """
    compiled = numba.cfunc(signature)(function)
    return MachineCode(
        address=compiled.address, symbol=compiled.native_name, library=compiled._library
    )


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
    """Give what Numba reads only the names of functions from: without it, all that it optimised."""
    text = f'define void @"{symbol}"() {{ ret void }}'
    return bytes(llvmlite.binding.parse_assembly(text).as_bitcode())


def processor() -> tuple[str, ...]:
    """Describe the processor for which code is compiled here.

    Returns
    -------
    tuple of str
    """
    return tuple(cpu_target.target_context.codegen().magic_tuple())
