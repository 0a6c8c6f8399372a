"""Confusion matrices of all models, given the values of parameters, and their derivatives.

A function `write_…` writes confusion matrices of shape (n_raters, n_states, n_responses), where a
state is a category, or a level of difficulty and a category; `pull_back_…` adds derivatives by the
values of parameters, `slopes`, given those by confusion matrices, `by`. The equations are those of
`bayes_models.models`.
"""

import numpy as np

from bayes_models.density.priors import (
    LOG_ODDS,
    ROWS,
    VALUE,
    add_zero_sum_slopes,
    njit,
    write_zero_sum,
)
from lehner.core.arrays import Floats, Integers

# A model is its levels of difficulty; the index of each rater's confusion matrix among the
# parameters, negative for a system with parameters of its own; and table and values, see
# `priors.py`.
type Model = tuple[Floats, Integers, Integers, Floats]


@njit()
def write_confusion(kind: int, model: Model, confusion: Floats) -> None:
    """Write the confusion matrices of a likelihood."""
    if kind == LOG_ODDS:
        _write_log_odds(model, confusion)
    else:
        _write_matrices(model, confusion)


@njit()
def pull_back_confusion(kind: int, model: Model, by: Floats, slopes: Floats) -> None:
    """Add the derivatives by the values of parameters."""
    if kind == LOG_ODDS:
        _pull_back_log_odds(model, by, slopes)
    else:
        _pull_back_matrices(model, by, slopes)


# dawid_skene has this row of the table of parameters after that of base rates.
MATRICES_BY_RATER = 1


@njit()
def _write_matrices(model: Model, confusion: Floats) -> None:
    _, _, table, values = model
    at = table[MATRICES_BY_RATER, VALUE]
    for i in range(confusion.size):
        confusion.flat[i] = values[at + i]


@njit()
def _pull_back_matrices(model: Model, by: Floats, slopes: Floats) -> None:
    at = model[2][MATRICES_BY_RATER, VALUE]
    for i in range(by.size):
        slopes[at + i] += by.flat[i]


# relaxed_k has these rows of the table of parameters; one_coin and one_coin_by_rater, which are
# special cases of it, have some of them.
MEAN, SPREAD, EFFECT, DIFFICULTY = range(1, 5)
CATEGORY_SPREAD, COMMON_SHARE, COMMON_EFFECT, OWN_EFFECT = range(5, 9)
SYSTEM, SLOPE, SYSTEM_CATEGORY_SPREAD, SYSTEM_EFFECT = range(9, 13)
DECAY, COMMON_ERROR_SPREAD, COMMON_ERROR, ERROR_SPREAD, OWN_ERROR = range(13, 18)
SYSTEM_ERROR_SPREAD, SYSTEM_ERROR = range(18, 20)


@njit()
def _write_log_odds(model: Model, confusion: Floats) -> None:
    k = confusion.shape[2]
    log_odds, (_, _, errors) = _find_log_odds(model, k), _find_errors(model, k)
    n_raters, n_levels, _ = log_odds.shape
    for j in range(n_raters):
        for level in range(n_levels):
            for z in range(k):
                wrong = 1 / (1 + np.exp(log_odds[j, level, z]))
                for i in range(k - 1):
                    confusion[j, level * k + z, i + (i >= z)] = wrong * errors[j, z, i]
                confusion[j, level * k + z, z] = 1 / (1 + np.exp(-log_odds[j, level, z]))


