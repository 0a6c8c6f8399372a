"""Where chains start: near the most probable parameters, found by EM.

Chains that start here start with the labels the raters use, so that "yes" means yes in all of
them, and need little warm-up.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from bayes_models.observations import UNKNOWN, Observations
from bayes_models.priors import diagonal_concentration

N_STEPS = 10
LEAST = 0.02

type Floats = NDArray[np.float64]


def em_start(observed: Observations) -> dict[str, Floats]:
    """Give the variables of all models values near the most probable ones.

    Parameters
    ----------
    observed : Observations

    Returns
    -------
    dict
        Values by name.
    """
    items, ratings = expected_numbers(observed)
    confusion = ratings + diagonal_concentration(observed.n_categories)
    return _start_values(
        (items + 1) / (items + 1).sum(),
        confusion / confusion.sum(axis=-1, keepdims=True),
        has_system=observed.has_system,
    )


def expected_numbers(observed: Observations) -> tuple[Floats, Floats]:
    """Count items by true category, and ratings by rater, true category and response, by EM.

    It starts from raters who are all right in 60% of their ratings, which is a vote, and has
    these as its prior.

    Parameters
    ----------
    observed : Observations

    Returns
    -------
    items : ndarray, shape (n_categories,)
    ratings : ndarray, shape (n_raters, n_categories, n_responses)

    References
    ----------
    Dawid & Skene (1979), Eq. 2.3-2.5 and 3.1.
    """
    k, n_raters = observed.n_categories, len(observed.rater_names)
    cells = observed.response_counts()
    by_cell = cells.T.tocsr()
    truths = observed.truths[:, None]
    possible = (truths == UNKNOWN) | (truths == np.arange(k))
    prior = diagonal_concentration(k)
    items, ratings = np.zeros(k), np.zeros((n_raters, k, k))
    for _ in range(N_STEPS):
        # Responses come before true categories here, as the product with the cells needs it.
        confusion = ratings + prior
        confusion /= confusion.sum(axis=1, keepdims=True)
        log = cells @ np.log(confusion).reshape(-1, k) + np.log(items + 1)
        log[~possible] = -np.inf
        truth = np.exp(log - log.max(axis=1, keepdims=True))
        truth *= (observed.counts / truth.sum(axis=1))[:, None]
        items, ratings = truth.sum(axis=0), (by_cell @ truth).reshape(n_raters, k, k)
    return items, ratings.swapaxes(1, 2)


def _start_values(base_rates: Floats, confusion: Floats, *, has_system: bool) -> dict[str, Floats]:
    diagonal = np.clip(np.diagonal(confusion, axis1=1, axis2=2), LEAST, 1 - LEAST)
    accuracy = diagonal @ base_rates
    of_raters = accuracy[:-1] if has_system else accuracy
    mean_confusion = (confusion[:-1] if has_system else confusion).mean(axis=0)
    chance = 1 / len(base_rates)
    knowing = np.clip((of_raters.mean() - chance) / (1 - chance), 0.1, 0.9)
    return {
        "base_rates": base_rates,
        "confusion": confusion,
        "rater_confusion": mean_confusion,
        "population_confusion": mean_confusion,
        "system_confusion": confusion[-1],
        "accuracy_by_category": diagonal,
        "rater_log_odds": logit(knowing),
        "mean_log_odds": logit(knowing),
        "system_log_odds": logit(accuracy[-1]),
        "knowledge": np.clip(accuracy, 0.1, 0.9),
    }
