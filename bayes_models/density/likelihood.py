"""The likelihood of ratings, given base rates and confusion matrices, and of a dependent pair."""

import numba
import numpy as np

from bayes_models.density.priors import ROWS, VALUE, njit
from lehner.core.arrays import Floats, Integers
from lehner.data.patterns import UNKNOWN

BLOCK = 16
"""Ratings of a pattern that are multiplied before their product is scaled."""
SMALL = 1e-200
BASE_RATES, SHARED_ANSWERS = 0, -1
"""The first and the last row of a table of parameters."""
LEAST = np.finfo(float).tiny


@numba.njit(error_model="numpy")
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
        As `bayes_models.models.observations.arrays_of` gives them.

    Returns
    -------
    log_likelihood : float
    by_rates : ndarray, shape (n_populations, n_states)
        Its derivatives by `rates`.
    by_confusion : ndarray, shape (n_raters, n_states, n_responses)
        Its derivatives by `confusion`.
    """
    n_raters, n_states, n_responses = confusion.shape
    table = np.empty((n_raters * n_responses, n_states))
    for r in range(n_raters):
        for m in range(n_states):
            for answer in range(n_responses):
                table[r * n_responses + answer, m] = confusion[r, m, answer]
    rows = np.empty(len(raters), np.uint64)
    for s in range(len(raters)):
        rows[s] = raters[s] * n_responses + responses[s]
    expected, expected_rates = np.zeros(table.shape), np.zeros(rates.shape)
    joint = np.empty(n_states)
    log_likelihood = 0.0
    # One logarithm is taken for many patterns, before their product underflows.
    product = 1.0
    for p in range(len(counts)):
        of_pattern, g = rows[starts[p] : starts[p + 1]], population[p]
        for m in range(n_states):
            possible = truths[p] == UNKNOWN or m % n_responses == truths[p]
            joint[m] = rates[g, m] if possible else 0.0
        log_likelihood = _multiply_ratings(of_pattern, table, counts[p], log_likelihood, joint)
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
        for row in of_pattern:
            for m in range(n_states):
                expected[row, m] += joint[m]
    log_likelihood += np.log(product)
    by_confusion = np.zeros((n_raters, n_states, n_responses))
    for r in range(n_raters):
        for m in range(n_states):
            for answer in range(n_responses):
                number = expected[r * n_responses + answer, m]
                if number > 0:
                    by_confusion[r, m, answer] = number / confusion[r, m, answer]
    for g in range(len(rates)):
        for m in range(n_states):
            if expected_rates[g, m] > 0:
                expected_rates[g, m] /= rates[g, m]
    return log_likelihood, expected_rates, by_confusion


@numba.njit(error_model="numpy")
def _multiply_ratings(
    rows: Integers, table: Floats, count: int, log_likelihood: float, joint: Floats
) -> float:
    """Multiply `joint` by the ratings of a pattern; what was scaled is added to the likelihood."""
    n_states = len(joint)
    for block in range(0, len(rows), BLOCK):
        for s in range(block, min(block + BLOCK, len(rows))):
            for m in range(n_states):
                joint[m] *= table[rows[s], m]
        if block + BLOCK < len(rows):
            scale = 0.0
            for m in range(n_states):
                scale += joint[m]
            if scale > 0:
                log_likelihood += count * np.log(scale)
                for m in range(n_states):
                    joint[m] /= scale
    return log_likelihood


@njit()
def likelihood_of_ratings(
    pair: Integers,
    table: Integers,
    values: Floats,
    ratings: tuple[Integers, ...],
    confusion: Floats,
    slopes: Floats,
) -> tuple[float, Floats]:
    """Return the log likelihood and its derivatives by confusion matrices, those of raters first.

    Those by base rates, and by the share of common answers of a dependent pair, are added to
    `slopes`.

    Parameters
    ----------
    pair : ndarray of int
        The two raters of a dependent pair, if there is one.
    table, values, slopes : ndarray
        See `bayes_models.density.priors`.
    ratings : tuple
        Arrays as `bayes_models.models.observations.arrays_of` gives them.
    confusion : ndarray, shape (n_raters, n_states, n_responses)
    """
    n_raters, n_states, k = confusion.shape
    n_populations, of_rates = table[BASE_RATES, ROWS], table[BASE_RATES, VALUE]
    n_levels = n_states // k
    rates = np.empty((n_populations, n_states))
    for p in range(n_populations):
        for m in range(n_states):
            rates[p, m] = values[of_rates + p * k + m % k] / n_levels
    with_pair, share, matrices = table[SHARED_ANSWERS, ROWS] > 0, values, confusion
    if with_pair:
        matrices = np.empty((n_raters + k, n_states, k))
        for j in range(n_raters):
            for m in range(n_states):
                for answer in range(k):
                    matrices[j, m, answer] = confusion[j, m, answer]
        share = values[table[SHARED_ANSWERS, VALUE] :]
        answers_after(matrices[pair[0]], matrices[pair[1]], share, matrices[n_raters:])
    log_likelihood, by_rates, by = sum_over_states(rates, matrices, *ratings)
    for p in range(n_populations):
        for m in range(n_states):
            slopes[of_rates + p * k + m % k] += by_rates[p, m] / n_levels
    if with_pair:
        pull_back_pair(
            matrices[pair[0]],
            matrices[pair[1]],
            share,
            by[n_raters:],
            by[pair[0]],
            by[pair[1]],
            slopes[table[SHARED_ANSWERS, VALUE] :],
        )
    return log_likelihood, by


@njit()
def answers_after(first: Floats, second: Floats, share: Floats, after: Floats) -> None:
    """Write probabilities of the second's answers given the first's.

    The equation is that of `bayes_models.models.observations.answers_after`.
    """
    k = len(first)
    for z in range(k):
        a, b, c = first[z], second[z], share[z]
        left = LEAST
        for m in range(k):
            left += max(b[m] - a[m], 0.0)
        for i in range(k):
            for m in range(k):
                alike = min(a[i], b[i]) * (i == m)
                apart = max(a[i] - b[i], 0.0) * max(b[m] - a[m], 0.0) / left
                after[i, z, m] = (1 - c) * b[m] + c * (alike + apart) / (a[i] + LEAST)


@njit()
def pull_back_pair(
    first: Floats,
    second: Floats,
    share: Floats,
    by_after: Floats,
    by_first: Floats,
    by_second: Floats,
    by_share: Floats,
) -> None:
    """Add what follows from the derivatives by the second's answers given the first's."""
    k = len(first)
    for z in range(k):
        a, b, c = first[z], second[z], share[z]
        left = LEAST
        for m in range(k):
            left += max(b[m] - a[m], 0.0)
        by_left = 0.0
        for i in range(k):
            for m in range(k):
                of_first, of_second = max(a[i] - b[i], 0.0), max(b[m] - a[m], 0.0)
                by = by_after[i, z, m]
                coupled = min(a[i], b[i]) * (i == m) + of_first * of_second / left
                coupled /= a[i] + LEAST
                by_share[z] += by * (coupled - b[m])
                by_second[z, m] += (1 - c) * by
                by *= c / (a[i] + LEAST)
                by_first[z, i] -= by * coupled
                by_left -= by * of_first * of_second / left**2
                if i == m:
                    by_least = by_first if a[i] < b[i] else by_second
                    by_least[z, i] += by
                if a[i] > b[i]:
                    by_first[z, i] += by * of_second / left
                    by_second[z, i] -= by * of_second / left
                if b[m] > a[m]:
                    by_second[z, m] += by * of_first / left
                    by_first[z, m] -= by * of_first / left
        for m in range(k):
            if b[m] > a[m]:
                by_second[z, m] += by_left
                by_first[z, m] -= by_left
