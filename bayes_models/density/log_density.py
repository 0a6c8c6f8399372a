"""The log density of a model and its gradient, and what is kept of a draw, as C functions.

The likelihood is that of ratings, given base rates and confusion matrices.
The C functions read all they need through pointers, so that they are compiled once for all models,
numbers of raters and categories, and data. Numba keeps them on disk.
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
from bayes_models.density.priors import ROWS, VALUE, constrain, njit, pull_back
from lehner.core.arrays import Floats, Integers
from lehner.data.counts import UNKNOWN, Patterns

logger = logging.getLogger(__name__)

DOUBLES = types.CPointer(types.double)
DATA = types.CPointer(types.voidptr)
DENSITY = types.int64(types.uint64, DOUBLES, DOUBLES, DOUBLES, DATA)
VARIABLES = types.int64(types.uint64, types.uint64, DOUBLES, DOUBLES, DATA)
NO_FOLDER = (
    "each process compiles what samples models, because nothing can be kept on disk: name a folder "
    "by the environment variable NUMBA_CACHE_DIR"
)
# Processors multiply so many numbers at once: rows of states have a multiple of them.
LANES = 4
# So many ratings of a pattern are multiplied before their product is scaled.
BLOCK = 16
SMALL = 1e-200
# This is the first row of a table of parameters.
BASE_RATES = 0


def list_arrays(observed: Patterns) -> dict[str, Integers]:
    """List the arrays that the likelihood reads, by their names in models."""
    return {
        "starts": observed.starts,
        "raters": observed.votes.rater_index,
        "responses": observed.votes.category_index,
        "truths": observed.truths,
        "counts": observed.counts,
        "populations": observed.population,
    }


def can_keep(function: Callable[..., Any]) -> bool:
    """Tell whether there is a folder in which Numba can keep what it compiles of a function."""
    try:
        FunctionCache(function)
    except RuntimeError:
        return False
    return True


def compile_kept[**Parameters, Result](
    function: Callable[Parameters, Result], **options: Any
) -> Callable[Parameters, Result]:
    """Compile a function that Python calls, and keep it on disk where there is a folder for it."""
    keep = numba.njit(cache=can_keep(function), nogil=True, **options)
    compiled: Callable[Parameters, Result] = keep(function)
    return compiled


@functools.partial(compile_kept, error_model="numpy")
def sum_over_states(
    rates: Floats,
    confusion: Floats,
    starts: Integers,
    raters: Integers,
    responses: Integers,
    truths: Integers,
    counts: Integers,
    population: Integers,
) -> tuple[float, Floats, Floats]:
    """Sum the probability of ratings over states, which are not observed.

    A state is a true category, or, in a model with levels of difficulty, a level and a category.

    Parameters
    ----------
    rates : ndarray, shape (n_populations, n_states)
    confusion : ndarray, shape (n_raters, n_states, n_responses)
    starts, raters, responses, truths, counts, population : ndarray of int
        As `list_arrays` gives them.

    Returns
    -------
    log_likelihood : float
    by_rates : ndarray, shape (n_populations, n_states)
        Its derivatives by `rates`.
    by_confusion : ndarray, shape (n_raters, n_states, n_responses)
        Its derivatives by `confusion`.
    """
    n_raters, n_states, n_responses = confusion.shape
    width = -(-n_states // LANES) * LANES
    table = np.zeros((n_raters * n_responses, width))
    for r in range(n_raters):
        for m in range(n_states):
            for answer in range(n_responses):
                table[r * n_responses + answer, m] = confusion[r, m, answer]
    rows = np.empty(len(raters), np.uint64)
    for s in range(len(raters)):
        rows[s] = raters[s] * n_responses + responses[s]
    expected, expected_rates = np.zeros(table.shape), np.zeros(rates.shape)
    joint = np.zeros(width)
    log_likelihood = 0.0
    # One logarithm is taken for many patterns, before their product underflows.
    product = 1.0
    for p in range(len(counts)):
        g, first, last = population[p], np.uint64(starts[p]), np.uint64(starts[p + 1])
        for m in range(n_states):
            possible = truths[p] == UNKNOWN or m % n_responses == truths[p]
            joint[m] = rates[g, m] if possible else 0.0
        # A pattern is where its ratings start and end, and the number of its items.
        of_pattern = first, last, counts[p]
        log_likelihood = _multiply_ratings(rows, table, of_pattern, log_likelihood, joint)
        total = 0.0
        for m in range(n_states):
            total += joint[m]
        if counts[p] != 1:
            log_likelihood += counts[p] * np.log(total)
        elif product * total < SMALL:
            log_likelihood += np.log(product)
            product = total
        else:
            product *= total
        if total == 0:
            continue
        weight = counts[p] / total
        for m in range(n_states):
            joint[m] *= weight
            expected_rates[g, m] += joint[m]
        for s in range(first, last):
            row = rows[s]
            for m in range(width):
                expected[row, m] += joint[m]
    log_likelihood += np.log(product)
    # Expected numbers, where there are any, are divided by probabilities.
    by_confusion = np.empty((n_raters, n_states, n_responses))
    for r in range(n_raters):
        for m in range(n_states):
            for answer in range(n_responses):
                by_confusion[r, m, answer] = expected[r * n_responses + answer, m]
                if by_confusion[r, m, answer] > 0:
                    by_confusion[r, m, answer] /= confusion[r, m, answer]
    for g in range(len(rates)):
        for m in range(n_states):
            if expected_rates[g, m] > 0:
                expected_rates[g, m] /= rates[g, m]
    return log_likelihood, expected_rates, by_confusion


@numba.njit(error_model="numpy", inline="always")
def _multiply_ratings(
    rows: Integers, table: Floats, pattern: tuple[Any, ...], log_likelihood: float, joint: Floats
) -> float:
    """Multiply `joint` by the ratings of a pattern; what was scaled is added to the likelihood."""
    first, last, count = pattern
    while first < last:
        end = min(first + np.uint64(BLOCK), last)
        for s in range(first, end):
            row = rows[s]
            for m in range(len(joint)):
                joint[m] *= table[row, m]
        if end < last:
            scale = joint.sum()
            if scale > 0:
                log_likelihood += count * np.log(scale)
                joint /= scale
        first = end
    return log_likelihood


@njit()
def evaluate_ratings(
    table: Integers,
    values: Floats,
    ratings: tuple[Integers, ...],
    confusion: Floats,
    slopes: Floats,
) -> tuple[float, Floats]:
    """Return the log likelihood and its derivatives by confusion matrices, those of raters first.

    Those by base rates are added to `slopes`.

    Parameters
    ----------
    table, values, slopes : ndarray
        See `bayes_models.density.priors`.
    ratings : tuple
        Arrays as `list_arrays` gives them.
    confusion : ndarray, shape (n_raters, n_states, n_responses)
    """
    _, n_states, k = confusion.shape
    n_populations, of_rates = table[BASE_RATES, ROWS], table[BASE_RATES, VALUE]
    n_levels = n_states // k
    rates = np.empty((n_populations, n_states))
    for p in range(n_populations):
        for m in range(n_states):
            rates[p, m] = values[of_rates + p * k + m % k] / n_levels
    log_likelihood, by_rates, by = sum_over_states(rates, confusion, *ratings)
    for p in range(n_populations):
        for m in range(n_states):
            slopes[of_rates + p * k + m % k] += by_rates[p, m] / n_levels
    return log_likelihood, by


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
        To the addresses of the arrays in the order of `bayes_models.sampling.nuts`.

    Returns
    -------
    float
        Log density, up to a constant.
    """
    sizes = carray(data[0], (9,), np.int64)
    kind, n_patterns, n_ratings = sizes[0], sizes[6], sizes[7]
    table = carray(data[1], (sizes[4], 6), np.int64)
    prior = carray(data[2], (sizes[5],), np.float64)
    levels = carray(data[3], (sizes[2],), np.float64)
    index = carray(data[4], (sizes[1],), np.int64)
    ratings = (
        carray(data[5], (n_patterns + 1,), np.int64),
        carray(data[6], (n_ratings,), np.int64),
        carray(data[7], (n_ratings,), np.int64),
        carray(data[8], (n_patterns,), np.int64),
        carray(data[9], (n_patterns,), np.int64),
        carray(data[10], (n_patterns,), np.int64),
    )
    slopes = np.zeros(len(values))
    values[-1] = 0.0
    log_density = constrain(point, table, prior, values)
    model = levels, index, table, values
    write_confusion(kind, model, confusion)
    log_likelihood, by = evaluate_ratings(table, values, ratings, confusion, slopes)
    pull_back_confusion(kind, model, by, slopes)
    pull_back(point, table, prior, values, slopes, gradient)
    return log_density + log_likelihood


