"""Confusion matrices of the models of log odds: `one_coin`, `one_coin_by_rater` and `relaxed_k`.

The equations are those of `bayes_models.models.relaxed_k`. The other two are special cases, which
do not have some of its parameters.
"""

import numpy as np

from bayes_models.density.error_preferences import error_probabilities, pull_back_errors
from bayes_models.density.jit import njit
from bayes_models.density.layout import ROWS, VALUE
from lehner.core.arrays import Floats, Integers

MEAN, SPREAD, EFFECT, DIFFICULTY = range(1, 5)
CATEGORY_SPREAD, COMMON_SHARE, COMMON_EFFECT, OWN_EFFECT = range(5, 9)
SYSTEM, SLOPE, SYSTEM_CATEGORY_SPREAD, SYSTEM_EFFECT = range(9, 13)
"""Rows of the table of parameters."""


@njit()
def write_confusion(
    levels: Floats, index: Integers, table: Integers, values: Floats, confusion: Floats
) -> None:
    """Write confusion matrices, given the values of parameters.

    Parameters
    ----------
    levels : ndarray, shape (n_levels,)
        Difficulty of items.
    index : ndarray of int, shape (n_raters,)
        Group of each rater; negative for the system.
    table, values : ndarray
        See `bayes_models.density.priors`.
    confusion : ndarray, shape (n_raters, n_states, n_responses)
        A state is a level of difficulty and a category.
    """
    n_raters, n_levels, k = len(index), len(levels), confusion.shape[2]
    log_odds = np.empty((n_raters, n_levels, k))
    _write_log_odds(levels, index, table, values, log_odds)
    errors, own = np.empty((n_raters, k, k - 1)), np.zeros((n_raters, k, k - 1))
    common = np.zeros((k, k - 1))
    error_probabilities(index, table, values, common, own, errors)
    for j in range(n_raters):
        for level in range(n_levels):
            for z in range(k):
                wrong = 1 / (1 + np.exp(log_odds[j, level, z]))
                for i in range(k - 1):
                    confusion[j, level * k + z, i + (i >= z)] = wrong * errors[j, z, i]
                confusion[j, level * k + z, z] = 1 / (1 + np.exp(-log_odds[j, level, z]))


@njit()
def pull_back_confusion(
    levels: Floats,
    index: Integers,
    table: Integers,
    values: Floats,
    by_confusion: Floats,
    answers: Floats,
    slopes: Floats,
) -> float:
    """Add derivatives by the values of parameters, given those by confusion matrices.

    Parameters
    ----------
    answers : ndarray, shape (n_raters, 2)
        Right and wrong ones in earlier studies.

    Returns
    -------
    float
        Log likelihood of the earlier answers.
    """
    n_raters, n_levels, k = len(index), len(levels), by_confusion.shape[2]
    log_odds = np.empty((n_raters, n_levels, k))
    _write_log_odds(levels, index, table, values, log_odds)
    errors, own = np.empty((n_raters, k, k - 1)), np.zeros((n_raters, k, k - 1))
    common = np.zeros((k, k - 1))
    error_probabilities(index, table, values, common, own, errors)
    by_errors = np.zeros((n_raters, k, k - 1))
    by_log_odds = np.empty((n_raters, n_levels, k))
    for j in range(n_raters):
        for level in range(n_levels):
            for z in range(k):
                x = log_odds[j, level, z]
                wrong = 1 / (1 + np.exp(x))
                by_right = by_confusion[j, level * k + z, z]
                for i in range(k - 1):
                    slope = by_confusion[j, level * k + z, i + (i >= z)]
                    by_right -= errors[j, z, i] * slope
                    by_errors[j, z, i] += wrong * slope
                by_log_odds[j, level, z] = by_right * wrong / (1 + np.exp(-x))
    log_likelihood = 0.0
    for j in range(n_raters):
        # A model that takes earlier answers has one level, and no effects of categories.
        x = log_odds[j, 0, 0]
        log_likelihood -= answers[j, 0] * np.log1p(np.exp(-x))
        log_likelihood -= answers[j, 1] * np.log1p(np.exp(x))
        by_log_odds[j, 0, 0] += answers[j, 0] - (answers[j, 0] + answers[j, 1]) / (1 + np.exp(-x))
    _pull_back(levels, index, table, values, by_log_odds, slopes)
    pull_back_errors(index, table, values, common, own, errors, by_errors, slopes)
    return log_likelihood