@njit()
def _pull_back_log_odds(model: Model, by: Floats, slopes: Floats) -> None:
    k = by.shape[2]
    log_odds, (common, single, errors) = _find_log_odds(model, k), _find_errors(model, k)
    n_raters, n_levels, _ = log_odds.shape
    by_errors, by_log_odds = np.zeros(errors.shape), np.empty(log_odds.shape)
    for j in range(n_raters):
        for level in range(n_levels):
            for z in range(k):
                x = log_odds[j, level, z]
                wrong = 1 / (1 + np.exp(x))
                by_right = by[j, level * k + z, z]
                for i in range(k - 1):
                    slope = by[j, level * k + z, i + (i >= z)]
                    by_right -= errors[j, z, i] * slope
                    by_errors[j, z, i] += wrong * slope
                by_log_odds[j, level, z] = by_right * wrong / (1 + np.exp(-x))
    for j in range(n_raters):
        _pull_back_knowing(j, model, by_log_odds, slopes)
        _pull_back_categories(j, model, by_log_odds, slopes)
    _pull_back_errors(model, common, single, errors, by_errors, slopes)


@njit()
def _find_knowing(j: int, model: Model) -> tuple[float, float]:
    """Give a rater's log odds of knowing the category, and their slope on difficulty."""
    _, index, table, values = model
    at = table[:, VALUE]
    if index[j] < 0:
        return values[at[SYSTEM]], values[at[SLOPE]]
    knowing = values[at[MEAN]]
    if table[EFFECT, ROWS] > 0:
        knowing += values[at[SPREAD]] * values[at[EFFECT] + j]
    return knowing, 1.0


@njit()
def _find_log_odds(model: Model, k: int) -> Floats:
    """Compute the log odds of being right, (n_raters, n_levels, n_categories)."""
    levels, index, table, values = model
    log_odds = np.empty((len(index), len(levels), k))
    at, scale = table[:, VALUE], values[table[DIFFICULTY, VALUE]]
    of_category, in_common = values[at[CATEGORY_SPREAD]], values[at[COMMON_SHARE]]
    for j in range(len(index)):
        knowing, slope = _find_knowing(j, model)
        for level in range(len(levels)):
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
                common, single = values[at[COMMON_EFFECT] + z], values[at[OWN_EFFECT] + j * k + z]
                effect = np.sqrt(in_common) * common + np.sqrt(1 - in_common) * single
                effect *= of_category
            for level in range(len(levels)):
                log_odds[j, level, z] += effect
    return log_odds


@njit()
def _pull_back_knowing(j: int, model: Model, by: Floats, slopes: Floats) -> None:
    """Add what follows from the derivatives by a rater's log odds of being right, `by`."""
    levels, index, table, values = model
    k = by.shape[2]
    at, scale = table[:, VALUE], values[table[DIFFICULTY, VALUE]]
    knowing, slope = _find_knowing(j, model)
    by_knowing = 0.0
    for level in range(len(levels)):
        by_level = by[j, level].sum()
        if index[j] >= 0:
            by_level /= 1 + np.exp(scale * levels[level] - knowing) / k
        by_knowing += by_level
        slopes[at[DIFFICULTY]] -= by_level * slope * levels[level]
        if index[j] < 0:
            slopes[at[SLOPE]] -= by_level * scale * levels[level]
    if index[j] < 0:
        slopes[at[SYSTEM]] += by_knowing
        return
    slopes[at[MEAN]] += by_knowing
    if table[EFFECT, ROWS] > 0:
        slopes[at[SPREAD]] += by_knowing * values[at[EFFECT] + j]
        slopes[at[EFFECT] + j] += by_knowing * values[at[SPREAD]]


@njit()
def _pull_back_categories(j: int, model: Model, by: Floats, slopes: Floats) -> None:
    """Add what follows for effects of categories on a rater's log odds of being right."""
    _, index, table, values = model
    k, at = by.shape[2], table[:, VALUE]
    of_category, in_common = values[at[CATEGORY_SPREAD]], values[at[COMMON_SHARE]]
    for z in range(k):
        by_effect = by[j, :, z].sum()
        if index[j] < 0 and table[SYSTEM_EFFECT, ROWS] > 0:
            slopes[at[SYSTEM_CATEGORY_SPREAD]] += by_effect * values[at[SYSTEM_EFFECT] + z]
            slopes[at[SYSTEM_EFFECT] + z] += by_effect * values[at[SYSTEM_CATEGORY_SPREAD]]
        elif index[j] >= 0 and table[OWN_EFFECT, ROWS] > 0:
            common, single = values[at[COMMON_EFFECT] + z], values[at[OWN_EFFECT] + j * k + z]
            root, other_root = np.sqrt(in_common), np.sqrt(1 - in_common)
            slopes[at[CATEGORY_SPREAD]] += by_effect * (root * common + other_root * single)
            by_effect *= of_category
            slopes[at[COMMON_SHARE]] += by_effect * (common / root - single / other_root) / 2
            slopes[at[COMMON_EFFECT] + z] += by_effect * root
            slopes[at[OWN_EFFECT] + j * k + z] += by_effect * other_root


