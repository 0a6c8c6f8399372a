"""How raters behave if K-properties are violated: accuracy at levels of difficulty, and errors."""

from typing import NamedTuple

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.class_posterior import class_posterior
from lehner.simulation.confusion import disperse, reached_accuracy

LEVELS = np.array([-1.0, 0.0, 1.0])
CERTAIN = 1e-4
"""Accuracies are kept this far from 0 and 1."""


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
