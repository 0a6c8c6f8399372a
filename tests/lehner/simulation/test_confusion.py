"""Confusion matrices follow the paper's five steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lehner.simulation.scenario import add_easiness, disperse, normalise, scale_to_mean, vary_errors
from tests.reference.loop import matrix

pytestmark = pytest.mark.filterwarnings("error")
shares = st.integers(2, 6).flatmap(
    lambda k: st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any)
)
probabilities = st.floats(0, 1) | st.sampled_from([0.0, 1.0])


def make_matrices(accuracy, easiness, dispersion, error_range, base_rates, draws=1, seed=1):
    """Make confusion matrices by the paper's five steps."""
    reached = add_easiness(np.full(draws, accuracy), easiness)
    initial = disperse(reached, len(base_rates), dispersion)
    noise = np.random.default_rng(seed).uniform(-1, 1, initial.shape)
    return normalise(vary_errors(initial, error_range, noise), reached, np.asarray(base_rates))


@given(
    weights=shares,
    accuracy=probabilities,
    difficulty=st.floats(-1, 1),
    dispersion=st.floats(0.3, 4),
    error_range=probabilities,
    seed=st.integers(0, 99),
)
def test_rows_are_probabilities_and_the_expected_accuracy_is_reached(
    weights, accuracy, difficulty, dispersion, error_range, seed
):
    base_rates = np.array(weights) / sum(weights)
    matrices = make_matrices(
        accuracy, difficulty, dispersion, error_range, base_rates, draws=20, seed=seed
    )
    assert (matrices >= 0).all() and (matrices <= 1 + 1e-12).all()
    np.testing.assert_allclose(matrices.sum(axis=2), 1, atol=1e-9)
    expected = np.diagonal(matrices, axis1=1, axis2=2) @ base_rates
    reached = min(1.0, max(0.0, accuracy + difficulty))
    np.testing.assert_allclose(expected, reached, atol=1e-9)


@given(accuracy=st.floats(0.02, 0.98), dispersion=st.floats(1, 3), seed=st.integers(0, 10_000))
def test_the_default_is_the_slow_loop_given_the_same_noise(accuracy, dispersion, seed):
    from lehner import Scenario

    rng = np.random.default_rng(seed)
    base_rates = rng.dirichlet(np.ones(5))
    noise = rng.uniform(-1, 1, (5, 5))

    class SameNoise:
        def uniform(self, low, high):
            return (low + high) / 2 + noise * (high - low) / 2

    scenario = Scenario(asymmetric_dispersion=dispersion, proportional_error_range=1)
    slow = matrix(accuracy, 0, scenario, base_rates, SameNoise())
    initial = disperse(accuracy, 5, dispersion)
    fast = normalise(vary_errors(initial, 1.0, noise), accuracy, base_rates)
    np.testing.assert_allclose(fast, slow, atol=1e-9)


def test_errors_stay_within_their_range():
    """Before normalisation each error is within 1 ± PER of its value."""
    rng = np.random.default_rng(2)
    initial = disperse(0.4, 5, 2.0)
    varied = vary_errors(initial, 0.5, rng.uniform(-1, 1, (1000, 5, 5)))
    off = ~np.eye(5, dtype=bool)
    ratio = (varied / initial)[:, off]
    assert ratio.min() >= 0.5 and ratio.max() <= 1.5
    assert ratio.mean() == pytest.approx(1, abs=0.01)
    np.testing.assert_array_equal((varied / initial)[:, ~off], 1)


@given(
    pairs=st.lists(st.tuples(st.floats(0, 2), st.integers(0, 9)), min_size=2, max_size=6),
    mean=st.floats(0.01, 0.99),
)
def test_scaling_to_a_mean_is_what_bisection_finds(pairs, mean):
    values = np.array([value for value, _ in pairs])
    weights = np.array([weight for _, weight in pairs], dtype=float)
    values[values < 1e-6] = 0
    if not (values * weights).any() or weights[values > 0].sum() / weights.sum() <= mean:
        return
    weights /= weights.sum()
    low, high = 0.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        reached = weights @ np.minimum(middle * values, 1)
        low, high = (middle, high) if reached < mean else (low, middle)
    result = scale_to_mean(values, mean, weights)
    np.testing.assert_allclose(result, np.minimum(low * values, 1), atol=1e-6)


def test_difficulty_is_clipped():
    assert add_easiness(0.1, -0.2) == 0
    assert add_easiness([0.9, 0.5], 0.2).tolist() == [1.0, 0.7]