@njit()
def _find_errors(model: Model, k: int) -> tuple[Floats, Floats, Floats]:
    """Give common and own preferences for errors, and the probabilities of errors.

    An error is counted among those that are possible: of category z, error i is the answer i, or
    i + 1 if that is z or more.
    """
    _, index, table, values = model
    n_raters, n = len(index), k - 1
    common, single = np.zeros((k, n)), np.zeros((n_raters, k, n))
    errors, at = np.empty(single.shape), table[:, VALUE]
    decay, in_common = values[at[DECAY]], values[at[COMMON_ERROR_SPREAD]]
    if table[COMMON_ERROR, ROWS] > 0:
        for z in range(k):
            write_zero_sum(values, at[COMMON_ERROR] + z * (n - 1), n, common[z], 0)
    for j in range(n_raters):
        effect, scale, rater = _find_preferences(j, index)
        spread = values[at[scale]]
        for z in range(k):
            if table[effect, ROWS] > 0:
                write_zero_sum(values, at[effect] + (rater * k + z) * (n - 1), n, single[j, z], 0)
            total = 0.0
            for i in range(n):
                log = in_common * common[z, i] + spread * single[j, z, i]
                log -= decay * abs(i + (i >= z) - z)
                errors[j, z, i] = np.exp(log)
                total += errors[j, z, i]
            for i in range(n):
                errors[j, z, i] /= total
    return common, single, errors


@njit()
def _find_preferences(j: int, index: Integers) -> tuple[int, int, int]:
    """Give the rows of a rater's own preferences and of their spread, and the rater's place."""
    if index[j] < 0:
        return SYSTEM_ERROR, SYSTEM_ERROR_SPREAD, 0
    return OWN_ERROR, ERROR_SPREAD, j


@njit()
def _pull_back_errors(
    model: Model, common: Floats, single: Floats, errors: Floats, by: Floats, slopes: Floats
) -> None:
    """Add what follows from the derivatives by the probabilities of errors."""
    _, index, table, values = model
    n_raters, k, n = errors.shape
    at = table[:, VALUE]
    by_common, by_own = np.zeros((k, n)), np.empty(n)
    for j in range(n_raters):
        effect, scale, rater = _find_preferences(j, index)
        spread = at[scale]
        for z in range(k):
            mean = 0.0
            for i in range(n):
                mean += errors[j, z, i] * by[j, z, i]
            for i in range(n):
                by_log = errors[j, z, i] * (by[j, z, i] - mean)
                by_common[z, i] += by_log
                by_own[i] = by_log * values[spread]
                slopes[spread] += by_log * single[j, z, i]
                slopes[at[DECAY]] -= by_log * abs(i + (i >= z) - z)
            if table[effect, ROWS] > 0:
                to = at[effect] + (rater * k + z) * (n - 1)
                add_zero_sum_slopes(by_own, 0, n, slopes, to)
    if table[COMMON_ERROR, ROWS] > 0:
        for z in range(k):
            for i in range(n):
                slopes[at[COMMON_ERROR_SPREAD]] += by_common[z, i] * common[z, i]
                by_common[z, i] *= values[at[COMMON_ERROR_SPREAD]]
            add_zero_sum_slopes(by_common[z], 0, n, slopes, at[COMMON_ERROR] + z * (n - 1))
