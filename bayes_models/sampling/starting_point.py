"""From values of variables to the unconstrained point near which chains start."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_models.models.deferred import pt
from bayes_models.models.zero_sum import zero_sum_basis
from lehner.core.arrays import Floats

if TYPE_CHECKING:
    import pymc as pm

NOISE = 0.1
JITTER = 1 / np.sqrt(3)
"""Standard deviation of PyMC's jitter, which is uniform between -1 and 1."""

type Forward = str | Callable[[Floats], Floats]

# By the names of PyMC's transforms: functions from values to unconstrained values, without PyMC.
FORWARD: dict[str, Callable[[Floats], Floats]] = {
    "": lambda value: value,
    "log": np.log,
    "logodds": lambda value: np.log(value / (1 - value)),
    "ilr": lambda value: np.log(value) @ zero_sum_basis(value.shape[-1]).T,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class StartingPoint:
    """Where chains start.

    Parameters
    ----------
    transforms : dict
        For each variable that may be given values: the name of its transform, or a function if a
        user's prior has a transform without such a name.
    defaults : dict
        By variable, in the order of the parameters: unconstrained values that are plausible by its
        prior.
    """

    transforms: dict[str, Forward]
    defaults: dict[str, Floats]

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
        point, scales = [], []
        for name, default in self.defaults.items():
            told = name in values
            point.append(_unconstrained(self.transforms[name], values[name]) if told else default)
            scales.append(NOISE if told else JITTER)
        start, plausible = np.concatenate(point), np.concatenate(list(self.defaults.values()))
        sizes = [len(default) for default in self.defaults.values()]
        # A user's prior may exclude the values that EM finds.
        return np.where(np.isfinite(start), start, plausible), np.repeat(scales, sizes)


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
        forward = _forward(transform, rv)
        value = point[model.rvs_to_values[rv].name]
        if transform is not None:
            back = transform.backward(pt.as_tensor(value), *rv.owner.inputs)
            value = back.eval(mode="FAST_COMPILE")
        defaults[rv.name] = _unconstrained(forward, value)
        if rv.name in started:
            transforms[rv.name] = forward
    return StartingPoint(transforms=transforms, defaults=defaults)


def _forward(transform: Any, rv: Any) -> Forward:
    name = "" if transform is None else transform.name
    if name in FORWARD:
        return str(name)

    def forward(value: Floats) -> Floats:
        unbounded = transform.forward(pt.as_tensor(value), *rv.owner.inputs)
        return np.asarray(unbounded.eval(mode="FAST_COMPILE"))

    return forward


def _unconstrained(forward: Forward, value: Floats) -> Floats:
    function = FORWARD[forward] if isinstance(forward, str) else forward
    with np.errstate(all="ignore"):
        return np.ravel(function(np.asarray(value, dtype=float)))
