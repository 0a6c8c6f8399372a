"""Expectation-maximisation with extrapolation, for any parameters that are probabilities."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lehner.core.arrays import TINY, Booleans, Floats, Integers

type Step = Callable[[Floats], tuple[Floats, Floats]]

SLACK = 0.1
"""By how much an extrapolation may lower the log-likelihood, which later steps increase again."""
GROWTH_STEPS = 5
"""Once in so many cycles a perturbation replaces the extrapolation."""
RISE = 1.001
"""A probability near 0 that grows by more in a step will leave 0, however slowly."""
SMALL, RAISED = 1e-3, 1e-6
"""Probabilities below the first are near 0; a perturbation raises them to the second or more."""
ZERO = 1e-100
"""A probability below it counts as 0, such as that of a category never used, and stays there."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """How a search for a maximum proceeds, and when it ends.

    Parameters
    ----------
    tolerance : float
        The search ends when a step of EM increases the log-likelihood by less than this proportion
        of its size, 0 to 1.
    standing_still : float
        It also ends when a step changes no parameter by so much.
    max_iterations : int
        Greatest number of steps of EM, rounded up to a multiple of 3.
    far : bool
        Whether the start may be far from the maximum. Extrapolations may then lower the
        log-likelihood a little, which makes the search faster, and saddles are left.
    """

    tolerance: float = 1e-13
    standing_still: float = 1e-10
    max_iterations: int = 20_000
    far: bool = True


FROM_FAR = Search()


class Found(NamedTuple):
    """Where runs ended, (n_parameters, n_runs), at a maximum or not, after how many steps of EM."""

    points: Floats
    converged: Booleans
    steps: Integers


def accelerated_em(
    step_of: Callable[[Integers], Step],
    start: Floats,
    distribution: Integers,
    search: Search = FROM_FAR,
) -> Found:
    """Alternate two steps of EM and an extrapolation, until the log-likelihood no longer increases.

    The extrapolation is SQUAREM (Varadhan & Roland 2008) of the logarithms of the probabilities, so
    that it never leaves the simplex. If a run would end below an earlier point, it continues from
    that point.

    At a saddle of the likelihood the steps become tiny, while a probability near 0 grows for
    thousands of steps. A perturbation raises such probabilities at once, and is kept if it
    increases the log-likelihood. A run from far ends only if no perturbation does.

    Parameters
    ----------
    step_of : callable
        A function of the indices of the runs that have not ended, which gives their step of EM: a
        function that takes points, shape (n_parameters, n_runs), and returns the next points and
        the log-likelihoods before the step.
    start : ndarray, shape (n_parameters, n_runs)
    distribution : ndarray of int, shape (n_parameters,)
        Index of the distribution to which each parameter belongs; its parameters sum to 1.
    search : Search

    Returns
    -------
    Found

    References
    ----------
    Varadhan & Roland (2008), Simple and globally convergent methods for accelerating the
    convergence of any EM algorithm, Scandinavian Journal of Statistics 35, 335-353.

    Examples
    --------
    >>> import numpy as np
    >>> def step(x):  # EM for the proportions of two classes, a rating
    ...     joint = x[:, 0] * [[0.9, 0.2], [0.1, 0.8]]
    ...     classes = joint / joint.sum(axis=1, keepdims=True)
    ...     log_likelihood = [0.75, 0.25] @ np.log(joint.sum(axis=1))
    ...     return ([0.75, 0.25] @ classes)[:, None], np.array([log_likelihood])
    >>> found = accelerated_em(lambda runs: step, np.full((2, 1), 0.5), np.zeros(2, int))
    >>> found.points[:, 0].round(3)
    array([0.786, 0.214])
    """
    n_runs, steps = start.shape[1], 0
    found = Found(start.copy(), np.zeros(n_runs, dtype=bool), np.zeros(n_runs, dtype=np.int64))
    runs = np.arange(n_runs)
    step, current, best = step_of(runs), start, start
    highest, slack = np.full(n_runs, -np.inf), np.full(n_runs, SLACK if search.far else 0.0)
    while steps < search.max_iterations:
        first, before = step(current)
        second, after = step(first)
        steps += 3
        best = np.where(after > highest, first, best)
        highest = np.maximum(after, highest)
        least_gain = search.tolerance * np.abs(after)
        still = np.abs(second - first).max(axis=0) < search.standing_still
        still |= after - before < least_gain
        back = still & (slack > 0) & (after < highest - least_gain)
        growing = _growing(first, second) & search.far & ~back
        if steps % (3 * GROWTH_STEPS):
            growing &= still
        raised = growing.any(axis=0)
        ended = still & ~back & ~raised
        if not ended.all():
            trial = _extrapolate(current, first, second, distribution, damped=search.far)
            if raised.any():
                trial = np.where(raised, _perturb(second, growing, distribution), trial)
            landed, reached = step(trial)
            higher = reached >= np.where(raised, after + least_gain, highest - slack)
            ended |= still & raised & ~higher
            current = np.where(back, best, np.where(higher, landed, second))
            slack = np.where(back, 0.0, slack)
        if ended.any():
            over, left = runs[ended], ~ended
            found.points[:, over], found.converged[over] = second[:, ended], True
            found.steps[over] = steps
            if not left.any():
                return found
            runs, current, best = runs[left], current[:, left], best[:, left]
            highest, slack, step = highest[left], slack[left], step_of(runs)
    found.points[:, runs], found.steps[runs] = best if search.far else current, steps
    return found


def _growing(first: Floats, second: Floats) -> Booleans:
    return (second > RISE * first) & (first > ZERO) & (second < SMALL)


def _extrapolate(
    start: Floats, first: Floats, second: Floats, distribution: Integers, *, damped: bool
) -> Floats:
    """Extrapolate in the direction of two steps, by the length that they suggest."""
    log_start, log_first, log_second = (
        np.log(np.maximum(point, ZERO)) for point in (start, first, second)
    )
    pace, bend = log_first - log_start, log_second - 2 * log_first + log_start
    turn, length = _sum_parameters(second * bend**2), _sum_parameters(second * pace**2)
    ratio = np.divide(length, turn, out=np.ones_like(turn), where=turn > TINY)
    size = np.maximum(1.0, np.sqrt(ratio))
    far = log_start + 2 * size * pace + size**2 * bend
    if damped:
        # A parameter that converges earlier than the others would be moved away again.
        falling = log_second < log_first
        far = np.where(falling, np.minimum(far, log_second), np.maximum(far, log_second))
    far = np.where(second > ZERO, np.exp(np.clip(far, np.log(ZERO), 0.0)), second)
    return _normalise(far, distribution)


def _perturb(points: Floats, growing: Booleans, distribution: Integers) -> Floats:
    """Raise growing probabilities to their square root."""
    raised = np.where(growing, np.maximum(np.sqrt(points), RAISED), points)
    return _normalise(raised, distribution)


def _sum_parameters(values: Floats) -> Floats:
    # Contiguous sums are the same for a run alone and among others. A product of vectors would use
    # several threads, which takes longer.
    return np.asarray(np.ascontiguousarray(values.T).sum(axis=1))


def _normalise(points: Floats, distribution: Integers) -> Floats:
    n_runs = points.shape[1]
    cell = distribution[:, None] * n_runs + np.arange(n_runs)
    sums = np.bincount(cell.ravel(), points.ravel()).reshape(-1, n_runs)
    return np.asarray(points / sums[distribution])
