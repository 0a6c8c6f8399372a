"""Pattern probabilities: the probability of each pattern of ratings and system answer.

Given the level of difficulty and the category as which an item is perceived (together, the latent
state), raters and system answer independently, except for raters who copy.
"""

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.errors import InputError
from lehner.simulation.parameters import DrawnParameters, perception
from lehner.simulation.scenario import Scenario

MOST_PATTERNS = 10_000_000


def n_patterns(scenario: Scenario) -> int:
    """Count the patterns of ratings and system answer."""
    symbols = scenario.n_categories + (scenario.missing > 0)
    return int(symbols) ** scenario.n_raters * scenario.n_categories


def has_few_patterns(scenario: Scenario) -> bool:
    """Whether the patterns are few enough to enumerate."""
    return n_patterns(scenario) <= MOST_PATTERNS


def require_few_patterns(scenario: Scenario) -> None:
    """Raise an InputError if there are too many patterns to enumerate."""
    if not has_few_patterns(scenario):
        raise InputError(
            f"{scenario.n_raters} raters and {scenario.n_categories} categories have "
            f"{n_patterns(scenario):,} patterns, more than {MOST_PATTERNS:,}",
            "take large samples: population_value(..., sample_size=1_000_000, replicates=20), or "
            "simulate",
        )


def pattern_probabilities(
    scenario: Scenario, parameters: DrawnParameters, *, right: bool = False
) -> Floats:
    """Joint probability of each pattern of ratings and each system answer.

    Parameters
    ----------
    scenario : Scenario
    parameters : DrawnParameters
        Of n_samples.
    right : bool
        Whether only right answers are included.

    Returns
    -------
    ndarray, shape (n_samples, n_categories, n_rating_patterns)
        For each system answer, the patterns of ratings in lexical order; a missing rating comes
        last.
    """
    n, n_levels, n_answering, k, _ = parameters.confusion.shape
    rows = parameters.confusion.swapaxes(2, 3).reshape(n, n_levels * k, n_answering, k)
    n_raters = n_answering - 1
    # Half of the raters are multiplied by the other half with the system, so that the large array
    # is made only once.
    half = n_raters if scenario.copying else (n_raters + 1) // 2
    first = _ratings(scenario, rows[:, :, :half], scenario.copying)
    second = _ratings(scenario, rows[:, :, half:n_raters], ())
    answers = (
        latent_probabilities(scenario, parameters, right=right).swapaxes(1, 2) * rows[:, :, -1]
    )
    joint = (answers[..., None] * second[:, :, None]).reshape(n, n_levels * k, -1)
    probability = (first.swapaxes(1, 2) @ joint).reshape(n, first.shape[-1], k, -1)
    return probability.swapaxes(1, 2).reshape(n, k, -1)


def latent_probabilities(scenario: Scenario, parameters: DrawnParameters, *, right: bool) -> Floats:
    """Each latent state's probability.

    Parameters
    ----------
    scenario : Scenario
    parameters : DrawnParameters
        Of n_samples.
    right : bool
        Whether to give, for each system answer, the probability that it is also the true category.

    Returns
    -------
    ndarray, shape (n_samples, 1 or n_categories, n_levels * n_categories)
        The second dimension has the answers if `right` is set.
    """
    seen = perception(scenario)
    if right:
        perceived = parameters.base_rates[:, :, None] * seen
    else:
        perceived = (parameters.base_rates @ seen)[:, None]
    level = scenario.level_probabilities[:, None]
    joint = level * perceived[:, :, None]
    return joint.reshape(*perceived.shape[:2], -1)


def _ratings(scenario: Scenario, rows: Floats, copying: tuple[float, ...]) -> Floats:
    """Each pattern of some raters given the latent state, (n_samples, n_states, patterns)."""
    n, n_states, n_raters, k = rows.shape
    joint = np.ones((n, n_states, 1))
    for rater in range(n_raters):
        own = rows[:, :, rater, None, :]
        if rater and copying and copying[rater] > 0:
            first = np.repeat(np.eye(k), joint.shape[-1] // k, axis=0)
            own = (1 - copying[rater]) * own + copying[rater] * first
        joint = (joint[..., None] * own).reshape(n, n_states, -1)
    if scenario.missing == 0:
        return joint
    keep = np.vstack([(1 - scenario.missing) * np.eye(k), np.full(k, scenario.missing)])
    joint = joint.reshape(n, n_states, *[k] * n_raters)
    for axis in range(2, 2 + n_raters):
        joint = np.moveaxis(np.tensordot(joint, keep, axes=(axis, 1)), -1, axis)
    return joint.reshape(n, n_states, -1)
