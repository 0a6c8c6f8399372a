"""How functions that only compiled code calls are compiled."""

from functools import partial

import numba

# Division by zero gives a number that is not finite, which the C functions tell the sampler.
njit = partial(numba.njit, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
