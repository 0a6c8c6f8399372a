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
"""By how much an extrapolation may lower the log-likelihood: what follows makes up for it."""
GROWTH_STEPS = 5
"""In every so many cycles a perturbation takes the place of the extrapolation."""
RISE = 1.001
"""A probability near 0 that grows by more in a step will leave it, however small the step."""
SMALL_SHARE, RAISED = 1e-3, 1e-6
"""Near 0 is below the first; a perturbation raises to the second at least."""
ZERO = 1e-100
"""A probability below it stands for 0, as of a category never used, and is to stay there."""


class Climb(NamedTuple):
    """Where a search ended, whether at a maximum, and after how many steps of EM."""

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
    """Alternate two steps of EM and an extrapolation, until the log-likelihood stands still.

    The extrapolation is SQUAREM (Varadhan & Roland 2008) of the logarithms of the probabilities,
    so that it never leaves the simplex. It may lower the log-likelihood a little, which makes the
    whole faster; should that end below a point passed before, the search goes on from there.

    At a saddle of the likelihood the steps all but stand still, while a probability near 0 grows
    for thousands of them. A perturbation raises such probabilities at once, and is kept where it
    raises the log-likelihood; the search ends only where none does.

    Parameters
    ----------
    step : callable
        From a point to the next, and the log-likelihood before the step.
    start : ndarray, shape (n_parameters,)
    rows : ndarray of int, shape (n_parameters,)
        Number of the distribution that each parameter belongs to, whose parameters sum to 1.
    tolerance : float
        Stop when a step of EM raises the log-likelihood by less than this share of its size, or
        moves no parameter by 1e-10.
    max_iterations : int
        Give up after so many steps of EM, rounded up to a multiple of 3.

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
    """Raise an InputError unless EM can stop by them."""
    check_number("tolerance", tolerance, 0, 1, "give a number from 0 to 1, as in 1e-13")
    check_whole_number("max_iterations", max_iterations, 1)


def _extrapolate(start: Floats, first: Floats, second: Floats, rows: Integers) -> Floats:
    """Go on in the direction of two steps, as far as they tell."""
    log_start, log_first, log_second = (
        np.log(np.maximum(point, ZERO)) for point in (start, first, second)
    )
    pace, bend = log_first - log_start, log_second - 2 * log_first + log_start
    # Sums of products, since a product of vectors would go to several threads, which takes longer.
    turn = float((second * bend**2).sum())
    size = 1.0 if turn == 0 else max(1.0, float(np.sqrt((second * pace**2).sum() / turn)))
    far = log_start + 2 * size * pace + size**2 * bend
    # A parameter that is settling sooner than the others would be thrown back.
    falling = log_second < log_first
    far = np.where(falling, np.minimum(far, log_second), np.maximum(far, log_second))
    far = np.where(second > ZERO, np.exp(np.clip(far, np.log(ZERO), 0.0)), second)
    return _normalise(far, rows)


def _perturb(point: Floats, growing: Booleans, rows: Integers) -> Floats:
    """Raise probabilities that grow to their square root."""
    return _normalise(np.where(growing, np.maximum(np.sqrt(point), RAISED), point), rows)


def _normalise(point: Floats, rows: Integers) -> Floats:
    return np.asarray(point / np.bincount(rows, point)[rows])
