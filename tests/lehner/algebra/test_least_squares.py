"""Least squares on pairs of ratings: exact frequencies give exact parameters, or none."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import softmax

from lehner import (
    InputError,
    Ratings,
    Scenario,
    estimate_algebraic,
    estimate_least_squares,
    fit_least_squares,
    load_dataset,
    simulate,
)
from lehner.algebra.least_squares.pair_model import (
    FORMS,
    model_at,
    n_parameters,
    natural_slopes,
    pair_frequencies,
    unordered,
)
from lehner.data.flat import FlatRatings

pytestmark = pytest.mark.filterwarnings("error")

few = settings(max_examples=40, deadline=None)
each_form = pytest.mark.parametrize("form", FORMS)
RATES = np.array([0.35, 0.25, 0.2, 0.15, 0.05])


def errors_by_distance(accuracy, ratio, k):
    """A confusion matrix in which an error one step further is `ratio` times as likely."""
    matrix = np.zeros((k, k))
    for i in range(k):
        weights = [0.0 if j == i else ratio ** abs(i - j) for j in range(k)]
        matrix[i] = (1 - accuracy) * np.array(weights) / sum(weights)
        matrix[i, i] = accuracy
    return matrix


def exact(base_rates, confusion):
    """Two raters whose pairs come exactly as often as expected."""
    k = len(base_rates)
    pairs = sum(rate * np.outer(row, row) for rate, row in zip(base_rates, confusion, strict=True))
    codes = np.array(list(np.ndindex(k, k)))
    return Ratings(codes, range(k), counts=np.rint(1e13 * pairs.ravel()).astype(int), ordered=True)


# ----- Frequencies of pairs -----


@st.composite
def small_data(draw):
    """Flat ratings, some repeated or missing, with counts of items."""
    k, n_items, n_raters = draw(st.integers(2, 4)), draw(st.integers(1, 5)), draw(st.integers(2, 3))
    rating = st.tuples(
        st.integers(0, n_items - 1), st.integers(0, n_raters - 1), st.integers(0, k - 1)
    )
    flat = sorted(draw(st.lists(rating, min_size=2, max_size=14)))
    counts = draw(st.lists(st.integers(0, 3), min_size=n_items, max_size=n_items))
    return k, n_items, n_raters, flat, counts


@few
@given(small_data())
def test_frequencies_are_those_of_all_pairs_by_different_raters(data):
    k, n_items, n_raters, flat, counts = data
    item, rater, category = np.array(flat).T
    ratings = Ratings(
        FlatRatings(item_index=item, rater_index=rater, category_index=category),
        range(k),
        range(n_raters),
        range(n_items),
        counts=counts,
        independent_repeats=True,
    )
    expected = np.zeros((k, k))
    for one, other in combinations(flat, 2):
        if one[0] == other[0] and one[1] != other[1]:
            expected[one[2], other[2]] += counts[one[0]]
            expected[other[2], one[2]] += counts[one[0]]
    found = pair_frequencies(ratings)
    if expected.sum() == 0:
        assert np.isnan(found).all()
    else:
        np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-12)


# ----- Slopes and rank -----


@each_form
@few
@given(k=st.integers(2, 6), seed=st.integers(0, 10_000))
def test_slopes_are_those_of_finite_differences(form, k, seed):
    point = np.random.default_rng(seed).normal(0, 1, n_parameters(form, k) + 1)
    slopes, step = model_at(point, k).pair_slopes(), 1e-6
    for i, direction in enumerate(np.eye(len(point))):
        ends = [model_at(point + s * direction, k).pairs() for s in (step, -step)]
        np.testing.assert_allclose(slopes[i], (ends[0] - ends[1]) / (2 * step), atol=1e-8)


@pytest.mark.parametrize(("form", "unknowns"), [("one_coin", 1), ("distance_decay", 2)])
@pytest.mark.parametrize("k", [3, 4, 5])
def test_base_rates_accuracy_and_decay_are_determined(form, unknowns, k):
    point = np.random.default_rng(k).normal(0, 1, n_parameters(form, k) + 1)
    jacobian = unordered(natural_slopes(point, k).pair_slopes())
    assert np.linalg.matrix_rank(jacobian) == len(jacobian) == k - 1 + unknowns


def test_different_matrices_give_the_same_pairs():
    """Not only the slopes: far from each other, to the last digit."""
    rates, one = np.array([0.6, 0.4]), np.array([[0.8, 0.2], [0.3, 0.7]])
    # Any rotation of the rows times the root of their rates, if it leaves them probabilities.
    angle = 0.1
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    rows = turn @ (np.sqrt(rates)[:, None] * one)
    other_rates, other = rows.sum(axis=1) ** 2, rows / rows.sum(axis=1, keepdims=True)
    assert other_rates.sum() == pytest.approx(1) and (other > 0).all()
    np.testing.assert_allclose(
        other.T @ np.diag(other_rates) @ other, one.T @ np.diag(rates) @ one, atol=1e-12
    )
    assert np.abs(other - one).max() > 0.03


# ----- The fit -----


@pytest.mark.parametrize("accuracy", [0.3, 0.6, 0.9])
def test_exact_frequencies_of_equal_errors_give_the_exact_values(accuracy):
    ratings = exact(RATES, errors_by_distance(accuracy, 1.0, 5))
    fit = fit_least_squares(ratings)
    assert (fit.rank, fit.n_parameters, fit.n_frequencies, fit.notes) == (5, 5, 14, ())
    assert fit.accuracy == pytest.approx(accuracy, abs=1e-5)
    np.testing.assert_allclose(fit.base_rates, RATES, atol=1e-4)
    assert fit.decay is None and fit.converged
    decaying = fit_least_squares(ratings, "distance_decay")
    assert decaying.decay == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("ratio", [0.3, 0.5, 1.3])
def test_exact_frequencies_of_decaying_errors_give_the_exact_values(ratio):
    matrix = errors_by_distance(0.6, ratio, 5)
    fit = fit_least_squares(exact(RATES, matrix), "distance_decay")
    assert (fit.rank, fit.n_parameters, fit.notes) == (6, 6, ())
    assert fit.accuracy == pytest.approx(0.6, abs=1e-6)
    assert fit.decay == pytest.approx(-np.log(ratio), abs=1e-5)
    np.testing.assert_allclose(fit.base_rates, RATES, atol=1e-5)
    np.testing.assert_allclose(fit.confusion[0], matrix, atol=1e-6)
    assert fit_least_squares(exact(RATES, matrix)).sum_of_squares > 1e-5


@pytest.mark.parametrize("k", [3, 4, 5])
def test_exact_frequencies_are_the_algebra_s_too(k):
    rates = RATES[:k] / RATES[:k].sum()
    ratings = exact(rates, errors_by_distance(0.7, 1.0, k))
    fit = fit_least_squares(ratings)
    agreement = np.trace(pair_frequencies(ratings))
    algebra = 1 / k + np.sqrt(((k - 1) * agreement - (k - 1) / k) / k)
    assert fit.accuracy == pytest.approx(algebra, abs=1e-6)


def brute_force(ratings, form, k, starts=20):
    """The smallest sum of squares by another optimiser and parametrisation, without slopes."""
    flat = pair_frequencies(ratings)

    def squares(theta):
        rates = softmax(theta[:k])
        accuracy = 1 / k + (1 - 1 / k) / (1 + np.exp(-theta[k]))
        ratio = np.exp(-theta[k + 1]) if form == "distance_decay" else 1.0
        matrix = errors_by_distance(accuracy, ratio, k)
        less = matrix.T @ np.diag(rates) @ matrix - flat
        return 1e4 * sum(
            ((1 if i == j else 2) * less[i, j]) ** 2 for i in range(k) for j in range(i, k)
        )

    rng = np.random.default_rng(1)
    points = (rng.normal(0, 1, n_parameters(form, k) + 1) for _ in range(starts))
    return 1e-4 * min(minimize(squares, x, method="BFGS").fun for x in points)


@pytest.mark.parametrize("form", ["one_coin", "distance_decay"])
def test_no_other_optimiser_finds_a_better_fit(form):
    ratings = load_dataset("anesthesia")
    fit = fit_least_squares(ratings, form)
    best = brute_force(ratings, form, 4, starts=5)
    assert fit.sum_of_squares == pytest.approx(best, rel=1e-4)
    observed = fit.pair_frequencies.observed.values
    expected = fit.pair_frequencies.expected.values
    assert ((unordered(expected - observed)) ** 2).sum() == pytest.approx(fit.sum_of_squares)
    assert expected.sum() == pytest.approx(1)


@pytest.mark.parametrize(("form", "dispersion"), [("one_coin", 1.0), ("distance_decay", 2.0)])
def test_simulated_values_are_recovered(form, dispersion):
    """Over 40 samples of 500 items the mean error is within 4 Monte Carlo errors, or .01."""
    scenario = Scenario(
        n_items=500,
        initial_rater_accuracy=(0.7, 0.7, 0.7),
        asymmetric_dispersion=dispersion,
        base_rates=tuple(RATES),
    )
    errors = []
    for seed in range(40):
        fit = fit_least_squares(simulate(scenario, seed=seed), form, starts=1)
        decay = [] if fit.decay is None else [fit.decay - np.log(dispersion)]
        errors.append([fit.accuracy - 0.7, *(fit.base_rates.values - RATES), *decay])
    mean, spread = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1)
    assert (np.abs(mean) < np.maximum(4 * spread / np.sqrt(40), 0.01)).all()
    assert (spread[:6] < 0.04).all()


# ----- What the frequencies do not say -----


def assert_no_numbers(fit, note):
    assert any(note in str(one) for one in fit.notes), fit.notes
    assert fit.accuracy is None and fit.decay is None
    assert all(
        np.isnan(getattr(fit, name)).all()
        for name in ("base_rates", "confusion", "truth_probabilities")
    )


def test_two_categories_have_no_decay():
    fit = fit_least_squares(exact([0.7, 0.3], errors_by_distance(0.8, 1.0, 2)), "distance_decay")
    assert fit.decay is None and fit.notes[0].code == "not-determined"
    assert "determine 2 of 3 parameters" in str(fit.notes[0])
    assert fit.accuracy == pytest.approx(0.8, abs=1e-5)
    np.testing.assert_allclose(fit.base_rates, [0.7, 0.3], atol=1e-5)


@each_form
@pytest.mark.parametrize(
    ("ratings", "note"),
    [
        (Ratings([[0, 0]], ["only"]), "fewer than two categories"),
        (Ratings([[0], [1]], "ab"), "no item was rated by two raters"),
        (Ratings([[0, 0], [0, 1]], "ab", counts=[0, 0]), "no item was rated by two raters"),
        (Ratings([[0, 0], [0, 1]], "ab", counts=[1, 1]), "at or below the chance level"),
        (Ratings([[0, 1], [1, 0]], "ab"), "at or below the chance level"),
    ],
)
def test_too_little_to_go_by_gives_no_number_and_a_note(form, ratings, note):
    fit = fit_least_squares(ratings, form)
    assert_no_numbers(fit, note)
    assert fit.rank is None and fit.sum_of_squares is None
    assert f"base rates      {fit.base_rates['category'].values[0]} –" in repr(fit)


@pytest.mark.parametrize("n_items", [1, 10])
def test_raters_who_always_agree_are_taken_to_be_right_and_it_says_so(n_items):
    codes = np.repeat(np.arange(n_items) % 3, 3).reshape(-1, 3)
    found = estimate_least_squares(Ratings(codes, "abc", system=np.arange(n_items) % 3))
    assert found.system_accuracy.estimate == pytest.approx(1, abs=1e-6)
    assert [one.code for one in found.warnings] == ["raters-always-agree"]


def test_categories_without_order_are_told():
    ratings = simulate(Scenario(n_items=100), seed=1)
    notes = fit_least_squares(ratings, "distance_decay").notes
    assert [one.code for one in notes] == ["order-unknown"]


def test_unknown_forms_and_starts_are_refused():
    with pytest.raises(InputError, match="form is 'two_coin'; choose among one_coin"):
        fit_least_squares(load_dataset("anesthesia"), "two_coin")
    with pytest.raises(InputError, match="starts is 0"):
        fit_least_squares(load_dataset("anesthesia"), starts=0)


# ----- The system -----


@pytest.mark.parametrize("aggregation", ["weighted", "likelihood", "paper"])
def test_with_exact_frequencies_the_system_s_accuracy_is_the_algebra_s(aggregation):
    """Same base rates and accuracy, so the same truth probabilities and step 4."""
    pairs = exact(RATES, errors_by_distance(0.6, 1.0, 5))
    system = np.random.default_rng(1).integers(0, 5, len(pairs.items))
    ratings = Ratings(pairs.codes, range(5), system=system, counts=pairs.counts)
    found = estimate_least_squares(ratings, aggregation=aggregation)
    algebra = estimate_algebraic(ratings, aggregation=aggregation, interval=None)
    assert found.system_accuracy.estimate == pytest.approx(
        algebra.system_accuracy.estimate, abs=1e-4
    )
    np.testing.assert_allclose(found.truth_probabilities, algebra.truth_probabilities, atol=1e-4)


def test_decaying_errors_free_the_system_s_accuracy_of_their_bias():
    scenario = Scenario(
        n_items=50_000, asymmetric_dispersion=2.0, errors_affect="raters", base_rates=tuple(RATES)
    )
    ratings = simulate(scenario, seed=2)
    accuracy = [
        estimate_least_squares(ratings, form, aggregation="likelihood").system_accuracy.estimate
        for form in ("one_coin", "distance_decay")
    ]
    assert accuracy[1] == pytest.approx(0.9, abs=0.01)
    assert accuracy[0] < 0.89


def test_a_system_is_needed():
    with pytest.raises(InputError, match="no column or rater is the system"):
        estimate_least_squares(load_dataset("anesthesia"))
