"""The log density and its gradient, and what is kept of a draw, as C functions for the sampler.

Both read all they need through pointers, so that they are compiled once for all models, numbers of
raters and categories, and data. Numba keeps them on disk.
"""

import functools
import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import carray, types
from numba.core.caching import FunctionCache
from numba.core.registry import cpu_target

from bayes_models.density.confusion import pull_back_confusion, write_confusion
from bayes_models.density.likelihood import likelihood_of_ratings
from bayes_models.density.priors import constrain, njit, pull_back
from lehner.core.arrays import Floats

logger = logging.getLogger(__name__)

DOUBLES = types.CPointer(types.double)
DATA = types.CPointer(types.voidptr)
DENSITY = types.int64(types.uint64, DOUBLES, DOUBLES, DOUBLES, DATA)
VARIABLES = types.int64(types.uint64, types.uint64, DOUBLES, DOUBLES, DATA)
NO_FOLDER = (
    "each process compiles what samples models, because nothing can be kept on disk: name a folder "
    "by the environment variable NUMBA_CACHE_DIR"
)


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


@njit()
def evaluate(
    point: Floats, values: Floats, confusion: Floats, gradient: Floats, data: Any
) -> float:
    """Write the values of parameters and confusion matrices, and the gradient.

    Parameters
    ----------
    point : ndarray, shape (n_parameters,)
    values : ndarray, shape (n_values,)
        Those of the parameters, and a zero.
    confusion : ndarray, shape (n_raters, n_states, n_responses)
    gradient : ndarray, shape (n_parameters,)
    data : pointer
        To the addresses of the arrays in the order of `ModelDensity.arrays`.

    Returns
    -------
    float
        Log density, up to a constant.
    """
    sizes = carray(data[0], (10,), np.int64)
    kind, n_patterns, n_ratings = sizes[0], sizes[6], sizes[7]
    table = carray(data[1], (sizes[4], 6), np.int64)
    prior = carray(data[2], (sizes[5],), np.float64)
    levels = carray(data[3], (sizes[2],), np.float64)
    index = carray(data[4], (sizes[1],), np.int64)
    pair = carray(data[5], (sizes[8],), np.int64)
    ratings = (
        carray(data[6], (n_patterns + 1,), np.int64),
        carray(data[7], (n_ratings,), np.int64),
        carray(data[8], (n_ratings,), np.int64),
        carray(data[9], (n_patterns,), np.int64),
        carray(data[10], (n_patterns,), np.int64),
        carray(data[11], (n_patterns,), np.int64),
    )
    slopes = np.zeros(len(values))
    values[-1] = 0.0
    log_density = constrain(point, table, prior, values)
    model = levels, index, table, values
    write_confusion(kind, model, confusion)
    log_likelihood, by = likelihood_of_ratings(pair, table, values, ratings, confusion, slopes)
    pull_back_confusion(kind, model, confusion, by, slopes)
    pull_back(point, table, prior, values, slopes, gradient)
    return log_density + log_likelihood


@functools.cache
def c_functions() -> tuple[Any, Any]:
    """Compile the C functions, or load them from disk.

    Returns
    -------
    log_density, variables : numba.core.ccallback.CFunc
        From numbers of parameters (and values), and pointers to the point, what is written, and the
        addresses of data, to a code that is zero unless something is wrong.
    """
    log_density, variables = _functions()
    if not can_keep(log_density):
        logger.warning(NO_FOLDER)
    elif not on_disk():
        logger.info("compiling what samples all models, once on this computer")
    options = {"cache": can_keep(log_density)}
    return (
        numba.cfunc(DENSITY, **options)(log_density),
        numba.cfunc(VARIABLES, **options)(variables),
    )


def on_disk() -> bool:
    """Tell whether the C functions were compiled before, on this computer."""
    log_density, variables = _functions()
    return is_kept(log_density, DENSITY) and is_kept(variables, VARIABLES)


@functools.cache
def _functions() -> tuple[Any, Any]:
    # What is on disk is found by the code of these two and what they close over, not by what they
    # call.
    source = _source()

    def log_density(n: int, point_: Any, gradient_: Any, log_density_: Any, data: Any) -> int:
        point, gradient = carray(point_, (n,)), carray(gradient_, (n,))
        sizes = carray(data[0], (10,), np.int64)
        values, confusion = np.empty(sizes[9]), np.empty((sizes[1], sizes[2] * sizes[3], sizes[3]))
        value = evaluate(point, values, confusion, gradient, data)
        carray(log_density_, (1,))[0] = value
        for i in range(n):
            if not np.isfinite(gradient[i]):
                return 3
        return 4 * (not np.isfinite(value)) + 0 * source

    def variables(n: int, n_kept: int, point_: Any, kept_: Any, data: Any) -> int:
        point, kept = carray(point_, (n,)), carray(kept_, (n_kept,))
        sizes = carray(data[0], (10,), np.int64)
        values, confusion = np.empty(sizes[9]), np.empty((sizes[1], sizes[2] * sizes[3], sizes[3]))
        evaluate(point, values, confusion, np.empty(n), data)
        for i in range(len(values)):
            kept[i] = values[i]
        for i in range(confusion.size):
            kept[len(values) + i] = confusion.flat[i]
        return 0 * source

    return log_density, variables


def _source() -> int:
    """Number that changes whenever the source of the compiled functions does."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    content = b"".join(file.read_bytes() for file in files)
    return int.from_bytes(hashlib.sha256(content).digest()[:4])
