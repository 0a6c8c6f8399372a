"""Confusion matrices follow the paper's five steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lehner import InputError, confusion_matrix
from lehner.simulation.parameters import (
    NORMALIZATIONS,
    disperse,
    normalise,
    reached_accuracy,
    scale_to_mean,
    vary_errors,
)
from tests.reference.loop import matrix

pytestmark = pytest.mark.filterwarnings("error")
some = settings(max_examples=25, deadline=None)
each_normalization = pytest.mark.parametrize("normalization", NORMALIZATIONS)
shares = st.integers(2, 6).flatmap(
    lambda k: st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any)
)
probabilities = st.floats(0, 1) | st.sampled_from([0.0, 1.0])


def test_table_5():
    expected = np.full((5, 5), 0.1) + 0.5 * np.eye(5)
    np.testing.assert_allclose(confusion_matrix(0.6), expected, atol=1e-15)


def test_table_6_to_the_printed_digit():
    printed = [
        [0.400, 0.320, 0.160, 0.080, 0.040],
        [0.218, 0.400, 0.218, 0.109, 0.055],
        [0.100, 0.200, 0.400, 0.200, 0.100],
        [0.055, 0.109, 0.218, 0.400, 0.218],
        [0.040, 0.080, 0.160, 0.320, 0.400],
    ]
    np.testing.assert_array_equal(confusion_matrix(0.6, -0.2, 2).values.round(3), printed)


@each_normalization
@some
@given(
    weights=shares,
    accuracy=probabilities,
    difficulty=st.floats(-1, 1),
    dispersion=st.floats(0.3, 4),
    error_range=probabilities,
    seed=st.integers(0, 99),
)
def test_rows_are_probabilities_and_the_expected_accuracy_is_reached(
    normalization, weights, accuracy, difficulty, dispersion, error_range, seed
):
    base_rates = np.array(weights) / sum(weights)
    matrices = confusion_matrix(
        accuracy,
        difficulty,
        dispersion,
        error_range,
        n_categories=len(weights),
        base_rates=base_rates,
        normalization=normalization,
        draws=20,
        seed=seed,
    ).values
    assert (matrices >= 0).all() and (matrices <= 1 + 1e-12).all()
    np.testing.assert_allclose(matrices.sum(axis=2), 1, atol=1e-9)
    if normalization != "rows":
        expected = np.diagonal(matrices, axis1=1, axis2=2) @ base_rates
        reached = min(1.0, max(0.0, accuracy + difficulty))
        np.testing.assert_allclose(expected, reached, atol=1e-9)


@some
@given(
    accuracy=st.floats(0.02, 0.98),
    dispersion=st.floats(1, 3),
    seed=st.integers(0, 10_000),
)
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
    fast = normalise(vary_errors(initial, 1.0, noise), accuracy, base_rates, "expected")
    np.testing.assert_allclose(fast, slow, atol=1e-9)


def test_scaled_errors_keep_the_proportions_of_all_errors():
    rng = np.random.default_rng(1)
    varied = vary_errors(disperse(0.6, 5, 2.0), 1.0, rng.uniform(-1, 1, (5, 5)))
    result = normalise(varied, 0.6, np.full(5, 0.2), "scaled_errors")
    off = ~np.eye(5, dtype=bool)
    assert np.ptp(result[off] / varied[off]) < 1e-12


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


@some
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
    assert reached_accuracy(0.1, -0.2) == 0
    assert reached_accuracy([0.9, 0.5], 0.2).tolist() == [1.0, 0.7]


def test_draws_are_labelled_and_reproducible():
    one = confusion_matrix(0.6, 0, 2, 1, draws=3, seed=4)
    assert one.dims == ("draw", "category", "response")
    assert one.equals(confusion_matrix(0.6, 0, 2, 1, draws=3, seed=4))
    assert not one.equals(confusion_matrix(0.6, 0, 2, 1, draws=3, seed=5))
    assert confusion_matrix(0.6, n_categories=30).category.values[[0, 29]].tolist() == [1, 30]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"accuracy": 2}, "accuracy is 2; give a number between 0 and 1"),
        ({"accuracy": float("nan")}, "accuracy is nan"),
        ({"accuracy": "x"}, "accuracy is 'x'"),
        ({"easiness": float("inf")}, "easiness is inf"),
        ({"asymmetric_dispersion": 0}, "asymmetric_dispersion is 0"),
        ({"proportional_error_range": 2}, "proportional_error_range is 2"),
        ({"n_categories": 1}, "n_categories is 1"),
        ({"base_rates": [0.5, 0.5]}, "give 5 numbers, 0 or more, that sum to 1"),
        ({"base_rates": [0.5] * 5}, "that sum to 1"),
        ({"base_rates": "equal"}, "base_rates is 'equal'"),
        ({"draws": 0}, "draws is 0"),
        ({"seed": "x"}, "seed is 'x'"),
        ({"seed": -1}, "seed is -1"),
        ({"normalization": "z"}, "choose among expected, scaled_errors, rows"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        confusion_matrix(**({"accuracy": 0.5} | arguments))
