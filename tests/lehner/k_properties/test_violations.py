"""Fitted violations: the likelihood is that of the simulator, whose parameters come back."""

from dataclasses import replace

import numpy as np
import pytest

from lehner import InputError, Ratings, Scenario, fit_violations, load_dataset, simulate
from lehner.data.votes import pattern_votes
from lehner.simulation.parameters import draw_parameters
from lehner.simulation.pattern_probabilities import pattern_probabilities

RATES = (0.3, 0.25, 0.2, 0.15, 0.1)
VIOLATED = Scenario(
    n_items=300,
    initial_rater_accuracy=(0.45, 0.6, 0.7),
    easiness=(-0.2, 0, 0.2),
    asymmetric_dispersion=2,
    base_rates=RATES,
)
SCENARIOS = {
    "K-properties": replace(
        VIOLATED, initial_rater_accuracy=(0.6,) * 3, easiness=(0,), asymmetric_dispersion=1
    ),
    "unequal raters": replace(VIOLATED, easiness=(0,), asymmetric_dispersion=1),
    "unequal difficulty": replace(
        VIOLATED, initial_rater_accuracy=(0.6,) * 3, asymmetric_dispersion=1
    ),
    "unequal errors": replace(VIOLATED, initial_rater_accuracy=(0.6,) * 3, easiness=(0,)),
    "all": VIOLATED,
}


def law(scenario):
    """The rating patterns of a scenario, and their probabilities by the simulator."""
    parameters = draw_parameters(scenario, 1, np.random.default_rng(0))
    votes = pattern_votes(scenario.n_raters, scenario.n_categories, missing=scenario.missing > 0)
    return votes.codes, pattern_probabilities(scenario, parameters)[0].sum(axis=0)


def expected_ratings(scenario, n_items=10**9):
    """As many of each pattern as expected of ever so many items."""
    codes, probability = law(scenario)
    counts = np.round(probability * n_items).astype(int)
    return Ratings(codes, "ABCDE", counts=counts, ordered=True)


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_parameters_come_back_from_expected_counts(scenario):
    found = fit_violations(expected_ratings(scenario)).scenario
    np.testing.assert_allclose(
        found.initial_rater_accuracy, scenario.initial_rater_accuracy, atol=2e-3
    )
    np.testing.assert_allclose(max(found.easiness), max(scenario.easiness), atol=1e-2)
    assert found.asymmetric_dispersion == pytest.approx(scenario.asymmetric_dispersion, abs=5e-3)
    np.testing.assert_allclose(found.base_rates, RATES, atol=1e-3)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_log_likelihood_is_that_of_the_fitted_scenario(missing):
    ratings = simulate(replace(VIOLATED, missing=missing), 1)
    # Not so far apart that some accuracy is capped.
    found = fit_violations(ratings, difficulty=0.1)
    codes, probability = law(found.scenario)
    place = {tuple(pattern): p for pattern, p in zip(codes, probability, strict=True)}
    log = np.log([place[tuple(pattern)] for pattern in ratings.codes])
    share = found.scenario.missing
    gaps = int((ratings.codes < 0).sum())
    # What is missing says nothing: only the simulator gives it a probability.
    if missing:
        kept = ratings.codes.size - gaps
        log = log.sum() - gaps * np.log(share) - kept * np.log(1 - share)
    assert found.log_likelihood == pytest.approx(np.sum(log), abs=1e-6)


def test_nothing_nearby_is_more_likely():
    ratings = simulate(VIOLATED, 2)
    found = fit_violations(ratings)
    best = found.log_likelihood + 0.5 * np.log(found.scenario.base_rates).sum()
    for difficulty in (found.difficulty - 0.02, found.difficulty + 0.02):
        other = fit_violations(ratings, difficulty=difficulty)
        assert other.difficulty == pytest.approx(difficulty)
        assert other.log_likelihood + 0.5 * np.log(other.scenario.base_rates).sum() < best
    for dispersion in (1.0, 5.0):
        other = fit_violations(ratings, asymmetric_dispersion=dispersion)
        assert other.scenario.asymmetric_dispersion == pytest.approx(dispersion)
        assert other.standard_errors["asymmetric_dispersion"] == 0


@pytest.mark.parametrize("accuracy", [(0.6,) * 3, (0.999,) * 3, (1.0,) * 3, (1.0, 0.8, 0.7)])
def test_to_fit_the_difficulty_makes_the_ratings_no_less_likely(accuracy):
    """Difficulty 0 is one of those it may choose, and the start is far from it."""
    scenario = Scenario(n_items=1000, initial_rater_accuracy=accuracy, base_rates=RATES)
    for seed in range(2):
        ratings = simulate(scenario, seed)
        fits = [fit_violations(ratings, difficulty=known) for known in (None, 0.0, 0.05)]
        free, *known = (
            fit.log_likelihood + 0.5 * np.log(fit.scenario.base_rates).sum() for fit in fits
        )
        assert free > max(known) - 0.02


