"""The likelihood of ratings, given base rates and confusion matrices, and of a dependent pair."""

import numpy as np

from bayes_models.density.jit import njit
from bayes_models.density.layout import ROWS, VALUE
from bayes_models.likelihood.sum_over_states import sum_over_states
from lehner.core.arrays import Floats, Integers

BASE_RATES, SHARED_ANSWERS = 0, -1
"""The first and the last row of a table of parameters."""
LEAST = np.finfo(float).tiny


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
        Arrays as `bayes_models.likelihood.observations.arrays_of` gives them.
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

    The equation is that of `bayes_models.likelihood.dependent_pair`.
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
