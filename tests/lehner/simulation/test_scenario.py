"""A scenario is checked, knows its violations, and its parameters are what it says."""

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import numpy as np
import pytest

from lehner import InputError, Scenario, draw_true_parameters
from lehner.simulation.scenario import draw_parameters

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
