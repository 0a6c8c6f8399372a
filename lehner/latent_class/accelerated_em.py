"""Expectation-maximisation with extrapolation, for any parameters that are probabilities."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.checks import check_number, check_whole_number

type Step = Callable[[Floats], tuple[Floats, float]]

TOLERANCE = 1e-13
MAX_ITERATIONS = 20_000
STANDING_STILL = 1e-10
SLACK = 0.1
"""By how much an extrapolation may lower the log-likelihood, which later steps increase again."""
GROWTH_STEPS = 5
"""Once in so many cycles a perturbation replaces the extrapolation."""
RISE = 1.001
"""A probability near 0 that grows by more in a step will leave 0, however slowly."""
SMALL_SHARE, RAISED = 1e-3, 1e-6
"""Probabilities below the first are near 0; a perturbation raises them to the second or more."""
ZERO = 1e-100
"""A probability below it counts as 0, such as that of a category never used, and stays there."""


class Climb(NamedTuple):
    """The point where a search ended, whether it is a maximum, and the number of steps of EM."""

    point: Floats
    converged: bool
    steps: int


def accelerated_em(
    step: Step,
    start: Floats,
    rows: Integers,
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> Climb:
    """Alternate two steps of EM and an extrapolation, until the log-likelihood no longer increases.

    The extrapolation is SQUAREM (Varadhan & Roland 2008) of the logarithms of the probabilities, so
    that it never leaves the simplex. An extrapolation may lower the log-likelihood a little, which
    makes the search faster. If it would end below an earlier point, it continues from that point.

    At a saddle of the likelihood the steps become tiny, while a probability near 0 grows for
    thousands of steps. A perturbation raises such probabilities at once, and is kept if it
    increases the log-likelihood. The search ends only if no perturbation does.

    Parameters
    ----------
    step : callable
        A function that takes a point and returns the next point and the log-likelihood before the
        step.
    start : ndarray, shape (n_parameters,)
    rows : ndarray of int, shape (n_parameters,)
        Index of the distribution to which each parameter belongs; its parameters sum to 1.
    tolerance : float
        The search stops when a step of EM increases the log-likelihood by less than this share of
        its size, or changes no parameter by 1e-10.
    max_iterations : int
        Greatest number of steps of EM, rounded up to a multiple of 3.

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
    >>> def step(x):  # EM for the shares of two classes, a rating
    ...     joint = x * [[0.9, 0.2], [0.1, 0.8]]
    ...     classes = joint / joint.sum(axis=1, keepdims=True)
    ...     return [0.75, 0.25] @ classes, float([0.75, 0.25] @ np.log(joint.sum(axis=1)))
    >>> accelerated_em(step, np.array([0.5, 0.5]), np.zeros(2, int)).point.round(3)
    array([0.786, 0.214])
    """
    current, steps, slack = start, 0, SLACK
    best, highest = start, -np.inf
    while steps < max_iterations:
        first, before = step(current)
        second, after = step(first)
        steps += 3
        if after > highest:
            best, highest = first, after
        least_gain = tolerance * abs(after)
        still = after - before < least_gain or float(np.abs(second - first).max()) < STANDING_STILL
        if still and slack > 0 and after < highest - least_gain:
            current, slack = best, 0.0
            continue
        growing = (second > RISE * first) & (first > ZERO) & (second < SMALL_SHARE)
        if growing.any() and (still or steps % (3 * GROWTH_STEPS) == 0):
            trial, least = _perturb(second, growing, rows), after + least_gain
        elif still:
            return Climb(second, converged=True, steps=steps)
        else:
            trial, least = _extrapolate(current, first, second, rows), highest - slack
        landed, reached = step(trial)
        if reached >= least:
            current = landed
        elif still:
            return Climb(second, converged=True, steps=steps)
        else:
            current = second
    return Climb(best, converged=False, steps=steps)


def check_stop(tolerance: float, max_iterations: int) -> None:
    """Raise an InputError unless tolerance and greatest number of steps are allowed."""
    check_number("tolerance", tolerance, 0, 1, "give a number from 0 to 1, as in 1e-13")
    check_whole_number("max_iterations", max_iterations, 1)


def _extrapolate(start: Floats, first: Floats, second: Floats, rows: Integers) -> Floats:
    """Extrapolate in the direction of two steps, by the length that they suggest."""
    log_start, log_first, log_second = (
        np.log(np.maximum(point, ZERO)) for point in (start, first, second)
    )
    pace, bend = log_first - log_start, log_second - 2 * log_first + log_start
    # Sums of products are used because a product of vectors would use several threads, which takes
    # longer.
    turn = float((second * bend**2).sum())
    size = 1.0 if turn == 0 else max(1.0, float(np.sqrt((second * pace**2).sum() / turn)))
    far = log_start + 2 * size * pace + size**2 * bend
    # A parameter that converges earlier than the others would be moved away again.
    falling = log_second < log_first
    far = np.where(falling, np.minimum(far, log_second), np.maximum(far, log_second))
    far = np.where(second > ZERO, np.exp(np.clip(far, np.log(ZERO), 0.0)), second)
    return _normalise(far, rows)


def _perturb(point: Floats, growing: Booleans, rows: Integers) -> Floats:
    """Raise growing probabilities to their square root."""
    return _normalise(np.where(growing, np.maximum(np.sqrt(point), RAISED), point), rows)


def _normalise(point: Floats, rows: Integers) -> Floats:
    return np.asarray(point / np.bincount(rows, point)[rows])
