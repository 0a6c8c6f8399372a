"""The paper's simulation, one replicate at a time and item by item, written from the paper alone.

It shares no code with the package: the peer of the benchmarks, and an oracle of the tests. Step 4
is the paper's, in bins.
"""

from typing import Any

import numpy as np

from lehner import Scenario

type Array = np.ndarray[Any, Any]


def simulate_and_estimate(scenario: Scenario, rng: np.random.Generator) -> tuple[float, float]:
    """Draw one sample and estimate the system's accuracy: (estimate, share right)."""
    base, matrices = draw_matrices(scenario, rng)
    ratings, system, truth = _draw_items(scenario, base, matrices, rng)
    return estimate(ratings, system, scenario.n_categories), float(np.mean(system == truth))


def draw_matrices(scenario: Scenario, rng: np.random.Generator) -> tuple[Array, list[list[Array]]]:
    """Draw flat Dirichlet base rates, and a matrix for each level and each rater or system."""
    K = scenario.n_categories
    base = rng.dirichlet(np.ones(K))
    accuracies = [*scenario.initial_rater_accuracy, scenario.initial_system_accuracy]
    return base, [
        [matrix(ipc, pda, scenario, base, rng) for ipc in accuracies] for pda in scenario.easiness
    ]


def matrix(
    ipc: float, pda: float, scenario: Scenario, base: Array, rng: np.random.Generator
) -> Array:
    """Take steps 1-5, step 5 as "expected"."""
    K = scenario.n_categories
    accuracy = min(1.0, max(0.0, ipc + pda))
    distance = np.abs(np.subtract.outer(np.arange(K), np.arange(K)))
    weight = np.where(distance > 0, float(scenario.asymmetric_dispersion) ** -distance, 0)
    errors = (1 - accuracy) * weight / weight.sum(axis=1, keepdims=True)
    PER = scenario.proportional_error_range
    if PER == 0 or accuracy == 1:
        return errors + accuracy * np.eye(K)
    errors = rng.uniform(errors - PER * errors, errors + PER * errors)
    diagonal = accuracy / (accuracy + errors.sum(axis=1))
    factor = accuracy / max(float(base @ diagonal), 1e-300)
    for _ in range(K):  # diagonals that would exceed 1 stay at 1, and the others make up for it
        full = factor * diagonal >= 1
        if accuracy > 0 and not full.all():
            factor = (accuracy - base[full].sum()) / (base[~full] @ diagonal[~full])
    diagonal = np.minimum(factor * diagonal, 1.0)
    return errors * ((1 - diagonal) / errors.sum(axis=1))[:, None] + np.diag(diagonal)


def _draw_items(
    scenario: Scenario, base: Array, matrices: list[list[Array]], rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Draw ratings (item, rater), system answers and truths."""
    n = scenario.n_items
    truth = rng.choice(len(base), size=n, p=base)
    level = rng.integers(len(matrices), size=n)
    cumulative: Array = np.cumsum(np.array(matrices), axis=-1)[level, :, truth]
    answers = (rng.random((*cumulative.shape[:2], 1)) > cumulative).sum(axis=-1)
    answers = np.minimum(answers, len(base) - 1)
    return answers[:, :-1], answers[:, -1], truth


def estimate(ratings: Array, system: Array, K: int) -> float:
    """Take Lehner's four steps on arrays; NaN where agreement is at or below chance."""
    n, J = ratings.shape
    votes = (ratings[:, :, None] == np.arange(K)).sum(axis=1)
    P_a = (votes * (votes - 1)).sum() / (n * J * (J - 1))
    if P_a <= 1 / K:
        return np.nan
    P_c = 1 / K + np.sqrt(((K - 1) * P_a - (K - 1) / K) / K)
    base = ((K - 1) * votes.sum(axis=0) / (n * J) - 1 + P_c) / (K * P_c - 1)
    base = np.maximum(base, 0)
    base = base / base.sum()
    error = max((1 - P_c) / (K - 1), 1e-300)
    truth = base * (P_c / error) ** (votes - votes.max(axis=1, keepdims=True))
    truth = truth / truth.sum(axis=1, keepdims=True)
    P_g = truth.max(axis=1)
    top = truth >= P_g[:, None] - 1e-9
    agrees = top[np.arange(n), system] / top.sum(axis=1)
    bins = np.ceil(10 * P_g - 1e-9)
    total = weight = 0.0
    for b in np.unique(bins):
        inside = bins == b
        mean = P_g[inside].mean()
        if abs(K * mean - 1) > 1e-9:
            P_s = ((K - 1) * agrees[inside].mean() - 1 + mean) / (K * mean - 1)
            total += inside.sum() * min(1.0, max(0.0, P_s))
            weight += inside.sum()
    return total / weight if weight else np.nan
