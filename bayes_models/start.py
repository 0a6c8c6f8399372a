"""Where chains start: near the most probable parameters, found by EM.

Chains that start here start with the labels the raters use, so that "yes" means yes in all of
them, and need little warm-up.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from bayes_models.observations import UNKNOWN, Observations
from bayes_models.priors import diagonal_concentration

N_STEPS = 20
LEAST = 0.02

type Floats = NDArray[np.float64]


def em_start(observed: Observations) -> dict[str, Floats]:
    """Take each pattern's share of votes for its truth and improve on it by EM.

    Parameters
    ----------
    observed : Observations

    Returns
    -------
    dict
        Values of the variables of all models, by name.

    References
    ----------
    Dawid & Skene (1979), Eq. 2.3-2.5 and 3.1, with the prior of a rater who is right in 60%.
    """
    k, n_raters = observed.n_categories, len(observed.rater_names)
    counts = observed.response_counts()
    prior = diagonal_concentration(k)
    share = np.asarray(counts @ np.tile(np.eye(k), (n_raters, 1))) + 1 / k
    for _ in range(N_STEPS):
        share[observed.truths != UNKNOWN] = 0
        known = np.flatnonzero(observed.truths != UNKNOWN)
        share[known, observed.truths[known]] = 1
        share /= share.sum(axis=1, keepdims=True)
        weighted = share * observed.counts[:, None]
        tallies = np.asarray(counts.T @ weighted).reshape(n_raters, k, k).swapaxes(1, 2)
        base_rates = weighted.sum(axis=0) + 1
        base_rates /= base_rates.sum()
        confusion = tallies + prior
        confusion /= confusion.sum(axis=-1, keepdims=True)
        log = counts @ np.log(confusion).swapaxes(1, 2).reshape(-1, k) + np.log(base_rates)
        share = np.exp(log - log.max(axis=1, keepdims=True))
    return _start_values(base_rates, confusion, has_system=observed.has_system)


def _start_values(base_rates: Floats, confusion: Floats, *, has_system: bool) -> dict[str, Floats]:
    diagonal = np.clip(np.diagonal(confusion, axis1=1, axis2=2), LEAST, 1 - LEAST)
    accuracy = diagonal @ base_rates
    of_raters = accuracy[:-1] if has_system else accuracy
    mean_confusion = (confusion[:-1] if has_system else confusion).mean(axis=0)
    log_odds = np.asarray(logit(of_raters).mean())
    return {
        "base_rates": base_rates,
        "confusion": confusion,
        "rater_confusion": mean_confusion,
        "population_confusion": mean_confusion,
        "system_confusion": confusion[-1],
        "accuracy_by_category": diagonal,
        "rater_log_odds": log_odds,
        "mean_log_odds": log_odds,
        "system_log_odds": logit(accuracy[-1]),
        "knowledge": np.clip(accuracy, 0.1, 0.9),
    }
