"""Expectation-maximisation with leaps, for any parameters that are probabilities."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lehner.core.arrays import Floats

RISE = 1.001
"""A probability near 0 that grows by more in a step will leave it, however small the step."""
ZERO = 1e-100
"""A probability below it stands for 0, as of a category never used, and is to stay there."""


class Climb(NamedTuple):
    """Where a search ended, whether at a maximum, and after how many steps of EM."""

    point: Floats
    converged: bool
    steps: int


def accelerated_em(
    step: Callable[[Floats], tuple[Floats, float]],
    start: Floats,
    *,
    tolerance: float = 1e-10,
    most_steps: int = 20_000,
) -> Climb:
    """Take two steps of EM and a leap in their direction, until the steps no longer move.

    A leap is taken only within the simplex, and where it does not lower the likelihood.

    Parameters
    ----------
    step : callable
        From a point to the next, and the log-likelihood before the step.
    start : ndarray, shape (n_parameters,)
    tolerance : float
        Stop when no parameter moves by more in a step, and none near 0 is on its way up.
    most_steps : int

    Returns
    -------
    Climb

    References
    ----------
    Varadhan & Roland (2008), Simple and globally convergent methods for accelerating the
    convergence of any EM algorithm, Scandinavian Journal of Statistics 35, 335-353.

    Examples
    --------
    >>> import numpy as np
    >>> halfway = lambda x: ((x + 0.8) / 2, -float(abs(x - 0.8).sum()))
    >>> accelerated_em(halfway, np.array([0.2])).point.round(6)
    array([0.8])
    """
    current, converged, steps = start, False, 0
    while steps < most_steps and not converged:
        first, log_likelihood = step(current)
        second, _ = step(first)
        still = float(np.abs(second - first).max()) < tolerance
        converged = still and not bool(((second > RISE * first) & (first > ZERO)).any())
        steps += 2
        leap = _leap(current, first, second)
        current = second
        if leap is not None and not converged:
            landed, reached = step(leap)
            steps += 1
            current = landed if reached >= log_likelihood else second
    return Climb(current, converged, steps)


def _leap(start: Floats, first: Floats, second: Floats) -> Floats | None:
    """Go on in the direction of two steps, or None if that leaves the simplex."""
    step, bend = first - start, second - 2 * first + start
    length = float(np.linalg.norm(bend))
    if length == 0:
        return None
    size = max(1.0, float(np.linalg.norm(step)) / length)
    point = start + 2 * size * step + size**2 * bend
    return point if point.min() >= 0 else None
