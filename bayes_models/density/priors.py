"""Priors in unconstrained coordinates: values, log densities, and derivatives by the coordinates.

Each parameter is a table of rows. A row of a `dirichlet` or `zero_sum` parameter has one coordinate
less than values; other values have a coordinate each. A prior has two numbers for each value, but
one for each of a `dirichlet` or `fixed` parameter. Log densities are those of the coordinates,
with the volume change of the transform, up to a constant.

Values of a `centred` parameter are standard normal effects. Their coordinates are mean + spread ×
effect, with the mean and the spread in the two rows of the table before it.
"""

from functools import partial

import numba
import numpy as np

from lehner.core.arrays import Floats, Integers

# Division by zero gives a number that is not finite, which the C functions report to the sampler.
njit = partial(numba.njit, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)

# A probability with a beta prior is not below or above these, so that it and its complement have
# logarithms.
LEAST, MOST = 2.0**-1022, 1 - 2.0**-53
FIXED, DIRICHLET, ZERO_SUM, BETA, NORMAL, LOGISTIC = range(6)
HALF_NORMAL, NORMAL_ABOVE_ZERO, CENTRED = range(6, 9)
FAMILY_NAMES = "fixed dirichlet zero_sum beta normal logistic".split()
FAMILY_NAMES += "half_normal normal_above_zero centred".split()
FAMILY_CODES = {name: code for code, name in enumerate(FAMILY_NAMES)}
FAMILY_CODES["normal_around_zero"] = NORMAL
# The table of parameters has these columns: rows and their length, and where coordinates, values
# and the numbers of the prior start.
FAMILY, ROWS, LENGTH, POINT, VALUE, PRIOR = range(6)
# These are the likelihoods, whose confusion matrices `confusion.py` writes.
LOG_ODDS, MATRICES = range(2)
# The table of parameters of each likelihood has these rows.
PARAMETERS = {
    LOG_ODDS: """base_rates mean_log_odds rater_spread rater_effect difficulty_spread
        category_spread common_category_share common_category_effect category_effect
        system_log_odds system_slope system_category_spread system_category_effect
        distance_decay common_error_spread common_error_effect error_spread error_effect
        system_error_spread system_error_effect""".split(),
    MATRICES: ["base_rates", "confusion"],
}


def make_zero_sum_basis(n: int) -> Floats:
    """Compute an orthonormal basis of the vectors of length n that sum to zero.

    Returns
    -------
    ndarray, shape (n - 1, n)

    Examples
    --------
    >>> basis = make_zero_sum_basis(4)
    >>> np.allclose(basis @ basis.T, np.eye(3)), np.allclose(basis.sum(axis=1), 0)
    (True, True)
    """
    root = n**0.5
    shared = np.full((n - 1, 1), 1 / (root + n))
    return np.hstack([np.eye(n - 1) - shared, np.full((n - 1, 1), -1 / root)])


@njit()
def write_zero_sum(coordinates: Floats, start: int, n: int, values: Floats, to: int) -> None:
    """Write n values that sum to zero, of n - 1 orthonormal coordinates."""
    root = n**0.5
    total = 0.0
    for i in range(n - 1):
        total += coordinates[start + i]
    for i in range(n - 1):
        values[to + i] = coordinates[start + i] - total / (root + n)
    values[to + n - 1] = -total / root


@njit()
def add_zero_sum_slopes(slopes: Floats, start: int, n: int, gradient: Floats, to: int) -> None:
    """Add derivatives by n - 1 coordinates, given those by n values that sum to zero."""
    root = n**0.5
    total = 0.0
    for i in range(n - 1):
        total += slopes[start + i]
    for i in range(n - 1):
        gradient[to + i] += slopes[start + i] - total / (root + n) - slopes[start + n - 1] / root


