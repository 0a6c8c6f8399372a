"""Population values are what methods estimate from ever larger samples."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from lehner import InputError, Scenario, population_value, simulate_estimates
from lehner.algebra.algebraic import VOTE_METHODS
from lehner.core.arrays import derive_seeds
from lehner.latent_class.em import LIKELIHOOD_METHODS, LatentClasses
from lehner.simulation import draw
from lehner.simulation.scenario import draw_parameters

SKEWED = (0.30, 0.25, 0.20, 0.15, 0.10)
LEVELS = (-0.2, 0, 0.2)
LOW = {"initial_rater_accuracy": (0.3, 0.4, 0.5), "easiness": LEVELS, "asymmetric_dispersion": 2}
MIDDLE = {**LOW, "initial_rater_accuracy": (0.5, 0.6, 0.7)}
HIGH = {**LOW, "initial_rater_accuracy": (0.7, 0.8, 0.9)}


def random_scenario(rng):
    """A scenario of any kind, with agreement well above chance."""
    k = int(rng.integers(2, 6))
    n_raters = int(rng.integers(2, 5 if k < 5 else 4))
    return Scenario(
        n_categories=k,
        initial_rater_accuracy=tuple(rng.uniform(max(0.45, 1.4 / k), 0.95, n_raters)),
        initial_system_accuracy=rng.uniform(0.05, 0.95),
        easiness=LEVELS if rng.random() < 0.5 else (0,),
        easiness_affects=rng.choice(["both", "raters", "system"]),
        asymmetric_dispersion=rng.choice([1.0, 1.5, 2.0]),
        proportional_error_range=rng.choice([0.0, 0.5]),
        errors_affect=rng.choice(["both", "raters"]),
        base_rates=tuple(rng.dirichlet(np.full(k, 5.0))),
        missing=rng.choice([0.0, 0.2]),
        copying=rng.choice([0, 1]) * np.append(0, rng.uniform(0, 0.4, n_raters - 1)),
        misleading=rng.choice([0.0, 0.1]),
    )


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (0.1, 0.5, 0.9)),
        ({"initial_rater_accuracy": (0.4, 0.6, 0.8)}, (0.09493, 0.51522, 0.93490)),
        ({"easiness": LEVELS}, (0.15892, 0.50146, 0.83014)),
        ({"asymmetric_dispersion": 2}, (0.18349, 0.49715, 0.81082)),
        (LOW, (0.34196, 0.47527, 0.57736)),
        (MIDDLE, (0.24755, 0.53345, 0.79660)),
        (HIGH, (0.16034, 0.50706, 0.84100)),
    ],
)
def test_the_algebra_has_the_values_of_an_independent_program(changes, expected):
    """Computed by a prototype that shares no code with this one."""
    values = [
        population_value(
            Scenario(initial_system_accuracy=s, base_rates=SKEWED, **changes), "algebraic_paper"
        ).estimate
        for s in (0.1, 0.5, 0.9)
    ]
    np.testing.assert_allclose(values, expected, atol=6e-6)


def test_the_majority_has_the_value_of_an_independent_program():
    scenario = Scenario(base_rates=SKEWED)
    assert population_value(scenario, "majority_agreement").estimate == pytest.approx(0.655)


@pytest.mark.parametrize("method", draw.POPULATION_METHODS)
def test_without_violations_every_method_that_models_errors_is_unbiased(method):
    for n_categories, accuracy in ((2, 0.7), (3, 0.5), (5, 0.4)):
        rates = np.arange(2.0, 2 + n_categories)
        scenario = Scenario(
            n_categories=n_categories,
            initial_rater_accuracy=(accuracy,) * 3,
            initial_system_accuracy=0.85,
            base_rates=tuple(rates / rates.sum()),
        )
        value = population_value(scenario, method)
        assert value.standard_error == 0
        if method == "majority_agreement":
            assert value.bias < -0.05
        else:
            assert value.bias == pytest.approx(0, abs=1e-6)


def test_a_model_with_free_errors_is_unbiased_where_raters_differ_and_errors_are_unequal():
    scenario = Scenario(
        n_categories=3,
        initial_rater_accuracy=(0.5, 0.7, 0.8),
        asymmetric_dispersion=3,
        base_rates=(0.5, 0.3, 0.2),
    )
    assert population_value(scenario, "dawid_skene_ml").bias == pytest.approx(0, abs=1e-6)
    assert abs(population_value(scenario, "one_coin_ml").bias) > 0.005
    assert abs(population_value(scenario).bias) > 0.005


# Of the other scenarios each takes seconds.
OF_FEW_PATTERNS = {0, 2, 6, 10, 11, 13, 14, 15, 16, 19}


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, marks=() if seed in OF_FEW_PATTERNS else pytest.mark.slow)
        for seed in range(50)
    ],
)
def test_means_of_large_samples_agree(seed):
    scenario = random_scenario(np.random.default_rng([1, seed]))
    large = replace(scenario, n_items=200_000)
    # Each sample has its own errors where PER > 0: as many for both, and the same mean.
    samples = simulate_estimates(large, 500, methods=tuple(VOTE_METHODS), in_sample=False, seed=2)
    for method in VOTE_METHODS:
        value = population_value(scenario, method, replicates=4000, seed=3)
        bias = (samples[method] - samples.system_accuracy).values
        error = np.hypot(bias.std() / np.sqrt(len(bias)), value.standard_error)
        assert abs(bias.mean() - value.bias) < 4 * error + 1e-5, method


def means_of_likelihood_agree(scenario, n_items, seed):
    rng = np.random.default_rng(seed)
    drawn = draw_parameters(scenario, 1, rng)
    k = scenario.n_categories
    codes = draw.list_patterns(scenario.n_raters, k, missing=scenario.missing > 0)
    codes = np.column_stack([np.tile(codes, (k, 1)), np.repeat(range(k), len(codes))])
    probability = draw.list_probabilities(scenario, drawn, by_rater=True)[0].ravel()
    truth = LatentClasses(
        base_rates=drawn.base_rates[0],
        confusion=np.tensordot(scenario.level_probabilities, drawn.confusion[0], 1),
    )
    samples = rng.multinomial(n_items, probability / probability.sum(), size=8)
    for method, model in LIKELIHOOD_METHODS.items():
        value = population_value(scenario, method)
        estimates = np.array(
            [draw.find_pseudo_true_accuracy(codes, w.astype(float), truth, model) for w in samples]
        )
        error = estimates.std(ddof=1) / np.sqrt(len(estimates))
        # Eight samples: their spread is itself uncertain (t with 7 degrees of freedom).
        assert abs(estimates.mean() - value.estimate) < 6 * error + 1e-5, (method, scenario)


# Scenarios 3 and 22 have so many patterns that each takes minutes.
@pytest.mark.parametrize(
    "seed",
    [1, *(pytest.param(s, marks=pytest.mark.slow) for s in (0, 2, *range(4, 22), *range(23, 50)))],
)
def test_likelihood_means_of_large_samples_agree(seed):
    scenario = random_scenario(np.random.default_rng([2, seed]))
    means_of_likelihood_agree(replace(scenario, proportional_error_range=0.0), 200_000, seed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_categories", "n_raters", "missing"),
    [(2, 2, 0), (2, 4, 0), (2, 3, 0.3), (3, 3, 0), (3, 2, 0.3)],
)
def test_likelihood_means_of_a_million_items_agree_where_raters_are_tied(
    n_categories, n_raters, missing
):
    scenario = Scenario(
        n_categories=n_categories,
        initial_rater_accuracy=(0.7,) * n_raters,
        base_rates="equal",
        missing=missing,
    )
    means_of_likelihood_agree(scenario, 1_000_000, seed=1)


def test_replicates_average_random_base_rates_and_errors():
    scenario = Scenario(**MIDDLE, proportional_error_range=1)
    value = population_value(scenario, replicates=2000)
    assert 0 < value.standard_error < 0.01
    assert value.system_accuracy == pytest.approx(0.9 - 0.1 / 3)
    one_by_one = [
        population_value(scenario, replicates=1, seed=child).bias for child in derive_seeds(5, 300)
    ]
    error = np.hypot(np.std(one_by_one) / np.sqrt(300), value.standard_error)
    assert abs(np.mean(one_by_one) - value.bias) < 4 * error


@pytest.mark.parametrize(("base_rates", "error"), [("equal", 0), ("dirichlet", None)])
def test_at_chance_there_is_no_value(base_rates, error):
    chance = Scenario(initial_rater_accuracy=(0.2, 0.2, 0.2), base_rates=base_rates)
    value = population_value(chance, replicates=5)
    assert value.estimate is None and value.bias is None
    assert (value.undefined, value.standard_error) == (1, error)


def test_too_many_patterns_are_refused():
    scenario = Scenario(n_categories=8, initial_rater_accuracy=(0.6,) * 9)
    with pytest.raises(InputError, match="ways, more than 10,000,000; take fewer"):
        population_value(scenario)


def test_one_draw_has_no_standard_error():
    drawn = population_value(Scenario(proportional_error_range=1), replicates=1)
    assert drawn.bias is not None and drawn.standard_error is None


def test_methods_that_need_only_votes_enumerate_no_patterns():
    scenario = Scenario(
        initial_rater_accuracy=(0.6,) * 7, proportional_error_range=0.7, base_rates=SKEWED
    )
    tracemalloc.start()
    value = population_value(scenario, replicates=12)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert value.bias == pytest.approx(0, abs=0.05)
    # In 12 replicates a number for each of 390,625 patterns takes 37 MB, of 1,650 votes 0.2.
    assert peak < 15e6


def test_bad_arguments_are_refused():
    with pytest.raises(InputError, match="'relaxed_k'"):
        population_value(Scenario(), "relaxed_k")
    with pytest.raises(InputError, match="'dawid_skene'; choose dawid_skene_ml: the Bayesian"):
        population_value(Scenario(), "dawid_skene")
    with pytest.raises(InputError, match="replicates is 0"):
        population_value(Scenario(), replicates=0)
