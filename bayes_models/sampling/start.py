"""Where chains start: near the modes found by EM, most of them near the highest.

Chains that start here use the labels of the raters, so that no labels are switched between chains,
and need little warm-up.
"""

import numpy as np

from bayes_models.models.base_rates import BASE_RATES, BY_POPULATION
from bayes_models.models.families import diagonal_concentration
from bayes_models.models.spec import find_model
from bayes_models.models.start import Start
from bayes_models.sampling.modes import Mode, expected_numbers
from lehner import Patterns
from lehner.core.arrays import Floats


def em_start(observed: Patterns) -> Start:
    """Base rates and confusion matrices near the most probable ones.

    Parameters
    ----------
    observed : Patterns
        The ratings that are fitted.

    Returns
    -------
    Start
    """
    items, ratings = expected_numbers(observed)
    return start_at(Mode(items=items, ratings=ratings), observed)


def start_at(mode: Mode, observed: Patterns) -> Start:
    """Base rates and confusion matrices at a mode.

    Parameters
    ----------
    mode : Mode
        A mode of the posterior of these ratings.
    observed : Patterns
        The ratings that are fitted. Populations start with the base rates of all items.

    Returns
    -------
    Start
    """
    confusion = mode.ratings + diagonal_concentration(len(mode.items))
    return Start(
        base_rates=(mode.items + 1) / (mode.items + 1).sum(),
        confusion=confusion / confusion.sum(axis=-1, keepdims=True),
        observed=observed,
    )


def start_values(model: str, start: Start) -> dict[str, Floats]:
    """Values of a model's variables at a start.

    Parameters
    ----------
    model : str
        Name of the model.
    start : Start
        The base rates and confusion matrices there.

    Returns
    -------
    dict
        By variable; those that start where their prior is plausible are left out.
    """
    variables = find_model(model).variables
    values = {one.name: np.asarray(one.start(start)) for one in variables if one.start}
    if BASE_RATES.name in values:
        n_populations = len(start.observed.populations)
        values[BY_POPULATION] = np.tile(values[BASE_RATES.name], (n_populations, 1))
    return values


def chains_by_start(n_starts: int, chains: int) -> list[int]:
    """Spread chains over starts: one at each but the first, which has half of them or more.

    Parameters
    ----------
    n_starts : int
        Number of starts, the most probable first.
    chains : int
        Number of chains, 1 or more.

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
