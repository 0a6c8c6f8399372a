"""How functions that compiled code calls are compiled, and whether Numba keeps them on disk."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.registry import cpu_target

# Division by zero gives a number that is not finite, which the C functions tell the sampler.
njit = partial(numba.njit, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


def can_keep(function: Callable[..., Any]) -> bool:
    """Tell whether there is a folder in which Numba can keep what it compiles of a function."""
    try:
        FunctionCache(function)
    except RuntimeError:
        return False
    return True


def njit_kept[**Parameters, Result](
    function: Callable[Parameters, Result],
) -> Callable[Parameters, Result]:
    """Compile a function that Python calls, and keep it on disk where there is a folder for it."""
    compiled: Callable[Parameters, Result] = numba.njit(cache=can_keep(function), nogil=True)(
        function
    )
    return compiled


def is_kept(function: Callable[..., Any], signature: Any) -> bool:
    """Tell whether Numba has kept on disk what it compiled of a function."""
    if not can_keep(function):
        return False
    return FunctionCache(function).load_overload(signature, cpu_target.target_context) is not None
