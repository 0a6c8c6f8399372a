"""The sum over what is not observed, with its derivatives, see `marginal.py`."""

import numba
import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.data.patterns import UNKNOWN

BLOCK = 16
SMALL = 1e-200


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
    """Sum over states.

    Parameters
    ----------
    rates : ndarray, shape (n_populations, n_states)
    confusion : ndarray, shape (n_raters, n_states, n_responses)
    starts, raters, responses, truths, counts, population : ndarray of int
        As `bayes_models.likelihood.observations.arrays_of` gives them.

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
    expected = np.zeros((n_raters * n_responses, n_states))
    expected_rates = np.zeros(rates.shape)
    joint = np.empty(n_states)
    log_likelihood = 0.0
    # One logarithm is taken for many patterns, before their product underflows.
    product = 1.0
    for p in range(len(counts)):
        first, last, g = starts[p], starts[p + 1], population[p]
        for m in range(n_states):
            joint[m] = rates[g, m]
        if truths[p] != UNKNOWN:
            for m in range(n_states):
                if m % n_responses != truths[p]:
                    joint[m] = 0.0
        for block in range(first, last, BLOCK):
            for s in range(block, min(block + BLOCK, last)):
                row = np.uint64(raters[s] * n_responses + responses[s])
                for m in range(n_states):
                    joint[m] *= table[row, m]
            if block + BLOCK < last:
                scale = 0.0
                for m in range(n_states):
                    scale += joint[m]
                if scale > 0:
                    log_likelihood += counts[p] * np.log(scale)
                    for m in range(n_states):
                        joint[m] /= scale
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
            row = np.uint64(raters[s] * n_responses + responses[s])
            for m in range(n_states):
                expected[row, m] += joint[m]
    log_likelihood += np.log(product)
    by_confusion = np.zeros((n_raters, n_states, n_responses))
    for r in range(n_raters):
        for m in range(n_states):
            for k in range(n_responses):
                number = expected[r * n_responses + k, m]
                if number > 0:
                    by_confusion[r, m, k] = number / confusion[r, m, k]
    for g in range(len(rates)):
        for m in range(n_states):
            if expected_rates[g, m] > 0:
                expected_rates[g, m] /= rates[g, m]
    return log_likelihood, expected_rates, by_confusion
