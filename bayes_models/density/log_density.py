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
from llvmlite import ir
from numba import carray, types
from numba.core.caching import FunctionCache
from numba.core.registry import cpu_target
from numba.extending import intrinsic, models, register_model

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
# Processors multiply so many numbers at once: rows of states have a multiple of them. Compilers
# see this rarely in short loops, so that they are told. Rounding is that of single numbers.
LANES = 4
VECTOR = ir.VectorType(ir.DoubleType(), LANES)
ZERO, STEP = np.uint64(0), np.uint64(LANES)
# So many ratings of a pattern are multiplied before their product is scaled.
BLOCK = 16
SMALL = 1e-200
# This is the first row of a table of parameters.
BASE_RATES = 0


inline = numba.njit(error_model="numpy", inline="always")


def list_arrays(observed: Patterns) -> dict[str, Integers]:
    """List the arrays that the likelihood reads, by their names in models."""
    return {
        "starts": observed.starts,
        "rows": observed.votes.rater_index * observed.n_categories + observed.votes.category_index,
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


class LanesType(types.Type):
    """The type of `LANES` numbers, which the compiler keeps in a register."""


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """How the compiler represents them."""

    def __init__(self, manager: Any, lanes: Any) -> None:
        super().__init__(manager, lanes, VECTOR)


def _point_to(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Point to numbers of an array, which may start wherever a number may, at 8 bytes."""
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.bitcast(builder.gep(data, [arguments[1]]), VECTOR.as_pointer())


@intrinsic
def read_lanes(typing: Any, array: Any, at: Any) -> Any:
    """Read numbers of an array."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_point_to(context, builder, signature, arguments), align=8)

    return LanesType("lanes")(array, at), build


@intrinsic
def write_lanes(typing: Any, array: Any, at: Any, lanes: Any) -> Any:
    """Write numbers into an array."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to = _point_to(context, builder, signature, arguments)
        builder.store(arguments[2], to, align=8)
        return context.get_dummy_value()

    return types.none(array, at, lanes), build


@intrinsic
def multiply_lanes(typing: Any, lanes: Any, factors: Any) -> Any:
    """Multiply numbers, each by a factor."""
    return lanes(lanes, factors), lambda context, builder, signature, pair: builder.fmul(*pair)


@intrinsic
def add_lanes(typing: Any, lanes: Any, terms: Any) -> Any:
    """Add a term to each number."""
    return lanes(lanes, terms), lambda context, builder, signature, pair: builder.fadd(*pair)


@intrinsic
def fill_lanes(typing: Any, number: Any) -> Any:
    """Repeat a number."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = ir.Constant(VECTOR, ir.Undefined)
        for i in range(LANES):
            lanes = builder.insert_element(lanes, arguments[0], ir.Constant(ir.IntType(32), i))
        return lanes

    return LanesType("lanes")(number), build


@functools.partial(compile_kept, error_model="numpy")
def sum_over_states(
    rates: Floats,
    confusion: Floats,
    starts: Integers,
    rows: Integers,
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
    starts, rows, truths, counts, population : ndarray of int
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
    # Each answer of each rater has a row of states, and so has each truth of each population.
    # Loops are compiled in a fraction of the time that slices of arrays take.
    n_rates = len(rates) * width
    table = np.zeros(n_raters * n_responses * width)
    possible = np.zeros((1 + n_responses) * n_rates)
    for r in range(n_raters):
        for m in range(n_states):
            for answer in range(n_responses):
                table[(r * n_responses + answer) * width + m] = confusion[r, m, answer]
    for g in range(len(rates)):
        for m in range(n_states):
            possible[g * width + m] = rates[g, m]
            possible[(1 + m % n_responses) * n_rates + g * width + m] = rates[g, m]
    expected, expected_rates = np.zeros(len(table)), np.zeros(n_rates)
    joint, end = np.zeros(width), np.uint64(width)
    log_likelihood = 0.0
    # One logarithm is taken for many patterns, before their product underflows.
    product = 1.0
    for p in range(len(counts)):
        first, last, of_rates = starts[p], starts[p + 1], population[p] * width
        known = (truths[p] - UNKNOWN) * n_rates + of_rates
        for block in range(ZERO, end, STEP):
            write_lanes(joint, block, read_lanes(possible, np.uint64(known) + block))
        _multiply(joint, table, rows, first, min(first + BLOCK, last))
        if last - first > BLOCK:
            rest = first + BLOCK, last, counts[p]
            log_likelihood = _multiply_rest(joint, table, rows, rest, log_likelihood)
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
        weight = fill_lanes(counts[p] / total)
        for block in range(ZERO, end, STEP):
            lanes = multiply_lanes(read_lanes(joint, block), weight)
            _add(expected_rates, np.uint64(of_rates) + block, lanes)
            for s in range(np.uint64(first), np.uint64(last)):
                _add(expected, np.uint64(rows[s] * width) + block, lanes)
    log_likelihood += np.log(product)
    by_rates, by_confusion = np.empty(rates.shape), np.empty(confusion.shape)
    for g in range(len(rates)):
        for m in range(n_states):
            by_rates[g, m] = _divide(expected_rates[g * width + m], rates[g, m])
    for r in range(n_raters):
        for m in range(n_states):
            for answer in range(n_responses):
                number = expected[(r * n_responses + answer) * width + m]
                by_confusion[r, m, answer] = _divide(number, confusion[r, m, answer])
    return log_likelihood, by_rates, by_confusion


@njit()
def _divide(expected: float, probability: float) -> float:
    """Divide an expected number, if there is one, by a probability."""
    return expected / probability if expected > 0 else expected


@inline
def _add(table: Floats, at: Any, lanes: Any) -> None:
    write_lanes(table, at, add_lanes(read_lanes(table, at), lanes))


@inline
def _multiply(joint: Floats, table: Floats, rows: Integers, first: int, last: int) -> None:
    """Multiply `joint` by ratings."""
    for block in range(ZERO, np.uint64(len(joint)), STEP):
        lanes = read_lanes(joint, block)
        for s in range(np.uint64(first), np.uint64(last)):
            row = read_lanes(table, np.uint64(rows[s] * len(joint)) + block)
            lanes = multiply_lanes(lanes, row)
        write_lanes(joint, block, lanes)


@njit()
def _multiply_rest(
    joint: Floats, table: Floats, rows: Integers, rest: tuple[int, ...], log_likelihood: float
) -> float:
    """Multiply `joint` by the rest of a pattern; what was scaled is added to the likelihood."""
    first, last, count = rest
    for start in range(first, last, BLOCK):
        scale = joint.sum()
        if scale > 0:
            log_likelihood += count * np.log(scale)
            joint /= scale
        _multiply(joint, table, rows, start, min(start + BLOCK, last))
    return log_likelihood


def is_kept(function: Callable[..., Any], signature: Any) -> bool:
    """Tell whether Numba has kept on disk what it compiled of a function."""
    if not can_keep(function):
        return False
    return FunctionCache(function).load_overload(signature, cpu_target.target_context) is not None


@njit()
def evaluate(point: Floats, gradient: Floats, data: Any) -> tuple[float, Floats, Floats]:
    """Write the gradient, and return what the sampler and a draw need.

    Parameters
    ----------
    point, gradient : ndarray, shape (n_parameters,)
    data : pointer
        To the addresses of the arrays in the order of `bayes_models.sampling.nuts`.

    Returns
    -------
    log_density : float
        Up to a constant.
    values : ndarray, shape (n_values,)
        Those of the parameters, and a zero.
    confusion : ndarray, shape (n_raters, n_states, n_responses)
    """
    sizes = carray(data[0], (9,), np.int64)
    kind, n_levels, k, n_patterns, n_ratings = sizes[0], sizes[2], sizes[3], sizes[6], sizes[7]
    table = carray(data[1], (sizes[4], 6), np.int64)
    prior = carray(data[2], (sizes[5],), np.float64)
    levels = carray(data[3], (n_levels,), np.float64)
    index = carray(data[4], (sizes[1],), np.int64)
    ratings = (
        carray(data[5], (n_patterns + 1,), np.int64),
        carray(data[6], (n_ratings,), np.int64),
        carray(data[7], (n_patterns,), np.int64),
        carray(data[8], (n_patterns,), np.int64),
        carray(data[9], (n_patterns,), np.int64),
    )
    confusion = np.empty((sizes[1], n_levels * k, k))
    values, slopes = np.zeros(sizes[8]), np.zeros(sizes[8])
    log_density = constrain(point, table, prior, values)
    model = levels, index, table, values
    write_confusion(kind, model, confusion)
    # Levels of difficulty are equally probable.
    n_populations, at = table[BASE_RATES, ROWS], table[BASE_RATES, VALUE]
    rates = np.empty((n_populations, n_levels * k))
    for i in range(rates.size):
        p, z = i // rates.shape[1], i % k
        rates.flat[i] = values[at + p * k + z] / n_levels
    log_likelihood, by_rates, by = sum_over_states(rates, confusion, *ratings)
    for i in range(rates.size):
        p, z = i // rates.shape[1], i % k
        slopes[at + p * k + z] += by_rates.flat[i] / n_levels
    pull_back_confusion(kind, model, by, slopes)
    pull_back(point, table, prior, values, slopes, gradient)
    return log_density + log_likelihood, values, confusion


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
    compile_c = functools.partial(numba.cfunc, cache=can_keep(log_density))
    return compile_c(DENSITY)(log_density), compile_c(VARIABLES)(variables)


def are_on_disk() -> bool:
    """Tell whether the C functions were compiled before, on this computer."""
    log_density, variables = _define_functions()
    return is_kept(log_density, DENSITY) and is_kept(variables, VARIABLES)


@functools.cache
def _define_functions() -> tuple[Any, Any]:
    # Numba finds what is on disk by the code of these two and what they close over, not by what
    # they call.
    source = hash_source()

    def log_density(n: int, point_: Any, gradient_: Any, log_density_: Any, data: Any) -> int:
        gradient = carray(gradient_, (n,))
        value, _, _ = evaluate(carray(point_, (n,)), gradient, data)
        carray(log_density_, (1,))[0] = value
        for i in range(n):
            if not np.isfinite(gradient[i]):
                return 3
        return 4 * (not np.isfinite(value)) + 0 * source

    def list_variables(n: int, n_kept: int, point_: Any, kept_: Any, data: Any) -> int:
        _, values, confusion = evaluate(carray(point_, (n,)), np.empty(n), data)
        kept = carray(kept_, (n_kept,))
        for i in range(len(values)):
            kept[i] = values[i]
        for i in range(confusion.size):
            kept[len(values) + i] = confusion.flat[i]
        return 0 * source

    return log_density, list_variables


def hash_source() -> int:
    """Number that changes whenever the source of the compiled functions does."""
    content = b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
    return int.from_bytes(hashlib.sha256(content).digest()[:4])
