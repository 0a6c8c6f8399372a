"""A scenario is checked, knows its violations, and its parameters are what it says."""

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lehner import InputError, Scenario, draw_true_parameters, simulate_estimates
from lehner.simulation.scenario import (
    add_easiness,
    disperse,
    draw_parameters,
    normalise,
    scale_to_mean,
    vary_errors,
)
from tests.reference.loop import matrix

NAN = float("nan")


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("n_categories", [1, 2.0, "5", None, True]),
        ("n_items", [0, -1, 1.5, "3", None]),
        (
            "initial_rater_accuracy",
            [0.6, (), (0.6,), (0.6, 1.1), (0.6, NAN), "ab", ("a", "b"), None],
        ),
        ("initial_system_accuracy", [-0.1, 1.1, NAN, None, "x", True]),
        ("easiness", [(), 0.2, (2.0,), (NAN,), "easy", None]),
        ("easiness_affects", ["all", None, 3]),
        ("asymmetric_dispersion", [0, -1, NAN, float("inf"), "2", None]),
        ("proportional_error_range", [-0.1, 1.5, NAN, None]),
        ("errors_affect", ["all", None]),
        ("base_rates", ["flat", (0.5, 0.5), (0.2,) * 4, (1, 1, 1, 1, -3), None, (NAN,) * 5]),
        ("missing", [-0.1, 1.1, NAN, None]),
        ("copying", [(0.1, 0, 0), (0, 0.5), (0, 2, 0), None, 0.5]),
        ("misleading", [-0.1, 1.1, NAN, None]),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_field(field, values):
    for value in values:
        with pytest.raises(InputError, match=f"^{field} is ") as error:
            Scenario(**{field: value})
        assert len(str(error.value).splitlines()) == 1


def test_lists_and_arrays_become_tuples_and_scenarios_can_be_compared():
    left = Scenario(initial_rater_accuracy=[0.5, 0.6], base_rates=[0.2] * 5, copying=[0, 0.5])
    right = Scenario(initial_rater_accuracy=(0.5, 0.6), base_rates=(0.2,) * 5, copying=(0.0, 0.5))
    assert left == right and hash(left) == hash(right)
    with pytest.raises(FrozenInstanceError):
        left.n_items = 3


def test_scenarios_that_are_equal_say_so_in_the_same_words():
    exact = {
        "n_categories": 2,
        "n_items": 50,
        "initial_system_accuracy": 1.0,
        "easiness": (0.0, 1.0),
        "asymmetric_dispersion": 2.0,
        "proportional_error_range": 1.0,
        "base_rates": (0.0, 1.0),
        "missing": 0.0,
        "copying": (0.0, 1.0, 0.0),
        "misleading": 0.0,
    }
    plain = Scenario(**exact)
    for kind in (int, np.float32, np.int64, Fraction):
        other = {
            name: tuple(map(kind, value)) if isinstance(value, tuple) else kind(value)
            for name, value in exact.items()
        } | {"n_items": np.int64(50), "n_categories": 2}
        assert repr(Scenario(**other)) == repr(plain)
    below = dict.fromkeys(("missing", "misleading"), -0.0) | {"easiness": (-0.0, True)}
    assert repr(Scenario(**(exact | below))) == repr(plain)


def slow_system_accuracy(scenario, true):
    total, k = 0.0, scenario.n_categories
    for g, share in enumerate(true.level_probabilities.values):
        for truth in range(k):
            for seen in range(k):
                misled = scenario.misleading
                p = share * float(true.base_rates[truth])
                p *= 1 - misled if seen == truth else misled / (k - 1)
                total += p * float(true.confusion[g, -1, seen, truth])
    return total


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"misleading": 0.2},
        {"easiness": (-0.4, 0.3, 0.3)},
        {"proportional_error_range": 1.0, "misleading": 0.1},
    ],
)
def test_true_parameters_are_labelled_reproducible_and_add_up(change):
    scenario = Scenario(n_categories=3, **change)
    true = draw_true_parameters(scenario, 3)
    assert true.equals(draw_true_parameters(scenario, 3))
    assert true.confusion.dims == ("level", "rater", "category", "response")
    assert true.rater.values.tolist() == ["Rater 1", "Rater 2", "Rater 3", "system"]
    assert float(true.system_accuracy) == pytest.approx(slow_system_accuracy(scenario, true))
    np.testing.assert_allclose(true.confusion.sum("response"), 1)