def test_difficulty_of_equally_difficult_items_is_drawn_near_zero():
    scenario = replace(SCENARIOS["K-properties"], n_items=5000)
    for seed in range(4):
        drawn = fit_violations(simulate(scenario, seed)).draw(2000, np.random.default_rng(1))
        # A third of what the paper calls a violation; as likely none at all as not.
        assert np.quantile(drawn.difficulty, 0.95) < 0.15
        assert (drawn.difficulty == 0).mean() > 0.05


def test_standard_errors_are_the_spread_over_samples():
    scenario = replace(VIOLATED, n_items=1000)
    fits = [fit_violations(simulate(scenario, seed)) for seed in range(30)]
    for value, error in (
        ([fit.difficulty for fit in fits], [fit.standard_errors["difficulty"] for fit in fits]),
        (
            [fit.scenario.asymmetric_dispersion for fit in fits],
            [fit.standard_errors["asymmetric_dispersion"] for fit in fits],
        ),
        (
            [fit.scenario.initial_rater_accuracy[0] for fit in fits],
            [fit.standard_errors["rater_accuracy"][0] for fit in fits],
        ),
    ):
        # A standard deviation of 30 is off by 13%.
        assert np.std(value, ddof=1) == pytest.approx(np.mean(error), rel=0.4)


def test_draws_have_the_standard_errors():
    found = fit_violations(simulate(replace(VIOLATED, n_items=5000), 1))
    drawn = found.draw(4000, np.random.default_rng(1))
    np.testing.assert_allclose(drawn.difficulty.mean(), found.difficulty, atol=0.01)
    np.testing.assert_allclose(
        drawn.accuracy.std(axis=0), found.standard_errors["rater_accuracy"], rtol=0.1
    )


def test_grouped_items_and_their_order_change_nothing():
    ratings = simulate(VIOLATED, 3)
    fits = [
        fit_violations(data)
        for data in (ratings, ratings.collapse(), ratings.take(np.arange(300)[::-1]))
    ]
    for fit in fits[1:]:
        np.testing.assert_allclose(fit.parameters, fits[0].parameters, atol=1e-3)


def test_what_is_not_identified_is_not_fitted():
    ratings = simulate(VIOLATED, 4)
    two = Ratings(ratings.codes[:, :2], "ABCDE", ordered=True)
    found = fit_violations(two)
    assert found.difficulty == 0 and len(set(found.scenario.initial_rater_accuracy)) == 1
    assert any("three ratings" in str(one) for one in found.warnings)
    unordered = fit_violations(Ratings(ratings.codes, "ABCDE"))
    assert unordered.scenario.asymmetric_dispersion == 1
    binary = fit_violations(simulate(Scenario(n_categories=2), 1))
    assert binary.scenario.asymmetric_dispersion == 1
    anonymous = Ratings(ratings.codes, "ABCDE", ordered=True, anonymous=True)
    assert len(set(fit_violations(anonymous).scenario.initial_rater_accuracy)) == 1


@pytest.mark.parametrize(
    ("ratings", "options", "message"),
    [
        (Ratings([[0, -1], [-1, 1]], "AB"), {}, "no item was rated by two raters"),
        (Ratings([[0, 0, 0]] * 2, "A"), {}, "the only category is A"),
        (Ratings(np.zeros((0, 3), int), "AB"), {}, "no item was rated by two raters"),
        (Ratings([[0, 0, 1]] * 5, "ABC"), {"difficulty": 0.7}, "difficulty is 0.7"),
        (Ratings([[0, 0, 1]] * 5, "ABC"), {"asymmetric_dispersion": -1}, "above 0"),
        (load_dataset("anesthesia").with_independent_repeats(), {}, "more than once"),
    ],
)
def test_bad_input(ratings, options, message):
    with pytest.raises(InputError, match=message):
        fit_violations(ratings, **options)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "codes", [[[0, 0, 0]], [[0, 0, 0]] * 9, [[0, 1, 2]] * 9, [[0, 0, 0], [1, 1, 1], [2, 2, 2]]]
)
def test_degenerate_ratings_give_finite_numbers(codes):
    found = fit_violations(Ratings(codes, "ABC", ordered=True))
    assert np.isfinite(found.parameters).all() and np.isfinite(found.root).all()