@njit()
def constrain(point: Floats, table: Integers, prior: Floats, values: Floats) -> float:
    """Write the values of all parameters, and return the log density of their priors."""
    log_density = 0.0
    for b in range(len(table)):
        family, n = table[b, FAMILY], table[b, ROWS] * table[b, LENGTH]
        at, to, of = table[b, POINT], table[b, VALUE], table[b, PRIOR]
        if family in (DIRICHLET, ZERO_SUM):
            log_density += _constrain_rows(point, table[b], prior, values)
            continue
        for i in range(n):
            if family == FIXED:
                values[to + i] = prior[of + i]
                continue
            x, first, second = point[at + i], prior[of + 2 * i], prior[of + 2 * i + 1]
            if family == BETA:
                log, log_other = -np.log1p(np.exp(-x)), -np.log1p(np.exp(x))
                values[to + i] = min(max(np.exp(log), LEAST), MOST)
                log_density += first * log + second * log_other
            elif family == NORMAL:
                values[to + i] = x
                log_density -= ((x - first) / second) ** 2 / 2
            elif family == CENTRED:
                spread = values[table[b - 1, VALUE]]
                values[to + i] = (x - values[table[b - 2, VALUE]]) / spread
                log_density -= values[to + i] ** 2 / 2 + np.log(spread)
            elif family == LOGISTIC:
                values[to + i] = x
                z = (x - first) / second
                log_density -= abs(z) + 2 * np.log1p(np.exp(-abs(z)))
            else:
                values[to + i] = np.exp(x)
                log_density += x - ((values[to + i] - first) / second) ** 2 / 2
    return log_density


@njit()
def _constrain_rows(point: Floats, parameter: Integers, prior: Floats, values: Floats) -> float:
    log_density = 0.0
    n, of = parameter[LENGTH], parameter[PRIOR]
    for r in range(parameter[ROWS]):
        at, to = parameter[POINT] + r * (n - 1), parameter[VALUE] + r * n
        write_zero_sum(point, at, n, values, to)
        if parameter[FAMILY] == ZERO_SUM:
            for i in range(n):
                log_density -= (values[to + i] / prior[of + 2 * r * n + 1]) ** 2 / 2
            continue
        top, total = values[to], 0.0
        for i in range(1, n):
            top = max(top, values[to + i])
        for i in range(n):
            total += np.exp(values[to + i] - top)
        log_total = top + np.log(total)
        for i in range(n):
            log = values[to + i] - log_total
            values[to + i] = np.exp(log)
            log_density += prior[of + r * n + i] * log
    return log_density


@njit()
def pull_back(
    point: Floats, table: Integers, prior: Floats, values: Floats, slopes: Floats, gradient: Floats
) -> None:
    """Write the gradient, given the derivatives of the log likelihood by the values.

    The derivatives of rows are overwritten. A centred parameter adds to those of its mean and its
    spread, which come before it in the table, so that the last row is the first here.
    """
    gradient[:] = 0.0
    for b in range(len(table) - 1, -1, -1):
        family, n = table[b, FAMILY], table[b, ROWS] * table[b, LENGTH]
        at, to, of = table[b, POINT], table[b, VALUE], table[b, PRIOR]
        if family in (DIRICHLET, ZERO_SUM):
            _pull_back_rows(table[b], prior, values, slopes, gradient)
            continue
        if family == FIXED:
            continue
        for i in range(n):
            x, first, second = point[at + i], prior[of + 2 * i], prior[of + 2 * i + 1]
            value, slope = values[to + i], slopes[to + i]
            if family == BETA:
                complement = 1 / (1 + np.exp(x))
                gradient[at + i] = first * complement - second * (1 - complement)
                if LEAST < value < MOST:
                    gradient[at + i] += slope * value * complement
            elif family == CENTRED:
                spread = values[table[b - 1, VALUE]]
                gradient[at + i] = (slope - value) / spread
                slopes[table[b - 2, VALUE]] -= gradient[at + i]
                slopes[table[b - 1, VALUE]] -= gradient[at + i] * value + 1 / spread
            elif family == NORMAL:
                gradient[at + i] = slope - (x - first) / second**2
            elif family == LOGISTIC:
                gradient[at + i] = slope - np.tanh((x - first) / second / 2) / second
            else:
                gradient[at + i] = 1 + (slope - (value - first) / second**2) * value


@njit()
def _pull_back_rows(
    parameter: Integers, prior: Floats, values: Floats, slopes: Floats, gradient: Floats
) -> None:
    n, of = parameter[LENGTH], parameter[PRIOR]
    for r in range(parameter[ROWS]):
        at, to = parameter[POINT] + r * (n - 1), parameter[VALUE] + r * n
        if parameter[FAMILY] == ZERO_SUM:
            for i in range(n):
                slopes[to + i] -= values[to + i] / prior[of + 2 * r * n + 1] ** 2
        else:
            total = mean = 0.0
            for i in range(n):
                total += prior[of + r * n + i]
                mean += values[to + i] * slopes[to + i]
            for i in range(n):
                excess = slopes[to + i] - mean - total
                slopes[to + i] = prior[of + r * n + i] + values[to + i] * excess
        add_zero_sum_slopes(slopes, to, n, gradient, at)
