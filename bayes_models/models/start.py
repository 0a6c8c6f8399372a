"""What the start values of variables are computed from: base rates and confusion matrices."""

import math
from dataclasses import dataclass

import numpy as np

from bayes_models.likelihood.rater_groups import group_index, group_names
from lehner import Patterns
from lehner.core.arrays import Floats

LEAST_DIAGONAL = 0.02
NEAR_HALF = 0.15


@dataclass(frozen=True, kw_only=True, eq=False)
class Start:
    """A point near which chains start, as base rates and confusion matrices.

    Parameters
    ----------
    base_rates : ndarray, shape (n_categories,)
        Base rates of all items.
    confusion : ndarray, shape (n_raters, n_categories, n_responses)
        Confusion matrices; the system is the last rater.
    observed : Patterns
        The ratings that are fitted.
    """

    base_rates: Floats
    confusion: Floats
    observed: Patterns

    @property
    def accuracy_by_category(self) -> Floats:
        """Accuracies by rater and category, neither 0 nor 1."""
        diagonal = np.diagonal(self.confusion, axis1=1, axis2=2)
        return np.asarray(np.clip(diagonal, LEAST_DIAGONAL, 1 - LEAST_DIAGONAL))

    @property
    def accuracy(self) -> Floats:
        """Accuracies of raters and system."""
        return np.asarray(self.accuracy_by_category @ self.base_rates)

    @property
    def mean_confusion(self) -> Floats:
        """Mean confusion matrix of the raters."""
        return np.asarray(self.confusion[: self.observed.n_raters].mean(axis=0))

    @property
    def mean_confusion_by_group(self) -> Floats:
        """Mean confusion matrix of the raters of each group; without groups, of all."""
        raters = self.confusion[: self.observed.n_raters]
        return np.array([raters[own].mean(axis=0) for own in self._groups()] or self.mean_confusion)

    @property
    def log_odds_of_knowing(self) -> float:
        """Log odds of knowing the category for raters who otherwise guess."""
        return self._knowing(np.full(self.observed.n_raters, True))

    @property
    def log_odds_of_knowing_by_group(self) -> Floats:
        """Log odds of knowing the category in each group; without groups, of all raters."""
        return np.array([self._knowing(own) for own in self._groups()] or self.log_odds_of_knowing)

    @property
    def system_log_odds(self) -> float:
        """Log odds that the system is right."""
        return _logit(self.accuracy[-1])

    def _groups(self) -> list[Floats]:
        index = group_index(self.observed)
        return [index == g for g in range(len(group_names(self.observed)))]

    def _knowing(self, raters: Floats) -> float:
        accuracy = self.accuracy[: self.observed.n_raters][raters]
        chance = 1 / len(self.base_rates)
        return _logit(np.clip((accuracy.mean() - chance) / (1 - chance), 0.1, 0.9))


def _logit(probability: float) -> float:
    """Log odds, exact near one half, without SciPy, which takes long to load."""
    if abs(probability - 0.5) > NEAR_HALF:
        return math.log(probability / (1 - probability))
    excess = 2 * (probability - 0.5)
    return math.log1p(excess) - math.log1p(-excess)