@njit()
def _write_log_odds(
    levels: Floats, index: Integers, table: Integers, values: Floats, log_odds: Floats
) -> None:
    n_raters, n_levels, k = log_odds.shape
    at, scale = table[:, VALUE], values[table[DIFFICULTY, VALUE]]
    of_category, in_common = values[at[CATEGORY_SPREAD]], values[at[COMMON_SHARE]]
    for j in range(n_raters):
        if index[j] < 0:
            knowing, slope = values[at[SYSTEM]], values[at[SLOPE]]
        else:
            knowing, slope = values[at[MEAN] + index[j]], 1.0
            if table[EFFECT, ROWS] > 0:
                knowing += values[at[SPREAD] + index[j]] * values[at[EFFECT] + j]
        for level in range(n_levels):
            x = knowing - slope * scale * levels[level]
            if index[j] >= 0:
                x = np.logaddexp(x, -np.log(k)) - np.log(1 - 1 / k)
            for z in range(k):
                log_odds[j, level, z] = x
        for z in range(k):
            effect = 0.0
            if index[j] < 0 and table[SYSTEM_EFFECT, ROWS] > 0:
                effect = values[at[SYSTEM_CATEGORY_SPREAD]] * values[at[SYSTEM_EFFECT] + z]
            elif index[j] >= 0 and table[OWN_EFFECT, ROWS] > 0:
                common, own = values[at[COMMON_EFFECT] + z], values[at[OWN_EFFECT] + j * k + z]
                effect = np.sqrt(in_common) * common + np.sqrt(1 - in_common) * own
                effect *= of_category
            for level in range(n_levels):
                log_odds[j, level, z] += effect


@njit()
def _pull_back(
    levels: Floats, index: Integers, table: Integers, values: Floats, by: Floats, slopes: Floats
) -> None:
    """Add to the derivatives by values what follows from those by the log odds of being right."""
    n_raters, n_levels, k = by.shape
    at, scale = table[:, VALUE], values[table[DIFFICULTY, VALUE]]
    of_category, in_common = values[at[CATEGORY_SPREAD]], values[at[COMMON_SHARE]]
    for j in range(n_raters):
        if index[j] < 0:
            knowing, slope = values[at[SYSTEM]], values[at[SLOPE]]
        else:
            knowing, slope = values[at[MEAN] + index[j]], 1.0
            if table[EFFECT, ROWS] > 0:
                knowing += values[at[SPREAD] + index[j]] * values[at[EFFECT] + j]
        by_knowing = 0.0
        for level in range(n_levels):
            own = by[j, level].sum()
            if index[j] >= 0:
                own /= 1 + np.exp(scale * levels[level] - knowing) / k
            by_knowing += own
            slopes[at[DIFFICULTY]] -= own * slope * levels[level]
            if index[j] < 0:
                slopes[at[SLOPE]] -= own * scale * levels[level]
        if index[j] < 0:
            slopes[at[SYSTEM]] += by_knowing
        else:
            slopes[at[MEAN] + index[j]] += by_knowing
            if table[EFFECT, ROWS] > 0:
                slopes[at[SPREAD] + index[j]] += by_knowing * values[at[EFFECT] + j]
                slopes[at[EFFECT] + j] += by_knowing * values[at[SPREAD] + index[j]]
        for z in range(k):
            by_effect = by[j, :, z].sum()
            if index[j] < 0 and table[SYSTEM_EFFECT, ROWS] > 0:
                slopes[at[SYSTEM_CATEGORY_SPREAD]] += by_effect * values[at[SYSTEM_EFFECT] + z]
                slopes[at[SYSTEM_EFFECT] + z] += by_effect * values[at[SYSTEM_CATEGORY_SPREAD]]
            elif index[j] >= 0 and table[OWN_EFFECT, ROWS] > 0:
                common, own = values[at[COMMON_EFFECT] + z], values[at[OWN_EFFECT] + j * k + z]
                root, other = np.sqrt(in_common), np.sqrt(1 - in_common)
                slopes[at[CATEGORY_SPREAD]] += by_effect * (root * common + other * own)
                by_effect *= of_category
                slopes[at[COMMON_SHARE]] += by_effect * (common / root - own / other) / 2
                slopes[at[COMMON_EFFECT] + z] += by_effect * root
                slopes[at[OWN_EFFECT] + j * k + z] += by_effect * other
