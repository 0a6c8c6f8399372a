"""The log density and its gradient, and what is kept of a draw, as C functions for the sampler.

Both read all they need through pointers, so that they are compiled once for all models, numbers of
raters and categories, and data. Numba keeps them on disk.
"""

import functools
import hashlib
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import carray, types

from bayes_models.density.class_conditional import class_conditional
from bayes_models.density.layout import CLASS_CONDITIONAL, LOG_ODDS, MATRICES
from bayes_models.density.log_odds import log_odds
from bayes_models.density.matrices import matrices
from bayes_models.density.priors import constrain, pull_back
from bayes_models.density.tap import tap
from lehner.core.arrays import Floats

DOUBLES = types.CPointer(types.double)
DATA = types.CPointer(types.voidptr)
DENSITY = types.int64(types.uint64, DOUBLES, DOUBLES, DOUBLES, DATA)
VARIABLES = types.int64(types.uint64, types.uint64, DOUBLES, DOUBLES, DATA)
SOURCES = ("density", "likelihood")


@numba.njit
def evaluate(point: Floats, values: Floats, gradient: Floats, data: Any) -> float:
    """Write the values of parameters and confusion matrices, and the gradient.

    Parameters
    ----------
    point : ndarray, shape (n_parameters,)
    values : ndarray, shape (n_values,)
        Those of the parameters, a zero, then confusion matrices (n_raters, n_levels, n_categories,
        n_responses).
    gradient : ndarray, shape (n_parameters,)
    data : pointer
        To the addresses of the arrays in the order of `ModelDensity.arrays`.

    Returns
    -------
    float
        Log density, up to a constant.
    """
    sizes = carray(data[0], (10,), np.int64)
    kind, n_raters, n_levels, k = sizes[0], sizes[1], sizes[2], sizes[3]
    n_table, n_prior, n_patterns, n_ratings, n_pair = (
        sizes[4],
        sizes[5],
        sizes[6],
        sizes[7],
        sizes[8],
    )
    table = carray(data[1], (n_table, 6), np.int64)
    prior = carray(data[2], (n_prior,), np.float64)
    levels = carray(data[3], (n_levels,), np.float64)
    index = carray(data[4], (n_raters,), np.int64)
    pair = carray(data[5], (n_pair,), np.int64)
    answers = carray(data[6], (n_raters, 2), np.float64)
    ratings = (
        carray(data[7], (n_patterns + 1,), np.int64),
        carray(data[8], (n_ratings,), np.int64),
        carray(data[9], (n_ratings,), np.int64),
        carray(data[10], (n_patterns,), np.int64),
        carray(data[11], (n_patterns,), np.int64),
        carray(data[12], (n_patterns,), np.int64),
    )
    n_values = len(values) - n_raters * n_levels * k * k
    confusion = values[n_values:].reshape((n_raters, n_levels, k, k))
    slopes = np.zeros(n_values)
    values[n_values - 1] = 0.0
    log_density = constrain(point, table, prior, values)
    if kind == LOG_ODDS:
        log_density += log_odds(
            levels, index, pair, answers, table, values, ratings, confusion, slopes
        )
    elif kind == MATRICES:
        log_density += matrices(index, pair, table, values, ratings, confusion, slopes)
    elif kind == CLASS_CONDITIONAL:
        log_density += class_conditional(pair, table, values, ratings, confusion, slopes)
    else:
        log_density += tap(pair, table, values, ratings, confusion, slopes)
    pull_back(point, table, prior, values, slopes, gradient)
    return log_density


@functools.cache
def c_functions() -> tuple[Any, Any]:
    """Compile the C functions, or load them from disk.

    Returns
    -------
    log_density, variables : numba.core.ccallback.CFunc
        From numbers of parameters (and values), and pointers to the point, what is written, and the
        addresses of data, to a code that is zero unless something is wrong.
    """
    # What is on disk is found by the code of these two and what they close over, not by what they
    # call.
    source = _source()

    @numba.cfunc(DENSITY, cache=True)
    def log_density(n: int, point_: Any, gradient_: Any, log_density_: Any, data: Any) -> int:
        point, gradient = carray(point_, (n,)), carray(gradient_, (n,))
        n_values = carray(data[0], (10,), np.int64)[9]
        found = evaluate(point, np.empty(n_values), gradient, data)
        carray(log_density_, (1,))[0] = found
        if not np.isfinite(gradient).all():
            return 3
        return 4 * (not np.isfinite(found)) + 0 * source

    @numba.cfunc(VARIABLES, cache=True)
    def variables(n: int, n_values: int, point_: Any, values_: Any, data: Any) -> int:
        point, values = carray(point_, (n,)), carray(values_, (n_values,))
        evaluate(point, values, np.empty(n), data)
        return 0 * source

    return log_density, variables


def _source() -> int:
    """Number that changes whenever the source of the compiled functions does."""
    package = Path(__file__).parents[1]
    files = sorted(file for folder in SOURCES for file in (package / folder).glob("*.py"))
    content = b"".join(file.read_bytes() for file in files)
    return int.from_bytes(hashlib.sha256(content).digest()[:4])
