"""Where chains start: near the modes found by EM, most of them near the highest.

Chains that start here use the labels of the raters, so that no labels are switched between chains,
and need little warm-up.
"""

import math

import numpy as np

from bayes_models.likelihood.rater_groups import group_index, group_names
from bayes_models.models.prior_numbers import diagonal_concentration
from bayes_models.sampling.modes import Mode, expected_numbers
from lehner import Patterns
from lehner.core.arrays import Floats

LEAST_DIAGONAL = 0.02
NEAR_HALF = 0.15


def em_start(observed: Patterns) -> dict[str, Floats]:
    """Give the variables of all models values near the most probable ones.

    Parameters
    ----------
    observed : Patterns

    Returns
    -------
    dict
        Values by name.
    """
    items, ratings = expected_numbers(observed)
    return start_at(Mode(items=items, ratings=ratings), observed)


def start_at(mode: Mode, observed: Patterns) -> dict[str, Floats]:
    """Give the variables of all models their values at a mode.

    Parameters
    ----------
    mode : Mode
    observed : Patterns
        That it is a mode of. Populations start with the base rates of all items.

    Returns
    -------
    dict
        Values by name.
    """
    confusion = mode.ratings + diagonal_concentration(len(mode.items))
    return _start_values(
        (mode.items + 1) / (mode.items + 1).sum(),
        confusion / confusion.sum(axis=-1, keepdims=True),
        observed,
    )


def chains_by_start(n_starts: int, chains: int) -> list[int]:
    """Spread chains over starts: one at each but the first, which has half of them or more.

    Parameters
    ----------
    n_starts : int
        Number of starts, the most probable first.
    chains : int

    Returns
    -------
    list of int
        Chains at each start; starts for which there are no chains are left out.

    Examples
    --------
    >>> chains_by_start(2, 4), chains_by_start(9, 4), chains_by_start(9, 1)
    ([3, 1], [2, 1, 1], [1])
    """
    others = min(n_starts - 1, chains // 2)
    return [chains - others] + [1] * others


def _logit(probability: float) -> float:
    """Give the log odds, exact near one half, without SciPy, which takes long to load."""
    if abs(probability - 0.5) > NEAR_HALF:
        return math.log(probability / (1 - probability))
    excess = 2 * (probability - 0.5)
    return math.log1p(excess) - math.log1p(-excess)


def _knowing(accuracy: Floats, base_rates: Floats) -> float:
    """Give the log odds of knowing the category for raters of these accuracies, who else guess."""
    chance = 1 / len(base_rates)
    return _logit(np.clip((accuracy.mean() - chance) / (1 - chance), 0.1, 0.9))


def _start_values(base_rates: Floats, confusion: Floats, observed: Patterns) -> dict[str, Floats]:
    diagonal = np.clip(np.diagonal(confusion, axis1=1, axis2=2), LEAST_DIAGONAL, 1 - LEAST_DIAGONAL)
    accuracy = diagonal @ base_rates
    n_raters = observed.n_raters
    mean_confusion = confusion[:n_raters].mean(axis=0)
    index = group_index(observed)
    of_groups = [index == g for g in range(len(group_names(observed)))]
    knowing = _knowing(accuracy[:n_raters], base_rates)
    knowing_by_group = [_knowing(accuracy[:n_raters][own], base_rates) for own in of_groups]
    confusion_by_group = [confusion[:n_raters][own].mean(axis=0) for own in of_groups]
    return {
        "base_rates": base_rates,
        "base_rates_by_population": np.tile(base_rates, (len(observed.populations), 1)),
        "confusion": confusion,
        "rater_confusion": mean_confusion,
        "population_confusion": np.array(confusion_by_group or mean_confusion),
        "system_confusion": confusion[-1],
        "accuracy_by_category": diagonal,
        "rater_log_odds": knowing,
        "mean_log_odds": np.array(knowing_by_group or knowing),
        "system_log_odds": _logit(accuracy[-1]),
        "knowledge": np.clip(accuracy, 0.1, 0.9),
    }