def test_preset_accuracies_of_the_paper_come_out_at_its_expected_ones():
    for preset, expected in ((0.1, 0.4 / 3), (0.9, 2.6 / 3)):
        scenario = Scenario(
            initial_system_accuracy=preset, easiness=(-0.2, 0, 0.2), proportional_error_range=1
        )
        assert float(draw_true_parameters(scenario, 1).system_accuracy) == pytest.approx(expected)


def accuracies(scenario):
    drawn = draw_parameters(scenario, 1, np.random.default_rng(1))
    diagonal = np.diagonal(drawn.confusion[0], axis1=-2, axis2=-1)
    return (diagonal * drawn.base_rates[0]).sum(axis=-1)


def test_easiness_affects_whom_it_says():
    scenario = Scenario(easiness=(-0.2, 0.1), initial_system_accuracy=0.6)
    hard, easy, same = 0.4, 0.7, 0.6
    for affects, raters, system in (
        ("both", (hard, easy), (hard, easy)),
        ("raters", (hard, easy), (same, same)),
        ("system", (same, same), (hard, easy)),
    ):
        result = accuracies(replace(scenario, easiness_affects=affects))
        np.testing.assert_allclose(result[:, :3], np.repeat([raters], 3, axis=0).T)
        np.testing.assert_allclose(result[:, 3], system)


def has_equal_errors(matrices):
    k = matrices.shape[-1]
    off = matrices[..., ~np.eye(k, dtype=bool)]
    return np.ptp(off) < 1e-12


def test_errors_are_unequal_for_whom_they_should_be():
    scenario = Scenario(
        asymmetric_dispersion=2, proportional_error_range=1, initial_system_accuracy=0.6
    )
    for affects, raters, system in (
        ("both", False, False),
        ("raters", False, True),
        ("system", True, False),
    ):
        drawn = draw_parameters(
            replace(scenario, errors_affect=affects), 1, np.random.default_rng(1)
        )
        assert has_equal_errors(drawn.confusion[:, :, :-1]) == raters
        assert has_equal_errors(drawn.confusion[:, :, -1]) == system


def test_base_rates_are_drawn_as_named():
    rng = np.random.default_rng(1)
    for name, spread in (("dirichlet", np.sqrt(0.2 * 0.8 / 6)), ("equal", 0.0)):
        rates = draw_parameters(Scenario(base_rates=name), 20_000, rng).base_rates
        np.testing.assert_allclose(rates.sum(axis=1), 1)
        assert rates[:, 0].std() == pytest.approx(spread, abs=0.003)
    drawn = draw_parameters(Scenario(base_rates=(0.5, 0.5, 0, 0, 0)), 3, rng).base_rates
    np.testing.assert_array_equal(drawn, [[0.5, 0.5, 0, 0, 0]] * 3)


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


PAPER = {"easiness": (-0.2, 0, 0.2), "asymmetric_dispersion": 2, "proportional_error_range": 1}


@pytest.mark.parametrize(
    ("raters", "kappa"), [((0.3, 0.4, 0.5), 0.1315), ((0.5, 0.6, 0.7), 0.3024)]
)
def test_simulated_raters_have_the_kappa_of_the_paper(raters, kappa):
    scenario = Scenario(initial_rater_accuracy=raters, **PAPER)
    result = simulate_estimates(scenario, 4000, in_sample=False, seed=5).kappa
    assert abs(float(result.mean()) - kappa) < 0.003