@functools.cache
def compile_c_functions() -> tuple[Any, Any]:
    """Compile the C functions, or load them from disk.

    Returns
    -------
    log_density, variables : numba.core.ccallback.CFunc
        From numbers of parameters (and values), and pointers to the point, what is written, and the
        addresses of data, to a code that is zero unless something is wrong.
    """
    log_density, variables = _define_functions()
    if not can_keep(log_density):
        logger.warning(NO_FOLDER)
    elif not are_on_disk():
        logger.info("compiling what samples all models, once on this computer")
    options = {"cache": can_keep(log_density)}
    kept_density = numba.cfunc(DENSITY, **options)(log_density)
    return kept_density, numba.cfunc(VARIABLES, **options)(variables)


def are_on_disk() -> bool:
    """Tell whether the C functions were compiled before, on this computer."""
    log_density, variables = _define_functions()
    return is_kept(log_density, DENSITY) and is_kept(variables, VARIABLES)


@functools.cache
def _define_functions() -> tuple[Any, Any]:
    # Numba finds what is on disk by the code of these two and what they close over, not by what
    # they call.
    source = _hash_source()

    def log_density(n: int, point_: Any, gradient_: Any, log_density_: Any, data: Any) -> int:
        point, gradient = carray(point_, (n,)), carray(gradient_, (n,))
        sizes = carray(data[0], (9,), np.int64)
        values, confusion = np.empty(sizes[8]), np.empty((sizes[1], sizes[2] * sizes[3], sizes[3]))
        value = evaluate(point, values, confusion, gradient, data)
        carray(log_density_, (1,))[0] = value
        for i in range(n):
            if not np.isfinite(gradient[i]):
                return 3
        return 4 * (not np.isfinite(value)) + 0 * source

    def list_variables(n: int, n_kept: int, point_: Any, kept_: Any, data: Any) -> int:
        point, kept = carray(point_, (n,)), carray(kept_, (n_kept,))
        sizes = carray(data[0], (9,), np.int64)
        values, confusion = np.empty(sizes[8]), np.empty((sizes[1], sizes[2] * sizes[3], sizes[3]))
        evaluate(point, values, confusion, np.empty(n), data)
        for i in range(len(values)):
            kept[i] = values[i]
        for i in range(confusion.size):
            kept[len(values) + i] = confusion.flat[i]
        return 0 * source

    return log_density, list_variables


def _hash_source() -> int:
    """Number that changes whenever the source of the compiled functions does."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    content = b"".join(file.read_bytes() for file in files)
    return int.from_bytes(hashlib.sha256(content).digest()[:4])
