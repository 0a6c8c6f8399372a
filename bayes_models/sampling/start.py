"""Where chains start: near the modes found by EM, most of them near the highest.

Chains that start here use the labels of the raters, so that no labels are switched between chains,
and need little warm-up.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_models.likelihood.observations import group_index, group_names
from bayes_models.models.assemble import BASE_RATES, BY_POPULATION
from bayes_models.models.deferred import pt
from bayes_models.models.families import diagonal_concentration
from bayes_models.models.spec import find_model
from bayes_models.sampling.modes import Mode, expected_numbers
from lehner import Patterns
from lehner.core.arrays import Floats

if TYPE_CHECKING:
    import pymc as pm

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
        return self._by_group(lambda own: raters[own].mean(axis=0))

    @property
    def log_odds_of_knowing(self) -> float:
        """Log odds of knowing the category for raters who otherwise guess."""
        return self._knowing(slice(None))

    @property
    def log_odds_of_knowing_by_group(self) -> Floats:
        """Log odds of knowing the category in each group; without groups, of all raters."""
        return self._by_group(self._knowing)

    @property
    def system_log_odds(self) -> float:
        """Log odds that the system is right."""
        return _logit(self.accuracy[-1])

    def _by_group(self, function: Callable[[Any], Any]) -> Floats:
        names, index = group_names(self.observed), group_index(self.observed)
        values = [function(index == g) for g in range(max(1, len(names)))]
        return np.array(values if names else values[0])

    def _knowing(self, raters: Any) -> float:
        accuracy = self.accuracy[: self.observed.n_raters][raters]
        chance = 1 / len(self.base_rates)
        return _logit(np.clip((accuracy.mean() - chance) / (1 - chance), 0.1, 0.9))


def _logit(probability: float) -> float:
    """Log odds, exact near one half, without SciPy, which takes long to load."""
    if abs(probability - 0.5) > NEAR_HALF:
        return math.log(probability / (1 - probability))
    excess = 2 * (probability - 0.5)
    return math.log1p(excess) - math.log1p(-excess)


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
    values = {
        variable.name: np.asarray(variable.start(start)) for variable in variables if variable.start
    }
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


NOISE = 0.1
JITTER = 1 / np.sqrt(3)
"""Standard deviation of PyMC's jitter, which is uniform between -1 and 1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StartingPoint:
    """Where chains start.

    Parameters
    ----------
    transforms : dict
        By variable that may be given values: function from values to unconstrained values, which
        are not finite where a value is impossible.
    defaults : dict
        By variable, in the order of the parameters: unconstrained values that are plausible by its
        prior.
    """

    transforms: Mapping[str, Callable[[Floats], Floats]]
    defaults: Mapping[str, Floats]

    def __call__(self, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Give the point and the distance from it at which chains may start.

        Parameters
        ----------
        values : mapping
            Values by variable. Variables without a value start anywhere that is plausible.

        Returns
        -------
        point, scale : ndarray, shape (n_parameters,)
        """
        points, scales = [], []
        for name, plausible in self.defaults.items():
            has_value = name in values
            point = self.transforms[name](values[name]) if has_value else plausible
            # A user's prior may exclude the values that EM finds.
            points.append(np.where(np.isfinite(point), point, plausible))
            scales.append(np.full(len(plausible), NOISE if has_value else JITTER))
        return np.concatenate(points), np.concatenate(scales)


def starting_point(model: "pm.Model", started: Collection[str]) -> StartingPoint:
    """Read from a model where its chains can start.

    Parameters
    ----------
    model : pymc.Model
    started : collection of str
        Variables for which there will be values.

    Returns
    -------
    StartingPoint
    """
    point = model.initial_point(random_seed=0)
    transforms, defaults = {}, {}
    for rv in model.free_RVs:
        transform = model.rvs_to_transforms[rv]
        value = point[model.rvs_to_values[rv].name]
        defaults[rv.name] = np.ravel(value)
        if rv.name in started:
            transforms[rv.name] = _forward(transform, rv)
    return StartingPoint(transforms=transforms, defaults=defaults)


def _forward(transform: Any, rv: Any) -> Callable[[Floats], Floats]:
    if transform is None:
        return np.ravel

    def forward(value: Floats) -> Floats:
        unconstrained = transform.forward(pt.as_tensor(value), *rv.owner.inputs)
        with np.errstate(all="ignore"):
            return np.ravel(unconstrained.eval(mode="FAST_COMPILE"))

    return forward
