"""How raters behave if K-properties are violated, and the likelihood of their ratings.

They have an accuracy at each level of difficulty, and prefer errors near the truth. The likelihood
is summed over true categories and levels.
"""

from typing import NamedTuple

import numpy as np

from lehner.core.arrays import Booleans, Floats
from lehner.core.class_posterior import class_posterior
from lehner.latent_class.pattern_table import PatternTable
from lehner.simulation.confusion import disperse, reached_accuracy

LEVELS = np.array([-1.0, 0.0, 1.0])
CERTAIN = 1e-4
"""Accuracies are kept this far from 0 and 1."""


LEAST_PROBABILITY = np.finfo(float).tiny
ADDED_ITEMS = 0.5
"""Added to each category."""
LEAST_DIFFICULTY = 1e-5
STEP = 1e-4
# Upper limits of standard errors, which they reach if the ratings tell nothing about a parameter.
PRIOR_SPREADS = {
    "log_base_rates": 1.0,
    "accuracy": 0.3,
    "squared_difficulty": 0.1,
    "log_dispersion": 1.0,
}


class Behaviour(NamedTuple):
    """Parameters of raters' behaviour, with any leading dimensions.

    `base_rates` (..., n_categories), `accuracy` (..., n_raters), `difficulty` (...) and
    `dispersion` (...).
    """

    base_rates: Floats
    accuracy: Floats
    difficulty: Floats
    dispersion: Floats

    def level_accuracy(self) -> Floats:
        """Each rater's accuracy at each level, shape (..., n_levels, n_raters)."""
        shift = np.multiply.outer(self.difficulty, LEVELS)[..., None]
        return np.clip(reached_accuracy(self.accuracy[..., None, :], shift), CERTAIN, 1 - CERTAIN)

    def confusion(self) -> Floats:
        """Confusion matrices, shape (..., n_levels, n_raters, n_categories, n_categories)."""
        k = self.base_rates.shape[-1]
        return disperse(self.level_accuracy(), k, self.dispersion[..., None, None])

    def errors(self) -> Floats:
        """Error probabilities given a wrong answer, (..., n_categories, n_categories)."""
        return disperse(np.zeros(self.dispersion.shape), self.base_rates.shape[-1], self.dispersion)


def behaviour_at(parameters: Floats, k: int, n_raters: int) -> Behaviour:
    """Behaviour that belongs to parameters, (..., n_parameters).

    These are the logarithms of base rates, accuracies (of each rater, or one for all), squared
    difficulty and the logarithm of dispersion.
    """
    log_rates, accuracy = parameters[..., :k], parameters[..., k:-2]
    rates, _ = class_posterior(log_rates)
    return Behaviour(
        base_rates=rates,
        accuracy=np.broadcast_to(accuracy, (*parameters.shape[:-1], n_raters)),
        difficulty=np.sqrt(np.maximum(parameters[..., -2], 0.0)),
        dispersion=np.exp(parameters[..., -1]),
    )


def objective(parameters: Floats, data: PatternTable) -> tuple[float, Floats]:
    """Negative log likelihood, with the added items, and its gradient."""
    k, n_raters = data.n_categories, data.n_raters
    behaviour = behaviour_at(parameters, k, n_raters)
    difficulty = np.maximum(behaviour.difficulty, LEAST_DIFFICULTY)
    behaviour = behaviour._replace(difficulty=difficulty)
    rates, accuracy, errors = behaviour.base_rates, behaviour.level_accuracy(), behaviour.errors()
    eye = np.eye(k)
    right, wrong = accuracy.T[:, None, :, None], (1 - accuracy).T[:, None, :, None]
    # By rater, response, level and truth.
    confusion = right * eye[:, None] + wrong * errors.T[:, None]
    by_symbol = np.log(np.maximum(confusion, LEAST_PROBABILITY)).reshape(n_raters * k, -1)
    log_rates = np.log(rates)
    joint = data.answers @ by_symbol + np.tile(log_rates - np.log(len(LEVELS)), len(LEVELS))
    states, log_probability = class_posterior(joint)
    value = data.weights @ log_probability + ADDED_ITEMS * log_rates.sum()
    states *= data.weights[:, None]
    # Expected numbers of ratings by rater, response, level and truth.
    counts = (data.answers.T @ states).reshape(n_raters, k, len(LEVELS), k)
    n_right = np.einsum("jzgz->gj", counts)
    n_wrong = counts.sum(axis=(1, 3)).T - n_right
    reached = behaviour.accuracy + difficulty * LEVELS[:, None]
    inside = (reached >= CERTAIN) & (reached <= 1 - CERTAIN)
    slope = np.where(inside, n_right / accuracy - n_wrong / (1 - accuracy), 0.0)
    by_accuracy = slope.sum(axis=0)
    if len(parameters) == k + 3:  # one accuracy for all
        by_accuracy = by_accuracy.sum(keepdims=True)
    steps = 1 - np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    expected = (errors * steps).sum(axis=1)
    off = counts.sum(axis=(0, 2)).T * (1 - eye)
    in_class = states.reshape(-1, len(LEVELS), k).sum(axis=(0, 1))
    by_dispersion = (off * (steps - expected[:, None])).sum()
    n = data.weights.sum() + ADDED_ITEMS * k
    rest = [(LEVELS @ slope).sum() / (2 * difficulty), by_dispersion]
    gradient = np.concatenate([in_class + ADDED_ITEMS - n * rates, by_accuracy, rest])
    return -float(value), -gradient


def covariance_root(parameters: Floats, high: Floats, free: Booleans, data: PatternTable) -> Floats:
    """Square root of the covariance matrix of the free parameters.

    It is the inverse of the observed information plus the precision of `PRIOR_SPREADS`, which
    limits standard errors.
    """
    places = np.flatnonzero(free)
    # At a limit the step goes backwards, because nothing changes beyond it.
    step = np.where(parameters + STEP > high, -STEP, STEP)[places]
    gradient = objective(parameters, data)[1]
    moves = step[:, None] * np.eye(len(parameters))[places]
    moved = np.array([objective(parameters + move, data)[1] for move in moves])
    information = (moved - gradient)[:, places] / step[:, None]
    spread = np.full(len(parameters), PRIOR_SPREADS["accuracy"])
    spread[: data.n_categories] = PRIOR_SPREADS["log_base_rates"]
    spread[-2:] = PRIOR_SPREADS["squared_difficulty"], PRIOR_SPREADS["log_dispersion"]
    spread = spread[places]
    scaled = (information + information.T) / 2 * np.outer(spread, spread)
    values, vectors = np.linalg.eigh(scaled)
    return spread[:, None] * vectors / np.sqrt(np.maximum(values, 0.0) + 1.0)
