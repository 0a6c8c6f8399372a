"""The maximum of the t-a-p likelihood, by EM or directly, from several starts; its curvature."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.seeds import Seed, generator
from lehner.latent_class.accelerated_em import MAX_ITERATIONS, TOLERANCE, accelerated_em
from lehner.latent_class.tap.likelihood import (
    GroupVotes,
    em_step,
    gradient,
    information,
    log_likelihood,
)

SAME_MAXIMUM = 1e-4
BOUNDARY = 1e-6
SINGULAR = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Maximum:
    """The point where a search ended.

    Parameters
    ----------
    x : ndarray
        The parameters, see `tap_likelihood`.
    log_likelihood : float
    converged : bool
    iterations : int
        Steps of EM, or iterations of the optimiser.
    reached_from : int
        Number of starts that reached this maximum.
    """

    x: Floats
    log_likelihood: float
    converged: bool
    iterations: int
    reached_from: int = 1


def starting_points(data: GroupVotes, n: int, seed: Seed) -> list[Floats]:
    """Start with knowledge .5 and the frequencies of ratings as guesses, then at random."""
    rng = generator(seed)
    totals = data.totals() + 1.0
    points = []
    for number in range(n):
        base_rates, guesses = totals.sum(axis=0), totals
        knowledge = np.full(data.n_groups, 0.5)
        if number > 0:
            base_rates = rng.dirichlet(np.ones(data.n_categories))
            guesses = rng.dirichlet(np.ones(data.n_categories), data.n_groups)
            knowledge = rng.uniform(0.1, 0.9, data.n_groups)
        guesses = guesses / guesses.sum(axis=1, keepdims=True)
        mixture = np.column_stack([knowledge, (1 - knowledge)[:, None] * guesses])
        points.append(np.concatenate([base_rates / base_rates.sum(), mixture.ravel()]))
    return points


def by_em(
    data: GroupVotes,
    start: Floats,
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> Maximum:
    """Maximise the likelihood by expectation-maximisation."""
    climb = accelerated_em(
        lambda x: em_step(data, x),
        start,
        data.rows(),
        tolerance=tolerance,
        max_iterations=max_iterations,
    )
    value = log_likelihood(data, climb.point)
    return Maximum(
        x=climb.point, log_likelihood=value, converged=climb.converged, iterations=climb.steps
    )


def _by_optimiser(data: GroupVotes, start: Floats) -> Maximum:
    """Maximise the likelihood by a quasi-Newton method over log odds, with its gradient."""
    from scipy.optimize import minimize
    from scipy.special import softmax

    blocks = list(data.blocks())

    def point(logits: Floats) -> Floats:
        return np.concatenate([softmax(logits[block]) for block in blocks])

    def negative(logits: Floats) -> tuple[float, Floats]:
        x = point(logits)
        slope, value = gradient(data, x)
        for block in blocks:
            slope[block] = x[block] * (slope[block] - x[block] @ slope[block])
        return -value / scale, -slope / scale

    scale = max(float(data.weights.sum()), 1.0)
    options = {"maxiter": 5000, "maxfun": 10_000, "ftol": 1e-16, "gtol": 1e-9}
    logits = np.log(np.maximum(start, 1e-12))
    optimum = minimize(negative, logits, jac=True, method="L-BFGS-B", options=options)
    return Maximum(
        x=point(optimum.x),
        log_likelihood=-float(optimum.fun) * scale,
        # The optimiser also stops if, because of rounding, it finds no better point along the line.
        converged=bool(np.abs(optimum.jac).max() < 1e-6),
        iterations=int(optimum.nit),
    )


ALGORITHMS = ("em", "direct")


def search(
    data: GroupVotes,
    algorithm: str,
    starts: int,
    seed: Seed,
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> Maximum:
    """Give the highest of the maxima reached from several starts.

    Parameters
    ----------
    data : GroupVotes
    algorithm : {"em", "direct"}
    starts : int
        Number of starts. The first is always the same, the others are random.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
    tolerance, max_iterations
        Options of EM.

    Returns
    -------
    Maximum
    """
    by_steps = partial(by_em, tolerance=tolerance, max_iterations=max_iterations)
    climb = by_steps if algorithm == "em" else _by_optimiser
    maxima = [climb(data, point) for point in starting_points(data, starts, seed)]
    best = max(maxima, key=lambda maximum: maximum.log_likelihood)
    as_high = sum(best.log_likelihood - one.log_likelihood < SAME_MAXIMUM for one in maxima)
    return replace(best, reached_from=as_high)


def independent_log_likelihood(data: GroupVotes) -> float:
    """Give the likelihood if ratings of a group had the same distribution for all items."""
    totals = data.totals()
    shares = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1.0)
    return float((totals * np.log(np.where(totals > 0, shares, 1.0))).sum())


def curvature(data: GroupVotes, x: Floats) -> tuple[Floats, Floats]:
    """Compute how well the parameters are determined at a maximum.

    Probabilities within 1e-6 of 0 are treated as fixed.

    Parameters
    ----------
    data : GroupVotes
    x : ndarray, shape (n_coordinates,)

    Returns
    -------
    root : ndarray, shape (n_coordinates, n_determined)
        A matrix whose product with its transpose is the covariance of the estimates.
    flat : ndarray, shape (n_coordinates, n_undetermined)
        Directions in which the likelihood does not change.
    """
    columns = []
    for block in data.blocks():
        free = block.start + np.flatnonzero(x[block] > BOUNDARY)
        reference = block.start + int(np.argmax(x[block]))
        for i in free[free != reference]:
            column = np.zeros(len(x))
            column[i], column[reference] = 1.0, -1.0
            columns.append(column)
    directions = np.array(columns).reshape(-1, len(x)).T
    matrix = information(data, x, directions)
    diagonal = np.diagonal(matrix)
    scale = 1 / np.sqrt(np.where(diagonal > SINGULAR, diagonal, 1.0))
    values, vectors = np.linalg.eigh(matrix * scale * scale[:, None])
    vectors = directions @ (scale[:, None] * vectors)
    determined = values > SINGULAR * max(float(values.max(initial=0.0)), 1.0)
    return vectors[:, determined] / np.sqrt(values[determined]), vectors[:, ~determined]
